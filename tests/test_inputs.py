"""Inputs: paths, globs, folders, zips and uploads become systems with the right names, and every error is told."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ragdash.formats.opening import Named
from ragdash.inputs import read_inputs, system_name
from ragdash.problems import InputError
from ragdash.sources import Source

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"
QRELS = "q1 0 d1 1\n"
ROW = '{"query_id": "q1", "query": "Why?", "retrieved_ids": ["d1"], "relevance_grades": {"d1": 1}}\n'
Write = Callable[[str, str | bytes], Path]


def zipped(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def upload(name: str, content: str | bytes) -> Source:
    return Source.from_bytes(name, content.encode() if isinstance(content, str) else content)


def errors(*files: str | Path | Source, judgments: tuple[str | Path | Source, ...] = ()) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_inputs(files, judgments)
    return [str(problem) for problem in caught.value.problems]


def notes(*files: str | Path | Source, judgments: tuple[str | Path | Source, ...] = ()) -> list[tuple[str, str]]:
    return [(problem.severity, str(problem)) for problem in read_inputs(files, judgments).problems]


def test_a_run_and_judgments(write: Write) -> None:
    path = write("bm25.run.txt", RUN)
    found = read_inputs([path], [str(write("qrels.txt", QRELS))])
    assert found.systems == ("bm25",)
    assert found.runs["bm25"].rows.to_pylist()[0] == {"query_id": "q1", "doc_id": "d1", "score": 2.5, "rank": 1.0}
    assert found.judgments is not None and len(found.judgments) == 1
    assert found.problems == ()
    report = found.files[0]
    assert (report.name, report.format, report.rows, report.systems) == (
        "bm25.run.txt",
        "TREC run",
        {"run": 2},
        ("bm25",),
    )
    assert report.reason == "the first line has six columns and the fifth is a number"
    assert (report.digest, report.size) == (hashlib.sha256(RUN.encode()).hexdigest(), len(RUN))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/bm25.run.gz", "bm25"),
        ("bm25.json", "bm25"),
        ("run.dl19.BM25.top100.txt", "run.dl19.BM25.top100"),
        ("input.uic0301.gz", "input.uic0301"),
        ("k1=0.9.run", "k1=0.9"),
        (".run", ".run"),
        ("A.PARQUET", "A"),
        ("x.res", "x"),
    ],
)
def test_a_system_is_called_by_its_file_without_known_suffixes(file: str, name: str) -> None:
    assert system_name(file) == name


def test_names_from_the_user_the_rows_and_the_tags(write: Write) -> None:
    one, two = write("one.run", RUN), write("two.run", RUN.replace("2 1.5 bm25", "1 1.5 other"))
    column = write("c.csv", "system,query_id,doc_id,score\nmine,q1,d1,1\n")
    found = read_inputs([f"NAME={one}", two, column], names={"c.csv": "given"})
    assert found.systems == ("NAME", "bm25", "other", "given")
    assert [len(found.runs[name]) for name in found.systems] == [2, 1, 1, 1]
    assert "system" not in found.runs["bm25"]
    assert read_inputs([column]).systems == ("mine",)
    assert read_inputs([f"X={two}"]).systems == ("X/bm25", "X/other")
    assert [report.systems for report in found.files] == [("NAME",), ("bm25", "other"), ("given",)]


def test_two_files_of_the_same_name_get_their_folder(write: Write) -> None:
    paths = [write("new/run.txt", RUN), write("old/run.txt", RUN)]
    found = read_inputs(paths)
    assert found.systems == ("new/run", "old/run")
    assert [report.name for report in found.files] == ["new/run.txt", "old/run.txt"]
    assert found.problems == ()


def test_two_uploads_of_the_same_name_are_numbered_with_a_note() -> None:
    found = read_inputs([upload("run.txt", RUN), upload("run.txt", RUN), upload("run.txt", RUN)])
    assert found.systems == ("run", "run-2", "run-3")
    assert [(problem.severity, str(problem)) for problem in found.problems] == [
        (
            "note",
            f"run.txt ({n}): there is a system run already. It is called run-{n}; give it another name with NAME=path.",
        )
        for n in (2, 3)
    ]


def test_a_run_and_answers_of_one_name_are_one_system() -> None:
    answers = upload("bm25.jsonl", '{"query_id": "q1", "answer": "a"}\n')
    found = read_inputs([upload("bm25.run", RUN), answers])
    assert found.systems == ("bm25",) and list(found.answers) == ["bm25"] and found.problems == ()


def test_globs_and_standard_input(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("b.run", RUN)
    folder = write("a.run", RUN).parent

    class Stdin:
        buffer = io.BytesIO(RUN.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert read_inputs([f"{folder}/*.run", "-"]).systems == ("a", "b", "standard input")
    Stdin.buffer = io.BytesIO(RUN.encode())
    assert read_inputs(["piped=-"]).systems == ("piped",)
    assert errors(f"{folder}/*.csv") == [
        f"{folder}/*.csv: no file matches. Check the spelling, or quote it so that the shell leaves it alone."
    ]


BEIR = {
    "set/corpus.jsonl": '{"_id": "d1", "title": "T", "text": "c"}\n',
    "set/queries.jsonl": '{"_id": "q1", "text": "Why?"}\n',
    "set/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "set/qrels/train.tsv": "query-id\tcorpus-id\tscore\nq2\td1\t1\nq3\td1\t1\n",
}


def test_a_beir_folder_and_a_beir_zip_give_the_same(write: Write) -> None:
    paths = [write(name, content) for name, content in BEIR.items()]
    folder = paths[0].parent
    archive = upload("set.zip", zipped(BEIR))
    for given in (str(folder), archive):
        found = read_inputs([upload("a.run", RUN)], [], [given])
        assert found.judgments is not None and found.judgments.rows.to_pylist() == [
            {"query_id": "q1", "doc_id": "d1", "grade": 1.0}
        ]
        assert found.queries is not None and found.queries.rows.to_pylist() == [{"query_id": "q1", "query": "Why?"}]
        assert found.documents is not None and len(found.documents) == 1
        assert len(read_inputs([given]).files) == 3
    assert read_inputs([], [folder]).judgments is not None


def test_a_folder_that_is_no_beir_set(write: Write) -> None:
    folder = write("runs/a.run", RUN).parent
    write("runs/queries.jsonl", '{"query_id": "q1", "query": "Why?"}\n')
    write("runs/README.md", "# About\n")
    write("runs/deep/b.run", RUN)
    write("runs/.hidden/c.run", RUN)
    found = read_inputs([folder])
    assert found.systems == ("a",) and found.queries is not None
    assert [file.name for file in found.files] == ["runs/a.run", "runs/queries.jsonl"]
    assert [(problem.severity, str(problem)) for problem in found.problems] == [
        (
            "note",
            f"{folder}: 1 file in folders below it was left out (deep/b.run). Name their folder to read them.",
        ),
        (
            "note",
            f"{folder}: 1 file in no known format was left out (README.md). Name such a file by itself to see why.",
        ),
    ]
    assert errors(write("none/x/y/a.run", RUN).parent.parent) == [
        f"{folder.parent}/none/x: there are no files in this folder. "
        f"Name them, for instance {folder.parent}/none/x/*/*."
    ]
    assert errors(write("odd/README.md", "# About\n").parent) == [
        f"{folder.parent}/odd: no file in it is in a known format (README.md). Choose another."
    ]
    assert errors(write("bad/a.run", "q1 d1 2\n").parent)[0].startswith("bad/a.run: the first line, 'q1 d1 2', has 3")


def test_a_zip_of_runs_is_unpacked() -> None:
    found = read_inputs([upload("runs.zip", zipped({"x/a.run": RUN, "x/b.run": RUN, "q.txt": QRELS}))])
    assert found.systems == ("a", "b") and found.judgments is not None
    assert found.runs["a"].where(0) == "runs.zip/x/a.run, line 1"
    assert errors(upload("none.zip", zipped({}))) == ["none.zip: the archive holds no files. Choose another."]


def test_a_file_in_the_wrong_place() -> None:
    assert errors(upload("qrels.txt", QRELS)) == [
        "qrels.txt: this file holds judgments only (TREC judgments), but was given as a run. "
        "Give it as judgments (--judgments), and a run here."
    ]
    assert errors(upload("a.run", RUN), judgments=(upload("b.run", RUN),)) == [
        "b.run: this file was given as judgments, but holds none (TREC run: run). "
        "Give judgments: query, document and grade in every row."
    ]
    assert read_inputs([], [], [upload("qrels.txt", QRELS)]).judgments is not None


def test_errors_of_all_files_are_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bad = upload("bad.run", "q1 Q0 d1 1 nan x\nq1 Q0 d2 2 1 x\n")
    assert errors(bad, "no.run", upload("empty.run", ""), judgments=(upload("q.txt", "q1 0 d1 x\nq1 0 d2 1\n"),)) == [
        f"no.run: there is no such file. Check the spelling; files are sought from {tmp_path}.",
        "bad.run, line 1: score is nan, which has no place in an order. Write a finite number in every row.",
        "empty.run: the file is empty. Choose a file with rows.",
        "q.txt, line 1: grade is 'x', which is not a number. Write a number in every row.",
    ]


def test_judgments_of_several_files_are_joined_and_keep_their_lines() -> None:
    found = read_inputs([], [upload("a.txt", QRELS), upload("b.txt", "q2 0 d1 1\nq1 0 d1 1\n")])
    assert found.judgments is not None
    assert [found.judgments.where(row) for row in range(3)] == ["a.txt, line 1", "b.txt, line 1", "b.txt, line 2"]


def test_judgments_in_rows_count_once_and_yield_to_judgments_given_apart() -> None:
    a, b = upload("a.jsonl", ROW), upload("b.jsonl", ROW)
    both = read_inputs([a, b])
    assert both.judgments is not None and len(both.judgments) == 1
    assert both.queries is not None and len(both.queries) == 1
    apart = read_inputs([a], [upload("q.txt", "q1 0 d9 2\n")])
    assert apart.judgments is not None and apart.judgments.column("doc_id").to_pylist() == ["d9"]
    assert notes(upload("a.jsonl", ROW), judgments=(upload("q.txt", QRELS),)) == [
        (
            "note",
            "a.jsonl: the judgments in its rows were left out. They are used where no judgments are given apart.",
        )
    ]
    conflicting = read_inputs([upload("a.jsonl", ROW), upload("b.jsonl", ROW.replace('"d1": 1', '"d1": 2'))])
    assert conflicting.judgments is not None and len(conflicting.judgments) == 2


def test_questions_of_several_files_are_joined_column_by_column() -> None:
    first = '{"query_id": "q2", "query": ""}\n{"query_id": "q1", "query": "Why?"}\n'
    second = (
        '{"query_id": "q1", "query": "Other?", "reference": "R", "slices": ["s"]}\n{"query_id": "q2", "query": "B"}\n'
    )
    found = read_inputs([], [], [upload("a.jsonl", first), upload("b.jsonl", second)]).queries
    assert found is not None and found.rows.to_pylist() == [
        {"query_id": "q2", "query": "B", "reference": "", "slice": None},
        {"query_id": "q1", "query": "Why?", "reference": "R", "slice": ["s"]},
    ]


def test_documents_that_stand_twice_are_set_aside() -> None:
    text = '{"doc_id": "d1", "text": "x"}\n'
    found = read_inputs([], [], [upload("a.jsonl", text), upload("b.jsonl", text)])
    assert found.documents is not None and len(found.documents) == 1
    assert [(problem.severity, problem.count, str(problem)) for problem in found.problems] == [
        ("set aside", 1, "b.jsonl, line 1: document 'd1' stands here again. The first was kept.")
    ]


def test_a_format_can_be_said() -> None:
    text = "\n".join(["x y z"] * 3) + "\n"
    with pytest.raises(InputError, match=r"^a, line 1: 3 columns where a TREC run has 6"):
        read_inputs([upload("a", text)], formats={"a": "trec_run"})


def test_a_bomb_in_a_zip_is_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.run", "q1 Q0 d1 1 1 x\n" * 1_000_000)
    assert errors(upload("bomb.zip", stream.getvalue()))[0].startswith(
        "bomb.zip/a.run: unpacked it is more than 200 times its packed size of "
    )


MIX = {
    "a.run": RUN,
    "b.run": RUN,
    "q.qrels": QRELS,
    "queries.jsonl": '{"_id": "q1", "text": "Why?"}\n',
    "corpus.jsonl": '{"_id": "d1", "title": "T", "text": "c"}\n',
}


def test_what_lies_beside_a_beir_set_is_read_or_noted(write: Write) -> None:
    files = MIX | {"README.md": "# About\n"}
    *_, last = [write(f"mix/{name}", content) for name, content in files.items()]
    folder = last.parent
    for given, where in ((folder, str(folder)), (upload("mix.zip", zipped(files)), "mix.zip")):
        found = read_inputs([given])
        assert found.systems == ("a", "b") and found.judgments is not None
        assert found.queries is not None and found.documents is not None
        assert [(problem.severity, str(problem)) for problem in found.problems] == [
            (
                "note",
                f"{where}: 1 file in no known format was left out (README.md). Name such a file by itself to see why.",
            )
        ]


def test_the_split_that_is_taken_is_noted(write: Write) -> None:
    *_, last = [write(name, content) for name, content in BEIR.items()]
    folder = last.parent.parent
    for given, where in ((folder, str(folder)), (upload("set.zip", zipped(BEIR)), "set.zip")):
        (note,) = read_inputs([], [given]).problems
        assert (note.severity, str(note)) == (
            "note",
            f"{where}: of its splits (test, train) the one named test was taken. "
            "Give the qrels file of another as judgments to take that one.",
        )


def test_a_name_for_a_zip_a_glob_or_a_folder(write: Write) -> None:
    folder = write("d2/r.run", RUN).parent
    two = write("two.zip", zipped({"x/a.run": RUN, "x/b.run": RUN}))
    assert read_inputs([f"mine={two}"]).systems == ("mine/a", "mine/b")
    assert read_inputs([f"mine={folder}/*", f"whole={folder}"]).systems == ("mine", "whole")
    write("d2/s.run", RUN.replace("2 1.5 bm25", "1 1.5 other"))
    assert read_inputs([f"mine={folder}/*"]).systems == ("mine/r", "mine/bm25", "mine/other")
    answered = zipped({"a.run": RUN, "a.jsonl": '{"query_id": "q1", "answer": "x"}\n'})
    found = read_inputs([f"mine={write('one.zip', answered)}"])
    assert found.systems == ("mine",) and found.problems == ()


@pytest.mark.parametrize("name", ["k=1", "bm25 (k1=0.9)", "", "a*[b]", "-"])
def test_a_name_apart_from_its_path_may_hold_anything(write: Write, name: str) -> None:
    path = write("a=b.run", RUN)
    for given in (path, str(path)):
        assert read_inputs([Named(name, given), Named(None, write("c.run", RUN))]).systems == (name, "c")


@pytest.mark.parametrize(("text", "where"), [("", "files"), (" ", "files"), ("=", "files"), ("mine=", "mine=")])
def test_an_empty_name_of_a_file_is_refused(text: str, where: str) -> None:
    message = f"{where}: the name of a file is empty. Give a path, or - for standard input."
    assert errors(text) == [message]
    assert errors(upload("a.run", RUN), judgments=(text,)) == [message]


def test_every_broken_file_of_a_glob_is_told(write: Write) -> None:
    folder = write("d/a.run", RUN).parent
    write("d/b.zip", b"PK\x03\x04 broken")
    write("d/c.zip", zipped({}))
    (folder / "empty").mkdir()
    assert errors(f"{folder}/*") == [
        "b.zip: the zip archive is broken. Pack it again.",
        "c.zip: the archive holds no files. Choose another.",
        f"{folder}/empty: there are no files in this folder. Name them, for instance {folder}/empty/*/*.",
    ]


def test_a_folder_with_too_many_files_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    *_, last = [write(f"d/{n}.run", RUN) for n in range(3)]
    folder = last.parent
    monkeypatch.setenv("RAGDASH_MAX_ZIP_ENTRIES", "2")
    assert errors(folder) == [f"{folder}: the folder has more than 2 files. Name the files that are meant."]
