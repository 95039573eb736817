"""Which document a citation names, against a plain implementation that takes one citation at a time."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.cited import cited_of
from ragdash.resolution import RULES, STATES, contexts_of, reading_of_numbers
from ragdash.schema import table_of

IDS = st.sampled_from(["d1", "D1", "d2", "Straße", "STRASSE", "1", "2", "3", "01", "0", "70", "a b", "é"])


def plain(target: str, context: list[str], positional: bool, numbers: str) -> tuple[str, str, str | None]:
    distinct = list(dict.fromkeys(context))
    if target in distinct:
        return "valid", "id", target
    folded = [document for document in distinct if document.casefold() == target.casefold()]
    if folded:
        return ("valid", "folded", folded[0]) if len(folded) == 1 else ("ambiguous", "folded", None)
    counted = numbers == "positions" and positional and target.isascii() and target.isdigit()
    if counted and 1 <= int(target) <= len(context):
        return "valid", "position", context[int(target) - 1]
    return "invalid", "none", None


@given(st.lists(st.tuples(st.lists(IDS, max_size=5), st.lists(IDS, max_size=5)), max_size=5), st.booleans())
def test_every_citation_as_one_at_a_time(pairs: list[tuple[list[str], list[str]]], positional: bool) -> None:
    made = cited_of(*[cited for cited, _ in pairs], contexts=[context for _, context in pairs], positional=positional)
    expected = [plain(target, context, positional, made.numbers) for cited, context in pairs for target in cited]
    documents = made.contexts.documents.to_pylist()
    found = [
        (STATES[state], RULES[rule], documents[document] if document >= 0 else None)
        for state, rule, document in zip(made.state, made.rule, made.document, strict=True)
    ]
    assert found == expected
    owners = made.contexts.owner[made.document[made.document >= 0]]
    assert np.array_equal(owners, made.answer[made.document >= 0])
    assert documents == [document for _, context in pairs for document in dict.fromkeys(context)]


@pytest.mark.parametrize(
    ("context", "numbers"),
    [
        (["d1", "d2"], "positions"),
        (["1", "3", "5", "7", "10"], "ids"),
        (["12", "7", "3"], "ids"),
        (["7187158", "7187160", "3"] * 1 + [str(n) for n in range(1000, 1030)], "positions"),
        ([], "positions"),
    ],
)
def test_how_numbers_are_read(context: list[str], numbers: str) -> None:
    assert cited_of([], contexts=[context]).numbers == numbers


def test_the_reading_is_one_for_the_whole_run() -> None:
    made = cited_of(["2"], ["2"], contexts=[["d1", "d2"], ["1", "3"]], positional=True)
    assert made.numbers == "ids"
    assert [STATES[state] for state in made.state] == ["invalid", "invalid"]


def test_position_zero_negative_and_far_name_nothing() -> None:
    made = cited_of(["0", "-1", "3", "9" * 60, "2"], contexts=[["a", "b"]], positional=True)
    assert [STATES[state] for state in made.state] == ["invalid"] * 4 + ["valid"]


def test_positions_count_the_context_as_given() -> None:
    made = cited_of(["1", "2", "3"], contexts=[["a", "a", "b"]], positional=True)
    assert made.contexts.documents.take(pa.array(made.document)).to_pylist() == ["a", "a", "b"]


def test_empty_and_missing_ids_are_no_documents_but_keep_their_place() -> None:
    rows = pa.table({"query_id": ["q"], "answer": [""], "context_ids": [[None, "", "b"]]})
    contexts = contexts_of(table_of("answers", rows, "answers"))
    assert contexts.documents.to_pylist() == ["b"]
    assert contexts.entry_document.tolist() == [-1, -1, 0]
    assert reading_of_numbers(contexts) == "positions"


def test_no_context_column() -> None:
    rows = pa.table({"query_id": ["q", "r"], "answer": ["[1]", ""]})
    contexts = contexts_of(table_of("answers", rows, "answers"))
    assert len(contexts) == 0
    assert contexts.starts.tolist() == [0, 0, 0]
