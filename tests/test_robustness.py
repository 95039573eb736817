"""The robustness strip: which choices apply, what each gives, and the sentence that names the dissenters."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from ragdash.api import compare_tables
from ragdash.comparison import Terms
from ragdash.inputs import read_inputs
from ragdash.robustness import Choice, Robustness, robustness
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.tables import Tables

NAMES = {
    "run": ("query_id", "doc_id", "score"),
    "judgments": ("query_id", "doc_id", "grade"),
    "answers": ("query_id", "answer", "context_ids"),
    "scores": ("query_id", "metric", "value"),
}


def table(kind, rows):
    return table_of(kind, pa.table(dict(zip(NAMES[kind], map(list, zip(*rows, strict=True)), strict=True))), kind)


def tables_of(seed=1, questions=50, grades=(0, 1), tied=False, judged=8):
    rng = np.random.default_rng(seed)
    runs, rows = {"a": [], "b": []}, []
    for question in [f"q{number:02}" for number in range(questions)]:
        known = {f"d{doc}": int(rng.choice(grades)) for doc in rng.choice(12, judged, replace=False)}
        rows += [(question, doc, grade) for doc, grade in known.items()] + [(question, "best", max(grades))]
        for name in runs:
            scores = rng.integers(0, 4, 12) if tied else rng.random(12)
            runs[name] += [(question, f"d{doc}", float(score)) for doc, score in enumerate(scores)]
    return Tables({name: table("run", run) for name, run in runs.items()}, table("judgments", rows))


def words(tables, primary="nDCG@10", **facts):
    strip = robustness(tables, compare_tables(tables, "a", "b", primary=primary, **facts))
    return [choice.words for choice in strip.choices]


ALWAYS = ["k = 3", "k = 5", "k = 20"]


def test_choices_that_change_nothing_are_left_out():
    assert words(tables_of(judged=12)) == [*ALWAYS, "the bootstrap interval"]
    assert words(tables_of(judged=12), "nDCG@5")[:3] == ["k = 3", "k = 20", "the bootstrap interval"]
    assert words(tables_of(judged=12), "AP") == ["the bootstrap interval"]
    assert words(tables_of(judged=12), terms=Terms(method="bootstrap")) == [*ALWAYS, "the plain t interval"]


def test_choices_that_could_matter_are_there():
    assert words(tables_of(grades=(0, 1, 2), judged=12))[0] == "gain = exp"
    exponential = words(tables_of(grades=(0, 1, 2), judged=12), settings=Settings(gain="exp"))
    assert exponential[0] == "gain = linear"
    assert "judged documents only" in words(tables_of())
    assert "judged documents only" not in words(tables_of(grades=(1, 1)))
    tied = words(tables_of(tied=True, judged=12))
    assert [one for one in tied if "ties" in one] == [
        "breaking ties by the order given",
        "breaking ties against b",
        "breaking ties against a",
    ]


def test_policies_count_where_questions_are_missing_or_hopeless():
    tables = tables_of()
    run = tables.runs["b"].take(np.arange(24, len(tables.runs["b"])))
    hopeless = table("judgments", [*zip(*tables.judgments.rows.to_pydict().values(), strict=True), ("q99", "d1", 0)])
    tables = Tables({"a": tables.runs["a"], "b": run}, hopeless)
    found = words(tables)
    assert found[4:6] == ["leaving out missing questions", "leaving out questions with nothing relevant"]
    turned = words(tables, settings=Settings(missing="skip", no_relevant="skip"))
    assert "counting missing questions 0" in turned and "counting questions with nothing relevant 0" not in turned


@pytest.mark.parametrize("settings", [Settings(), Settings(missing="skip"), Settings(ties="given", gain="exp")])
def test_every_choice_gives_what_the_comparison_gives_with_it(settings):
    tables = tables_of(grades=(0, 1, 3), tied=True)
    run = tables.runs["b"].take(np.arange(24, len(tables.runs["b"])))
    tables = Tables({**tables.runs, "b": run, "c": tables.runs["a"].take(np.arange(60, 500))}, tables.judgments)
    strip = robustness(tables, compare_tables(tables, "a", "b", settings=settings))
    found = {choice.words: choice for choice in strip.choices}
    other_missing = "skip" if settings.missing == "zero" else "zero"
    missing = {"skip": "leaving out missing questions", "zero": "counting missing questions 0"}[other_missing]
    expected = {
        "k = 3": ("nDCG@3", settings, Terms()),
        "judged documents only": ("nDCG(judged_only=True)@10", settings, Terms()),
        "the bootstrap interval": ("nDCG@10", settings, Terms(method="bootstrap")),
        missing: ("nDCG@10", dataclasses.replace(settings, missing=other_missing), Terms()),
    }
    assert expected.keys() <= found.keys()
    for name, (primary, changed, terms) in expected.items():
        comparison = compare_tables(tables, "a", "b", primary=primary, settings=changed, terms=terms)
        one = comparison.metrics[comparison.primary]
        choice = found[name]
        assert (choice.verdict, choice.n) == (one.verdict, one.interval.n)
        assert choice.difference == pytest.approx(one.difference, abs=1e-15)


def test_tie_extremes_bound_the_difference():
    tables = tables_of(tied=True)
    comparison = compare_tables(tables, "a", "b")
    found = {choice.words: choice.difference for choice in robustness(tables, comparison).choices}
    middle = comparison.metrics[comparison.primary].difference
    assert found["breaking ties against b"] < middle < found["breaking ties against a"]


def test_answers_without_citation_are_varied_where_they_concern_the_metric():
    rows = [(f"q{n:02}", "Yes [doc_id a]." if n % 3 else "No source.", ["a"]) for n in range(40)]
    other = [(question, "Yes [doc_id z].", context) for question, _, context in rows]
    tables = Tables(answers={"a": table("answers", rows), "b": table("answers", other)})
    found = words(tables, "citation_validity")
    assert found == ["counting answers without citation 0", "counting answers without citation 1"]
    counted = words(tables, "citation_validity", settings=Settings(empty=1.0))
    assert counted == ["leaving out answers without citation", "counting answers without citation 0"]


def test_a_metric_without_verdict_has_no_strip():
    rows = {name: [(f"q{n}", "latency_ms", float(n * (2 if name == "a" else 3))) for n in range(30)] for name in "ab"}
    tables = Tables(scores={name: table("scores", some) for name, some in rows.items()})
    strip = robustness(tables, compare_tables(tables, "a", "b"))
    assert strip == Robustness(None, (), ("a", "b"))
    assert strip.sentence == "No other choice of method changes anything here."


def choice(name, verdict, agrees):
    return Choice(name, verdict, 0.0, 50, agrees)


YES = choice("k = 20", "candidate_better", True)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ([YES], "The one other choice agrees."),
        ([YES] * 12, "All 12 other choices agree."),
        ([YES] * 11 + [choice("k = 3", "not_settled", False)], "11 of 12 choices agree; k = 3 does not (not settled)."),
        (
            [YES, choice("k = 3", "not_settled", False), choice("k = 5", "not_settled", False)],
            "1 of 3 choices agree; k = 3 and k = 5 do not (not settled).",
        ),
        (
            [choice("k = 3", "not_settled", False), choice("gain = exp", "baseline_better", False)],
            "0 of 2 choices agree; k = 3 (not settled) and gain = exp (BM25 is better) do not.",
        ),
    ],
)
def test_the_sentence_counts_and_names_who_disagrees(choices, sentence):
    assert Robustness("candidate_better", tuple(choices), ("BM25", "new")).sentence == sentence


def test_the_sample_names_its_dissenters(root):
    names = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl")
    tables = read_inputs((), (), [root / "sample_data" / name for name in names])
    strip = robustness(tables, compare_tables(tables, "bm25", "hybrid"))
    assert strip.sentence == "6 of 8 choices agree; k = 3 and k = 5 do not (not settled)."
