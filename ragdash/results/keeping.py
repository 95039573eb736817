"""What of the tables goes into a result file: ranked lists whole while they are small, and only documents shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.limits import MEGABYTE, Limit
from ragdash.matching import Ties, ranked_rows
from ragdash.ranking import Ints
from ragdash.schema import Table
from ragdash.tables import Tables

ROWS_KEPT = Limit("RAGDASH_MAX_RESULT_ROWS", 200_000, "rows")
DOCUMENT_CHARACTERS = Limit("RAGDASH_MAX_RESULT_DOCUMENT_CHARACTERS", 16 * MEGABYTE, "characters")
DEPTH, DOCUMENT_DEPTH = 100, 20
LONGEST_TEXT, SHORTEST_TEXT, LONGEST_TITLE = 2_000, 80, 300


def kept_runs(runs: Mapping[str, Table], ties: Ties) -> tuple[dict[str, Table], int | None]:
    """The ranked lists to keep and how deep they are: whole (None) up to ROWS_KEPT rows in all, else the first 100.

    A list that was cut cannot say any more that a document was not retrieved, so small ones are never cut.
    """
    if sum(map(len, runs.values())) <= ROWS_KEPT.value:
        return dict(runs), None
    return {name: top_of(run, DEPTH, ties) for name, run in runs.items()}, DEPTH


def top_of(run: Table, depth: int, ties: Ties = "doc_id") -> Table:
    """The rows of the first `depth` places of every list, in the order they came.

    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 3.0, 2.0]})
    >>> top_of(table_of("run", rows, "a.run"), 2).column("doc_id").to_pylist()
    ['b', 'c']
    """
    of_list = _lists(run)
    rows = ranked_rows(run, of_list, ties)
    new = np.append(True, of_list[rows][1:] != of_list[rows][:-1])[: len(rows)]
    number = np.arange(len(rows))
    place = number - np.maximum.accumulate(np.where(new, number, 0)) if len(rows) else number
    return run.take(np.sort(rows[place < depth]))


def _lists(run: Table) -> Ints:
    """Which list each row belongs to: that of its question, and of its repetition where there are several."""
    of_list = _codes(run.column("query_id"))
    if "repeat" not in run:
        return of_list
    repeat = _codes(run.column("repeat").fill_null(""))
    return of_list * (int(repeat.max(initial=0)) + 1) + repeat


def _codes(cells: pa.Array) -> Ints:
    return np.asarray(cells.dictionary_encode().indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def kept_documents(tables: Tables, runs: Mapping[str, Table], depth: int | None, ties: Ties) -> Table | None:
    """The documents that can be shown, with as much of their texts as fits: those in the lists kept (in the first 20
    places where these were cut), those judged relevant, and those in a context."""
    if tables.documents is None:
        return None
    shown = list(runs.values()) if depth is None else [top_of(run, DOCUMENT_DEPTH, ties) for run in runs.values()]
    wanted = pa.concat_arrays([pa.array([], pa.string()), *_shown_ids(tables, shown)])
    kept = pc.is_in(tables.documents.column("doc_id"), value_set=pc.unique(wanted))
    documents = tables.documents.take(np.flatnonzero(kept.to_numpy(zero_copy_only=False)))
    share = DOCUMENT_CHARACTERS.value // max(len(documents), 1)
    longest = {"text": int(np.clip(share, SHORTEST_TEXT, LONGEST_TEXT)), "title": LONGEST_TITLE}
    rows = documents.rows
    for name in longest.keys() & set(rows.column_names):
        at = rows.column_names.index(name)
        rows = rows.set_column(at, name, pc.utf8_slice_codeunits(rows.column(name), 0, longest[name]))
    return Table(documents.kind, rows, documents.lines, documents.files, documents.file, documents.unit)


def _shown_ids(tables: Tables, runs: Iterable[Table]) -> Iterator[pa.Array]:
    for run in runs:
        yield run.column("doc_id")
    if tables.judgments is not None:
        yield tables.judgments.column("doc_id").filter(pc.greater(tables.judgments.column("grade"), 0))
    for answers in tables.answers.values():
        if "context_ids" in answers:
            yield pc.list_flatten(answers.column("context_ids"))
