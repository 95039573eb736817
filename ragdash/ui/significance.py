"""The parts of the Significance page: the finding, the charts with their tables, what the set can see, the tests."""

from __future__ import annotations

import math
from typing import cast

import pandas as pd
import streamlit as st

from ragdash.charts.overview import p_words
from ragdash.charts.paired import counted
from ragdash.charts.registry import CHARTS, Picture
from ragdash.charts.theme import CONFIG, readers
from ragdash.comparison import Comparison
from ragdash.schema import Table
from ragdash.significance import LARGEST, MOST_SLICES, Significance, settled, significance
from ragdash.ui import components
from ragdash.ui.state import ON_QUERIES, state, to_params
from ragdash.ui.view import View
from ragdash.verdict import FEWEST_QUERIES, percent, within_range

MOST_NAMED = 20
BARS = "sorted_differences"
PURPOSES = {
    "t": ("Paired t", "The usual test. Right where many questions changed and none dominates."),
    "padded": ("Padded t", "For few changed questions: half a question is added at either end of the scale."),
    "skew": ("Skew-corrected t", "For a few large changes that dominate: padded, and bent for their skew."),
    "bootstrap": ("Bootstrap", "Questions drawn again, infinitely often. Too narrow under about 40 changed questions."),
}


def looked_at(view: View) -> Significance | None:
    """The finding first; the rest of the page only where there are two systems and two questions to compare."""
    comparison = view.comparison
    if comparison is None:
        components.lead("With one system there is no difference to be sure of.", "significance")
        st.page_link("pages/data.py", label="Add a second system to compare", icon=":material/upload_file:")
        return None
    components.lead(settled(comparison.finding()), "significance")
    if comparison.metrics[comparison.primary].interval.n < 2:
        st.text("Choose another metric in the sidebar.")
        return None
    key = repr((view.state.settings, view.state.terms, view.a, view.b, view.metric))
    return _significance(view.data_set.digest, key, comparison, view.data_set.inputs.queries)


@st.cache_resource(max_entries=32, show_spinner="Looking at the difference from every side …")
def _significance(digest: str, key: str, _comparison: Comparison, _queries: Table | None) -> Significance:
    return significance(_comparison, _queries)


def picture(found: Significance, name: str) -> None:
    """A chart by its name, with its numbers folded beneath."""
    components.picture_table(_drawn(found, name), name)


def _drawn(found: Significance, name: str) -> Picture:
    entry = CHARTS[name]
    drawn = entry.draw(found.comparison if name == "forest" else found)
    components.picture(drawn, entry.label, entry.explanation, name)
    return drawn


def leaning(found: Significance) -> None:
    """What the mean hangs on: how many questions changed, and the mean without the largest changes."""
    components.heading("What does it hang on?", explained="Whether a few questions make the difference.")
    one, interval = found.one, found.one.interval
    value, change = readers(found.spec.metric.span is not None)
    without = found.pairs.without_largest()
    facts = [
        f"The mean goes from {value(one.baseline)} to {value(one.candidate)}: {change(one.difference)}.",
        f"{interval.changed:,} of {interval.n:,} questions changed: {counted(found)}.",
    ]
    if not math.isnan(without):
        facts.append(f"Without the {LARGEST} largest changes the mean is {change(without)}.")
    with st.container(key="leaning"):
        components.bullets(facts)


def seeing(found: Significance) -> None:
    """What these questions can see, and how many more it takes."""
    components.heading(
        "What can this set see?",
        explained="A true difference of this size comes out significant four times in five, at the confidence chosen.",
    )
    with st.container(key="seeing"):
        components.bullets(seen(found))


