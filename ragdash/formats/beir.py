"""BEIR folders (also used by MTEB and most public sets): corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ragdash.formats.cells import Sheet
from ragdash.formats.faults import Faults
from ragdash.formats.ragdash_jsonl import first_object, read_objects
from ragdash.formats.registry import file_format
from ragdash.formats.words import Layout, read_words
from ragdash.problems import Problem, refuse
from ragdash.schema import Raw
from ragdash.sources import Source

HEADER = ["query-id", "corpus-id", "score"]
LAYOUT = Layout(
    kind="judgments",
    what="a line of BEIR judgments",
    shape="query-id corpus-id score",
    columns=(("query_id", pa.string()), ("doc_id", pa.string()), ("grade", pa.float64())),
)
SAMPLE = b"""\
query-id\tcorpus-id\tscore
q1\td1\t1
q1\td3\t2
001\t1e5\t1
"""


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """Whether the first line is the header of BEIR judgments, or an object with _id and text."""
    if head.split(b"\n", 1)[0].decode(errors="replace").split() == HEADER:
        return 1.0, f"the first line is {' '.join(HEADER)}"
    if {"_id", "text"} <= first_object(head):
        return 0.95, "the first line is a JSON object with _id and text"
    return 0.0, ""


@file_format(
    "beir",
    label="BEIR",
    kinds=("judgments", "queries", "documents"),
    extensions=(".tsv", ".jsonl", ".zip"),
    shape="a folder or zip with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, or one of them",
    likelihood=likelihood,
    sample=SAMPLE,
    sample_name="test.tsv",
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """A folder or zip with `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`, or one of these files alone.

    Of several splits the one named test is taken, which is noted. A JSONL file whose rows have a title holds documents;
    without titles it holds documents where its name has corpus in it, else queries.
    """
    head = source.head()
    if not head.lstrip().startswith(b"{"):
        return read_words(source, LAYOUT, header=1)
    documents = "title" in first_object(head) or "corpus" in PurePosixPath(source.name).name.casefold()
    return _read_texts(source, documents and "quer" not in PurePosixPath(source.name).name.casefold())


def _read_texts(source: Source, documents: bool) -> Iterator[Raw | Problem]:
    for batch in read_objects(source):
        if isinstance(batch, Problem):
            yield batch
            continue
        columns, lines = batch
        faults = Faults(source.name)
        blank = [None] * len(lines)
        theirs = {name: columns.get(name, blank) for name in ("_id", "title", "text")}
        sheet = Sheet(theirs, np.array(lines, np.int64), faults)
        ids, text = sheet.ids("_id"), sheet.texts("text")
        if documents:
            rows = pa.table({"doc_id": ids, "title": sheet.texts("title"), "text": text})
        else:
            rows = pa.table({"query_id": ids, "query": text})
        yield Raw("documents" if documents else "queries", rows, sheet.lines)
        yield from faults


class Pieces(NamedTuple):
    """A BEIR set in a folder or archive: the folder its files lie in, the files, the splits not taken, and a note."""

    root: str
    files: list[str]
    left_out: list[str]
    note: Problem | None


def beir_pieces(folder: str, names: Iterable[str]) -> Pieces | None:
    """Which files of a folder or archive make a BEIR set; None where it is none.

    It is one where there are judgments in a folder qrels, or both corpus.jsonl and queries.jsonl. `names` are paths
    below the folder, with /. Raises InputError where several splits are there and none is test.

    >>> found = beir_pieces("set", ["x/corpus.jsonl", "x/qrels/dev.tsv", "x/qrels/test.tsv", "x/readme.md"])
    >>> found.root, found.files, found.left_out
    ('x', ['x/corpus.jsonl', 'x/qrels/test.tsv'], ['x/qrels/dev.tsv'])
    """
    paths = [PurePosixPath(name) for name in names]
    texts = [path for path in paths if _stem(path) in ("corpus.jsonl", "queries.jsonl")]
    splits = [path for path in paths if path.parent.name == "qrels" and _stem(path).endswith(".tsv")]
    both = Counter(path.parent for path in {path.parent / _stem(path): path for path in texts}.values())
    roots = {path.parent.parent for path in splits} | {root for root, found in both.items() if found > 1}
    if not roots:
        return None
    if len(roots) > 1:
        found = f"there are several BEIR sets in it ({', '.join(sorted(map(str, roots)))})"
        raise refuse(folder, found, "Give the one that is meant")
    root = "" if (only := str(*roots)) == "." else only
    chosen = splits if len(splits) < 2 else [path for path in splits if _stem(path) == "test.tsv"]
    known = ", ".join(sorted(_stem(path).removesuffix(".tsv") for path in splits))
    if splits and not chosen:
        found = f"it has several splits ({known}) and none is named test"
        raise refuse(folder, found, "Give the qrels file that is meant")
    note = None
    if len(splits) > len(chosen):
        found = f"of its splits ({known}) the one named test was taken"
        note = Problem(folder, found, "Give the qrels file of another as judgments to take that one", "note")
    files = [path for path in texts if path.parent in roots] + chosen
    return Pieces(root, [str(path) for path in files], [str(path) for path in splits if path not in chosen], note)


def _stem(path: PurePosixPath) -> str:
    return path.name.removesuffix(".gz").removesuffix(".zst")
