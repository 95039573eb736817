"""The loss split: adds up for every question, and its parts are what a count by hand says."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.evaluation import evaluate
from ragdash.losses import Loss, loss_specs, loss_splits
from ragdash.metrics.registry import parse
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.tables import Tables

DOCUMENTS = "abcdefgh"
QUESTIONS = ("q1", "q2", "q3", "q4")


def table(kind, rows, names):
    return table_of(kind, pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), kind)


def tables_of(run, judged, queries=None):
    return Tables(
        {"s": table("run", run, ("query_id", "doc_id", "score"))},
        table("judgments", judged, ("query_id", "doc_id", "grade")),
        queries=queries,
    )


def split_of(tables, name="nDCG@10", settings=None):
    spec = (settings or Settings()).specs([name])[0]
    return loss_splits(evaluate(tables, loss_specs(spec), settings), spec)["s"]


def test_what_was_not_retrieved_and_what_is_too_low():
    run = [("q1", "x", 3.0), ("q1", "a", 2.0), ("q2", "b", 1.0), ("q3", "x", 1.0)]
    judged = [("q1", "a", 2), ("q1", "z", 1), ("q2", "b", 1), ("q3", "c", 3), ("q4", "d", 1)]
    split = split_of(tables_of(run, judged))
    ideal = 2 + 1 / math.log2(3)
    assert split.query_ids.tolist() == list(QUESTIONS)
    assert split.not_retrieved == pytest.approx([1 - 2 / ideal, 0, 1, 1])
    assert split.ranked_too_low == pytest.approx([(2 - 2 / math.log2(3)) / ideal, 0, 0, 0])
    assert split.perfect_reranker == pytest.approx(split.ranked_too_low.sum() / 4)
    only_second = split.by_slice({"s": np.array([False, True, False, False]), "none": np.zeros(4, bool)})
    assert only_second["s"] == Loss(1, 1.0, 0.0, 0.0)
    assert only_second["none"].n == 0 and math.isnan(only_second["none"].ranked_too_low)


def test_the_cutoff_bounds_the_best_order_and_not_where_it_looks():
    run = [("q1", "x", 9.0), ("q1", "y", 8.0), ("q1", "a", 7.0), ("q1", "b", 6.0)]
    split = split_of(tables_of(run, [("q1", "a", 1), ("q1", "b", 1), ("q1", "c", 1)]), "nDCG@2")
    assert split.not_retrieved.tolist() == [0.0] and split.ranked_too_low.tolist() == [1.0]


def test_a_question_with_nothing_relevant_counts_as_not_retrieved_or_is_left_out():
    tables = tables_of([("q1", "a", 1.0), ("q2", "b", 1.0)], [("q1", "a", 1), ("q2", "b", 0)])
    assert split_of(tables).not_retrieved.tolist() == [0.0, 1.0]
    left_out = split_of(tables, settings=Settings(no_relevant="skip"))
    assert np.isnan(left_out.not_retrieved).tolist() == np.isnan(left_out.ranked_too_low).tolist() == [False, True]
    assert left_out.mean().n == 1


def test_unanswerable_questions_have_no_loss():
    queries = table("queries", [("q1", True), ("q2", False)], ("query_id", "answerable"))
    tables = tables_of([("q1", "a", 1.0), ("q2", "x", 1.0)], [("q1", "a", 1), ("q2", "b", 1)], queries)
    assert np.isnan(split_of(tables).ranked_too_low).tolist() == [False, True]


def test_only_the_loss_of_ndcg_is_additive():
    with pytest.raises(InputError) as caught:
        loss_specs(parse("AP"))
    assert str(caught.value) == "loss split: AP is not nDCG. Choose nDCG as the metric, such as nDCG@10."


RUNS = st.dictionaries(
    st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(DOCUMENTS)), st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1
)
GRADES = st.dictionaries(
    st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(DOCUMENTS)), st.sampled_from([-1, 0, 0.5, 1, 2, 3])
)


@given(RUNS, GRADES, st.sampled_from(["nDCG@1", "nDCG@3", "nDCG", "nDCG(gain=exp)@2", "nDCG(judged_only=True)@2"]))
def test_the_parts_add_up_to_the_loss_of_every_question(run, grades, name):
    judged = {(question, "z"): 1 for question in QUESTIONS} | grades
    tables = tables_of([(*pair, score) for pair, score in run.items()], [(*pair, g) for pair, g in judged.items()])
    split = split_of(tables, name)
    plain = evaluate(tables, [name]).systems["s"].values[0]
    np.testing.assert_allclose(split.not_retrieved + split.ranked_too_low, 1 - plain, rtol=0, atol=1e-12)
    assert (split.not_retrieved >= 0).all() and (split.ranked_too_low >= 0).all()


@given(RUNS, GRADES)
def test_reranking_by_grade_leaves_nothing_ranked_too_low(run, grades):
    judged = {(question, "z"): 1 for question in QUESTIONS} | grades
    rows = [(*pair, g) for pair, g in judged.items()]
    before = split_of(tables_of([(*pair, score) for pair, score in run.items()], rows), "nDCG@3")
    best = [(*pair, float(judged.get(pair, -5))) for pair in run]
    after = split_of(tables_of(best, rows), "nDCG@3")
    np.testing.assert_allclose(after.ranked_too_low, 0, atol=1e-12)
    np.testing.assert_allclose(after.not_retrieved, before.not_retrieved, atol=1e-12)
    np.testing.assert_allclose(after.ndcg, before.ndcg + before.ranked_too_low, atol=1e-12)