def seen(found: Significance) -> list[str]:
    """The smallest difference to be seen and the questions a smaller one needs, in words."""
    sight = found.sight
    _, change = readers(found.spec.metric.span is not None)
    if math.isnan(sight.detectable):
        return ["All differences are equal, so it cannot be said how small a difference this set could see."]
    said = [f"This set can see ±{change(sight.detectable).lstrip('+')}, four times in five."]
    if sight.needed is None:
        return said
    aim = change(sight.aim)
    if sight.needed <= sight.n:
        return [*said, f"Its {sight.n:,} questions are enough to see {aim}; about {sight.needed:,} would do."]
    return [*said, f"To see {aim} you need about {sight.needed:,} questions: {sight.needed - sight.n:,} more."]


def by_slice(found: Significance) -> None:
    """The differences by slice, or why there are none; what is too small is named."""
    entry = CHARTS["forest_slices"]
    if not found.slices:
        components.heading(entry.label, explained=components.inert(entry.explanation))
        st.text("The questions name no slices. A questions file with a column slice brings them.")
        return
    if any(part.one is not None for part in found.slices):
        drawn = _drawn(found, entry.name)
    else:
        components.heading(entry.label, explained=components.inert(entry.explanation))
        drawn = None
    with st.container(key="slices_left_out"):
        for line in left_out(found):
            st.text(line, width="stretch")
    if drawn is not None:
        components.picture_table(drawn, entry.name)


def left_out(found: Significance) -> list[str]:
    """The slices without an interval: those too small, by name, and those past the largest, by number."""
    said = []
    small = [f"{part.name} ({part.n:,})" for part in found.slices if part.n < FEWEST_QUERIES]
    if small:
        more = f" and {len(small) - MOST_NAMED:,} more" if len(small) > MOST_NAMED else ""
        said.append(f"Under {FEWEST_QUERIES} questions, so not estimated: {', '.join(small[:MOST_NAMED])}{more}.")
    past = sum(part.one is None for part in found.slices) - len(small)
    if past:
        said.append(f"Only the {MOST_SLICES} largest slices are estimated, {past:,} more are not.")
    return said


def sorted_differences(found: Significance) -> None:
    """Every question's difference; a click on one opens it."""
    entry = CHARTS[BARS]
    drawn = entry.draw(found)
    components.heading(entry.label, counted(found), components.inert(entry.explanation))
    _open(_clicked(drawn))
    st.caption(drawn.legend)
    components.picture_table(drawn, BARS)


def _clicked(drawn: Picture) -> str:
    """The id of the question whose bar was clicked; empty where none was."""
    event = st.plotly_chart(
        drawn.figure, key=BARS, config=CONFIG, alt=drawn.alt, on_select="rerun", selection_mode="points"
    )
    points = cast("list[dict[str, list[str]]]", event["selection"]["points"])
    ids = points[0].get("customdata") if points else None
    return str(ids[0]) if ids else ""


def _open(query_id: str) -> None:
    if query_id:
        params = {name: value for name, value in to_params(state()).items() if name not in ON_QUERIES}
        st.switch_page("pages/queries.py", query_params=params | {"q": query_id})


def tests(found: Significance) -> None:
    """All ways to test the same mean, side by side, folded."""
    taken = found.one.interval.method
    level = found.comparison.terms.confidence
    _, change = readers(found.spec.metric.span is not None)
    rows = []
    for tested in found.tests:
        name, purpose = PURPOSES[tested.asked]
        low, high = within_range(found.spec, tested.interval.low, tested.interval.high)
        here = tested.interval.method == tested.asked
        rows.append(
            {
                "test": name,
                f"{percent(level)} interval": f"{change(low)} to {change(high)}" if here else "– not defined here",
                "p": p_words(tested.interval.p if here and found.one.shown_p is not None else None),
                "decides": "✓ the verdict's" if tested.asked == taken else "",
                "what it is for": purpose,
            }
        )
    with st.expander("Tests of the same difference, side by side"):
        components.numbers(pd.DataFrame(rows), "Intervals and p of the same mean difference by four methods", "tests")
        st.caption(
            "One of them decides, by a rule fixed before looking: how many questions changed, and how skewed the "
            "changes are. The others stand here for comparison. Picking the one that suits would make its p worthless."
        )
