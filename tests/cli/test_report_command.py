"""`ragdash compare --save` and `ragdash report`: one file kept, one file to share."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

from ragdash.cli.entry import main
from ragdash.results.reading import read_result
from ragdash.sources import Source

RUN_A = "q1 Q0 d1 1 3.0 alpha\nq1 Q0 d2 2 2.0 alpha\nq2 Q0 d3 1 1.0 alpha\n"
RUN_B = "q1 Q0 d2 1 3.0 beta\nq1 Q0 d1 2 2.0 beta\nq2 Q0 d9 1 1.0 beta\n"
JUDGMENTS = "q1 0 d2 2\nq1 0 d1 0\nq2 0 d3 1\n"


@pytest.fixture
def files(write):
    return [str(write(name, text)) for name, text in (("a.run", RUN_A), ("b.run", RUN_B), ("j.qrels", JUDGMENTS))]


@pytest.fixture
def saved(files, tmp_path):
    path, out = tmp_path / "result.ragdash", io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["compare", *files[:2], "-j", files[2], "--save", str(path), "--format", "json"]) == 0
    return path, json.loads(out.getvalue())


def test_what_is_saved_is_what_was_printed(saved):
    path, printed = saved
    stored = read_result(Source.from_path(path))
    assert stored.comparison.sentence == printed["sentence"]
    assert {str(spec): one.difference for spec, one in stored.comparison.metrics.items()} == {
        name: one["difference"] for name, one in printed["metrics"].items()
    }
    assert [len(report.digest) for report in stored.tables.files] == [64, 64, 64]
    assert [path.name for path in path.parent.iterdir() if path.name.startswith(".")] == [], "nothing is left beside it"


def test_a_report_to_a_file_and_to_stdout_is_the_same(saved, tmp_path, capsysbinary):
    path, _ = saved
    assert main(["report", str(path), "--html", str(tmp_path / "r.html")]) == 0
    assert capsysbinary.readouterr().out == b""
    assert main(["report", str(path), "--html", "-"]) == 0
    content = capsysbinary.readouterr().out
    assert content == (tmp_path / "r.html").read_bytes() and content.startswith(b'<!doctype html>\n<html lang="en">')


def test_the_same_command_gives_the_same_bytes(saved, files, tmp_path, capsys):
    again = tmp_path / "again.ragdash"
    assert main(["compare", *files[:2], "-j", files[2], "--save", str(again)]) == 0
    assert again.read_bytes() == saved[0].read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--html", "{tmp}/none/r.html"], "it cannot be written (No such file or directory). Name a file in a folder"),
        (["--html", "{tmp}"], "it cannot be written (Is a directory)"),
    ],
)
def test_a_place_that_cannot_be_written_is_said(saved, tmp_path, capsys, arguments, said):
    given = [argument.format(tmp=tmp_path) for argument in arguments]
    assert main(["report", str(saved[0]), *given]) == 2
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_result_is_said(files, capsys):
    assert main(["report", files[0], "--html", "-"]) == 2
    assert capsys.readouterr().err == (
        "ragdash: a.run: this is no result file of ragdash. Make one with ragdash compare … --save FILE.\n"
    )


def test_the_result_cannot_go_where_the_comparison_goes(files, capsys):
    assert main(["compare", *files[:2], "-j", files[2], "--save", "-"]) == 2
    found = "ragdash: --save: stdout gets the comparison already. Name a file, such as result.ragdash.\n"
    assert found in capsys.readouterr().err


def test_in_a_process_of_its_own_from_stdin(saved, root):
    command = [sys.executable, "-m", "ragdash", "report", "-", "--html", "-"]
    with open(saved[0], "rb") as stream:
        done = subprocess.run(command, cwd=root, stdin=stream, capture_output=True, timeout=60, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(b"</html>")


def test_saving_in_a_process_of_its_own(files, root, tmp_path):
    path = tmp_path / "own.ragdash"
    command = [sys.executable, "-m", "ragdash", "compare", *files[:2], "-j", files[2], "--save", str(path)]
    done = subprocess.run(command, cwd=root, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert read_result(Source.from_path(path)).comparison.baseline == "a"
