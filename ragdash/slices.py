"""Which questions belong to which slice, as masks over the questions of the scores."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.ranking import Flags
from ragdash.schema import Table


def slices_of(queries: Table | None, query_ids: NDArray[np.str_]) -> dict[str, Flags]:
    """For each slice by name a mask over `query_ids` (queries,); slices without any of these questions are left out.

    A question may belong to several slices or to none.

    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1", "q2"], "slice": [["lookup"], ["lookup", "code"]]})
    >>> masks = slices_of(table_of("queries", rows, "q"), np.array(["q2", "q3"]))
    >>> {name: mask.tolist() for name, mask in masks.items()}
    {'code': [True, False], 'lookup': [True, False]}
    """
    if queries is None or "slice" not in queries:
        return {}
    members = queries.column("slice")
    owner = queries.column("query_id").take(pc.list_parent_indices(members))
    at = pc.index_in(owner, value_set=pa.array(query_ids.tolist(), pa.string()))
    known = pc.is_valid(at)
    place = np.asarray(at.filter(known).to_numpy(), dtype=np.int64)
    coded = pc.list_flatten(members).filter(known).dictionary_encode()
    names, codes = coded.dictionary.to_pylist(), np.asarray(coded.indices.to_numpy(), dtype=np.int64)
    masks = np.zeros((len(names), len(query_ids)), dtype=bool)
    masks[codes, place] = True
    return {name: masks[number] for number, name in sorted(enumerate(names), key=lambda pair: pair[1])}
