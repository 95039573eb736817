"""`ragdash app`: it runs Streamlit on the app of this installation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from ragdash import bundle
from ragdash.bundle import bundled
from ragdash.cli.app import add_arguments, command
from ragdash.problems import InputError


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser, "app")
    return parser.parse_args(list(arguments))


def test_it_runs_streamlit_of_this_python_on_the_app(root: Path) -> None:
    given = command(options("--port", "9000", "--no-browser"))
    assert given[:5] == [sys.executable, "-m", "streamlit", "run", str(root / "app.py")]
    assert {"--server.port=9000", "--server.headless=true", "--server.address=localhost"} == set(given[5:])


def test_the_bundle_of_a_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ragdash"
    (package / "_bundle").mkdir(parents=True)
    monkeypatch.setattr(bundle, "PACKAGE", package)
    with pytest.raises(InputError, match=r"app\.py: this installation came without it"):
        bundled("app.py")
    (tmp_path / "app.py").touch()
    assert bundled("app.py") == tmp_path / "app.py"
    (package / "_bundle" / "app.py").touch()
    assert bundled("app.py") == package / "_bundle" / "app.py"
