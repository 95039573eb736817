"""What the numbers mean: every row of the table of cases on which evaluators differ, each with a test."""

import numpy as np
import pyarrow as pa
import pytest

from ragdash.evaluation import evaluate
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.tables import Tables

NAMES = {
    "run": ("query_id", "doc_id", "score"),
    "judgments": ("query_id", "doc_id", "grade"),
    "answers": ("query_id", "answer", "context_ids"),
    "queries": ("query_id", "answerable"),
    "scores": ("query_id", "metric", "value"),
}


def table(kind, rows, name="", extra=()):
    names = (*NAMES[kind], *extra)
    return table_of(kind, pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), name or kind)


def values(scores, system, metric):
    at = [str(spec) for spec in scores.specs].index(metric)
    return dict(zip(scores.query_ids.tolist(), scores.systems[system].values[at].tolist(), strict=True))


JUDGED = table("judgments", [("q1", "a", 1), ("q2", "b", 2), ("q3", "c", 1), ("q3", "d", 0)])
FULL = table(
    "run", [("q1", "a", 2.0), ("q2", "x", 2.0), ("q2", "b", 1.0), ("q3", "d", 2.0), ("q3", "c", 1.0)], "full.run"
)
PART = table("run", [("q1", "a", 2.0), ("q9", "a", 1.0)], "part.run")


def test_a_judged_query_absent_from_a_run_counts_zero_and_is_told():
    scores = evaluate(Tables({"full": FULL, "part": PART}, JUDGED), "RR P@1")
    assert values(scores, "part", "RR") == {"q1": 1.0, "q2": 0.0, "q3": 0.0}
    assert values(scores, "full", "RR") == {"q1": 1.0, "q2": 0.5, "q3": 0.5}
    assert [str(problem) for problem in scores.problems] == [
        "part (part.run): judged queries missing from this run: 2 of 3; they count 0. "
        "Check whether the run is a subset or the retriever failed.",
        "part (part.run): queries of this run without judgments: 1; they have no retrieval score. "
        "Judge them, or leave them out of the run.",
    ]
    assert scores.systems["part"].extra == ("q9",)


def test_under_skip_it_leaves_every_system():
    scores = evaluate(Tables({"full": FULL, "part": PART}, JUDGED), "RR", Settings(missing="skip"))
    for system in ("full", "part"):
        assert [q for q, value in values(scores, system, "RR").items() if not np.isnan(value)] == ["q1"]


def test_a_query_with_nothing_relevant_counts_zero_or_is_left_out():
    judged = table("judgments", [("q1", "a", 1), ("q2", "b", 0), ("q3", "c", -1)])
    tables = Tables({"full": FULL}, judged)
    scores = evaluate(tables, "nDCG@10 R@5 P@1")
    for metric in ("nDCG@10", "R@5", "P@1"):
        assert values(scores, "full", metric) == {"q1": 1.0, "q2": 0.0, "q3": 0.0}
    assert str(scores.problems[0]) == (
        "judgments: judged queries without a relevant document: 2; they count 0. "
        "Mark those the corpus cannot answer with answerable=false."
    )
    skipped = values(evaluate(tables, "P@1", Settings(no_relevant="skip")), "full", "P@1")
    assert skipped["q1"] == 1.0 and np.isnan([skipped["q2"], skipped["q3"]]).all()


def test_unanswerable_queries_have_no_retrieval_score():
    queries = table("queries", [("q1", True), ("q2", False), ("q3", None)])
    scores = evaluate(Tables({"full": FULL}, JUDGED, queries=queries), "RR")
    found = values(scores, "full", "RR")
    assert found["q1"] == 1.0 and found["q3"] == 0.5 and np.isnan(found["q2"])
    assert "judged queries marked answerable=false: 1;" in str(scores.problems[0])


def test_relevant_is_any_grade_above_zero_unless_rel_says_otherwise():
    judged = table("judgments", [("q1", "a", 0.5), ("q1", "b", 2), ("q1", "c", -2)])
    run = table("run", [("q1", "a", 3.0), ("q1", "c", 2.0), ("q1", "b", 1.0)])
    scores = evaluate(Tables({"r": run}, judged), "P@3 P(rel=1)@3 P(rel=2)@3 nDCG@3 Judged@3")
    assert values(scores, "r", "P@3")["q1"] == 2 / 3
    assert values(scores, "r", "P(rel=1)@3")["q1"] == values(scores, "r", "P(rel=2)@3")["q1"] == 1 / 3
    assert values(scores, "r", "Judged@3")["q1"] == 1.0
    assert values(scores, "r", "nDCG@3")["q1"] == pytest.approx((0.5 + 2 / 2) / (2 + 0.5 / np.log2(3)))


