"""Which columns make which kind of table: shared by JSONL, delimited text and Parquet.

Three sorts of row are told apart by the ids they have: a query with a document (one retrieved or judged document a
row), a query alone (a whole list, an answer, scores in one row), and a document alone (its text).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ragdash.formats.cells import GRADES, Cells, Sheet, as_grades, as_ids, as_names, as_numbers, python_values, written
from ragdash.formats.faults import REPETITION, Faults
from ragdash.problems import Problem
from ragdash.schema import Raw

NAMES: dict[str, tuple[str, ...]] = {
    "query_id": ("query_id", "qid", "topic_id"),
    "doc_id": ("doc_id", "docid", "docno", "document_id"),
    "system": ("system", "run_id"),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rating"),
    "query": ("query", "question", "user_input"),
    "retrieved_ids": ("retrieved_ids", "retrieved_doc_ids"),
    "scores": ("scores", "retrieved_scores"),
    "relevant_ids": ("relevant_ids", "relevant_doc_ids", "reference_context_ids"),
    "relevance_grades": ("relevance_grades", "grades"),
    "answer": ("generated_answer", "answer", "response"),
    "context_ids": ("context_doc_ids", "context_ids", "retrieved_context_ids"),
    "reference": ("reference", "ground_truth"),
    "slice": ("slices", "slice"),
    "answerable": ("answerable",),
    "repeat": ("repeat", "repetition", "trial"),
    "abstained": ("abstained",),
    "title": ("title",),
    "text": ("text", "contents"),
    "metric": ("metric",),
    "value": ("value",),
}
A_QUERY = (
    "query_id", "system", "query", "retrieved_ids", "scores", "relevant_ids", "relevance_grades", "answer",
    "context_ids", "reference", "slice", "answerable", "abstained",
)  # fmt: skip
NO_SCORES = frozenset({"timestamp", "cluster_id", "tool_version"})


def known_columns(names: Iterable[str]) -> dict[str, str]:
    """Our name of each column that is known, with the name it has in the file; the first alias present wins.

    >>> known_columns(["QID", "question", "note"])
    {'query_id': 'QID', 'query': 'question'}
    """
    folded = {name.strip().casefold(): name for name in reversed(list(names))}
    found = {
        ours: next((folded[alias] for alias in aliases if alias in folded), None) for ours, aliases in NAMES.items()
    }
    return {ours: name for ours, name in found.items() if name is not None}


@dataclass
class Splitter:
    """Splits the rows of one file into raw tables of each kind, batch by batch.

    A second list or answer of the same system and query is a fault that names both lines, and is numbered in a column
    `repeat`, so that the evaluation can average repetitions where that is wanted.
    """

    file: str
    unit: str = "line"
    _seen: dict[tuple[str, str | None, str | None], tuple[int, int]] = field(default_factory=dict)
    _scores: dict[str, list[Raw] | None] = field(default_factory=dict)

    def split(self, columns: dict[str, Cells], lines: NDArray[np.int64]) -> Iterator[Raw | Problem]:
        """The tables in a batch of rows, and the problems with them. `columns` are named as in the file."""
        known = known_columns(columns)
        faults = Faults(self.file, self.unit)
        ours = {name: columns[theirs] for name, theirs in known.items()}
        sheet = Sheet(ours, lines, faults)
        if "query_id" not in ours and not {"doc_id", "text"} <= ours.keys():
            found = ", ".join(columns) or "none"
            yield Problem(self.file, f"there is no column query_id; found {found}", "Add the column query_id")
            return
        has_doc = sheet.given("doc_id") if "query_id" in ours else np.ones(len(sheet), bool)
        alone = has_doc & ~sheet.given("query_id") if "text" in ours else np.zeros(len(sheet), bool)
        extras = {name: cells for name, cells in columns.items() if name not in known.values()}
        extras |= {known[name]: ours[name] for name in ("score", "rank", "grade") if name in ours}
        parts = (
            self._documents(sheet.rows(alone)),
            self._pairs(sheet.rows(has_doc & ~alone)),
            self._lists(sheet.rows(~has_doc), Sheet(extras, lines, faults).rows(~has_doc)),
        )
        for raw in itertools.chain(*parts):
            yield Raw(raw.kind, raw.rows, raw.lines, self.unit)
        yield from faults

    def _documents(self, sheet: Sheet) -> Iterator[Raw]:
        if len(sheet):
            yield _raw("documents", sheet, doc_id=sheet.ids("doc_id"), **_texts(sheet, "title", "text"))

    def _pairs(self, sheet: Sheet) -> Iterator[Raw]:
        """One document a row: retrieved where there is a score or a rank, judged where there is a grade."""
        if not len(sheet):
            return
        ids = {name: sheet.ids(name) for name in ("query_id", "doc_id") if name in sheet.columns}
        system = _ids(sheet, "system")
        order = {name: sheet.values(name) for name in ("score", "rank") if name in sheet.columns}
        if order or "grade" not in sheet.columns:
            yield _raw("run", sheet, **system, **ids, **order, **_texts(sheet, "repeat"))
        if "grade" in sheet.columns:
            judged = sheet.rows(sheet.given("grade")) if order else sheet
            pair = {name: judged.ids(name) for name in ids}
            yield _raw("judgments", judged, **pair, grade=judged.values("grade"))
        if "query" in sheet.columns:
            code = np.asarray(ids["query_id"].dictionary_encode().indices.fill_null(-1))
            first = np.zeros(len(sheet), bool)
            first[np.unique(code, return_index=True)[1]] = True
            asked = sheet.rows(first & sheet.given("query"))
            yield _raw("queries", asked, query_id=asked.ids("query_id"), query=asked.texts("query"))

    def _lists(self, sheet: Sheet, extras: Sheet) -> Iterator[Raw]:
        """One query a row."""
        if not len(sheet):
            return
        query_id = sheet.ids("query_id")
        who = _ids(sheet, "system") | {"query_id": query_id}
        if {"metric", "value"} <= sheet.columns.keys():
            yield _raw("scores", sheet, **who, metric=sheet.ids("metric"), value=sheet.values("value"))
            return
        repeat = self._repetitions(sheet, who)
        yield from _run(sheet, who | repeat)
        yield from _judgments(sheet, query_id)
        yield from _answers(sheet, who | repeat)
        yield from _queries(sheet, query_id)
        self._keep_scores(extras, who)

    def scores(self) -> Iterator[Raw]:
        """A brought-in score for every further column that has only numbers in the whole file; call it at the end."""
        for raws in self._scores.values():
            for raw in raws or ():
                yield Raw(raw.kind, raw.rows, raw.lines, self.unit)

    def _keep_scores(self, extras: Sheet, who: dict[str, pa.Array]) -> None:
        for name, cells in extras.columns.items():
            kept = self._scores.setdefault(name, None if name.strip().casefold() in NO_SCORES else [])
            if kept is not None:
                raw = _score_rows(name.strip(), python_values(cells), extras.lines, who)
                self._scores[name] = None if raw is None else [*kept, raw] if len(raw.lines) else kept

    def _repetitions(self, sheet: Sheet, who: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The column `repeat`: as given, else counted, which is a fault until somebody says to average them."""
        if "repeat" in sheet.columns:
            return {"repeat": sheet.texts("repeat")}
        names = [python_values(who[name]) if name in who else [None] * len(sheet) for name in ("system", "query_id")]
        parts = {"answers": _answered(sheet), "run": sheet.given("retrieved_ids") | ~_answered(sheet)}
        counted = np.ones(len(sheet), np.int64)
        for row, (line, system, query) in enumerate(zip(sheet.lines.tolist(), *names, strict=True)):
            seen = [self._count((part, system, query), line) for part, there in parts.items() if there[row]]
            first, counted[row] = max(seen, key=lambda one: one[1])
            if counted[row] > 1 and query is not None:
                of = f" of system {system!r}" if system is not None else ""
                found = f"query {query!r}{of} stands here again, first in {self.unit} {first}"
                mend = "Keep one row for each query and system, or say that they are repetitions (--repeats mean)"
                sheet.faults.add(REPETITION, line, found, mend)
        return {"repeat": pa.array(counted).cast(pa.string())} if counted.max() > 1 else {}

    def _count(self, key: tuple[str, str | None, str | None], line: int) -> tuple[int, int]:
        """The line where a list or answer of a question first stood, and how often it stood by now."""
        first, count = self._seen.get(key, (line, 0))
        self._seen[key] = (first, count + 1)
        return first, count + 1


