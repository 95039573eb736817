"""Paired differences and verdicts: what must hold whatever is missing, and every row of the verdict table."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.api import compare_tables
from ragdash.comparison import Terms
from ragdash.metrics.registry import brought_in, parse
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.stats.interval import Interval
from ragdash.tables import Tables
from ragdash.verdict import decide


def run_of(ranks, name="run"):
    """A run in which question n has its one relevant document at this rank; None leaves the question out."""
    rows = [
        (f"q{n:03}", "right" if place == rank else f"wrong{place}", float(-place))
        for n, rank in enumerate(ranks)
        if rank is not None
        for place in range(1, max(rank, 3) + 1)
    ]
    columns = zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)
    return table_of("run", pa.table(dict(columns)), name)


def tables_of(a, b, **others):
    questions = [f"q{n:03}" for n in range(max(len(a), len(b)))]
    judged = {"query_id": questions, "doc_id": ["right"] * len(questions), "grade": [1] * len(questions)}
    return Tables(
        {"A": run_of(a, "a.run"), "B": run_of(b, "b.run")}, table_of("judgments", pa.table(judged), "j"), **others
    )


RANKS = st.lists(st.one_of(st.none(), st.integers(1, 12)), min_size=3, max_size=30)


@given(RANKS, RANKS, st.sampled_from(["zero", "skip"]))
def test_the_difference_is_the_difference_of_the_means_whatever_is_missing(a, b, missing):
    both = [n for n in range(min(len(a), len(b))) if a[n] is not None and b[n] is not None]
    if not both:
        return
    comparison = compare_tables(tables_of(a, b), "A", "B", settings=Settings(missing=missing))
    for spec, one in comparison.metrics.items():
        differences = one.differences[~np.isnan(one.differences)]
        assert len(differences) == one.interval.n, spec
        assert one.difference == pytest.approx(differences.mean(), abs=1e-12)
        assert one.interval.estimate == pytest.approx(one.candidate - one.baseline, abs=1e-12)
        assert one.interval.wins + one.interval.ties + one.interval.losses == one.interval.n
        if missing == "zero" and spec.metric.name != "Judged":
            assert one.interval.n == max(len(a), len(b))
            assert one.missing == tuple(max(len(a), len(b)) - sum(r is not None for r in ranks) for ranks in (a, b))
        elif missing == "skip":
            assert one.interval.n == len(both) and one.common[0] == len(both)


def test_a_candidate_that_crashes_on_its_hardest_questions_cannot_win_by_it():
    rng = np.random.default_rng(5)
    ranks = rng.integers(1, 13, 100).tolist()
    hardest = set(np.argsort(ranks, kind="stable")[-20:].tolist())
    crashed = [None if n in hardest else rank for n, rank in enumerate(ranks)]
    comparison = compare_tables(tables_of(ranks, crashed), "A", "B")
    for name in ("nDCG@10", "RR@10", "AP", "R@10", "Hit@5"):
        one = comparison.metrics[parse(name)]
        assert one.difference <= 0 and one.missing == (0, 20) and one.common == (80, 0.0), name
    said = comparison.metrics[parse("AP")].warnings
    assert "20 queries are missing in B; on the 80 queries both have, the difference is +0.0000." in said


def test_swapping_the_systems_mirrors_everything():
    rng = np.random.default_rng(1)
    tables = tables_of(rng.integers(1, 13, 60).tolist(), rng.integers(1, 13, 60).tolist())
    one, other = compare_tables(tables, "A", "B"), compare_tables(tables, "B", "A")
    for spec, there in one.metrics.items():
        back = other.metrics[spec]
        ours, theirs = there.interval, back.interval
        assert (ours.low, ours.high, ours.p) == pytest.approx((-theirs.high, -theirs.low, theirs.p), nan_ok=True)
        assert (ours.wins, ours.ties, ours.losses) == (theirs.losses, theirs.ties, theirs.wins)
        assert there.bootstrap == pytest.approx((-back.bootstrap[1], -back.bootstrap[0]), abs=1e-3)


def test_where_lower_is_better_the_sign_stays_and_wins_and_verdict_turn():
    texts = {"A": "[doc_id x]", "B": "no citation"}
    answers = {
        name: table_of(
            "answers",
            pa.table({"query_id": [f"q{n:03}" for n in range(60)], "answer": [text] * 60, "context_ids": [["x"]] * 60}),
            name,
        )
        for name, text in texts.items()
    }
    comparison = compare_tables(Tables(answers=answers), "A", "B", metrics="no_citation")
    one = comparison.metrics[parse("no_citation")]
    assert (one.baseline, one.candidate, one.difference) == (0.0, 1.0, 1.0)
    assert (one.interval.wins, one.interval.losses) == (0, 60) and one.interval.low > 0
    assert one.verdict == "baseline_better" and comparison.badge == "A is better"
    assert comparison.sentence.startswith("B is worse than A on no_citation: +1.000 (95% interval ")


def interval(low, high, n=100, changed=50):
    middle = (low + high) / 2
    return Interval(middle, low, high, 0.5, n, changed, changed, n - changed, 0, "t", 0.2, 0.0)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (interval(0.02, 0.08), "candidate_better"),
        (interval(-0.08, -0.02), "baseline_better"),
        (interval(0.001, 0.08), "candidate_better_size_unclear"),
        (interval(-0.08, -0.001), "baseline_better_size_unclear"),
        (interval(-0.009, 0.009), "practically_equal"),
        (interval(0.002, 0.008), "practically_equal"),
        (interval(-0.01, 0.01), "practically_equal"),
        (interval(-0.02, 0.03), "not_settled"),
        (interval(0.02, 0.08, n=19), "too_few"),
        (interval(0.02, 0.08, changed=4), "too_few"),
        (interval(-0.009, 0.009, n=1000, changed=4), "practically_equal"),
        (interval(-0.009, 0.009, n=19, changed=4), "too_few"),
        (interval(float("nan"), float("nan"), n=1, changed=1), "too_few"),
    ],
)
def test_every_row_of_the_verdict_table(found, verdict):
    assert decide(found, 0.01, parse("nDCG@10")) == verdict


def test_no_direction_or_no_scale_means_no_verdict():
    assert decide(interval(0.02, 0.08), 0.01, brought_in("ragas/faithfulness")) is None
    assert decide(interval(0.02, 0.08), 0.01, brought_in("latency_ms")) is None


def test_the_words_name_the_number_the_doubt_and_the_next_step():
    better = compare_tables(tables_of([3] * 40 + [1] * 40, [1] * 40 + [1] * 40), "A", "B")
    assert better.badge == "B is better"
    assert better.sentence == (
        "B is better than A on nDCG@10: +0.250 (95% interval +0.194 to +0.306; "
        "80 questions: 40 better, 40 equal, 0 worse). "
        "Even the low end exceeds the 0.01 that matters. Significant at 5%: yes; the bootstrap agrees."
    )
    assert better.decision == "Decision: ship B."
    assert better.in_answers == ("In answers: of 100 questions about 0 more find their evidence in the top 5, 0 fewer.")
    few = compare_tables(tables_of([1] * 18 + [2] * 2, [1] * 20), "A", "B")
    assert few.badge == "Too few queries to tell" and few.metrics[few.primary].shown_p is None
    assert "Only 2 of 20 questions changed" in few.sentence and "collect about" in few.decision


def test_equal_differences_without_a_range_have_no_interval_and_the_sentence_says_so():
    texts = {"A": "[doc_id x]", "B": "[doc_id x] [doc_id x]"}
    context = {"context_ids": [["x"]] * 30}
    answers = {
        name: table_of(
            "answers", pa.table({"query_id": [f"q{n}" for n in range(30)], "answer": [text] * 30} | context), name
        )
        for name, text in texts.items()
    }
    assert compare_tables(Tables(answers=answers), "A", "B", metrics="citations").sentence == (
        "B compared with A on citations: +1.000 (30 questions: 30 better, 0 equal, 0 worse). "
        "All differences are equal, so there is no interval."
    )


def test_p_is_withheld_below_twenty_questions_or_five_changed():
    def shown(a, b):
        return compare_tables(tables_of(a, b), "A", "B", metrics="RR").metrics[parse("RR")].shown_p

    assert shown([1, 2] * 9 + [1], [2, 1] * 9 + [2]) is None
    assert shown([1] * 30, [1] * 26 + [2] * 4) is None
    assert shown([1] * 30, [1] * 25 + [2] * 5) is not None


def test_unjudged_documents_are_cautioned_about_but_never_with_positive_only_judgments():
    tables = tables_of([3] * 30, [1] * 30)
    assert not any(
        "judged" in text.lower() for one in compare_tables(tables, "A", "B").metrics.values() for text in one.warnings
    )
    graded = {
        "query_id": ["q000", *(f"q{n:03}" for n in range(30))],
        "doc_id": ["no"] + ["right"] * 30,
        "grade": [0] + [1] * 30,
    }
    graded_tables = Tables(tables.runs, table_of("judgments", pa.table(graded), "j"))
    said = compare_tables(graded_tables, "A", "B").metrics[parse("nDCG@10")].warnings
    assert (
        "Judged@10 is 0.33 in A and 0.33 in B: unjudged documents count as not relevant; "
        "on judged documents alone the difference is +0.0000"
    ) in said


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ("A", "A", {}, "system: 'A' would be compared with itself. Choose two systems."),
        ("A", "C", {}, "system: there is no 'C'. Known are: A, B."),
        ("A", "B", {"terms": (-0.1, 0.95)}, "margin: it is -0.1. Give 0 or more, in units of the metric."),
        ("A", "B", {"terms": (float("inf"), 0.95)}, "margin: it is inf. Give 0 or more, in units of the metric."),
        (
            "A",
            "B",
            {"terms": (0.01, 0.95, "tt")},
            "interval method: there is no 'tt'. Did you mean t?",
        ),
        ("A", "B", {"terms": (0.01, 95)}, "confidence: it is 95. Give a share from 0.5 to 0.9999, such as 0.95."),
    ],
)
def test_what_cannot_be_compared_is_said(a, b, options, message):
    with pytest.raises(InputError) as caught:
        terms = Terms(*options["terms"]) if "terms" in options else None
        compare_tables(tables_of([1, 2, 3], [1, 1, 1]), a, b, terms=terms)
    assert str(caught.value) == message


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_systems_without_a_question_in_common_are_refused(missing):
    with pytest.raises(InputError) as caught:
        tables = tables_of([1, 1, None, None], [None, None, 1, 1])
        compare_tables(tables, "A", "B", settings=Settings(missing=missing))
    assert str(caught.value) == (
        "comparison: A and B have no query in common (q000, q001 and q002, q003). "
        "Check that both runs answer the same questions under the same ids."
    )
