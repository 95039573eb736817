"""Bytes kept by their digest, so that a pasted link opens the same files or result in a new session.

One SQLite file, through the standard library; the store of past evaluations is to be built beside it on SQLAlchemy.
Nothing here is needed for a page to work: whoever calls shows the InputError and goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ragdash.limits import MEGABYTE, Limit
from ragdash.problems import InputError, refuse

STORE_BYTES = Limit("RAGDASH_MAX_STORE_BYTES", 1024 * MEGABYTE, "bytes")
HOME, FOLDER, FILE = "RAGDASH_HOME", ".ragdash", "store.sqlite"
SCHEMA = 1
WAIT_SECONDS = 10.0
DIGEST = re.compile(r"[0-9a-f]{64}")
WHERE = "store"


@dataclass(frozen=True)
class KeptFile:
    """A file as it was given: its role (such as the drop zone), its name, and its bytes."""

    role: str
    name: str
    content: bytes = field(repr=False)


def home() -> Path:
    """The folder of the store: RAGDASH_HOME, else .ragdash in the current folder; never the package."""
    return Path(os.environ.get(HOME) or FOLDER).absolute()


@dataclass(frozen=True)
class Store:
    """Bytes by their SHA-256, in one SQLite file in `folder`. Any number of processes may read and write at once.

    When all bytes kept, as packed, exceed RAGDASH_MAX_STORE_BYTES, those put longest ago go first.
    """

    folder: Path = field(default_factory=home)

    def put(self, content: bytes) -> str:
        """Keep bytes and give their digest (64 hexadecimal digits); putting them again makes them young again.

        Raises InputError where the store cannot be written, or they are larger than the whole store may be.
        """
        digest = hashlib.sha256(content).hexdigest()
        packed = zlib.compress(content, 3)
        most = STORE_BYTES
        if len(packed) > most.value:
            found = f"{len(packed):,} bytes are more than the {most.value:,} that may be kept"
            raise refuse(WHERE, found, f"Raise the limit with the environment variable {most.variable}")
        with self._opened(write=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT INTO blobs VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET created = excluded.created",
                (digest, packed, len(content), time.time_ns()),
            )
            _prune(connection, most.value)
            connection.execute("COMMIT")
        return digest

    def get(self, digest: str) -> bytes | None:
        """The bytes of a digest; None where they are not (or no longer) kept, or the text is no digest at all.

        Raises InputError where the store cannot be read or what it holds is damaged.
        """
        if not DIGEST.fullmatch(digest) or not self._path.exists():
            return None
        with self._opened(write=False) as connection:
            if not _schema_of(connection):  # a file that no writer has filled yet
                return None
            row = connection.execute("SELECT content FROM blobs WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            return None
        try:
            content = zlib.decompress(row[0])
        except (zlib.error, TypeError) as error:
            raise _damaged() from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise _damaged()
        return content

    def put_files(self, files: Sequence[KeptFile]) -> str:
        """Keep several files under one digest, which depends on their roles, names, order and bytes."""
        listed = [[one.role, one.name, self.put(one.content)] for one in files]
        return self.put(json.dumps({"files": listed}).encode())

    def get_files(self, digest: str) -> tuple[KeptFile, ...] | None:
        """The files kept under one digest; None where any of them is not kept any more or it names something else."""
        listed = _listed(self.get(digest) or b"")
        if listed is None:
            return None
        contents = [(role, name, self.get(each)) for role, name, each in listed]
        files = [KeptFile(role, name, content) for role, name, content in contents if content is not None]
        return tuple(files) if len(files) == len(listed) else None

    @property
    def _path(self) -> Path:
        return self.folder / FILE

    @contextmanager
    def _opened(self, write: bool) -> Iterator[sqlite3.Connection]:
        """A connection of its own for each use, so that threads and processes share nothing but the file."""
        try:
            if write:
                self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
                _check_schema(connection, self._path)
                if write:
                    _prepare(connection)
                yield connection
        except (sqlite3.Error, OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            mend = f"Free or mend that place, or name another with the environment variable {HOME}"
            raise refuse(
                str(self._path), f"the store cannot be {'written' if write else 'read'} ({reason})", mend
            ) from error


def _listed(listing: bytes) -> list[tuple[str, str, str]] | None:
    """Role, name and digest of each file in a listing; None for bytes that are no listing of ours."""
    try:
        rows = [(role, name, digest) for role, name, digest in json.loads(listing)["files"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return rows if all(isinstance(cell, str) for row in rows for cell in row) else None


def _schema_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    version = _schema_of(connection)
    if version > SCHEMA:
        found = f"a newer ragdash wrote this store (schema {version}; this one reads {SCHEMA})"
        raise refuse(str(path), found, f"Update ragdash, or name another place with the environment variable {HOME}")


def _prepare(connection: sqlite3.Connection) -> None:
    """The table, made by whoever comes first. With a write-ahead log readers never wait for the writer."""
    if _schema_of(connection) == SCHEMA:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS blobs "
        "(digest TEXT PRIMARY KEY, content BLOB NOT NULL, size INTEGER NOT NULL, created INTEGER NOT NULL)"
    )
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def _prune(connection: sqlite3.Connection, most: int) -> None:
    """Let the oldest go until the rest fits; the file keeps its length and fills the room again."""
    connection.execute(
        "DELETE FROM blobs WHERE digest IN (SELECT digest FROM (SELECT digest, "
        "sum(length(content)) OVER (ORDER BY created DESC, rowid DESC) AS running FROM blobs) WHERE running > ?)",
        (most,),
    )


def _damaged() -> InputError:
    return refuse(WHERE, "what is kept under this digest is damaged", "Load the files again")
