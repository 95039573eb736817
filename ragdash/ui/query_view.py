"""One question: what changed, both ranked lists side by side, what was missed, and the answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from ragdash.charts.theme import A, B, plain, signed
from ragdash.drilldown import Drilldown, Place, grade_mark, texts_of, what_changed
from ragdash.ui import answers, cache, components
from ragdash.ui.state import ON_QUERIES, state, to_params
from ragdash.ui.view import View

SHORT_LIST, LONG_LIST = 10, 1000
MARKS = (A, B)


def link_to(query_id: str, label: str) -> None:
    """A link that opens one question on the Queries page."""
    params = {name: value for name, value in to_params(state()).items() if name not in ON_QUERIES}
    st.page_link(
        "pages/queries.py", label=components.inert(label), icon=":material/arrow_forward:",
        query_params=params | {"q": query_id},
    )  # fmt: skip


def show(view: View, query_id: str, first: Literal["lists", "answers"] = "lists") -> None:
    """Everything about one question, the lists or the answers first."""
    inputs = view.data_set.inputs
    one = cache.drilldown_of(view.data_set, view.state.settings, query_id, view.systems)
    question, reference = texts_of(inputs.queries, "query_id", ["query", "reference"], [query_id]).get(
        query_id, ("", "")
    )
    with st.container(key="query"):
        with st.container(key="question"):
            st.text(f"{query_id}  {question}", width="stretch")
        cites = answers.finding(view, query_id)
        leads = first == "answers" or not any(one.lists)
        components.lead(cites if cites and leads else what_changed(one, view.primary.k), "query")
        st.text(_values(view, query_id))
        if first == "answers":
            answers.show(view, one, reference)
            if any(one.lists):
                components.heading("What was retrieved")
        _lists(view, one)
        _missed(view, one)
        if first == "lists":
            answers.show(view, one, reference)


def _values(view: View, query_id: str) -> str:
    row = int(np.flatnonzero(view.scores.query_ids == query_id)[0])
    values = [float(view.scores.of(name, view.primary)[row]) for name in view.systems]
    if len(values) == 1:
        return f"{view.primary} {plain(values[0])}"
    return f"{view.primary}   A {plain(values[0])}   B {plain(values[1])}   B − A {signed(values[1] - values[0])}"


def _lists(view: View, one: Drilldown) -> None:
    """The ranked lists, short unless asked for in full."""
    longest = max(map(len, one.lists), default=0)
    if not longest:
        return
    short = max(SHORT_LIST, view.primary.k or 0)
    whole = longest > short and st.toggle(f"Whole lists (up to {longest:,} documents)", key="whole_lists")
    most = LONG_LIST if whole else short
    ids = {place.doc_id for places in one.lists for place in places[:most]}
    titles = _titles(view, ids)
    for column, letter, mark, name, places in zip(
        st.columns(len(one.lists), gap="medium"), "AB", MARKS, one.systems, one.lists, strict=False
    ):
        with column, st.container(key=f"list_{letter.lower()}"):
            st.text(f"{mark.sign} {letter}  {name}" if view.b else name)
            if places:
                rows = _rows(places[:most], titles, "BA"["AB".index(letter)] if view.b else "")
                st.dataframe(
                    rows, hide_index=True, height=620 if whole else "content", row_height=46 if titles else None,
                    column_config=LIST_COLUMNS, alt=f"What {name} retrieved for {one.query_id}, in ranked order",
                )  # fmt: skip
            else:
                st.text("Nothing was retrieved for this question.")
    st.caption(LEGEND)


LEGEND = (
    "● relevant with its grade &ensp; ○ judged, not relevant &ensp; ? unjudged, counts as not relevant &ensp;·&ensp; "
    "▲ stands higher than in the other list &ensp; ▼ lower &ensp; = same rank &ensp; – not in the other list"
)
LIST_COLUMNS = {
    "rank": st.column_config.NumberColumn("#", width=30),
    "grade": st.column_config.TextColumn("grade", width=85, help="What the judgments say about the document."),
    "in A": st.column_config.TextColumn("in A", width=50, help="The rank in A's list."),
    "in B": st.column_config.TextColumn("in B", width=50, help="The rank in B's list."),
    "document": st.column_config.TextColumn("document", width=100),
    "title": st.column_config.TextColumn("title", width=220),
}


def _rows(places: Iterable[Place], titles: dict[str, str], other: str) -> pd.DataFrame:
    rows = []
    for place in places:
        row: dict[str, object] = {"rank": place.rank, "grade": grade_mark(place.grade)}
        if other:
            row[f"in {other}"] = _move(place)
        row["document"] = place.doc_id
        if titles:
            row["title"] = titles.get(place.doc_id, "")
        rows.append(row)
    return pd.DataFrame(rows)


def _move(place: Place) -> str:
    """The rank in the other list, and whether the document stands higher here."""
    if place.elsewhere is None:
        return "–"
    sign = "=" if place.elsewhere == place.rank else "▲" if place.rank < place.elsewhere else "▼"
    return f"{place.elsewhere} {sign}"


def _titles(view: View, ids: Iterable[str]) -> dict[str, str]:
    """Titles, or the first words of the text, of these documents."""
    texts = texts_of(view.data_set.inputs.documents, "doc_id", ["title", "text"], ids)
    return {name: title or text[:80] for name, (title, text) in texts.items()}


def _missed(view: View, one: Drilldown) -> None:
    """Relevant documents that a system did not retrieve."""
    missed = one.missed()
    if not missed:
        return
    titles = _titles(view, [doc.doc_id for doc in missed])
    components.heading("Relevant, but not retrieved", explained="By at least one of the systems, in its whole list.")
    rows = []
    for doc in missed:
        row = {"grade": grade_mark(doc.grade), "document": doc.doc_id}
        row |= {"title": titles.get(doc.doc_id, "")} if titles else {}
        row |= {f"rank in {letter}": _rank(rank) for letter, rank in zip("AB", doc.ranks, strict=False)}
        rows.append(row)
    components.numbers(pd.DataFrame(rows), f"Relevant documents of {one.query_id} that were not retrieved", "missed")


def _rank(rank: int | None) -> str:
    return "not retrieved" if rank is None else str(rank)
