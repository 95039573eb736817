"""One question at a time: the lists as the metrics saw them, what was missed, and the sentence about it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ragdash.drilldown import answers_of, drill, texts_of, what_changed, worst_first
from ragdash.schema import Table, table_of
from ragdash.tables import Tables


def run(*rows: tuple[str, str, float]) -> Table:
    query, doc, score = zip(*rows, strict=True)
    return table_of("run", pa.table({"query_id": query, "doc_id": doc, "score": score}), "x.run")


def judgments(*rows: tuple[str, str, float]) -> Table:
    query, doc, grade = zip(*rows, strict=True)
    return table_of("judgments", pa.table({"query_id": query, "doc_id": doc, "grade": grade}), "qrels")


A = run(("q1", "d1", 3.0), ("q1", "d2", 2.0), ("q1", "d3", 1.0), ("q2", "d9", 1.0))
B = run(("q1", "d2", 5.0), ("q1", "d4", 4.0))
JUDGED = judgments(("q1", "d1", 2), ("q1", "d2", 0), ("q1", "d5", 1), ("q2", "d9", 0))
TABLES = Tables(runs={"old": A, "new": B}, judgments=JUDGED)


def test_two_lists_with_grades_and_the_rank_in_the_other() -> None:
    one = drill(TABLES, "q1", ["old", "new"])
    shown = [[(p.rank, p.doc_id, p.grade, p.elsewhere) for p in places] for places in one.lists]
    assert shown == [
        [(1, "d1", 2.0, None), (2, "d2", 0.0, 1), (3, "d3", None, None)],
        [(1, "d2", 0.0, 2), (2, "d4", None, None)],
    ]


def test_relevant_documents_best_grade_first_with_their_ranks() -> None:
    one = drill(TABLES, "q1", ["old", "new"])
    assert [(doc.doc_id, doc.ranks) for doc in one.relevant] == [("d1", (1, None)), ("d5", (None, None))]
    assert one.missed() == one.relevant


def test_the_sentence_names_the_document_whose_move_matters_most() -> None:
    said = what_changed(drill(TABLES, "q1", ["old", "new"]))
    assert said == "old has d1 (grade 2) at rank 1; in new it is not among the 2 retrieved."
    turned = what_changed(drill(TABLES, "q1", ["new", "old"]))
    assert turned == said


@pytest.mark.parametrize(
    ("query", "systems", "said"),
    [
        ("q2", ["old", "new"], "No document is judged relevant to this question."),
        ("q1", ["old"], "1 of 2 relevant documents retrieved, the first at rank 1."),
        ("q1", ["new"], "None of the 2 relevant documents is among the 2 retrieved."),
        ("q1", ["old", "same"], "Both systems have the relevant documents at the same ranks."),
        ("q1", ["old", "empty"], "old has d1 (grade 2) at rank 1; in empty it is missing: nothing was retrieved."),
        ("q1", ["old", "late"], "old has d1 (grade 2) at rank 1; in late it is at rank 2."),
    ],
)
def test_the_sentence_in_every_case(query: str, systems: list[str], said: str) -> None:
    late = run(("q1", "d3", 2.0), ("q1", "d1", 1.0))
    runs = {"old": A, "new": B, "same": A, "empty": run(("q2", "d1", 1.0)), "late": late}
    assert what_changed(drill(Tables(runs=runs, judgments=JUDGED), query, systems)) == said


def test_beyond_the_cutoff_no_move_matters() -> None:
    early = run(("q1", "d1", 9.0), ("q1", "d2", 8.0), ("q1", "d5", 7.0))
    late = run(("q1", "d1", 9.0), ("q1", "d5", 8.0), ("q1", "d2", 7.0))
    one = drill(Tables(runs={"early": early, "late": late}, judgments=JUDGED), "q1", ["early", "late"])
    assert what_changed(one, 1) == "Within the top 1 both systems have the relevant documents at the same ranks."
    assert what_changed(one, 2) == "late has d5 (grade 1) at rank 2; in early it is at rank 3."


def test_then_orders_equal_values_in_the_direction_of_the_metric() -> None:
    values, then = np.array([0.0, 0.0, 1.0]), np.array([0.5, -0.5, 0.0])
    assert worst_first(values, then=then).tolist() == [1, 0, 2]
    assert worst_first(values, "lower", then).tolist() == [2, 0, 1]


def test_equal_scores_stand_as_trec_eval_has_them_and_duplicates_keep_the_best_rank() -> None:
    tied = run(("q1", "a", 1.0), ("q1", "c", 1.0), ("q1", "b", 1.0), ("q1", "c", 0.5))
    tables = Tables(runs={"tied": tied}, judgments=JUDGED)
    assert [p.doc_id for p in drill(tables, "q1", ["tied"]).lists[0]] == ["c", "b", "a"]
    assert [p.doc_id for p in drill(tables, "q1", ["tied"], "given").lists[0]] == ["a", "c", "b"]


def test_of_repetitions_the_first_is_shown() -> None:
    rows = {"query_id": ["q1"] * 2, "doc_id": ["d2", "d1"], "score": [1.0, 9.0], "repeat": ["1", "2"]}
    tables = Tables(runs={"a": table_of("run", pa.table(rows), "a.run")}, judgments=JUDGED)
    assert [place.doc_id for place in drill(tables, "q1", ["a"]).lists[0]] == ["d2"]


def test_without_run_or_judgments_there_is_nothing_but_no_error() -> None:
    one = drill(Tables(runs={"old": A}), "q1", ["old", "answers only"])
    assert [len(places) for places in one.lists] == [3, 0]
    assert {place.grade for place in one.lists[0]} == {None}
    assert one.relevant == ()


@given(some.lists(some.one_of(some.just(float("nan")), some.floats(-1, 1)), max_size=30))
def test_worst_first_holds_every_value_once_and_upward(values: list[float]) -> None:
    array = np.array(values, dtype=float)
    rows = worst_first(array)
    assert sorted(rows) == [row for row, value in enumerate(values) if value == value]
    assert (np.diff(array[rows]) >= 0).all()
    assert (np.diff(array[worst_first(array, "lower")]) <= 0).all()


def test_equal_values_keep_the_order_of_the_questions_either_way() -> None:
    values = np.array([0.5, 0.1, 0.5, 0.1])
    assert worst_first(values).tolist() == [1, 3, 0, 2]
    assert worst_first(values, "lower").tolist() == [0, 2, 1, 3]


def test_texts_and_answers_by_id() -> None:
    rows = pa.table({"doc_id": ["d1", "d2"], "title": ["One", None], "text": ["x", "y"]})
    documents = table_of("documents", rows, "documents.jsonl")
    assert texts_of(documents, "doc_id", ["title", "text"], ["d2", "d7"]) == {"d2": ("", "y")}
    assert texts_of(None, "doc_id", ["text"], ["d2"]) == {}
    answers = table_of("answers", pa.table({"query_id": ["q1", "q2"], "answer": ["yes", "no"]}), "a.jsonl")
    assert answers_of(Tables(answers={"a": answers}), "a", "q2") == ["no"]
    assert answers_of(Tables(), "a", "q2") == []