def _raw(kind: str, sheet: Sheet, **columns: pa.Array) -> Raw:
    return Raw(kind, pa.table(columns), sheet.lines)


def _ids(sheet: Sheet, name: str) -> dict[str, pa.Array]:
    return {name: sheet.ids(name)} if name in sheet.columns else {}


def _texts(sheet: Sheet, *names: str) -> dict[str, pa.Array]:
    return {name: sheet.texts(name) for name in names if name in sheet.columns}


def _repeated(sheet: Sheet, who: dict[str, pa.Array], kind: str, sizes: list[int], **columns: pa.Array) -> Raw:
    """Rows made from list cells: `sizes` (rows,) of them from each row, with the ids of that row."""
    row = np.repeat(np.arange(len(sheet)), sizes)
    ids = {name: cells.take(pa.array(row)) for name, cells in who.items()}
    return Raw(kind, pa.table(ids | columns), sheet.lines[row])


def _run(sheet: Sheet, who: dict[str, pa.Array]) -> Iterator[Raw]:
    if not sheet.given("retrieved_ids").any():
        return
    retrieved = sheet.lists("retrieved_ids", as_ids)
    scores = sheet.lists("scores", as_numbers, "Write a list such as [2.5, 1.25]")
    for row, (ids, numbers) in enumerate(zip(retrieved, scores, strict=True)):
        if numbers is not None and len(numbers) != len(ids or ()):
            found = f"{len(ids or ()):,} retrieved_ids and {len(numbers):,} scores"
            sheet.faults.add("lengths", int(sheet.lines[row]), found, "Write one score for each retrieved id")
            retrieved[row] = scores[row] = None
    has_scores = any(numbers is not None for numbers in scores)
    lacking = [row for row, ids in enumerate(retrieved) if has_scores and ids and scores[row] is None]
    written_down = sheet.given("scores")
    for row in lacking:
        retrieved[row] = None
        if not written_down[row]:
            found = "scores is missing here and given elsewhere"
            sheet.faults.add("scores", int(sheet.lines[row]), found, "Write scores in every row or in none")
    sizes = [len(ids or ()) for ids in retrieved]
    columns = {"doc_id": pa.array([one for ids in retrieved for one in ids or ()], pa.string())}
    if has_scores:
        given = [
            one for ids, numbers in zip(retrieved, scores, strict=True) for one in numbers or [None] * len(ids or ())
        ]
        columns["score"] = _numbers(given)
    yield _repeated(sheet, who, "run", sizes, **columns)


