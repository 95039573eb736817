"""Retrieval metrics against pytrec_eval (through ir_measures), against themselves one list at a time, by properties."""

import math

import ir_measures
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.matching import code_judgments, rank_lists
from ragdash.metrics.registry import METRICS, parse
from ragdash.ranking import lists_of
from ragdash.schema import table_of

PEER = {
    "nDCG@10": "nDCG@10",
    "nDCG@3": "nDCG@3",
    "nDCG": "nDCG",
    "AP": "AP",
    "AP@5": "AP@5",
    "AP(rel=2)": "AP(rel=2)",
    "RR": "RR",
    "RR(rel=2)": "RR(rel=2)",
    "P@5": "P@5",
    "P(rel=2)@10": "P(rel=2)@10",
    "R@5": "R@5",
    "R(rel=2)@20": "R(rel=2)@20",
    "Hit@1": "Success@1",
    "Hit(rel=2)@5": "Success(rel=2)@5",
    "P(judged_only=True)@5": "P(judged_only=True)@5",
    "AP(judged_only=True)": "AP(judged_only=True)",
    "nDCG(judged_only=True)@10": "nDCG(judged_only=True)@10",
}


def random_collection(seed, ties):
    """A run and judgments, some queries missing, some judged documents never retrieved.

    Grades are -1 to 3 in odd seeds. In even ones they are 0 to 3 and judged_only is compared too: pytrec_eval takes a
    negative grade for no judgment there, ragdash for a judgment.
    """
    rng = np.random.default_rng(seed)
    queries = [f"q{n}" for n in range(30)]
    run = {
        query: {
            f"d{doc}": float(np.round(rng.random(), 1 if ties else 9))
            for doc in rng.choice(60, rng.integers(1, 40), False)
        }
        for query in queries[:27]
    }
    judged = {
        query: {f"d{doc}": int(rng.integers(-(seed % 2), 4)) for doc in rng.choice(60, rng.integers(1, 25), False)}
        for query in queries
    }
    return run, judged


def as_tables(run, judged):
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    grades = [(q, d, float(g)) for q, docs in judged.items() for d, g in docs.items()]
    run_table = pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)))
    judgment_table = pa.table(
        dict(zip(("query_id", "doc_id", "grade"), map(list, zip(*grades, strict=True)), strict=True))
    )
    return table_of("run", run_table, "run"), table_of("judgments", judgment_table, "judgments")


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_every_query_equals_pytrec_eval(seed, ties):
    run, judged = random_collection(seed, ties)
    run_table, judgment_table = as_tables(run, judged)
    coded = code_judgments(judgment_table)
    lists = rank_lists(run_table, coded).lists
    queries = coded.query_ids.to_pylist()
    provider = ir_measures.providers.registry["pytrec_eval"]
    measures = {ours: ir_measures.parse_measure(theirs) for ours, theirs in PEER.items()}
    qrels = [ir_measures.Qrel(q, d, g) for q, docs in judged.items() for d, g in docs.items()]
    results = [ir_measures.ScoredDoc(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    expected = {
        (str(m.measure), m.query_id): m.value for m in provider.iter_calc(list(measures.values()), qrels, results)
    }
    for ours, theirs in measures.items():
        if seed % 2 and "judged_only" in ours:
            continue
        values = np.nan_to_num(parse(ours).compute(lists))
        for query, value in zip(queries, values, strict=True):
            assert value == pytest.approx(expected.get((str(theirs), query), 0.0), abs=1e-9), (ours, query)


LISTS = st.lists(st.one_of(st.none(), st.integers(-1, 3)), max_size=12)
MISSED = st.lists(st.integers(-1, 3), max_size=4)
OURS = (
    "nDCG@3",
    "nDCG(gain=exp)@5",
    "nDCG",
    "RR",
    "RR@2",
    "AP",
    "AP@3",
    "P@3",
    "R@3",
    "R",
    "Hit@2",
    "Judged@4",
    "P(rel=2)@3",
)


@given(st.lists(st.tuples(LISTS, MISSED), min_size=1, max_size=6))
def test_a_list_scores_alone_as_among_others(pairs):
    together = lists_of(*(one for one, _ in pairs), missed=[missed for _, missed in pairs])
    for name in OURS:
        alone = [parse(name).compute(lists_of(one, missed=[missed]))[0] for one, missed in pairs]
        np.testing.assert_array_equal(parse(name).compute(together), alone)


@given(LISTS, MISSED)
def test_values_lie_in_the_span_declared_or_are_undefined(one, missed):
    lists = lists_of(one, missed=[missed])
    for name in OURS:
        value = parse(name).compute(lists)[0]
        assert math.isnan(value) or 0.0 <= value <= 1.0 + 1e-12


def dcg(grades, gain):
    worth = [max(grade or 0, 0) if gain == "linear" else 2.0 ** max(grade or 0, 0) - 1 for grade in grades]
    return sum(one / math.log2(rank + 1) for rank, one in enumerate(worth, 1))


@given(LISTS, MISSED, st.sampled_from(["linear", "exp"]), st.integers(1, 12))
def test_ndcg_equals_its_definition_written_out(one, missed, gain, k):
    ideal = sorted([grade for grade in one if grade is not None] + missed, reverse=True)[:k]
    best = dcg(ideal, gain)
    value = parse(f"nDCG(gain={gain})@{k}").compute(lists_of(one, missed=[missed]))[0]
    assert math.isnan(value) if best == 0 else value == pytest.approx(dcg(one[:k], gain) / best, abs=1e-12)


def test_fractions_and_negative_grades():
    lists = lists_of([0.5, -2, 1], missed=[[0.25]])
    assert parse("R@3").compute(lists)[0] == pytest.approx(2 / 3)
    assert parse("R(rel=1)@3").compute(lists)[0] == 1.0
    assert parse("Judged@3").compute(lists)[0] == 1.0
    assert parse("nDCG@3").compute(lists)[0] == pytest.approx((0.5 + 1 / 2) / (1 + 0.5 / math.log2(3) + 0.25 / 2))


def test_nothing_relevant_is_undefined_in_the_metric_itself():
    lists = lists_of([0, None], missed=[[0]])
    for entry in METRICS:
        if entry.takes == "lists" and entry.name != "Judged":
            name = f"{entry.name}@2"
            assert math.isnan(parse(name).compute(lists)[0]), name


def test_judged_counts_only_what_was_retrieved_and_an_empty_list_has_none():
    lists = lists_of([1, None], [])
    np.testing.assert_array_equal(parse("Judged@10").compute(lists), [0.5, np.nan])
    np.testing.assert_array_equal(parse("Judged").compute(lists), [0.5, np.nan])
