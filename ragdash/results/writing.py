"""A comparison and its tables as the bytes of one result file: the same input gives the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import ragdash
from ragdash.comparison import Comparison
from ragdash.problems import Problem
from ragdash.results import layout
from ragdash.results.keeping import kept_documents, kept_runs
from ragdash.results.records import record_of
from ragdash.results.stored import inputs_of
from ragdash.schema import Table
from ragdash.scores import Scores
from ragdash.tables import Tables

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip can say: no clock enters the bytes


def write_result(comparison: Comparison, tables: Tables) -> bytes:
    """One file that holds everything a redraw needs: `ragdash.results.reading.read_result` reads it.

    In it are the scores of all systems a question at a time, settings, terms, reports on the files and problems, the
    judgments, questions and answers, ranked lists and the documents shown (see `ragdash.results.keeping`). Intervals
    and the verdict are computed anew from the scores, to the same bit.
    """
    inputs = inputs_of(tables)
    scores = comparison.scores
    runs, depth = kept_runs(inputs.runs, scores.settings.ties)
    documents = kept_documents(inputs, runs, depth, scores.settings.ties)
    kept = {"runs": runs, "answers": inputs.answers, "scores": inputs.scores}
    alone = {"judgments": inputs.judgments, "queries": inputs.queries, "documents": documents}
    members = [(layout.SCORES, _parquet(_scores(scores))), (layout.TIES, _parquet(_ties(scores)))]
    listed: dict[str, Any] = {}
    for name, by_system in kept.items():
        kind = layout.KINDS_BY_SYSTEM[name]
        listed[name] = [{"system": system} | _about(table) for system, table in by_system.items()]
        members += [(layout.member(kind, at), _stored(table)) for at, table in enumerate(by_system.values())]
    for kind, table in alone.items():
        listed[kind] = None if table is None else _about(table)
        members += [] if table is None else [(layout.member(kind), _stored(table))]
    head = _head(comparison) | {
        "depth": depth,
        "files": [record_of(report) for report in inputs.files],
        "problems": _problems(inputs.problems),
        "tables": listed,
    }
    return _zip(head, members)


def _head(comparison: Comparison) -> dict[str, Any]:
    """Everything but the tables."""
    scores = comparison.scores
    return {
        "format": layout.FORMAT,
        "version": layout.VERSION,
        "ragdash": ragdash.__version__,
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "primary": layout.spec_record(comparison.primary),
        "shown": [layout.spec_record(spec) for spec in comparison.metrics],
        "terms": record_of(comparison.terms),
        "settings": record_of(scores.settings),
        "metrics": [layout.spec_record(spec) for spec in scores.specs],
        "positive_only": scores.positive_only,
        "systems": [
            {"name": name, "extra": list(one.extra), "duplicates": one.duplicates.tolist()}
            for name, one in scores.systems.items()
        ],
        "scoring_problems": _problems(scores.problems),
    }


def _problems(problems: tuple[Problem, ...]) -> list[dict[str, Any]]:
    return [record_of(problem) for problem in problems]


def _scores(scores: Scores) -> pa.Table:
    """A row a system and question, system after system: for each metric its value and whether the row was absent."""
    systems = scores.systems.values()
    columns = {
        "system": pa.array(np.repeat(np.array(list(scores.systems), dtype=object), len(scores.query_ids)), pa.string()),
        "query_id": pa.array(scores.query_ids.tolist() * len(scores.systems), pa.string()),
    }
    for row in range(len(scores.specs)):
        columns[f"value {row}"] = pa.array(np.concatenate([one.values[row] for one in systems]))
        columns[f"absent {row}"] = pa.array(np.concatenate([one.absent[row] for one in systems]))
    return pa.table(columns)


def _ties(scores: Scores) -> pa.Table:
    """A row a system and question that equal scores leave open: both by number, for each metric lowest and highest."""
    systems = list(scores.systems.values())
    columns = {
        "system": pa.array(np.repeat(np.arange(len(systems)), [len(one.tied) for one in systems])),
        "query": pa.array(np.concatenate([one.tied for one in systems]), pa.int64()),
    }
    for row in range(len(scores.specs)):
        columns[f"low {row}"] = pa.array(np.concatenate([one.tie_low[row] for one in systems]), pa.float64())
        columns[f"high {row}"] = pa.array(np.concatenate([one.tie_high[row] for one in systems]), pa.float64())
    return pa.table(columns)


def _about(table: Table) -> dict[str, Any]:
    return {"files": list(table.files), "unit": table.unit}


def _stored(table: Table) -> bytes:
    """A table with the place each row came from."""
    rows = table.rows.append_column(layout.LINE, pa.array(table.lines, pa.int64()))
    return _parquet(rows.append_column(layout.FILE, pa.array(table.file, pa.int16())))


def _parquet(rows: pa.Table) -> bytes:
    """Parquet of which every number reads back to the same bit: dictionaries, which merge equal ones, are for text."""
    import pyarrow.parquet as pq  # here, since it slows every start

    stream = io.BytesIO()
    texts = list(_texts(rows.schema))
    pq.write_table(rows, stream, compression="zstd", use_dictionary=texts or False, write_statistics=False)
    return stream.getvalue()


def _texts(schema: pa.Schema) -> Iterator[str]:
    for column in schema:
        if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
            yield column.name
        elif pa.types.is_list(column.type):
            yield f"{column.name}.list.element"


def _zip(head: Mapping[str, Any], members: list[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        packed = [(layout.HEAD, json.dumps(head, indent=1).encode(), zipfile.ZIP_DEFLATED)]
        for name, content, packing in [*packed, *((name, content, zipfile.ZIP_STORED) for name, content in members)]:
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.create_system = packing, 3
            archive.writestr(entry, content)
    return stream.getvalue()
