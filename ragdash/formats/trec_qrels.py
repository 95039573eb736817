"""TREC judgments (qrels): `query iteration document grade`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from ragdash.formats.registry import file_format
from ragdash.formats.trec_run import is_number, word_likelihood, word_lines, words_of, write_words
from ragdash.formats.words import NAME, Layout, read_words
from ragdash.problems import Problem
from ragdash.schema import Raw, Table
from ragdash.sources import Source

SHAPE = "query iteration document grade"
LAYOUT = Layout(
    kind="judgments",
    what="a line of TREC judgments",
    shape=SHAPE,
    columns=(("query_id", pa.string()), ("iteration", NAME), ("doc_id", pa.string()), ("grade", pa.float64())),
    left_out=("iteration",),
)
SAMPLE = b"""\
q1 0 d1 2
q1 0 d3 0
q1 0 d5 1
q2 0 d2 0.5
q2 0 d4 -2
"""


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """How many of the first lines have four words with a number as the fourth."""
    fits = [len(words) == 4 and is_number(words[3]) for words in word_lines(head)]
    return word_likelihood(fits, "the first line has four columns and the fourth is a number")


def write(tables: Mapping[str, Table]) -> Iterator[bytes]:
    """The judgments as TREC lines. Raises InputError for an id with a blank in it."""
    judgments = tables["judgments"]
    columns = [words_of(judgments, "query_id"), "0", words_of(judgments, "doc_id"), judgments.column("grade")]
    yield from write_words(columns, len(judgments))


@file_format(
    "trec_qrels",
    label="TREC judgments",
    kinds=("judgments",),
    extensions=(".qrels", ".txt", ".trec"),
    shape=SHAPE,
    likelihood=likelihood,
    sample=SAMPLE,
    sample_name="qrels.txt",
    write=write,
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """Four columns between blanks or tabs: query, iteration (ignored), document, grade.

    Grades may be fractions or negative. Lines that start with # and blank lines are skipped. Ids are text.
    """
    return read_words(source, LAYOUT)
