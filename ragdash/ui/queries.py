"""The parts of the Queries page: the finding, the table with the worst first, and the steps from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.elements.lib.column_types import ColumnConfig

from ragdash.charts.theme import A, B
from ragdash.drilldown import texts_of, worst_first
from ragdash.problems import Problem
from ragdash.ranking import Floats, Ints
from ragdash.ui import components
from ragdash.ui.state import change, held, state
from ragdash.ui.view import View

PAGE_ROWS = 500
TABLE, PAGE = "query_table", "query_page"
SHOWN, CLICKED, TURN = "query_shown", "query_clicked", "query_turn"
ORDERS = {"b": "B", "a": "A", "diff": "difference B − A"}


@dataclass(frozen=True, eq=False)
class Ordered:
    """The questions with a value, the worst first: ids, and the values of A, B and their difference, (questions,)."""

    ids: NDArray[np.str_]
    a: Floats
    b: Floats
    difference: Floats

    def __len__(self) -> int:
        return len(self.ids)


class Sorted(Protocol):
    """Questions in the order of a page: what its table, its steps and its open question need of them."""

    @property
    def ids(self) -> NDArray[np.str_]: ...
    def __len__(self) -> int: ...


def ordered(view: View) -> Ordered:
    """All questions that have a value of the metric, in the order chosen."""
    a = view.scores.of(view.a, view.primary)
    b = view.scores.of(view.b, view.primary) if view.b else np.full_like(a, np.nan)
    by, then = {"b": (b, b - a), "a": (a, a - b), "diff": (b - a, b)}[view.state.by if view.b else "a"]
    direction = "lower" if view.primary.metric.direction == "lower" else "higher"
    rows: Ints = worst_first(by, direction, then)
    return Ordered(view.scores.query_ids[rows], a[rows], b[rows], (b - a)[rows])


def finding(view: View, found: Ordered) -> None:
    """What the page says first."""
    if not len(found):
        components.lead(f"No question has a value of {view.primary}. Choose another metric in the sidebar.", "queries")
        return
    if view.comparison is None:
        zero = int((found.a == 0).sum())
        components.lead(f"{zero:,} of {len(found):,} questions have {view.primary} = 0.", "queries")
        return
    interval = view.comparison.metrics[view.primary].interval
    counts = f"{interval.losses:,} got worse, {interval.wins:,} better, {interval.ties:,} stayed equal"
    components.lead(f"From {view.a} to {view.b}, {counts} on {view.primary}.", "queries")


def order_picker(view: View) -> None:
    """What "worst" means."""
    if view.b:
        st.segmented_control(
            "Worst first by", list(ORDERS), format_func=ORDERS.__getitem__, required=True,
            help="B or A: what that system cannot do, the largest losses first among equals. Difference: what B broke.",
            **held("by"),
        )  # fmt: skip


def opened(found: Sorted) -> str:
    """The question that is open: the one the state names, else the worst."""
    asked = state().q
    if asked in found.ids:
        return asked
    if asked:
        hint = "Choose one in the table; a question without a value here is not listed"
        components.problem_list([Problem("link", f"question {asked!r} is not among these", hint)], "No such question")
    return str(found.ids[0])


def table(view: View, found: Ordered) -> None:
    """The questions by the metric's values."""

    def rows(first: int, last: int) -> pd.DataFrame:
        return _rows(view, found, first, last)

    pages_of(view, found, rows, _columns(view), f"Questions, worst {view.primary} first")