def test_gain_is_linear_or_exponential_by_name_by_setting_and_by_preset():
    judged = table("judgments", [("q1", "a", 1), ("q1", "b", 3)])
    tables = Tables({"r": table("run", [("q1", "a", 2.0), ("q1", "b", 1.0)])}, judged)
    linear, exponential = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)), (1 + 7 / np.log2(3)) / (7 + 1 / np.log2(3))
    assert values(evaluate(tables, "nDCG@10"), "r", "nDCG@10")["q1"] == pytest.approx(linear)
    for settings in (Settings(), Settings(gain="exp"), Settings(conventions="classic")):
        scores = evaluate(tables, "nDCG(gain=exp)@10", settings)
        assert values(scores, "r", "nDCG(gain=exp)@10")["q1"] == pytest.approx(exponential)
    assert str(evaluate(tables, "nDCG@10", Settings(conventions="classic")).specs[0]) == "nDCG(gain=exp)@10"


def test_fewer_than_k_retrieved_divides_precision_by_k():
    scores = evaluate(Tables({"full": FULL}, JUDGED), "P@10 R@10")
    assert values(scores, "full", "P@10")["q1"] == 0.1 and values(scores, "full", "R@10")["q1"] == 1.0


def test_unjudged_documents_are_not_relevant_and_their_share_is_known():
    scores = evaluate(Tables({"full": FULL}, JUDGED), "P@2 Judged@2 RR RR(judged_only=True)")
    assert values(scores, "full", "P@2")["q2"] == 0.5 and values(scores, "full", "Judged@2")["q2"] == 0.5
    assert values(scores, "full", "RR")["q2"] == 0.5 and values(scores, "full", "RR(judged_only=True)")["q2"] == 1.0


def test_judged_share_of_an_absent_list_is_undefined():
    scores = evaluate(Tables({"part": PART}, JUDGED), "Judged@10")
    assert np.isnan(values(scores, "part", "Judged@10")["q2"])


def test_tie_ranges_hold_every_value_that_equal_scores_allow():
    run = table("run", [("q1", "a", 1.0), ("q1", "z", 1.0), ("q2", "b", 2.0), ("q3", "c", 1.0)])
    scores = evaluate(Tables({"r": run}, JUDGED), "RR Judged@1")
    low, high = scores.tie_range("r", scores.specs[0])
    assert values(scores, "r", "RR") == {"q1": 0.5, "q2": 1.0, "q3": 1.0}
    assert low.tolist() == [0.5, 1.0, 1.0] and high.tolist() == [1.0, 1.0, 1.0]


ANSWERS = table(
    "answers",
    [("q1", "Yes [doc_id a] and [doc_id zz].", ["a", "b", "b"]), ("q2", "No source.", ["a"]), ("q4", "[doc_id a]", [])],
    "answers.jsonl",
)


def test_citation_metrics_count_queries_without_judgments_and_follow_the_empty_conventions():
    tables = Tables({"s": FULL}, JUDGED, {"s": ANSWERS})
    scores = evaluate(tables, "citation_validity citation_coverage no_citation invalid_citations RR")
    validity = values(scores, "s", "citation_validity")
    assert validity["q1"] == 0.5 and np.isnan(validity["q2"]) and validity["q4"] == 0.0 and np.isnan(validity["q3"])
    coverage = values(scores, "s", "citation_coverage")
    assert coverage["q1"] == 0.5 and coverage["q2"] == 0.0 and np.isnan(coverage["q4"])
    assert values(scores, "s", "no_citation")["q2"] == 1.0 and values(scores, "s", "no_citation")["q1"] == 0.0
    assert values(scores, "s", "invalid_citations")["q4"] == 1.0
    assert np.isnan(values(scores, "s", "RR")["q4"])
    for empty in (0.0, 1.0):
        settings = Settings(empty=empty)
        name = f"citation_validity(empty={empty:g})"
        assert values(evaluate(tables, ["citation_validity"], settings), "s", name)["q2"] == empty


def test_two_answers_of_one_question_are_refused_unless_they_are_repetitions():
    rows = [("q1", "[doc_id a]", ["a"]), ("q2", "[doc_id a]", ["a"]), ("q1", "[doc_id x]", ["a"])]
    tables = Tables(answers={"s": table("answers", rows, "a.jsonl")})
    with pytest.raises(InputError) as caught:
        evaluate(tables)
    assert str(caught.value) == (
        "a.jsonl, row 3: query 'q1' has two answers (the first in a.jsonl, row 1). "
        "Keep one, or say that rows are repetitions (--repeats mean)."
    )
    scores = evaluate(tables, settings=Settings(repeats="mean"))
    assert values(scores, "s", "citation_validity") == {"q1": 0.5, "q2": 1.0}
    numbered = [(*row, repeat) for row, repeat in zip(rows, ("1", "1", "2"), strict=True)]
    tables = Tables(answers={"s": table("answers", numbered, "a.jsonl", ("repeat",))})
    assert values(evaluate(tables), "s", "citation_validity") == {"q1": 0.5, "q2": 1.0}


