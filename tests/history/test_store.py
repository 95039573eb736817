"""The store: what is put comes back, whoever else writes; what cannot be done is said and never breaks a page."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from ragdash.history.store import FILE, KeptFile, Store, home
from ragdash.problems import InputError


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "kept")


def refusal(call, *given):
    with pytest.raises(InputError) as caught:
        call(*given)
    return str(caught.value)


def change(store, *statement):
    with closing(sqlite3.connect(store.folder / FILE)) as connection, connection:
        connection.execute(*statement)


@pytest.mark.parametrize("content", [b"", b"\0\xff" * 1000, os.urandom(50_000)], ids=len)
def test_what_is_put_comes_back_under_its_sha_256(store, content):
    digest = store.put(content)
    assert digest == hashlib.sha256(content).hexdigest() == store.put(content)
    assert store.get(digest) == content
    assert Store(store.folder).get(digest) == content, "another session finds it too"


@pytest.mark.parametrize(
    "digest", ["", "0" * 64, "A" * 64, "a" * 63, "'; DROP TABLE blobs; --", "../" * 20, "é" * 64, "a" * 64 + "\n"]
)
def test_what_is_not_kept_or_no_digest_is_none(store, digest):
    assert store.get(digest) is None and not store.folder.exists(), "looking makes no file"
    kept = store.put(b"x")
    assert store.get(digest) is None and store.get_files(digest) is None and store.get(kept) == b"x"


def test_the_place_is_named_by_the_environment_and_never_the_package(tmp_path, monkeypatch):
    monkeypatch.delenv("RAGDASH_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path / ".ragdash"
    monkeypatch.setenv("RAGDASH_HOME", str(tmp_path / "elsewhere"))
    assert Store().folder == tmp_path / "elsewhere"


# --- several files under one digest --------------------------------------------------------------------------------


def test_files_come_back_with_roles_names_and_order(store):
    files = (KeptFile("a", "ä/../=1.run", b"1"), KeptFile("b", "b.run", b"2"), KeptFile("more", "b.run", b"1"))
    digest = store.put_files(files)
    assert store.get_files(digest) == files
    assert store.put_files(files) == digest != store.put_files(files[::-1])


def test_files_of_which_one_is_gone_are_all_gone(store):
    digest = store.put_files([KeptFile("a", "a.run", b"one"), KeptFile("b", "b.run", b"two")])
    change(store, "DELETE FROM blobs WHERE digest = ?", (hashlib.sha256(b"two").hexdigest(),))
    assert store.get_files(digest) is None


@pytest.mark.parametrize(
    "other", [b"no json", b'{"files": 7}', b'{"files": [["a", "b"]]}', b'{"files": [["a", 1, "c"]]}']
)
def test_bytes_that_only_look_like_a_list_of_files_are_none(store, other):
    assert store.get_files(store.put(other)) is None


# --- no more than fits ---------------------------------------------------------------------------------------------


def test_the_oldest_go_first_and_what_is_put_again_is_young(store, monkeypatch):
    contents = [os.urandom(1000) for _ in range(4)]
    monkeypatch.setenv("RAGDASH_MAX_STORE_BYTES", "3500")
    digests = [store.put(content) for content in contents[:3]]
    store.put(contents[0])
    store.put(contents[3])
    assert [store.get(digest) is not None for digest in digests] == [True, False, True]


def test_what_can_never_fit_is_refused_and_nothing_goes(store, monkeypatch):
    kept = store.put(b"small")
    monkeypatch.setenv("RAGDASH_MAX_STORE_BYTES", "100")
    assert refusal(store.put, bytes(range(256))) == (
        "store: 267 bytes are more than the 100 that may be kept. "
        "Raise the limit with the environment variable RAGDASH_MAX_STORE_BYTES."
    )
    assert store.get(kept) == b"small"


# --- several writers -----------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from ragdash.history.store import Store
store = Store(Path(sys.argv[1]))
for number in range(40):
    content = f"{sys.argv[2]} {number}".encode() * 200
    assert store.get(store.put(content)) == content
"""


