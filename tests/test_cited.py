"""CitedAnswers: abstention, judgments, answerable questions, and sums per answer."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.cited import CitedAnswers, cited_of
from ragdash.citing import cite
from ragdash.problems import InputError
from ragdash.schema import Table, table_of


def answers_table(texts: list[str], contexts: list[list[str] | None], **columns: object) -> Table:
    ids = [f"q{number}" for number in range(1, len(texts) + 1)]
    context = pa.array(contexts, pa.list_(pa.string()))
    rows = pa.table({"query_id": ids, "answer": texts, "context_ids": context, **columns})
    return table_of("answers", rows, "answers")


def judgments_table(*rows: tuple[str, str, float]) -> Table:
    queries, documents, grades = zip(*rows, strict=True)
    return table_of("judgments", pa.table({"query_id": queries, "doc_id": documents, "grade": grades}), "qrels")


def test_sums_per_answer() -> None:
    made = cited_of(["a", "a", "x"], [], ["b"], contexts=[["a", "b", "a"], ["c"], []])
    assert made.citations().tolist() == [3, 0, 1]
    assert made.citations(made.valid).tolist() == [2, 0, 0]
    assert made.documents().tolist() == [2, 1, 0]
    assert made.documents(made.cited()).tolist() == [1, 0, 0]


def test_no_answers() -> None:
    made = cited_of(contexts=[])
    assert len(made) == 0
    assert made.citations().tolist() == [] and made.first_invalid().tolist() == []


def test_first_invalid_keeps_one_of_each_target_in_order() -> None:
    made = cited_of(["x", "a", "w", "x"], ["x"], contexts=[["a"], ["a"]])
    assert made.first_invalid().tolist() == [0, 2, 4]


@given(st.lists(st.text("[]1 é😀(Source:)", max_size=30), max_size=5))
def test_spans_point_to_the_marker(texts: list[str]) -> None:
    made = cite(answers_table(texts, [["d1"]] * len(texts))) if texts else cited_of(contexts=[])
    for citation, target in enumerate(made.target.to_pylist()):
        marker = made.marker(citation)
        assert target in marker and marker[0] in "[(" and marker[-1] in "])"


def test_abstained_by_column_with_the_rule_where_it_is_silent() -> None:
    texts = ["I don't know.", "Tides.", "I don't know.", "Tides."]
    made = cite(answers_table(texts, [["d1"]] * 4, abstained=pa.array([False, True, None, None])))
    assert made.abstained.tolist() == [False, True, True, False]


def test_abstained_without_column() -> None:
    texts = ["", " \n", "I don't know.", "I don't know, but see [1].", "I don't know [7].", "Tides."]
    made = cite(answers_table(texts, [["d1"]] * 6))
    assert made.abstained.tolist() == [True, True, True, False, True, False]


def test_judgments_mark_relevant_context_documents() -> None:
    made = cite(answers_table(["[1]", "[1]", "[1]"], [["a", "b"], ["a", "b"], ["a"]]))
    made = made.with_judgments(judgments_table(("q1", "a", 1), ("q1", "b", 0), ("q2", "b", 0.5), ("q9", "a", 1)))
    assert made.judged is not None and made.relevant is not None
    assert made.judged.tolist() == [True, True, False]
    assert made.relevant.tolist() == [True, False, False, True, False]


def test_a_question_answered_twice_has_its_judgments_twice() -> None:
    rows = pa.table({"query_id": ["q", "q"], "answer": ["", ""], "context_ids": [["a", "b"], ["b", "a"]]})
    made = cite(table_of("answers", rows, "answers")).with_judgments(judgments_table(("q", "a", 2)))
    assert made.relevant is not None and made.relevant.tolist() == [True, False, False, True]


def test_answerable_defaults_to_true() -> None:
    made = cited_of([], [], [], contexts=[[], [], []])
    rows = pa.table({"query_id": ["q3", "q1"], "answerable": [False, None]})
    marked = made.with_queries(table_of("queries", rows, "queries"))
    assert marked.answerable is not None and marked.answerable.tolist() == [True, True, False]
    assert made.with_queries(table_of("queries", pa.table({"query_id": ["q1"]}), "queries")).answerable is None


def test_declines_need_no_markers() -> None:
    made = cited_of([], contexts=[["d1"]])
    table = answers_table(["Text"], [["d1"]])
    assert CitedAnswers.from_markers(table, _unresolved(made), np.array([True])).abstained.tolist() == [True]


def _unresolved(made: CitedAnswers) -> object:
    from types import SimpleNamespace

    names = ("answer", "start", "end", "target", "style", "styles")
    return SimpleNamespace(**{name: getattr(made, name) for name in names}, positional=np.zeros(len(made.answer), bool))


def test_cited_of_needs_as_many_contexts_as_answers() -> None:
    with pytest.raises(InputError, match="1 answers and 2 contexts"):
        cited_of([], contexts=[[], []])
