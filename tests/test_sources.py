"""Sources: every packing and encoding gives the same text, every fault an exact message, nothing is held whole."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.problems import InputError
from ragdash.sources import Source, text_blocks

TEXT = "q1 Q0 dé 1 2.5 x\nq2 Q0 d 1 1 x\n"
VARIANTS = {
    "plain": TEXT.encode(),
    "gzip": gzip.compress(TEXT.encode()),
    "two gzip members": gzip.compress(TEXT.encode()[:9]) + gzip.compress(TEXT.encode()[9:]),
    "zstd": pa.compress(TEXT.encode(), codec="zstd", asbytes=True),
    "bom": b"\xef\xbb\xbf" + TEXT.encode(),
    "utf-16-le": TEXT.encode("utf-16"),
    "utf-16-be": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "gzip of utf-16": gzip.compress(TEXT.encode("utf-16")),
}


def message(content: bytes, name: str = "run.txt") -> str:
    with pytest.raises(InputError) as caught:
        list(text_blocks(Source.from_bytes(name, content)))
    return str(caught.value)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_packing_and_encoding_gives_the_same_text(name: str) -> None:
    source = Source.from_bytes("x", VARIANTS[name])
    assert b"".join(source.text(7)) == TEXT.encode()
    assert source.consumed == source.size
    assert source.head(1000) == TEXT.encode()


@given(st.binary(max_size=200).filter(bool), st.integers(1, 40))
def test_blocks_are_whole_lines_in_order_with_their_numbers(content: bytes, size: int) -> None:
    clean = content.replace(b"\0", b"").decode("latin-1").encode()
    source = Source.from_bytes("x", b"a" + clean)
    blocks = list(text_blocks(source, size))
    assert b"".join(block.content for block in blocks) == b"a" + clean
    line = 1
    for block in blocks:
        assert block.line == line
        assert block.lines == block.content.count(b"\n") + (not block.content.endswith(b"\n"))
        line += block.lines
    assert all(block.content.endswith(b"\n") for block in blocks[:-1])


def test_paths_uploads_stdin_and_zip_members_are_read_alike(write: Callable[[str, str | bytes], Path]) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("runs/a.run", TEXT)
        packed.writestr("__MACOSX/a.run", "x")
        packed.writestr("runs/.hidden", "x")
    members = Source.from_bytes("all.zip", archive.getvalue()).members()
    path = Source.from_path(write("deep/a.run", TEXT))
    sources = [path, Source.from_bytes("a.run", TEXT.encode()), Source.from_stdin(io.BytesIO(TEXT.encode())), *members]
    assert [b"".join(source.text()) for source in sources] == [TEXT.encode()] * 4
    assert [source.name for source in sources] == ["a.run", "a.run", "standard input", "all.zip/runs/a.run"]
    assert [source.folder for source in sources] == ["deep", "", "", "runs"]
    assert len({source.digest() for source in sources}) == 1


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as missing:
        Source.from_path("no.run")
    assert str(missing.value) == (
        f"no.run: there is no such file. Check the spelling; files are sought from {tmp_path}."
    )
    with pytest.raises(InputError) as folder:
        Source.from_path(tmp_path)
    assert str(folder.value) == f"{tmp_path}: this is a folder. Name the files in it."


def test_a_file_that_may_not_be_read(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[str, str | bytes], Path]
) -> None:
    path = write("a.run", TEXT)

    def refused(*_: object, **__: object) -> BinaryIO:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError) as caught:
        Source.from_path(path)
    assert str(caught.value) == f"{path}: the file may not be read. Change its permissions."


def test_an_empty_file() -> None:
    assert message(b"") == "run.txt: the file is empty. Choose a file with rows."
    assert message(gzip.compress(b"")) == "run.txt: the file is empty. Choose a file with rows."
    assert message(b"\xef\xbb\xbf") == "run.txt: the file is empty. Choose a file with rows."


def test_truncated_and_damaged_packing() -> None:
    packed = gzip.compress(TEXT.encode() * 50)
    too_early = "run.txt: the packed file ends too early. Copy or download it again."
    damaged = "run.txt: the packed file is damaged. Copy or download it again."
    assert message(packed[:-12]) == too_early
    assert message(packed[:-8] + b"\0\0\0\0" + packed[-4:]) == damaged
    assert message(packed[:10] + b"\xff" * 20 + packed[30:]) == damaged
    assert message(pa.compress(TEXT.encode() * 50, codec="zstd", asbytes=True)[:-9]) == too_early


def test_bytes_that_are_no_text() -> None:
    assert message(b"a\nb\nc\xe9d\n") == "run.txt, line 3: the byte 0xE9 is not UTF-8. Save the file as UTF-8."
    assert message(b"a\nb\0\n") == (
        "run.txt, line 2: a NUL byte, so this is a binary file, not text. Save it as UTF-8 text."
    )
    assert message("a\n".encode("utf-16") + b"x") == (
        "run.txt: the file starts as UTF-16 but is not valid UTF-16. Save it as UTF-8."
    )


class _Endless(io.RawIOBase):
    """A first line, then one of `size` letters, made as it is read."""

    def __init__(self, size: int) -> None:
        self._left, self._start = size, b"first\n"

    def seek(self, offset: int, whence: int = 0) -> int:
        self._start = b"first\n"
        return 0

    def read(self, size: int = -1) -> bytes:
        if self._start:
            chunk, self._start = self._start[:size], self._start[size:]
            return chunk
        count = min(size, self._left)
        self._left -= count
        return b"x" * count


def test_a_line_of_200_megabytes_is_measured_but_never_held() -> None:
    size = 200 * 1024 * 1024

    @contextmanager
    def opener() -> Iterator[BinaryIO]:
        yield _Endless(size)  # type: ignore[misc]

    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        list(text_blocks(Source("long.jsonl", size + 6, opener)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(caught.value) == (
        "long.jsonl, line 2: the line is 209,715,200 bytes long, more than 67,108,864. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_LINE_BYTES."
    )
    assert peak < 90 * 1024 * 1024


def test_limits_can_be_set_and_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDASH_MAX_LINE_BYTES", "5")
    assert message(b"12345\n1234567\n1\n") == (
        "run.txt, line 2: the line is 7 bytes long, more than 5. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_LINE_BYTES."
    )
    monkeypatch.setenv("RAGDASH_MAX_FILE_BYTES", "4")
    with pytest.raises(InputError, match=r"^a: the file has 5 bytes, more than 4\. Split it, or .*MAX_FILE_BYTES\.$"):
        Source.from_bytes("a", b"12345")
    with pytest.raises(InputError, match=r"^standard input: the file has 5 bytes, more than 4"):
        Source.from_stdin(io.BytesIO(b"1234567"))


@pytest.mark.parametrize("pack", [gzip.compress, lambda raw: pa.compress(raw, codec="zstd", asbytes=True)])
def test_bombs(pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack(b"q1 Q0 d1 1 1 x\n" * 1_000_000)
    assert message(packed).startswith(f"run.txt: unpacked it is more than 200 times its packed size of {len(packed):,}")
    monkeypatch.setenv("RAGDASH_MAX_UNPACKED_BYTES", "1000")
    assert message(packed) == (
        "run.txt: unpacked it has more than 1,000 bytes. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_UNPACKED_BYTES."
    )


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def refusal(content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        for member in Source.from_bytes("all.zip", content).members():
            list(member.text())
    return str(caught.value)


def test_zip_archives_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({"a.run": b"q1 Q0 d1 1 1 x\n" * 1_000_000})
    assert refusal(bomb).startswith("all.zip/a.run: unpacked it is more than 200 times its packed size of ")
    assert refusal(b"PK\x03\x04rubbish") == "all.zip: the zip archive is broken. Pack it again."
    office = zipped({"[Content_Types].xml": b"x"})
    assert refusal(office) == "all.zip: this is an Office file, not text. Save the table as CSV."
    damaged = bytearray(zipped({"a.run": TEXT.encode()}))
    damaged[45] ^= 255
    assert refusal(bytes(damaged)) == "all.zip/a.run: the packed file is damaged. Copy or download it again."
    locked = bytearray(zipped({"a.run": TEXT.encode()}))
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    assert "all.zip/a.run: it cannot be unpacked" in refusal(bytes(locked))
    monkeypatch.setenv("RAGDASH_MAX_ZIP_ENTRIES", "1")
    assert refusal(zipped({"a": b"1", "b": b"2"})) == (
        "all.zip: the archive has 2 files, more than 1. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_ZIP_ENTRIES."
    )


def test_a_zip_that_lies_about_its_size_gives_no_more_than_it_says() -> None:
    content = bytearray(zipped({"a.run": b"x" * 100_000}))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    content[22:26] = (10).to_bytes(4, "little")
    assert refusal(bytes(content)) == "all.zip/a.run: the packed file is damaged. Copy or download it again."
    assert zlib.crc32(b"x" * 10) != zlib.crc32(b"x" * 100_000)
