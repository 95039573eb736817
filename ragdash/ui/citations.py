"""The parts of the Citations page: the finding, the cards, the table of questions, the invalid references."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.elements.lib.column_types import ColumnConfig

from ragdash.charts.citations import citation_positions
from ragdash.charts.overview import favours
from ragdash.charts.registry import CHARTS
from ragdash.charts.theme import plain, signed
from ragdash.citation_status import STATUSES, CitationCounts, count_citations
from ragdash.citationdiff import by_position
from ragdash.drilldown import texts_of
from ragdash.summary import summarise
from ragdash.ui import answers, components, queries
from ragdash.ui.cited import MISREAD, VALIDITY, Found, Measured, gathered, invalid_targets
from ragdash.ui.view import View
from ragdash.verdict import percent, within_range


def looked_at(view: View) -> Found | None:
    """The finding first; None where no system on the screen has answers."""
    found = gathered(view)
    if found is None:
        components.lead(f"There are no answers of {' or '.join(view.systems)}, so nothing is cited.", "citations")
        st.page_link("pages/data.py", label="Add a file with answers and their context", icon=":material/upload_file:")
        return None
    _first(view, found)
    return found


# --- the finding -------------------------------------------------------------------------------------------------


def _first(view: View, found: Found) -> None:
    """What the page says first: that the reading does not fit, else the finding."""
    components.problem_list(found.alarms, MISREAD)
    if found.measured is not None:
        components.lead(sentence(view, found, found.measured), "citations")
    if missing := [name for name in view.systems if name not in found.cited]:
        st.text(f"There are no answers of {missing[0]}: this page shows {next(iter(found.cited))} alone.")


def sentence(view: View, found: Found, measured: Measured) -> str:
    """The finding with its uncertainty: how many references are invented, and whether that changed."""
    counts = {name: count_citations(one) for name, one in found.cited.items()}
    if measured.comparison is None:
        (name, one), *_ = counts.items()
        return f"{_share(one)} of {name} name nothing in their context. {_mean(view, measured, name)}"
    (a, first), (b, second) = counts.items()
    change = measured.comparison.metrics[measured.comparison.primary]
    counted = f"{_share(second)} name nothing in their context ({a}: {first.invalid:,} of {first.citations:,})"
    if change.interval.n < 2:
        return f"{counted}. Too few questions are cited by both for an interval."
    low, high = within_range(change.spec, change.interval.low, change.interval.high)
    spread = f"{percent(view.state.confidence)} interval {signed(low)} to {signed(high)}"
    side = "" if change.verdict == "too_few" else favours(change)
    none = not any(c.invalid or c.ambiguous for c in counts.values())
    claim = {
        "a": f"{b} invents more references than {a}",
        "b": f"{b} invents fewer references than {a}",
        "": f"Neither {a} nor {b} invents a reference" if none else _unsettled(a, b),
    }[side]
    return (
        f"{claim}: {counted}. Citation validity changes by {signed(change.difference)} ({spread}; "
        f"{change.interval.n:,} questions on which both cite something)."
    )


def _unsettled(a: str, b: str) -> str:
    return f"It is not settled whether {b} invents more references than {a}"


def _share(one: CitationCounts) -> str:
    return f"{one.invalid:,} of {one.citations:,} citations"


def _mean(view: View, measured: Measured, name: str) -> str:
    one = summarise(measured.scores, view.state.confidence)[name][measured.specs[VALIDITY]]
    if not one.n:
        return "No answer cites anything, so citation validity is undefined."
    spread = f"{percent(view.state.confidence)} interval {plain(one.ci_low)} to {plain(one.ci_high)}"
    return f"Mean citation validity is {plain(one.mean)} ({spread}; {one.n:,} answers that cite something)."


def cards(view: View, found: Found) -> None:
    """The citation metrics, the share of answers without citation first; none where they would mean nothing."""
    measured, level = found.measured, view.state.confidence
    if measured is None:
        return
    total, across = len(measured.scores.query_ids), len(measured.specs)
    if measured.comparison is None:
        summaries = summarise(measured.scores, level)[next(iter(found.cited))]
        pairs = [(spec, summaries[spec]) for spec in measured.specs]
        components.single_cards("generation", pairs, total, level, across)
    else:
        shown = [measured.comparison.metrics[spec] for spec in measured.specs]
        components.cards("generation", shown, total, level, across)


# --- the questions -----------------------------------------------------------------------------------------------


def table(view: View, found: Found) -> None:
    """The questions, the worst citing first; a click opens one."""
    letters = ("A", "B") if len(found.cited) > 1 else ("",)

    def rows(first: int, last: int) -> pd.DataFrame:
        return _rows(view, found, letters, first, last)

    alt = "Questions by how their answers cite, worst first"
    queries.pages_of(view, found, rows, _columns(letters), alt, "citation_table")
    st.caption(f"{answers.LEGEND}. Counted for each answer; the worst stand first.")


def _rows(view: View, found: Found, letters: tuple[str, ...], first: int, last: int) -> pd.DataFrame:
    at = found.rows[first:last]
    ids = [str(name) for name in found.diff.query_ids[at]]
    asked = texts_of(view.data_set.inputs.queries, "query_id", ["query"], ids)
    columns: dict[str, object] = {"id": ids}
    if any(text[0] for text in asked.values()):
        columns["question"] = [asked.get(name, ("",))[0] for name in ids]
    for letter, side in zip(letters, found.diff.sides, strict=True):
        columns[f"{letter} is"] = [STATUSES[code] for code in side.status[at].tolist()]
        columns |= {f"{letter} ✓": side.valid[at], f"{letter} ✗": side.invalid[at], f"{letter} –": side.uncited[at]}
        if side.ambiguous.any():
            columns[f"{letter} ≈"] = side.ambiguous[at]
    if len(letters) > 1:
        columns |= {f"only {letter}": only[at] for letter, only in zip(letters, found.diff.only, strict=True)}
    return pd.DataFrame(columns)


def _columns(letters: tuple[str, ...]) -> dict[str, ColumnConfig]:
    columns: dict[str, ColumnConfig] = {
        "id": st.column_config.TextColumn("id", pinned=True, width=70),
        "question": st.column_config.TextColumn("question", width=300),
    }
    explained = {
        "✓": "Citations that name a document of the context",
        "✗": "Citations that name nothing in the context",
        "≈": "Citations that could name two documents",
        "–": "Documents of the context that are never cited",
    }
    for letter in letters:
        label = f"{letter} answer" if letter else "answer"
        columns[f"{letter} is"] = st.column_config.TextColumn(label, width=85, help="The worst of its citations")
        for sign, meaning in explained.items():
            columns[f"{letter} {sign}"] = st.column_config.NumberColumn(f"{letter} {sign}", width=50, help=meaning)
        if letter:
            meaning = f"Documents that {letter} cites and the other does not"
            columns[f"only {letter}"] = st.column_config.NumberColumn(f"only {letter}", width=60, help=meaning)
    return columns


# --- the whole set -----------------------------------------------------------------------------------------------


def invalid_references(view: View, found: Found) -> None:
    """The references that name nothing, the most frequent first, with what may have caused them."""
    components.heading(
        "Invalid references",
        explained="What is cited and not in the answer's context. The cause is a guess from the loaded files.",
    )
    rows = invalid_targets(view, found)
    if not rows:
        none = not any(len(one.answer) for one in found.cited.values())
        st.text("No citation was found." if none else "Every citation names a document of its context.")
        return
    letters = ("A", "B") if len(rows[0].counts) > 1 else ("times",)
    table = [
        {"reference": one.target}
        | dict(zip(letters, one.counts, strict=True))
        | {"likely cause": one.cause or "–", "questions": ", ".join(one.query_ids)}
        for one in rows
    ]
    components.numbers(pd.DataFrame(table), "Invalid references with how often each occurs", "invented")


def transitions(found: Found) -> None:
    """How the answers of B cite where those of A cite so or so."""
    if len(found.cited) < 2 or found.measured is None:
        return
    components.heading("From A to B", explained="Each question counts once, by the worst of its citations.")
    counts = found.diff.transitions()
    st.text(_turned(counts), width="stretch")
    kept = [number for number in range(len(STATUSES)) if counts[number].any() or counts[:, number].any()]
    rows = {"A was": [STATUSES[number] for number in kept]}
    columns = {f"B {STATUSES[number]}": counts[kept, number].tolist() for number in kept}
    components.numbers(
        pd.DataFrame(rows | columns), "Questions by how A's answer cites and how B's does", "transitions"
    )


def _turned(counts: NDArray[np.int64]) -> str:
    """What became of the questions that A cites well, and how many B mended."""
    good, bad = STATUSES.index("valid"), STATUSES.index("invalid")
    kept, broken, mended = counts[good, good], counts[good, bad], counts[bad, good]
    said = (
        f"Where all of A's citations are valid ({counts[good].sum():,} questions), so are B's in {kept:,}; in "
        f"{broken:,} B names something that is not there."
    )
    faulty = counts[bad].sum()
    return f"{said} B mends {mended:,} of the {faulty:,} where A does." if faulty else said


def positions(found: Found) -> None:
    """Which places of the context are cited."""
    if found.measured is None or not all(len(one.contexts) for one in found.cited.values()):
        return
    entry = CHARTS[citation_positions.__name__]
    drawn = entry.draw({name: by_position(one) for name, one in found.cited.items()})
    components.picture(drawn, entry.label, entry.explanation, "positions")
    components.picture_table(drawn, "positions")
