"""ragdash JSONL: one query a line, with its list, judgments, answer and scores; ours to read and to write exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ragdash import limits
from ragdash.formats.cells import Cells, TooDeep, Unclear, parse_json
from ragdash.formats.columns import Splitter, known_columns
from ragdash.formats.faults import Faults
from ragdash.formats.registry import file_format
from ragdash.problems import Problem, shorten
from ragdash.schema import Raw, Table
from ragdash.sources import Block, Source, text_blocks

KEY = re.compile(rb'"([^"\\]{1,60})"\s*:')
OBJECT = 'Write one JSON object a line, such as {"query_id": "q1", "retrieved_ids": ["d1"]}'
UNCLEAR = "Write each key once in an object, and characters as themselves or as a whole pair"
SAMPLE = (
    b'{"system": "bm25", "query_id": "q1", "query": "How high is Mount Alder?", "retrieved_ids": ["d1", "d 7"], '
    b'"scores": [9.25, 4.5], "relevance_grades": {"d1": 2, "d5": 0.5}, "generated_answer": "812 m [1].", '
    b'"context_doc_ids": ["d1", "d 7"], "reference": "812 m", "slices": ["numbers"], "answerable": true, '
    b'"faithfulness": 0.75}\n'
    b'{"system": "bm25", "query_id": "001", "query": "Who founded it?", "retrieved_ids": ["null"], "scores": [1.5], '
    b'"relevance_grades": {"1e5": 1, "d2": -2}, "generated_answer": "", "context_doc_ids": ["null"], '
    b'"abstained": true, "faithfulness": 0.5}\n'
    b'{"doc_id": "d1", "title": "Mount Alder", "text": "Mount Alder is 812 m high."}\n'
)


def first_object(head: bytes) -> set[str]:
    """The keys of the first line where it is a JSON object; what looks like keys where it is broken or cut short."""
    line = head.lstrip().partition(b"\n")[0]
    if not line.startswith(b"{"):
        return set()
    try:
        return set(parse_json(line))
    except ValueError:
        return {key.decode(errors="replace") for key in KEY.findall(line)}


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """Whether the first line is a JSON object with an id of ours."""
    known = known_columns(first_object(head))
    if "query_id" in known:
        return 0.95, f"the first line is a JSON object with {known['query_id']}"
    if {"doc_id", "text"} <= known.keys():
        return 0.9, f"the first line is a JSON object with {known['doc_id']} and {known['text']}"
    return 0.0, ""


def read_objects(source: Source) -> Iterator[tuple[dict[str, Cells], list[int]] | Problem]:
    """Batches of JSON objects as columns of Python values with the line of each, and the faults of other lines."""
    faults = Faults(source.name)
    for block in text_blocks(source):
        objects, lines = _objects(block, faults)
        if lines:
            names = dict.fromkeys(key for record in objects for key in record)
            yield {name: [record.get(name) for record in objects] for name in names}, lines
    yield from faults


def _objects(block: Block, faults: Faults) -> tuple[list[dict[str, Any]], list[int]]:
    objects, lines = [], []
    for line, text in enumerate(block.content.split(b"\n"), block.line):
        if not text.strip():
            continue
        try:
            record = parse_json(text)
        except TooDeep as error:
            faults.add("depth", line, f"the JSON is {error}", limits.JSON_DEPTH.hint)
            continue
        except Unclear as error:
            faults.add("JSON", line, str(error), UNCLEAR)
            continue
        except ValueError as error:
            faults.add("JSON", line, f"broken JSON ({error})", OBJECT)
            continue
        if isinstance(record, dict):
            objects.append(record)
            lines.append(line)
        else:
            faults.add("JSON", line, f"{shorten(json.dumps(record))} is not a JSON object", OBJECT)
    return objects, lines


def write(tables: Mapping[str, Table]) -> Iterator[bytes]:
    """All tables, one line a system and query, in the order of first appearance, then one line a document.

    Judgments and questions stand in the line of the first system, or in one of their own. Missing scores are left out.
    """
    records: dict[tuple[str | None, str], dict[str, Any]] = {}
    first: dict[str, dict[str, Any]] = {}

    def record(query: str, system: str | None = None) -> dict[str, Any]:
        start = ({} if system is None else {"system": system}) | {"query_id": query}
        found = records.setdefault((system, query), start)
        first.setdefault(query, found)
        return found

    for row in _rows(tables, "run"):
        line = record(row["query_id"], row.get("system"))
        line.setdefault("retrieved_ids", []).append(row["doc_id"])
        if row.get("score") is not None:
            line.setdefault("scores", []).append(row["score"])
    for row in _rows(tables, "answers"):
        line = record(row["query_id"], row.get("system"))
        line["generated_answer"] = row["answer"]
        _add(line, row, context_doc_ids="context_ids", abstained="abstained")
    for row in _rows(tables, "scores"):
        if row["value"] is not None and not np.isnan(row["value"]):
            record(row["query_id"], row.get("system"))[row["metric"]] = row["value"]
    for row in _rows(tables, "judgments"):
        line = first.get(row["query_id"]) or record(row["query_id"])
        line.setdefault("relevance_grades", {})[row["doc_id"]] = row["grade"]
    for row in _rows(tables, "queries"):
        line = first.get(row["query_id"]) or record(row["query_id"])
        _add(line, row, query="query", reference="reference", slices="slice", answerable="answerable")
    documents = ({name: cell for name, cell in row.items() if cell is not None} for row in _rows(tables, "documents"))
    yield from _lines(records.values())
    yield from _lines(documents)


def _rows(tables: Mapping[str, Table], kind: str) -> Iterable[dict[str, Any]]:
    return tables[kind].rows.to_pylist() if kind in tables else ()


def _add(line: dict[str, Any], row: dict[str, Any], **names: str) -> None:
    """Add the cells that hold something, under the names they have in the file."""
    line.update({theirs: row[ours] for theirs, ours in names.items() if row.get(ours) not in (None, "")})


def _lines(records: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for record in records:
        yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


@file_format(
    "ragdash_jsonl",
    label="ragdash JSONL",
    kinds=("run", "judgments", "answers", "queries", "documents", "scores"),
    extensions=(".jsonl", ".ndjson"),
    shape='one JSON object a line with "query_id"',
    likelihood=likelihood,
    sample=SAMPLE,
    sample_name="bm25.jsonl",
    write=write,
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """One query a line: `query_id`, `query`, `retrieved_ids`, `scores`, `relevance_grades` and the like.

    `relevance_grades` is an object of grades by document, `relevant_ids` a list of documents of grade 1;
    `generated_answer`, `context_doc_ids`, `abstained` and `reference` describe the answer; `slices` and `answerable`
    the question; `system` names the configuration. Any further number is a score another tool gave. A line may also be
    one retrieved or judged document (`query_id`, `doc_id`, `score` or `grade`) or a document (`doc_id`, `text`).
    Ids are text: 001, 1e5 and null stay as written.
    """
    splitter = Splitter(source.name)
    for batch in read_objects(source):
        if isinstance(batch, Problem):
            yield batch
        else:
            columns, lines = batch
            yield from splitter.split(columns, np.array(lines, np.int64))
    yield from splitter.scores()
