"""What every test may ask for: the shared reference data, small files, and a hypothesis that is the same each time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Time limits per example fail on a busy machine for no fault of the code; a failure in CI has to come again.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data and expected results that is no part of the project; skips where it is absent."""
    folder = Path(os.environ.get("RAGDASH_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no reference data at {folder}: set RAGDASH_SHARED to the folder that holds data/")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """`write("a/run.trec", "q1 Q0 d1 1 2.5 bm25\\n")` makes that file, bytes or text exactly as given, and names it."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
