"""The README says what the registries say, and its session prints what it shows."""

import re
import shlex

import pytest

from ragdash.cli.entry import main
from ragdash.reference import BLOCKS, refreshed

SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)


def test_the_tables_of_the_readme_are_those_of_the_registries(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    for name in BLOCKS:
        assert f"<!-- {name} -->" in text
    assert text == refreshed(text), "run: python -m ragdash.reference README.md"


def test_a_stale_table_is_written_anew():
    stale = "<!-- styles -->\nstale\n<!-- /styles -->"
    assert "stale" not in refreshed(stale) and "`doc_id`" in refreshed(stale)


def test_the_sessions_of_the_readme_print_what_it_shows(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    text = (root / "README.md").read_text(encoding="utf-8")
    sessions = SESSION.findall(text)
    assert sessions
    for session in sessions:
        for step in session.split("$ ")[1:]:
            command, _, shown = step.partition("\n")
            words = shlex.split(command)
            assert words[0] == "ragdash"
            status = main(words[1:])
            printed = capsys.readouterr().out
            for part in filter(None, (part.strip("\n") for part in shown.split("…\n"))):
                assert part in printed, f"{command}\n{printed}"
            assert status == 0
    with pytest.raises(SystemExit):
        main(["--help"])
