"""What a reader is looking at, as one value that lives in the address: every page and every widget starts from it.

The shell reads the address once when a run of the script starts and writes it once when it ends. Widgets are drawn
from this state and change it in their callbacks; they hold nothing of their own, so nothing is lost between pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

import streamlit as st

from ragdash.citations.detect import AUTO
from ragdash.citations.registry import STYLES
from ragdash.comparison import Terms
from ragdash.matching import Ties
from ragdash.problems import Problem, shorten
from ragdash.settings import PRIMARY_DEFAULT, Policy, Settings

STATE, WRITTEN, TOUCHED = "ragdash_view", "ragdash_written", "ragdash_touched"
Order = Literal["b", "a", "diff"]
CHOICES: dict[str, tuple[str, ...]] = {
    "by": ("b", "a", "diff"),
    "missing": ("zero", "skip"),
    "no_relevant": ("zero", "skip"),
    "ties": ("doc_id", "rank", "given"),
    "gain": ("linear", "exp"),
    "style": (AUTO, *STYLES.names()),
}
BOUNDS = {"margin": (0.0, 1.0), "confidence": (0.5, 0.999)}
ON_QUERIES = ("q", "by")
WITH_QUESTION = ("queries", "citations")  # the pages on which a question is open
IN_LINKS = {"files": "data"}


@dataclass(frozen=True)
class ViewState:
    """Everything a link says. `files` is the digest of what was uploaded, "" for the sample (in links it is called
    data); "" for a system or a question means that nobody chose one yet."""

    files: str = ""
    a: str = ""
    b: str = ""
    metric: str = PRIMARY_DEFAULT
    margin: float = 0.01
    confidence: float = 0.95
    missing: Policy = "zero"
    no_relevant: Policy = "zero"
    ties: Ties = "doc_id"
    gain: Literal["linear", "exp"] = "linear"
    style: str = AUTO
    pattern: str = ""
    by: Order = "b"
    q: str = ""

    @property
    def settings(self) -> Settings:
        """How questions are counted."""
        return Settings(
            missing=self.missing, no_relevant=self.no_relevant, ties=self.ties, gain=self.gain,
            style=self.style, pattern=self.pattern or None,
        )  # fmt: skip

    @property
    def terms(self) -> Terms:
        """What was fixed before looking."""
        return Terms(self.margin, self.confidence)

    def changed(self, names: tuple[str, ...]) -> list[str]:
        """Which of these fields are not at their default."""
        return [name for name in names if getattr(self, name) != getattr(DEFAULT, name)]


DEFAULT = ViewState()


def from_params(params: Mapping[str, str]) -> tuple[ViewState, list[Problem]]:
    """The state a link says; what cannot be used keeps its default and is reported.

    >>> state, problems = from_params({"margin": "0.02", "ties": "coin"})
    >>> state.margin, state.ties, str(problems[0])
    (0.02, 'doc_id', "link: ties is 'coin'. Known are: doc_id, rank, given.")
    """
    chosen: dict[str, Any] = {}
    problems = []
    for name in (field.name for field in fields(ViewState)):
        text = params.get(IN_LINKS.get(name, name))
        if text is None:
            continue
        if name in CHOICES and text not in CHOICES[name]:
            problems.append(Problem("link", f"{name} is {shorten(text)}", f"Known are: {', '.join(CHOICES[name])}"))
        elif name in BOUNDS:
            number = _number(text, *BOUNDS[name])
            if number is None:
                low, high = BOUNDS[name]
                problems.append(
                    Problem("link", f"{name} is {shorten(text)}", f"Give a number from {low:g} to {high:g}")
                )
            else:
                chosen[name] = number
        else:
            chosen[name] = text
    return ViewState(**chosen), problems


def _number(text: str, low: float, high: float) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if low <= number <= high else None


def to_params(state: ViewState, on_queries: bool = True) -> dict[str, str]:
    """What a link to this state holds: only what is not the default; the open question only on pages that show one.

    >>> to_params(ViewState(q="q034", margin=0.02))
    {'margin': '0.02', 'q': 'q034'}
    """
    names = (field.name for field in fields(ViewState) if on_queries or field.name not in ON_QUERIES)
    changed = ((name, getattr(state, name)) for name in names if getattr(state, name) != getattr(DEFAULT, name))
    return {IN_LINKS.get(name, name): f"{value:g}" if isinstance(value, float) else value for name, value in changed}


def state() -> ViewState:
    """What the reader is looking at now."""
    return cast(ViewState, st.session_state.get(STATE, DEFAULT))


def change(**fields_: Any) -> None:
    """Change the state from a callback; what the address says is then out of date and not read again."""
    st.session_state[STATE] = replace(state(), **fields_)
    st.session_state[TOUCHED] = True


def read(page: str) -> list[Problem]:
    """Take over the address where somebody else changed it: a link, the Back button, a hand. Gives what is wrong.

    The links of the menu carry the state, so an address that says nothing means the defaults. Elsewhere than on pages
    with an open question an address is silent about it, which then stays as it was. A run may be stopped by the
    next click before it comes to `write`: until then a change stays marked, and an address is taken over once.
    """
    params = dict(st.query_params)
    if st.session_state.get(TOUCHED) or params == st.session_state.get(WRITTEN):
        return []
    said, problems = from_params(params)
    if page not in WITH_QUESTION:
        said = replace(said, **{name: getattr(state(), name) for name in ON_QUERIES})
    st.session_state[STATE], st.session_state[WRITTEN] = said, params
    return problems


def write(page: str) -> None:
    """Bring the address up to date, once a run; the same address is not written twice, so Back is not trapped."""
    wanted = to_params(state(), on_queries=page in WITH_QUESTION)
    if dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)
    st.session_state[WRITTEN] = wanted
    st.session_state.pop(TOUCHED, None)


def held(name: str, shown: Any = None) -> dict[str, Any]:
    """Arguments that tie a widget to a field of the state: its key, drawn from the state, and its callback.

    `shown` is drawn in place of the field's own value. `st.selectbox("Ties", options, **held("ties"))`
    """
    key = f"view_{name}"
    st.session_state[key] = getattr(state(), name) if shown is None else shown
    return {"key": key, "on_change": _taken(name, key)}


def _taken(name: str, key: str) -> Callable[[], None]:
    def take() -> None:
        if st.session_state[key] is not None:
            change(**{name: st.session_state[key]})

    return take
