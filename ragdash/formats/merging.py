"""Tables of one kind from several files as one, and the rows of several systems apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.problems import Problem
from ragdash.schema import Table, concat


def by_system(table: Table) -> dict[str | None, Table]:
    """A table's rows by what its system column says, without that column; None where there is none."""
    if "system" not in table:
        return {None: table}
    column = table.rows.column("system")
    without = replace(table, rows=table.rows.drop_columns(["system"]))
    names = pc.unique(column).to_pylist()
    if len(names) <= 1:
        return {name: without for name in names or [None]}
    coded = column.combine_chunks()
    coded = coded if pa.types.is_dictionary(coded.type) else coded.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy()
    of_name = {name: code for code, name in enumerate(coded.dictionary.to_pylist())}
    return {name: without.take(np.flatnonzero(codes == of_name.get(name, -1))) for name in names}


def first_rows(table: Table, columns: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The first row of each distinct combination, in order, (combinations,)."""
    numbered = table.rows.select(columns).append_column("row", pa.array(np.arange(len(table))))
    first = numbered.group_by(columns).aggregate([("row", "min")]).column("row_min")
    return np.sort(np.asarray(first.to_numpy(), dtype=np.int64))


def merge_documents(tables: list[Table]) -> tuple[Table | None, list[Problem]]:
    """Documents from all files, the first of each id, and what is said of the others; None where there are none."""
    if not tables:
        return None, []
    whole = concat(tables)
    first = first_rows(whole, ["doc_id"])
    if len(first) == len(whole):
        return whole, []
    row = int(np.setdiff1d(np.arange(len(whole)), first)[0])
    found = f"document {whole.column('doc_id')[row].as_py()!r} stands here again"
    problem = Problem(whole.where(row), found, "The first was kept", "set aside", len(whole) - len(first))
    return whole.take(first), [problem]


def merge_queries(tables: list[Table]) -> Table | None:
    """Questions from all files, one row each; every column from the first row that has something there."""
    if not tables:
        return None
    whole = concat(tables)
    first = first_rows(whole, ["query_id"])
    if len(first) == len(whole):
        return whole
    kept = whole.take(first)
    columns = {name: kept.rows.column(name) for name in kept.rows.column_names}
    for name in set(columns) - {"query_id"}:
        cells = whole.column(name)
        is_text = pa.types.is_string(cells.type)
        filled = pc.not_equal(cells, "") if is_text else cells.is_valid()
        having = whole.take(np.flatnonzero(np.asarray(filled.fill_null(False))))
        best = first_rows(having, ["query_id"])
        at = pc.index_in(kept.column("query_id"), value_set=having.column("query_id").take(pa.array(best)))
        columns[name] = having.column(name).take(pa.array(best)).take(at)
        if is_text:
            columns[name] = pc.fill_null(columns[name], "")
    return replace(kept, rows=pa.table(columns))
