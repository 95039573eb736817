"""Where bytes come from: a path, an upload, standard input or a zip member, read in bounded pieces.

A Source unpacks gzip and zstd by their first bytes, turns UTF-16 into UTF-8, drops a byte order mark, counts what was
consumed for a progress bar, and answers every fault of a file with an InputError. Nothing is written to the disk.
"""

from __future__ import annotations

import codecs
import errno
import hashlib
import io
import itertools
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import pyarrow as pa

from ragdash import limits
from ragdash.problems import InputError, refuse

BLOCK_BYTES = 4 * limits.MEGABYTE
HEAD_BYTES = 256 * 1024
RATIO_FLOOR = 10 * limits.MEGABYTE
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Opener = Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(eq=False)
class Source:
    """A file to read: its name for messages, its stored (packed) size in bytes, and how to open it: any number of times
    and seekable. `folder` is the name of the folder it lies in, "" where there is none; `consumed` counts the stored
    bytes read by the reading under way.

    >>> source = Source.from_bytes("run.txt", b"\\xef\\xbb\\xbfq1 Q0 d1 1 2.5 bm25\\n")
    >>> source.head()
    b'q1 Q0 d1 1 2.5 bm25\\n'
    """

    name: str
    size: int
    opener: Opener = field(repr=False)
    folder: str = ""
    consumed: int = 0

    @classmethod
    def from_path(cls, path: str | Path, name: str = "") -> Source:
        """A file on the disk. Raises InputError where there is none, it is a folder, or it may not be read."""
        path = Path(path)
        if os.path.isdir(path):
            raise refuse(str(path), "this is a folder", "Name the files in it")
        try:
            size = path.stat().st_size
            with path.open("rb"):
                pass
        except (OSError, ValueError) as error:
            raise unreadable(str(path), error) from error
        return cls(name or path.name, size, lambda: path.open("rb"), path.absolute().parent.name)._checked()

    @classmethod
    def from_bytes(cls, name: str, content: bytes) -> Source:
        """Bytes in memory, such as an upload."""
        return cls(name, len(content), lambda: io.BytesIO(content))._checked()

    @classmethod
    def from_stdin(cls, stream: BinaryIO | None = None) -> Source:
        """Standard input, read to its end (at most the limit of a file) and kept in memory."""
        content = (stream or sys.stdin.buffer).read(limits.FILE_BYTES.value + 1)
        return cls.from_bytes("standard input", content)

    def _checked(self) -> Source:
        most = limits.FILE_BYTES
        if self.size > most.value:
            found = f"the file has {self.size:,} bytes, more than {most.value:,}"
            raise refuse(self.name, found, most.hint)
        return self

    def digest(self) -> str:
        """SHA-256 of the stored bytes, in hexadecimal."""
        with self._open() as stream:
            return hashlib.file_digest(cast(io.BufferedReader, stream), "sha256").hexdigest()

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """The first unpacked bytes, as UTF-8 without byte order mark where the file is text."""
        return next(self.text(size), b"")

    def is_zip(self) -> bool:
        """Whether the stored bytes are a zip archive."""
        with self._open() as stream:
            return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")

    def chunks(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The unpacked bytes, at most `size` at a time. Raises InputError for broken packing or over the limits."""
        total = 0
        with self._open() as stored:
            packing, stream = _packing(stored), _Counted(stored, self)
            if packing:
                stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), packing)
            while chunk := stream.read(size):
                total += len(chunk)
                self._check_unpacked(total)
                yield chunk

    def text(self, size: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The same as UTF-8 without byte order mark; UTF-16 that starts with one is transcoded on the way."""
        chunks = self.chunks(size)
        first = next(chunks, b"")
        if not first.startswith(UTF16):
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from chunks
            return
        decoder = codecs.getincrementaldecoder("utf-16")()
        try:
            for chunk in itertools.chain([first], chunks):
                yield decoder.decode(chunk).encode()
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise refuse(self.name, "the file starts as UTF-16 but is not valid UTF-16", "Save it as UTF-8") from error

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """The unpacked bytes as a seekable stream: the file itself where it is not packed, else held in memory."""
        with self._open() as stored:
            packed = _packing(stored) is not None
            self.consumed = 0 if packed else self.size
            yield io.BytesIO(b"".join(self.chunks())) if packed else stored

    def members(self) -> list[Source]:
        """The files of a zip archive, each a Source; folders and the entries of operating systems are left out.

        Raises InputError for a broken or encrypted archive and for one over the limits.
        """
        with self._archive() as archive:
            entries = [entry for entry in archive.infolist() if _is_file(entry)]
        most = limits.ZIP_ENTRIES
        if len(entries) > most.value:
            raise refuse(self.name, f"the archive has {len(entries):,} files, more than {most.value:,}", most.hint)
        if any(entry.filename == "[Content_Types].xml" for entry in entries):
            raise refuse(self.name, "this is an Office file, not text", "Save the table as CSV")
        return [self._member(entry) for entry in entries]

    def _member(self, entry: zipfile.ZipInfo) -> Source:
        name = f"{self.name}/{entry.filename}"

        @contextmanager
        def opener() -> Iterator[BinaryIO]:
            with self._archive() as archive, _faults_of(name), archive.open(entry) as stream:
                yield cast(BinaryIO, stream)

        member = Source(name, entry.compress_size, opener, Path(entry.filename).parent.name)
        member._check_unpacked(entry.file_size)
        return member

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        with self._open() as stream:
            try:
                archive = zipfile.ZipFile(stream)
            except (zipfile.BadZipFile, NotImplementedError) as error:
                raise refuse(self.name, "the zip archive is broken", "Pack it again") from error
            with archive:
                yield archive

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        self.consumed = 0
        with _faults_of(self.name), self.opener() as stream:
            yield stream

    def _check_unpacked(self, total: int) -> None:
        most, ratio = limits.UNPACKED_BYTES, limits.UNPACK_RATIO
        if total > most.value:
            raise refuse(self.name, f"unpacked it has more than {most.value:,} bytes", most.hint)
        if total > RATIO_FLOOR and total > ratio.value * max(self.size, 1):
            found = f"unpacked it is more than {ratio.value:,} times its packed size of {self.size:,} bytes"
            raise refuse(self.name, found, ratio.hint)


class _Counted(io.RawIOBase):
    """Passes reads on and adds them to the source's `consumed`."""

    def __init__(self, stream: BinaryIO, source: Source) -> None:
        self._stream, self._source = stream, source

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        self._source.consumed += len(chunk)
        return chunk


def _packing(stored: BinaryIO) -> str | None:
    """How a stream is packed, by its first bytes; the stream is rewound."""
    first = stored.read(4)
    stored.seek(0)
    return next((packing for magic, packing in PACKED.items() if first.startswith(magic)), None)


def _is_file(entry: zipfile.ZipInfo) -> bool:
    parts = Path(entry.filename).parts
    return not entry.is_dir() and "__MACOSX" not in parts and not parts[-1].startswith(".")


@contextmanager
def _faults_of(name: str) -> Iterator[None]:
    """Answers what goes wrong while a file is opened or read with an InputError that names it."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:  # how zipfile refuses passwords and rare methods
        raise refuse(name, f"it cannot be unpacked ({error})", "Pack it again, without a password") from error
    except (EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(name, error) from error
        cut = isinstance(error, EOFError) or "Truncated" in str(error)
        found = "the packed file ends too early" if cut else "the packed file is damaged"
        raise refuse(name, found, "Copy or download it again") from error


def unreadable(name: str, error: Exception) -> InputError:
    """The InputError for a file that the operating system does not give."""
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return refuse(name, "there is no such file", f"Check the spelling; files are sought from {os.getcwd()}")
    if number in (errno.EACCES, errno.EPERM):
        return refuse(name, "the file may not be read", "Change its permissions")
    reason = getattr(error, "strerror", None) or str(error)
    return refuse(name, f"the file cannot be read ({reason})", "Check the file")


class Block(NamedTuple):
    """Whole lines of a file: the number of the first, how many there are, and their bytes."""

    line: int
    lines: int
    content: bytes


def text_blocks(source: Source, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Whole lines of a text file, about `size` bytes at a time.

    The last line may lack its newline. Raises InputError, with the line, for an empty file, NUL bytes, bytes that are
    not UTF-8, and a line over the limit (which is measured, but never held).

    >>> [tuple(block) for block in text_blocks(Source.from_bytes("a.txt", b"1\\n2\\n3"), size=2)]
    [(1, 1, b'1\\n'), (2, 1, b'2\\n'), (3, 1, b'3')]
    """
    most = limits.LINE_BYTES.value
    held: list[bytes] = []
    length, line, seen = 0, 1, False
    chunks = source.text(min(size, most))
    for chunk in chunks:
        seen = seen or bool(chunk)
        first_end, last_end = chunk.find(b"\n"), chunk.rfind(b"\n") + 1
        length += len(chunk) if first_end < 0 else first_end
        if length > most:
            raise _long_line(source, line, length if first_end >= 0 else length + _rest_of_line(chunks))
        if first_end < 0:
            held.append(chunk)
            continue
        block = b"".join([*held, chunk[:last_end]])
        lines = block.count(b"\n")
        yield Block(line, lines, _checked_text(source, line, block))
        line += lines
        held, length = [chunk[last_end:]], len(chunk) - last_end
    if not seen:
        raise refuse(source.name, "the file is empty", "Choose a file with rows")
    if length:
        yield Block(line, 1, _checked_text(source, line, b"".join(held)))


def _rest_of_line(chunks: Iterator[bytes]) -> int:
    length = 0
    for chunk in chunks:
        end = chunk.find(b"\n")
        if end >= 0:
            return length + end
        length += len(chunk)
    return length


def _long_line(source: Source, line: int, length: int) -> InputError:
    found = f"the line is {length:,} bytes long, more than {limits.LINE_BYTES.value:,}"
    return refuse(f"{source.name}, line {line}", found, limits.LINE_BYTES.hint)


def _checked_text(source: Source, line: int, block: bytes) -> bytes:
    nul = block.find(b"\0")
    if nul >= 0:
        where = _place(source, line, block, nul)
        raise refuse(where, "a NUL byte, so this is a binary file, not text", "Save it as UTF-8 text")
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError as error:
            where = _place(source, line, block, error.start)
            found = f"the byte 0x{block[error.start]:02X} is not UTF-8"
            raise refuse(where, found, "Save the file as UTF-8") from error
    return block


def _place(source: Source, line: int, block: bytes, at: int) -> str:
    newlines = block.count(b"\n", 0, at)
    return f"{source.name}, line {line + newlines}"