def _judgments(sheet: Sheet, query_id: pa.Array) -> Iterator[Raw]:
    if not (sheet.given("relevant_ids") | sheet.given("relevance_grades")).any():
        return
    relevant = sheet.lists("relevant_ids", as_ids)
    grades = sheet.lists("relevance_grades", as_grades, GRADES)
    judged = [
        dict.fromkeys(ids or (), 1) | (by_doc or {}) for ids, by_doc in zip(relevant, grades, strict=True)
    ]  # fmt: skip
    columns = {
        "doc_id": pa.array([doc for row in judged for doc in row], pa.string()),
        "grade": _numbers([grade for row in judged for grade in row.values()]),
    }
    yield _repeated(sheet, {"query_id": query_id}, "judgments", [len(row) for row in judged], **columns)


def _answered(sheet: Sheet) -> NDArray[np.bool_]:
    """Which rows have an answer, an empty one included, or say that there was none, (rows,)."""
    if "answer" not in sheet.columns:
        return np.zeros(len(sheet), bool)
    answers = python_values(sheet.columns["answer"])
    return np.array([cell is not None for cell in answers], bool) | sheet.given("abstained")


def _answers(sheet: Sheet, who: dict[str, pa.Array]) -> Iterator[Raw]:
    answered = _answered(sheet)
    rows = sheet.rows(answered)
    if not len(rows):
        return
    columns = {name: ids.filter(pa.array(answered)) for name, ids in who.items()} | _texts(rows, "answer")
    if "context_ids" in rows.columns:
        columns["context_ids"] = pa.array(rows.lists("context_ids", as_ids), pa.list_(pa.string()))
    if "abstained" in rows.columns:
        columns["abstained"] = rows.values("abstained")
    yield _raw("answers", rows, **columns)


def _queries(sheet: Sheet, query_id: pa.Array) -> Iterator[Raw]:
    columns = _texts(sheet, "query", "reference")
    if "answerable" in sheet.columns:
        columns["answerable"] = sheet.values("answerable")
    if "slice" in sheet.columns:
        columns["slice"] = pa.array(sheet.lists("slice", as_names), pa.list_(pa.string()))
    if columns:
        yield _raw("queries", sheet, query_id=query_id, **columns)


def _score_rows(name: str, cells: Iterable[Any], lines: NDArray[np.int64], who: dict[str, pa.Array]) -> Raw | None:
    """The cells of one column as scores, a missing one no row; None where one of them is no number."""
    try:
        values = [None if cell is None or cell == "" else float(cell) for cell in cells]
    except (TypeError, ValueError):
        return None
    given = np.array([value is not None for value in values], bool)
    columns = {column: ids.filter(pa.array(given)) for column, ids in who.items()}
    columns["metric"] = pa.array([name] * int(given.sum()), pa.string())
    columns["value"] = pa.array([value for value in values if value is not None], pa.float64())
    return Raw("scores", pa.table(columns), lines[given])


def _numbers(cells: list[Any]) -> pa.Array:
    """Numbers as such; as written where one is something else, so that `conform` can say what."""
    try:
        return pa.array(cells, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if cell is None else written(cell) for cell in cells], pa.string())
