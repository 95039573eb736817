"""The app without a browser, and small files to drop on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

SECONDS = 60
QUESTIONS = [f"t{number:02}" for number in range(1, 31)]


@pytest.fixture
def app(root: Path) -> Callable[..., AppTest]:
    """`app("queries", q="t01")` opens that page with that address, in a session of its own."""

    def open_app(page: str = "overview", **params: str) -> AppTest:
        screen = AppTest.from_file(str(root / "app.py"), default_timeout=SECONDS)
        for name, value in params.items():
            screen.query_params[name] = value
        screen.switch_page(f"pages/{page}.py")
        return screen.run()

    return open_app


@pytest.fixture(scope="session")
def trec() -> dict[str, bytes]:
    """Two runs over thirty questions and their judgments: in 20 questions `new` finds the relevant document first,
    where `old` has it second; in 3 it is the other way round."""

    def run(system: str, firsts: list[bool]) -> bytes:
        lines = []
        for query, first in zip(QUESTIONS, firsts, strict=True):
            order = [f"{query}-yes", f"{query}-no"] if first else [f"{query}-no", f"{query}-yes"]
            lines += [f"{query} Q0 {doc} {at} {10 - at} {system}" for at, doc in enumerate(order, 1)]
        return "\n".join(lines).encode()

    old = [number >= 20 for number in range(30)]
    new = [number < 27 for number in range(30)]
    judged = [f"{query} 0 {query}-{word} {int(word == 'yes')}" for query in QUESTIONS for word in ("yes", "no")]
    return {"old.run": run("old", old), "new.run": run("new", new), "judged.qrels": "\n".join(judged).encode()}
