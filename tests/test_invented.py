"""Each cause of a reference that names nothing, told from the loaded tables."""

from dataclasses import replace

import pyarrow as pa
import pytest

from ragdash.cited import cited_of
from ragdash.invented import invented, one_slip_apart
from ragdash.schema import table_of
from ragdash.tables import Tables

DOCUMENTS = table_of(
    "documents",
    pa.table({"doc_id": ["kb-a", "kb-b", "kb-far"], "title": ["Tides", "Moon", "Sun"], "text": ["t", "m", "s"]}),
    "documents.jsonl",
)
RUN = table_of("run", pa.table({"query_id": ["q1"], "doc_id": ["deep-7"], "score": [1.0]}), "a.run")


def cause(target, context, tables=None, numbers="positions"):
    cited = replace(cited_of([target], contexts=[context]), numbers=numbers)
    (found,) = invented({"a": cited}, tables)
    assert found.target == target and found.counts == (1,) and found.query_ids == ("q1",)
    return found.cause


@pytest.mark.parametrize(
    ("target", "context", "said"),
    [
        ("d1", [], "the answer has no context"),
        ("4", ["a", "b", "c"], "off by one? its context has 3 documents"),
        ("0", ["a", "b", "c"], "off by one? its context has 3 documents"),
        ("9", ["a", "b", "c"], "beyond the 3 documents of its context"),
        ("kb-ax", ["kb-a"], "a slip? its context has kb-a"),
        ("doc_id", ["d1"], "looks like a placeholder: an example in the prompt?"),
        ("zebra", ["d1"], ""),
    ],
)
def test_a_cause_told_from_the_answer_alone(target, context, said):
    assert cause(target, context) == said


def test_a_number_that_could_be_a_position_where_numbers_are_ids():
    assert cause("2", ["1", "7", "3"], numbers="ids") == "a position? numbers are read as ids here"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("tides", "the title of kb-a, which is in the context: this reads ids, not titles"),
        ("kb-far", "a document that this question was not given"),
        ("kb-b", "a document that this question was not given; its context has kb-a"),
        ("deep-7", "retrieved for this question, but not in the context"),
        ("zebra", "invented: no loaded document has this id"),
    ],
)
def test_a_cause_told_from_what_else_is_loaded(target, said):
    assert cause(target, ["kb-a"], Tables(runs={"a": RUN}, documents=DOCUMENTS)) == said


def test_a_document_of_another_question_is_known_without_a_corpus():
    cited = cited_of(["other"], [], contexts=[["d1"], ["other"]])
    assert invented({"a": cited})[0].cause == "a document that this question was not given"


def test_the_most_frequent_first_counted_by_system_and_cut():
    a = cited_of(["x1"], ["x2"], contexts=[["d1"], ["d1"]])
    b = cited_of(["x2", "x2"], ["x2"], ["x3"], contexts=[["d1"]] * 3)
    found = invented({"a": a, "b": b})
    assert [(one.target, one.counts) for one in found] == [("x2", (1, 3)), ("x1", (1, 0)), ("x3", (0, 1))]
    assert found[0].query_ids == ("q2", "q1")
    assert [one.target for one in invented({"a": a, "b": b}, most=1)] == ["x2"]
    assert invented({"a": cited_of(["d1"], contexts=[["d1"]])}) == []


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("d1", "d1", False),
        ("d12", "d1", True),
        ("1d", "d", True),
        ("ab", "ba", True),
        ("E-4471", "E-4417", True),
        ("d1", "d2", True),
        ("d1", "d5", False),
        ("abc", "axz", False),
        ("d", "d12", False),
    ],
)
def test_one_slip(one, other, apart):
    assert one_slip_apart(one, other) == one_slip_apart(other, one) == apart
