"""From rows to ordered, matched lists: order, ties, duplicates, conflicts, and the hash that finds duplicates."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.matching import code_judgments, hash_strings, rank_lists, ranked_rows
from ragdash.metrics.registry import parse
from ragdash.problems import InputError
from ragdash.schema import table_of


def run_of(rows, names=("query_id", "doc_id", "score")):
    return table_of("run", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), "a.run")


def judgments_of(rows):
    names = ("query_id", "doc_id", "grade")
    return table_of("judgments", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), "qrels")


def order_of(run, ties="doc_id"):
    rows = ranked_rows(run, np.zeros(len(run), np.int64), ties)
    return run.column("doc_id").take(pa.array(rows)).to_pylist()


def test_score_downward_then_document_downward_in_byte_order():
    run = run_of(
        [("q", "b", 1.0), ("q", "a", 2.0), ("q", "é", 1.0), ("q", "B", 1.0), ("q", "b10", 1.0), ("q", "b9", 1.0)]
    )
    assert order_of(run) == ["a", "é", "b9", "b10", "b", "B"]


def test_scores_are_compared_in_single_precision_as_trec_eval_does():
    run = run_of([("q", "a", 0.12345678902), ("q", "b", 0.12345678901)])
    assert order_of(run) == ["b", "a"]


def test_without_scores_the_rank_decides_and_without_both_the_order_given():
    names = ("query_id", "doc_id", "rank")
    assert order_of(run_of([("q", "a", 2), ("q", "b", 1), ("q", "c", 10)], names)) == ["b", "a", "c"]
    assert order_of(run_of([("q", "b"), ("q", "a"), ("q", "c")], names[:2])) == ["b", "a", "c"]


def test_ties_can_be_broken_by_rank_or_left_as_given():
    names = ("query_id", "doc_id", "score", "rank")
    run = run_of([("q", "a", 1.0, 2), ("q", "b", 1.0, 1), ("q", "c", 2.0, 3)], names)
    assert order_of(run, "doc_id") == ["c", "b", "a"]
    assert order_of(run, "rank") == ["c", "b", "a"]
    assert order_of(run, "given") == ["c", "a", "b"]
    with pytest.raises(InputError) as caught:
        order_of(run_of([("q", "a", 1.0), ("q", "b", 1.0)]), "rank")
    assert str(caught.value) == ("a.run: ties are to be broken by rank, but there is no rank column. Use ties=doc_id.")


SCORES = st.sampled_from([0.0, 0.5, 1.0, 1.5])
ROWS = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdefgh"), SCORES), min_size=1, unique_by=lambda r: r[:2]
)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_a_list(rows, random):
    judged = code_judgments(judgments_of([(q, d, 1 + ord(d) % 2) for q in "pqr" for d in "abcd"]))
    shuffled = list(rows)
    random.shuffle(shuffled)
    for name in ("nDCG@3", "AP", "RR", "Judged@2"):
        one, other = (parse(name).compute(rank_lists(run_of(some), judged).lists) for some in (rows, shuffled))
        np.testing.assert_array_equal(one, other)


@given(ROWS)
def test_lists_equal_sorting_by_hand(rows):
    grades = {("p", "a"): 2, ("p", "c"): 1, ("q", "b"): 3, ("r", "h"): 1, ("q", "zz"): 1}
    judged = code_judgments(judgments_of([(q, d, g) for (q, d), g in grades.items()]))
    lists = rank_lists(run_of(rows), judged).lists
    found = [
        (at, rank, grades[query, doc])
        for at, query in enumerate("pqr")
        for rank, (_, doc) in enumerate(sorted(((s, d) for q, d, s in rows if q == query), reverse=True), 1)
        if (query, doc) in grades
    ]
    assert list(zip(lists.list_of.tolist(), lists.rank.tolist(), lists.grade.tolist(), strict=True)) == found
    assert lists.retrieved.tolist() == [sum(q == query for q, _, _ in rows) for query in "pqr"]


def brute_force_range(rows, grades, name):
    """Lowest and highest value over every order that the scores allow, found by trying them."""
    from itertools import groupby, permutations, product

    ordered = sorted(rows, key=lambda row: -row[2])
    groups = [list(permutations(group)) for _, group in groupby(ordered, key=lambda row: row[2])]
    values = []
    judged = code_judgments(judgments_of([("q", doc, grade) for doc, grade in grades.items()]))
    for choice in product(*groups):
        docs = [row[1] for group in choice for row in group]
        lists = rank_lists(run_of([("q", doc, -float(at)) for at, doc in enumerate(docs)]), judged).lists
        values.append(parse(name).compute(lists)[0])
    return min(values), max(values)


@pytest.mark.parametrize(
    "name", ["nDCG@2", "AP", "RR", "P@2", "R@3", "Hit@1", "Judged@2", "AP(judged_only=True)", "nDCG@4"]
)
@pytest.mark.parametrize("seed", range(6))
def test_tie_ranges_equal_trying_every_order(name, seed):
    rng = np.random.default_rng(seed)
    rows = [("q", f"d{n}", float(rng.integers(0, 2))) for n in range(6)]
    grades = {f"d{n}": int(rng.integers(0, 3)) for n in (0, 2, 3, 5)} | {"d9": 2}
    judged = code_judgments(judgments_of([("q", doc, grade) for doc, grade in grades.items()]))
    lists = rank_lists(run_of(rows), judged).lists
    low, high = (parse(name).compute(lists.with_ties(order))[0] for order in ("worst", "best"))
    assert (low, high) == pytest.approx(brute_force_range(rows, grades, name))
    assert low - 1e-12 <= parse(name).compute(lists)[0] <= high + 1e-12


def test_a_document_twice_keeps_its_best_rank_and_is_told():
    judged = code_judgments(judgments_of([("q", "c", 1)]))
    run = run_of([("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0), ("q", "c", 0.5)])
    ranking = rank_lists(run, judged)
    assert ranking.duplicates.tolist() == [2] and ranking.lists.rank.tolist() == [3]
    assert [str(problem) for problem in ranking.problems] == [
        "a.run, row 3: document 'a' stands again in the list of query 'q'. "
        "The best rank was kept and the other rows set aside."
    ]
    assert ranking.problems[0].severity == "set aside" and ranking.problems[0].count == 1
    with pytest.raises(InputError) as caught:
        rank_lists(run, judged, strict=True)
    assert str(caught.value) == (
        "a.run, row 3: document 'a' stands again in the list of query 'q'. "
        "List each document once, or leave out strict."
    )


def test_a_later_row_may_be_the_better_rank():
    judged = code_judgments(judgments_of([("q", "a", 1)]))
    ranking = rank_lists(run_of([("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0)]), judged)
    assert ranking.duplicates.tolist() == [0] and ranking.lists.rank.tolist() == [1]


def test_the_same_judgment_twice_is_set_aside_and_a_conflict_is_an_error_with_both_rows():
    coded = code_judgments(judgments_of([("q", "a", 1), ("q", "b", 0), ("q", "a", 1)]))
    assert [str(problem) for problem in coded.problems] == [
        "qrels, row 3: the same judgment stands again (1 such row in all). The first was kept."
    ]
    with pytest.raises(InputError) as caught:
        code_judgments(judgments_of([("q", "a", 1), ("p", "a", 2), ("q", "a", 2)]))
    assert str(caught.value) == (
        "qrels, row 3: query 'q' and document 'a' have the grades 1 and 2 (the first in qrels, row 1). "
        "Keep one of the two judgments."
    )


def test_judgments_without_a_grade_of_zero_or_less_are_positive_only():
    assert code_judgments(judgments_of([("q", "a", 1)])).positive_only
    assert not code_judgments(judgments_of([("q", "a", 1), ("q", "b", 0)])).positive_only


@given(st.lists(st.text(max_size=40), max_size=30))
def test_equal_strings_have_equal_hashes_wherever_they_stand(texts):
    hashes = hash_strings(pa.array(["head", *texts, *texts], pa.string()).slice(1))
    np.testing.assert_array_equal(hashes[: len(texts)], hashes[len(texts) :])


def test_strings_that_differ_rarely_share_a_hash():
    texts = [f"{prefix}{n}" for prefix in ("", "doc-", "msmarco_v2.1_doc_50_2286987788#13_") for n in range(20_000)]
    assert len(np.unique(hash_strings(pa.array(texts)))) > len(set(texts)) * 0.999


def test_duplicates_are_confirmed_on_the_strings_even_if_all_hashes_collide(monkeypatch):
    monkeypatch.setattr("ragdash.matching.hash_strings", lambda ids: np.zeros(len(ids), np.uint64))
    judged = code_judgments(judgments_of([("q", "a", 1)]))
    run = run_of([("q", "a", 3.0), ("q", "b", 2.0), ("q", "c", 1.0), ("q", "b", 0.5)])
    assert rank_lists(run, judged).duplicates.tolist() == [3]