def test_repetitions_of_a_list_are_averaged_within_the_question():
    rows = [("q1", "a", 1.0, "1"), ("q1", "a", 1.0, "2"), ("q1", "z", 2.0, "2"), ("q2", "b", 1.0, "1")]
    scores = evaluate(Tables({"r": table("run", rows, extra=("repeat",))}, JUDGED), "RR")
    assert values(scores, "r", "RR") == {"q1": 0.75, "q2": 1.0, "q3": 0.0}


def test_brought_in_scores_stand_beside_ours_and_empty_ones_stay_undefined():
    rows = [("q1", "ragas/faithfulness", 0.5), ("q2", "ragas/faithfulness", None), ("q1", "latency_ms", 120.0)]
    tables = Tables({"s": FULL}, JUDGED, scores={"s": table("scores", rows)})
    scores = evaluate(tables, "RR ragas/faithfulness latency_ms")
    assert [spec.metric.direction for spec in scores.specs] == ["higher", "none", "lower"]
    assert values(scores, "s", "latency_ms")["q1"] == 120.0
    faithfulness = values(scores, "s", "ragas/faithfulness")
    assert faithfulness["q1"] == 0.5 and np.isnan(faithfulness["q2"])


def test_without_a_context_column_citation_metrics_are_undefined_and_that_is_said():
    rows = pa.table({"query_id": ["q1"], "answer": ["[doc_id a]"]})
    scores = evaluate(Tables(answers={"s": table_of("answers", rows, "a.csv")}))
    assert np.isnan(values(scores, "s", "citation_validity")["q1"]) and values(scores, "s", "no_citation")["q1"] == 0.0
    assert [str(problem) for problem in scores.problems] == [
        "s: the answers have no column context_ids, so these are undefined: citation_validity, citation_coverage. "
        "Add the documents each answer was given."
    ]


def test_a_grade_that_no_judgment_has_is_said():
    scores = evaluate(Tables({"full": FULL}, JUDGED), "AP(rel=2)")
    assert [str(problem) for problem in scores.problems] == [
        "judgments: judged queries without a document of grade 2 or more: 2; with rel=2 they count 0. "
        "Check that the grades go that far."
    ]


def test_grades_beyond_exponential_gain_are_refused():
    judged = table("judgments", [("q1", "a", 2000)])
    with pytest.raises(InputError) as caught:
        evaluate(Tables({"full": FULL}, judged), "nDCG(gain=exp)@10")
    assert str(caught.value) == (
        "judgments: the grade 2000 is too large for 2^grade − 1. Use gain=linear, or grades of a smaller scale."
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("gain", "foo"), ("missing", "drop"), ("ties", "x"), ("empty", 0.5), ("conventions", "old"), ("repeats", "last")],
)
def test_settings_that_do_not_exist_are_refused(field, value):
    with pytest.raises(InputError, match=rf"^settings, {field}: it is {value!r}\. Choose one of "):
        Settings(**{field: value})


@pytest.mark.parametrize(
    ("tables", "metrics", "message"),
    [
        (Tables(), None, "input: there is no run and no file of answers. Give at least one system."),
        (Tables({"r": FULL}), None, "judgments: none were given, and there are no answers. Add a file of judgments."),
        (Tables({"r": FULL}), "AP", "AP: this metric needs judgments, and none were given. Add a file of judgments."),
        (Tables(answers={"s": ANSWERS}), "AP", "AP: this metric needs a run, and none was given. Add a run file."),
        (
            Tables({"r": FULL}, JUDGED),
            "citations",
            "citations: this metric needs answers, and none were given. Add a file with answers.",
        ),
        (
            Tables({"r": table("run", [("x1", "a", 1.0)], "other.run")}, JUDGED),
            "AP",
            "other.run: no query of this run has judgments (run: x1 …; judgments: q1, q2, q3 …). "
            "Check that both files use the same query ids.",
        ),
    ],
)
def test_what_is_missing_is_said(tables, metrics, message):
    with pytest.raises(InputError) as caught:
        evaluate(tables, metrics)
    assert str(caught.value) == message


def test_the_default_set_follows_what_was_loaded():
    both = evaluate(Tables({"s": FULL}, JUDGED, {"s": ANSWERS}))
    assert [str(spec) for spec in both.specs] == [
        "nDCG@10", "R@10", "RR@10", "AP", "P@5", "Hit@5", "Judged@10",
        "citation_validity", "citation_coverage", "no_citation",
    ]  # fmt: skip
    assert [str(spec) for spec in evaluate(Tables(answers={"s": ANSWERS})).specs] == [
        "citation_validity",
        "citation_coverage",
        "no_citation",
    ]