def test_processes_that_write_at_once_lose_nothing(store, root):
    command = [sys.executable, "-c", WRITER, str(store.folder)]
    writers = [subprocess.Popen([*command, name], cwd=root, stderr=subprocess.PIPE) for name in ("one", "two")]
    assert [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers] == [(b"", 0)] * 2
    for name in ("one", "two"):
        for number in range(40):
            content = f"{name} {number}".encode() * 200
            assert store.get(hashlib.sha256(content).hexdigest()) == content


def test_a_writer_that_holds_the_lock_does_not_stop_readers(store):
    digest = store.put(b"x")
    with closing(sqlite3.connect(store.folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM blobs")
        assert store.get(digest) == b"x"
        other.execute("ROLLBACK")


def test_a_lock_that_is_never_given_up_is_said(store, monkeypatch):
    store.put(b"x")
    monkeypatch.setattr("ragdash.history.store.WAIT_SECONDS", 0.05)
    with closing(sqlite3.connect(store.folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "the store cannot be written (database is locked)" in refusal(store.put, b"y")
    assert store.get(store.put(b"y")) == b"y"


# --- what cannot be ------------------------------------------------------------------------------------------------


def test_a_place_that_is_no_folder_is_said(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    said = refusal(Store(tmp_path / "file").put, b"x")
    assert said == (
        f"{tmp_path / 'file' / FILE}: the store cannot be written (File exists). "
        "Free or mend that place, or name another with the environment variable RAGDASH_HOME."
    )
    assert Store(tmp_path / "file").get("0" * 64) is None


def opened_with(monkeypatch, pragma):
    plain = sqlite3.connect

    def connect(*given, **more):
        connection = plain(*given, **more)
        connection.execute(pragma)
        return connection

    monkeypatch.setattr("ragdash.history.store.sqlite3.connect", connect)


def test_a_full_disk_is_said_and_what_was_kept_stays(store, monkeypatch):
    kept = store.put(b"x")
    opened_with(monkeypatch, "PRAGMA max_page_count = 8")
    assert "the store cannot be written (database or disk is full)" in refusal(store.put, os.urandom(100_000))
    assert store.get(kept) == b"x"


def test_a_store_that_may_only_be_read_is_read(store, monkeypatch):
    kept = store.put(b"x")
    opened_with(monkeypatch, "PRAGMA query_only = 1")
    assert "the store cannot be written (attempt to write a readonly database)" in refusal(store.put, b"y")
    assert store.get(kept) == b"x"


def test_a_newer_store_is_refused_and_not_touched(store):
    digest = store.put(b"x")
    change(store, "PRAGMA user_version = 2")
    before = (store.folder / FILE).read_bytes()
    for call, given in ((store.put, b"y"), (store.get, digest)):
        assert refusal(call, given) == (
            f"{store.folder / FILE}: a newer ragdash wrote this store (schema 2; this one reads 1). "
            "Update ragdash, or name another place with the environment variable RAGDASH_HOME."
        )
    assert (store.folder / FILE).read_bytes() == before


def test_a_file_that_is_no_database_is_said(store):
    store.folder.mkdir()
    (store.folder / FILE).write_bytes(b"not a database at all" * 100)
    assert "the store cannot be read (file is not a database)" in refusal(store.get, "0" * 64)


@pytest.mark.parametrize("damage", [b"no zlib", b"", None])
def test_damaged_bytes_are_never_given_out(store, damage):
    import zlib

    digest = store.put(b"x")
    content = zlib.compress(b"another") if damage is None else damage
    change(store, "UPDATE blobs SET content = ? WHERE digest = ?", (content, digest))
    assert refusal(store.get, digest) == "store: what is kept under this digest is damaged. Load the files again."


def test_an_empty_database_is_an_empty_store(store):
    store.folder.mkdir()
    (store.folder / FILE).write_bytes(b"")
    assert store.get("0" * 64) is None
    assert json.loads(store.get(store.put(b"[1]"))) == [1]
