"""How citations are read: match rates of the styles, brackets left unread, and a pattern of one's own to try."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ragdash.citation_status import pieces
from ragdash.citations.registry import STYLES
from ragdash.cited import CitedAnswers
from ragdash.citing import cite
from ragdash.problems import InputError
from ragdash.schema import Table
from ragdash.stylefit import StyleFit, Unread, read_for, style_fits, unread
from ragdash.ui import cache, components
from ragdash.ui.answers import marked
from ragdash.ui.cache import DataSet
from ragdash.ui.cited import Found
from ragdash.ui.state import CHOICES, change, held, state
from ragdash.ui.view import View

TRIED, SHOWN = 20, 3
TRY = "try_pattern"


def panel(view: View, found: Found) -> None:
    """What the answers are read for, and how well that fits."""
    components.heading("How citations are read", explained=READ)
    st.text(f"Read for {read_for(view.state.settings)}: {_hits(found)}.", width="stretch")
    left, right = st.columns(2, gap="large")
    with left:
        labels = {name: STYLES[name].label if name in STYLES else "every style" for name in CHOICES["style"]}
        st.selectbox(
            "Style", CHOICES["style"], format_func=labels.__getitem__, disabled=bool(state().pattern),
            help="Every page counts citations of this style only. A pattern takes its place.", **held("style"),
        )  # fmt: skip
        _rates(view, found)
        _left_unread(view, found)
    with right:
        _try(view, found)


READ = (
    "Citations are found by their form, then looked up in the answer's own context: by id, by id but for case, "
    "or, for numbers, by position."
)


def _hits(found: Found) -> str:
    parts = []
    for name, one in found.cited.items():
        given = ~one.abstained
        hits = int((given & (one.citations() > 0)).sum())
        parts.append(f"{hits:,} of {int(given.sum()):,} answers of {name} that do not decline have a citation")
    return "; ".join(parts)


def _rates(view: View, found: Found) -> None:
    """In how many answers each style occurs, whatever they are read for now."""
    fits = {name: _fits(view.data_set.digest, name, view.data_set) for name in found.cited}
    rows: dict[str, dict[str, str]] = {}
    for name, styles in fits.items():
        for one in styles:
            rows.setdefault(one.name, {"style": one.label})[f"in {name}"] = f"{one.answers:,} of {one.of:,} answers"
    components.numbers(pd.DataFrame(list(rows.values())), "In how many answers each citation style occurs", "rates")


@st.cache_resource(max_entries=16, show_spinner=False)
def _fits(digest: str, system: str, _set: DataSet) -> list[StyleFit]:
    return style_fits(cache.cited_of(_set, system, "auto"))


@st.cache_resource(max_entries=16, show_spinner=False)
def _unread(digest: str, system: str, key: str, _cited: CitedAnswers) -> list[Unread]:
    return unread(_cited)


def _left_unread(view: View, found: Found) -> None:
    """Brackets that look like citations and are not read as such."""
    key = repr(view.state.settings)
    rows = [
        {"looks like": one.shape, "system": name, "times": one.count, "answers": one.answers,
         "for example": "  ".join(one.examples)}
        for name, cited in found.cited.items()
        for one in _unread(view.data_set.digest, name, key, cited)
    ]  # fmt: skip
    if not rows:
        st.caption("No other brackets look like citations.")
        return
    st.text(f"{sum(int(str(row['times'])) for row in rows):,} other brackets look like citations and are not read:")
    components.numbers(pd.DataFrame(rows), "Brackets that look like citations but are not read as such", "unread")


def _try(view: View, found: Found) -> None:
    """A pattern tried on sample answers, under the time limit, before it is used for all."""
    pattern = st.text_input(
        "Try a pattern", key=TRY, placeholder=r"\[Doc ([0-9]+)\]",
        help="A regular expression with one group around what names the document. Enter tries it on sample answers.",
    )  # fmt: skip
    if not pattern:
        st.caption(f"It is tried on up to {TRIED} answers of each system and changes nothing until you say so.")
        return
    try:
        tried = [cite(_sample(view, name, one), pattern=pattern) for name, one in found.cited.items()]
    except InputError as error:
        components.problem_list(error.problems, "This pattern cannot be used")
        return
    _outcome(tried)
    if any(len(one.answer) for one in tried):
        st.button(
            "Read all answers with it", key="use_pattern", on_click=change, type="primary",
            kwargs={"pattern": pattern, "style": "auto"},
        )  # fmt: skip


def _sample(view: View, name: str, cited: CitedAnswers) -> Table:
    """The first answers of a system that do not decline."""
    given = np.flatnonzero(~cited.abstained)[:TRIED]
    return view.data_set.inputs.answers[name].take(given)


def _outcome(tried: list[CitedAnswers]) -> None:
    """How often the pattern matched, and the first answers with what it found marked."""
    hits = sum(int((one.citations() > 0).sum()) for one in tried)
    total = sum(map(len, tried))
    found, valid = sum(len(one.answer) for one in tried), sum(int(one.valid.sum()) for one in tried)
    st.text(
        f"It matches in {hits:,} of {total:,} sample answers: {found:,} citations, {valid:,} name a document of their "
        "context.",
        width="stretch",
    )
    shown = [(one, int(row)) for one in tried for row in np.flatnonzero(one.citations() > 0)[:SHOWN]][:SHOWN]
    with st.container(key="tried"):
        for one, row in shown:
            st.html(marked(pieces(one, row)))
