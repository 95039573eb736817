"""The single-list doors: the worked examples, the empty cases they always had, and agreement with the core."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragdash
from ragdash import lists
from ragdash.metrics.registry import parse
from ragdash.ranking import lists_of


def test_the_worked_example_of_one_relevant_document_at_rank_three():
    found, judged = ["d7", "d9", "d2"], {"d2": 1}
    assert ragdash.reciprocal_rank(found, judged) == 1 / 3
    assert ragdash.ndcg_at_k(found, judged, k=10) == 0.5
    assert (ragdash.recall_at_k(found, judged, 10), ragdash.recall_at_k(found, judged, 2)) == (1.0, 0.0)


def test_the_worked_example_of_citations():
    answer = "It works [doc_id 3] and is safe [doc_id 7], see [doc_id 99]."
    report = ragdash.evaluate_citations(answer, ["1", "3", "5", "7", "10"])
    assert (report.faithfulness, report.coverage) == (2 / 3, 2 / 5)
    assert (report.invalid_refs, report.uncited_docs) == (["99"], ["1", "5", "10"])


@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "hit_rate_at_k", "ndcg_at_k"])
def test_a_cutoff_below_one_and_nothing_relevant_give_zero(name):
    function = getattr(ragdash, name)
    assert function(["d"], {"d": 1}, 0) == function(["d"], {"d": 1}, -1) == 0.0
    assert function(["d"], {}, 5) == function([], {"d": 1}, 5) == 0.0


def test_nothing_relevant_gives_zero_without_a_cutoff_too():
    assert ragdash.reciprocal_rank(["d"], set()) == ragdash.average_precision([], {"d"}) == 0.0


def test_a_document_twice_keeps_its_best_rank():
    assert ragdash.precision_at_k(["a", "a", "b"], {"a", "b"}, 2) == 1.0
    assert ragdash.average_precision(["a", "a", "b"], {"a", "b"}) == 1.0


GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), max_size=8)


@given(st.lists(st.sampled_from("abcdefghij"), unique=True), GRADES, st.integers(1, 12))
def test_they_agree_with_the_core(found, grades, k):
    core = lists_of([grades.get(doc) for doc in found], missed=[[g for doc, g in grades.items() if doc not in found]])
    for name, function in (("P", lists.precision_at_k), ("R", lists.recall_at_k), ("Hit", lists.hit_rate_at_k)):
        value = parse(f"{name}@{k}").compute(core)[0]
        assert function(found, grades, k) == (0.0 if math.isnan(value) else value)
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    assert ragdash.average_precision(found, relevant) == ragdash.average_precision(found, grades)


def test_a_batch_is_the_mean_of_its_questions():
    results = [
        ragdash.QueryResult("q1", ["a", "b"], relevant_ids=["b"]),
        ragdash.QueryResult(
            "q2", ["c"], relevance_grades={"c": 3, "d": 1}, generated_answer="See [doc_id c].", context_doc_ids=["c"]
        ),
    ]
    report = ragdash.evaluate_batch(results, k=2)
    assert (report.n_queries, report.mrr, report.precision_at_k) == (2, 0.75, 0.5)
    assert report.ndcg_at_k == pytest.approx((1 / math.log2(3) + 3 / (3 + 1 / math.log2(3))) / 2)
    assert (report.citation_faithfulness, report.citation_coverage) == (1.0, 1.0)
    classic = ragdash.evaluate_batch(results, k=2, conventions="classic")
    assert classic.ndcg_at_k == pytest.approx((1 / math.log2(3) + 7 / (7 + 1 / math.log2(3))) / 2)
    assert ragdash.evaluate_batch([]).ndcg_at_k == 0.0 and ragdash.evaluate_batch([]).citation_coverage is None
    with pytest.raises(ValueError, match="question 'q1' stands twice in the batch; give each question once"):
        ragdash.evaluate_batch([results[0], results[0]])
