"""Parquet with the columns of ragdash JSONL, lists as lists, or one row a query and document."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ragdash import limits
from ragdash.formats.columns import Splitter
from ragdash.formats.registry import file_format
from ragdash.problems import Problem, refuse
from ragdash.schema import Raw
from ragdash.sources import Source

if TYPE_CHECKING:
    import pyarrow.parquet as pq  # at run time only where a Parquet file is read: it slows every start

ROWS_A_BATCH = 100_000


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """Whether the file starts with the four letters of Parquet."""
    return (1.0, "the file starts with PAR1") if head.startswith(b"PAR1") else (0.0, "")


def sample() -> bytes:
    """Two rows, made when they are asked for."""
    import pyarrow.parquet as pq

    rows = pa.table(
        {
            "query_id": pa.array(["q1", "001"], pa.string()),
            "retrieved_ids": pa.array([["d1", "d2"], ["d9"]], pa.list_(pa.string())),
            "scores": pa.array([[2.5, 1.0], [0.5]], pa.list_(pa.float64())),
            "relevant_ids": pa.array([["d2"], ["d3"]], pa.list_(pa.string())),
        }
    )
    stream = io.BytesIO()
    pq.write_table(rows, stream)
    return stream.getvalue()


@file_format(
    "parquet",
    label="Parquet",
    kinds=("run", "judgments", "answers", "queries", "documents", "scores"),
    extensions=(".parquet", ".pq"),
    shape="a table with the column query_id",
    likelihood=likelihood,
    sample=sample,
    sample_name="bm25.parquet",
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """The columns of ragdash JSONL, with lists as lists; or one row for each query and document.

    Grades by document may be a map, a struct or JSON text. Ids must be text or whole numbers.
    """
    import pyarrow.parquet as pq

    splitter = Splitter(source.name, "row")
    with source.stream() as stream:
        try:
            file = pq.ParquetFile(stream)
            _check_size(source, file)
            start = 1
            for batch in file.iter_batches(ROWS_A_BATCH):
                columns = {name: batch.column(name) for name in batch.schema.names}
                yield from splitter.split(columns, np.arange(start, start + batch.num_rows))
                start += batch.num_rows
            yield from splitter.scores()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            first = str(error).partition("\n")[0].rstrip(".")
            raise refuse(source.name, f"the Parquet file cannot be read ({first})", "Write it again") from error


def _check_size(source: Source, file: pq.ParquetFile) -> None:
    """Refuse a file that says it unpacks to more than the limits, before it does."""
    metadata = file.metadata
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    for limit, found in ((limits.ROWS, metadata.num_rows), (limits.UNPACKED_BYTES, size)):
        if found > limit.value:
            raise refuse(source.name, f"it has {found:,} {limit.unit}, more than {limit.value:,}", limit.hint)
