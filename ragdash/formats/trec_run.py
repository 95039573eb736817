"""TREC runs: `query Q0 document rank score tag`, the format of trec_eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.formats.registry import file_format
from ragdash.formats.words import NAME, Layout, read_words
from ragdash.problems import Problem, refuse, shorten
from ragdash.schema import Raw, Table
from ragdash.sources import Source

SHAPE = "query Q0 document rank score tag"
LAYOUT = Layout(
    kind="run",
    what="a TREC run",
    shape=SHAPE,
    columns=(
        ("query_id", pa.string()),
        ("iteration", NAME),
        ("doc_id", pa.string()),
        ("rank", pa.int64()),
        ("score", pa.float64()),
        ("system", NAME),
    ),
    left_out=("iteration",),
    optional="rank",
    open_ended=True,
)
SAMPLE = b"""\
q1 Q0 d3 1 12.5 bm25
q1 Q0 d1 2 9.25 bm25
q1 Q0 d7 3 9.25 bm25
q2 Q0 d2 1 7.125 bm25
q2 Q0 d9 2 0.5 bm25
"""
ROWS_A_CHUNK = 100_000


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """How many of the first lines have six words or more with a number as the fifth."""
    lines = word_lines(head)
    fits = [len(words) >= 6 and is_number(words[4]) for words in lines]
    reason = "the first line has six columns and the fifth is a number"
    return word_likelihood(fits, reason)


def word_lines(head: bytes, most: int = 50) -> list[list[bytes]]:
    """The words of the first lines that are neither blank nor comments; a last line cut short is left out."""
    lines = head.splitlines()
    whole = lines if len(lines) == 1 or len(head) < 4096 or head.endswith((b"\n", b"\r")) else lines[:-1]
    return [words for line in whole[:most] if (words := line.split()) and not words[0].startswith(b"#")]


def word_likelihood(fits: list[bool], reason: str) -> tuple[float, str]:
    """The share of lines that fit, 0 where it is under a half or the first two lines do not."""
    share = sum(fits) / len(fits) if fits else 0.0
    if share < 0.5 or not any(fits[:2]):
        return 0.0, ""
    return 0.9 * share, reason if fits[0] else reason.replace("the first line has", "most of the first lines have")


def is_number(word: bytes) -> bool:
    """Whether a word reads as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def write(tables: Mapping[str, Table]) -> Iterator[bytes]:
    """The run as TREC lines, in the order of its rows. Raises InputError for an id with a blank in it."""
    run = tables["run"]
    rank = run.column("rank") if "rank" in run else pa.array(_position(run.column("query_id")))
    score = run.column("score") if "score" in run else pc.negate(rank)
    system = run.column("system") if "system" in run else pa.array(["ragdash"] * len(run), pa.string())
    columns = [words_of(run, "query_id"), "Q0", words_of(run, "doc_id"), rank.cast(pa.int64()), score, system]
    yield from write_words(columns, len(run))


def write_words(columns: list[pa.Array | str], rows: int) -> Iterator[bytes]:
    """Lines of words from columns, in pieces; a text stands for a column that is the same everywhere."""
    for start in range(0, rows, ROWS_A_CHUNK):
        parts = [
            column if isinstance(column, str) else column.slice(start, ROWS_A_CHUNK).cast(pa.string())
            for column in columns
        ]
        lines = pc.binary_join_element_wise(*parts, " ")
        yield ("\n".join(lines.to_pylist()) + "\n").encode()


def words_of(table: Table, column: str) -> pa.Array:
    """A column of ids, which must be single words. Raises InputError for one with a blank or a leading #."""
    ids = table.column(column)
    split = pc.match_substring_regex(ids, r"\s|^#" if column == "query_id" else r"\s")
    if pc.any(split).as_py():
        row = pc.index(split, True).as_py()
        found = f"{column} {shorten(ids[row].as_py())} is not one word, which this format needs"
        raise refuse(table.where(row), found, "Export as ragdash JSONL instead")
    return ids


def _position(query_ids: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each row among the rows before it with the same query in an unbroken row, from 1."""
    code = query_ids.dictionary_encode().indices.to_numpy()
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]])) if len(code) else np.zeros(0, np.int64)
    return np.arange(len(code)) - np.repeat(first, np.diff(np.append(first, len(code)))) + 1


@file_format(
    "trec_run",
    label="TREC run",
    kinds=("run",),
    extensions=(".run", ".txt", ".trec", ".res"),
    shape=SHAPE,
    likelihood=likelihood,
    sample=SAMPLE,
    sample_name="bm25.run",
    write=write,
    names_systems=False,
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """Six columns between blanks or tabs: query, Q0, document, rank, score, tag.

    As in trec_eval, the order is that of the scores and the second column is ignored; the rank is kept where it is a
    whole number in every line, for `--ties rank`. The tag names the system only where a file has several; words
    after it are ignored, with a note. Lines that start with # and blank lines are skipped. Ids are text: 001 stays 001.
    """
    return read_words(source, LAYOUT)
