"""Slices as masks: several a question, none, and questions the table or the scores lack."""

import numpy as np
import pyarrow as pa

from ragdash.schema import table_of
from ragdash.slices import slices_of


def masks(rows, ids):
    columns = {"query_id": [row[0] for row in rows], "slice": pa.array([row[1] for row in rows], pa.list_(pa.string()))}
    found = slices_of(table_of("queries", pa.table(columns), "queries.csv"), np.array(ids))
    return {name: mask.tolist() for name, mask in found.items()}


def test_a_question_may_be_in_several_slices_or_in_none():
    rows = [("q3", ["b", "a"]), ("q1", None), ("q2", ["b"]), ("q4", [])]
    assert masks(rows, ["q1", "q2", "q3", "q4"]) == {"a": [False, False, True, False], "b": [False, True, True, False]}


def test_questions_without_scores_and_their_slices_are_left_out():
    assert masks([("q1", ["a"]), ("q9", ["b"])], ["q0", "q1"]) == {"a": [False, True]}


def test_without_questions_or_slices_there_are_none():
    bare = table_of("queries", pa.table({"query_id": ["q1"]}), "queries.csv")
    assert slices_of(None, np.array(["q1"])) == slices_of(bare, np.array(["q1"])) == {}
