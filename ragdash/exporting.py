"""One comparison a question at a time, as CSV for a spreadsheet and as Parquet to the last bit."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ragdash
from ragdash.citation_status import statuses
from ragdash.comparison import Comparison
from ragdash.drilldown import texts_of
from ragdash.metrics.registry import Spec
from ragdash.spreadsheet import neutral
from ragdash.tables import Tables


def per_query_table(comparison: Comparison, tables: Tables) -> pa.Table:
    """A row a question: its id, text and slices, each metric of A, of B and B − A, and how each answer cites.

    Undefined values are NaN. The names of A and B stand in the columns and in the metadata of the table.
    """
    scores, pair = comparison.scores, (comparison.baseline, comparison.candidate)
    ids = scores.query_ids.tolist()
    columns: dict[str, pa.Array] = {"query_id": pa.array(ids, pa.string())}
    if tables.queries is not None:
        asked = texts_of(tables.queries, "query_id", ["query"], ids)
        columns["query"] = pa.array([asked.get(name, ("",))[0] for name in ids], pa.string())
        if "slice" in tables.queries:
            place = tables.queries.column("query_id")
            at = pc.index_in(columns["query_id"], value_set=place)
            columns["slices"] = tables.queries.column("slice").take(at)
    for spec, name in _names(comparison.metrics).items():
        a, b = (scores.of(system, spec) for system in pair)
        columns[f"{name} ({pair[0]})"], columns[f"{name} ({pair[1]})"] = pa.array(a), pa.array(b)
        columns[f"{name} difference"] = pa.array(np.asarray(b - a))
    for system in pair:
        if system in tables.answers:
            found = statuses(tables.answers[system], scores.query_ids, scores.settings)
            columns[f"citation status ({system})"] = pa.array(found, pa.string())
    about = {"ragdash": ragdash.__version__, "baseline": pair[0], "candidate": pair[1]}
    return pa.table(columns).replace_schema_metadata({key: text.encode() for key, text in about.items()})


def _names(metrics: Mapping[Spec, Any]) -> dict[Spec, str]:
    """What each metric's columns are called: a score that came with the files under one of our names says so."""
    ours = {str(spec) for spec in metrics if spec.metric.takes != "scores"}
    clash = {spec for spec in metrics if spec.metric.takes == "scores" and str(spec) in ours}
    return {spec: f"{spec} from the files" if spec in clash else str(spec) for spec in metrics}


def per_query_csv(comparison: Comparison, tables: Tables) -> bytes:
    """`per_query_table` as CSV: UTF-8 with byte order mark, no cell a formula, slices joined by "; "."""
    table = per_query_table(comparison, tables)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([neutral(name) for name in table.column_names])
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow([neutral("; ".join(cell) if isinstance(cell, list) else cell) for cell in row])
    return out.getvalue().encode("utf-8-sig")


def per_query_parquet(comparison: Comparison, tables: Tables) -> bytes:
    """`per_query_table` as Parquet, exact."""
    import pyarrow.parquet as pq  # here, since it slows every start

    stream = io.BytesIO()
    pq.write_table(per_query_table(comparison, tables), stream, use_dictionary=False, compression="zstd")
    return stream.getvalue()
