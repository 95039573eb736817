"""Where retrieved documents stand: the same order as the metrics see, duplicates gone, ranks looked up by pair."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ragdash.matching import code_judgments, rank_lists
from ragdash.placed import place
from ragdash.schema import table_of

ROWS = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q9"]), st.sampled_from("abcd"), st.sampled_from([0.0, 1.0, 2.0])),
    min_size=1,
)


def run_of(rows):
    columns = map(list, zip(*rows, strict=True))
    return table_of("run", pa.table(dict(zip(("query_id", "doc_id", "score"), columns, strict=True))), "a.run")


@given(ROWS, st.sampled_from(["doc_id", "given"]))
def test_the_ranks_are_those_the_metrics_see(rows, ties):
    every = [(query, doc) for query in ("q1", "q2") for doc in "abcd"]
    grades = {"query_id": [q for q, _ in every], "doc_id": [d for _, d in every], "grade": [1] * len(every)}
    judged = code_judgments(table_of("judgments", pa.table(grades), "qrels"))
    lists = rank_lists(run_of(rows), judged, ties).lists
    placed = place(run_of(rows), judged.query_ids, ties)
    np.testing.assert_array_equal(placed.query, lists.list_of)
    np.testing.assert_array_equal(placed.rank, lists.rank)


@given(ROWS)
def test_a_pair_is_looked_up_among_all(rows):
    ids = pa.array(["q1", "q2"])
    placed = place(run_of(rows), ids)
    held = dict(
        zip(zip(placed.query.tolist(), placed.doc_id.to_pylist(), strict=True), placed.rank.tolist(), strict=True)
    )
    asked = [(query, doc) for query in (0, 1) for doc in ("d", "a", "zz", "b", "c")]
    ranks = placed.rank_of(np.array([q for q, _ in asked]), pa.array([d for _, d in asked]))
    assert ranks.tolist() == [held.get(pair, 0) for pair in asked]


def test_without_a_run_nothing_is_placed():
    placed = place(None, pa.array(["q1"]))
    assert placed.rank_of(np.array([0]), pa.array(["a"])).tolist() == [0]