def pages_of(
    view: View, found: Sorted, rows: Callable[[int, int], pd.DataFrame], columns: dict[str, ColumnConfig], alt: str,
    name: str = TABLE,
) -> None:  # fmt: skip
    """Questions a page of rows at a time; a click opens one. The id is kept, never the row."""
    current = state().q if state().q in found.ids else str(found.ids[0])
    at = int(np.flatnonzero(found.ids == current)[0])
    pages = -(-len(found) // PAGE_ROWS)
    turner = f"{PAGE}_{name}_{current}_{view.state.by}_{len(found)}"  # a question opened brings its own page of rows
    number = min(int(st.session_state.get(turner) or at // PAGE_ROWS + 1), pages)
    first, last = (number - 1) * PAGE_ROWS, min(number * PAGE_ROWS, len(found))
    ids = found.ids[first:last]
    key = f"{name}_{hash((view.data_set.digest, view.a, view.b, view.primary, repr(view.state.settings)))}"
    key = f"{key}_{view.state.by}_{number}_{_turn(current)}"
    inside = [at - first] if first <= at < last else []
    with st.container(key="queries"):
        st.dataframe(
            rows(first, last), key=key, on_select=_remember(key, ids), selection_mode="single-row",
            selection_default={"selection": {"rows": inside, "columns": [], "cells": []}},
            hide_index=True, height=min(36 * (last - first) + 38, 330), column_config=columns, alt=alt,
        )  # fmt: skip
        if pages > 1:
            st.pagination(pages, default=at // PAGE_ROWS + 1, key=turner)
            st.caption(f"Questions {first + 1:,} to {last:,} of {len(found):,}.")


def _turn(current: str) -> int:
    """A number that changes when a question is opened otherwise than by a click in the table.

    The table is then drawn anew with that question marked. To tell the same table what to mark would be a race: it
    reports the mark back as if it were a click, perhaps after the next one.
    """
    clicked = st.session_state.pop(CLICKED, None)
    turn: int = st.session_state.setdefault(TURN, 0)
    if current not in (clicked, st.session_state.get(SHOWN)):
        turn += 1
    st.session_state[SHOWN], st.session_state[TURN] = current, turn
    return turn


def _rows(view: View, found: Ordered, first: int, last: int) -> pd.DataFrame:
    ids = [str(name) for name in found.ids[first:last]]
    asked = texts_of(view.data_set.inputs.queries, "query_id", ["query"], ids)
    columns = {"id": ids, "question": [asked.get(name, ("",))[0] for name in ids]}
    if not any(columns["question"]):
        del columns["question"]
    values = {"a": found.a, "b": found.b, "difference": found.difference} if view.b else {"a": found.a}
    return pd.DataFrame(columns | {name: one[first:last] for name, one in values.items()})


def _columns(view: View) -> dict[str, ColumnConfig]:
    name = str(view.primary)
    span = view.primary.metric.span
    low, high = span or (None, None)

    def value(letter: str, colour: str) -> ColumnConfig:
        label = f"{letter} {name}" if view.b else name
        if span is None or high is None:
            return st.column_config.NumberColumn(label, format="%.3f", width="small")
        return st.column_config.ProgressColumn(
            label, min_value=low, max_value=high, format="%.3f", width="small", color=colour
        )

    return {
        "id": st.column_config.TextColumn("id", pinned=True, width="small"),
        "question": st.column_config.TextColumn("question", width="large"),
        "a": value("A", A.colour),
        "b": value("B", B.colour),
        "difference": st.column_config.NumberColumn("B − A", format="%+.3f", width="small"),
    }


def _remember(key: str, ids: NDArray[np.str_]) -> Callable[[], None]:
    """Keep the id of the row clicked; `ids` are those of the rows that were on the screen."""

    def keep() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            st.session_state[CLICKED] = str(ids[rows[0]])
            change(q=str(ids[rows[0]]))

    return keep


def steps(found: Sorted, query_id: str) -> None:
    """Previous and next (K and J), and a field to jump to an id."""
    at = int(np.flatnonzero(found.ids == query_id)[0])
    with st.container(horizontal=True, key="steps", vertical_alignment="center"):
        for label, icon, step, shortcut in (
            ("Previous", ":material/chevron_left:", -1, "K"),
            ("Next", ":material/chevron_right:", 1, "J"),
        ):
            to = min(max(at + step, 0), len(found) - 1)
            st.button(
                label, key=label.lower(), icon=icon, shortcut=shortcut, on_click=change, disabled=to == at,
                kwargs={"q": str(found.ids[to])},
            )  # fmt: skip
        st.text_input(
            "Go to question", key="jump", on_change=_jump, placeholder="Go to id …",
            label_visibility="collapsed", width=160,
        )  # fmt: skip
        st.text(f"{at + 1:,} of {len(found):,}")


def _jump() -> None:
    asked = st.session_state["jump"].strip()
    st.session_state["jump"] = ""
    if asked:
        change(q=asked)
