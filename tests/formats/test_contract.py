"""What every registered format must do, checked for all of them with their own samples."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pyarrow as pa
import pytest

from ragdash.formats.registry import FORMATS, Format, Loaded, detect, read
from ragdash.schema import KINDS, Table
from ragdash.sources import Source

ALL = list(FORMATS)
TEXT = [entry for entry in ALL if b"\0" not in entry.sample]
WRITING = [entry for entry in ALL if entry.write is not None]
VARIANTS = {
    "gzip": gzip.compress,
    "zstd": lambda sample: pa.compress(sample, codec="zstd", asbytes=True),
    "CRLF": lambda sample: sample.replace(b"\n", b"\r\n"),
    "BOM": lambda sample: b"\xef\xbb\xbf" + sample,
    "UTF-16": lambda sample: sample.decode().encode("utf-16"),
    "no last newline": lambda sample: sample.rstrip(b"\n"),
    "blank last lines": lambda sample: sample + b"\n\n",
}


def loaded(entry: Format, content: bytes, name: str | None = None) -> Loaded:
    return read(Source.from_bytes(name or entry.sample_name, content))


def plain(tables: Mapping[str, Table]) -> dict[str, tuple[object, object]]:
    return {
        kind: ({name: table.column(name).to_pylist() for name in table.rows.column_names}, table.lines.tolist())
        for kind, table in tables.items()
    }


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_sample_is_detected_as_its_own_format_whatever_its_name(entry: Format) -> None:
    for name in (entry.sample_name, "upload"):
        found = detect(Source.from_bytes(name, entry.sample))
        assert found.format.name == entry.name
        assert found.reason
        assert 0 < found.likelihood <= 1
        assert all(likelihood < found.likelihood for _, likelihood in found.others)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_sample_reads_without_problems_and_only_kinds_it_declares(entry: Format) -> None:
    found = loaded(entry, entry.sample)
    assert found.problems == ()
    assert found.tables
    assert set(found.tables) <= set(entry.kinds) <= set(KINDS)
    assert any(entry.sample_name.endswith(extension) for extension in entry.extensions)
    for kind, table in found.tables.items():
        assert len(table) == found.rows[kind] > 0
        assert table.where(0).startswith(f"{entry.sample_name}, {table.unit} ")
        assert all(table.rows.column(name).num_chunks == 1 for name in table.rows.column_names)
        assert {column.name for column in KINDS[kind] if column.required} <= set(table.rows.column_names)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("entry", TEXT, ids=lambda entry: entry.name)
def test_text_reads_the_same_however_it_is_packed_or_encoded(entry: Format, variant: str) -> None:
    found = loaded(entry, VARIANTS[variant](entry.sample))
    assert found.detection.format.name == entry.name
    assert found.problems == ()
    assert plain(found.tables) == plain(loaded(entry, entry.sample).tables)


@pytest.mark.parametrize("entry", WRITING, ids=lambda entry: entry.name)
def test_what_is_written_reads_back_exactly(entry: Format) -> None:
    tables = loaded(entry, entry.sample).tables
    again = loaded(entry, b"".join(entry.write(tables)))  # type: ignore[misc]
    assert again.problems == ()
    assert plain(again.tables) == plain(tables)


def test_these_formats_write() -> None:
    assert {entry.name for entry in WRITING} == {"trec_run", "trec_qrels", "ragdash_jsonl"}


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_format_says_what_it_is(entry: Format) -> None:
    assert entry.label and entry.shape and len(entry.meaning) > 20
    assert entry.meaning == FORMATS[entry.name].meaning
