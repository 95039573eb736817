"""Where every retrieved document stands, judged or not: what the metrics leave out and a judge or a reader needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.matching import Ties, ranked_rows
from ragdash.ranking import Ints
from ragdash.schema import Table


@dataclass(frozen=True, eq=False)
class Placed:
    """All documents of some questions' lists, flat, by question and then rank: the question's number, the document and
    its rank, 1 first, (rows,) each."""

    query: Ints
    doc_id: pa.Array
    rank: Ints

    def rank_of(self, query: Ints, doc_id: pa.Array) -> Ints:
        """The rank of each (question number, document) pair, 0 where it was not retrieved, (pairs,)."""
        documents = pc.unique(doc_id)
        ours, asked = (_codes(ids, documents) for ids in (self.doc_id, doc_id))
        held = ours >= 0
        key, rank = self.query[held] * len(documents) + ours[held], self.rank[held]
        if not len(key):
            return np.zeros(len(query), dtype=np.int64)
        order = np.argsort(key)
        wanted = query * len(documents) + asked
        at = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
        return np.where(key[at] == wanted, rank[at], 0)


def place(run: Table | None, query_ids: pa.Array, ties: Ties = "doc_id") -> Placed:
    """The lists of the questions `query_ids`, ordered as the metrics see them; a repeated document keeps its best rank.

    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "a"], "score": [1.0, 3.0, 2.0]})
    >>> placed = place(table_of("run", rows, "a.run"), pa.array(["q1"]))
    >>> placed.doc_id.to_pylist(), placed.rank.tolist()
    (['b', 'a'], [1, 2])
    >>> placed.rank_of(np.array([0, 0]), pa.array(["a", "z"])).tolist()
    [2, 0]
    """
    if run is None:
        none = np.zeros(0, dtype=np.int64)
        return Placed(none, pa.array([], pa.string()), none)
    number = _codes(run.column("query_id"), query_ids)
    mine = run.take(np.flatnonzero(number >= 0))
    rows = ranked_rows(mine, number[number >= 0], ties)
    query = number[number >= 0][rows]
    doc_id = mine.column("doc_id").take(pa.array(rows))
    coded = doc_id.dictionary_encode()
    pair = query * len(coded.dictionary) + np.asarray(coded.indices.to_numpy(), dtype=np.int64)
    first = np.sort(np.unique(pair, return_index=True)[1])
    first = first[np.argsort(query[first], kind="stable")]
    query = query[first]
    rank = np.arange(len(query)) - np.searchsorted(query, query) + 1
    return Placed(query, doc_id.take(pa.array(first)), rank)


def _codes(ids: pa.Array, among: pa.Array) -> Ints:
    """The place of each id among distinct ones, -1 where it is not there."""
    return np.asarray(pc.fill_null(pc.index_in(ids, value_set=among), -1).to_numpy(), dtype=np.int64)
