"""The parts of the Overview: the strip about the sample, the verdict, the cards, the forest plot, the cautions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st

from ragdash.cautions import judged_beside
from ragdash.charts.overview import favours
from ragdash.charts.registry import CHARTS, Picture
from ragdash.charts.theme import plain, signed
from ragdash.comparison import Comparison
from ragdash.metrics.registry import Spec
from ragdash.scores import Scores
from ragdash.summary import summarise
from ragdash.ui import cited, components
from ragdash.ui.query_view import link_to
from ragdash.ui.state import state, to_params
from ragdash.ui.view import View
from ragdash.verdict import percent

ON_CARDS = 3


def strip(view: View) -> None:
    """On sample data: that it is, and the way to one's own; on answers alone: what can be said about them."""
    if not view.data_set.inputs.runs and view.data_set.inputs.answers:
        _answers_alone(view)
    _misread(view)
    if view.data_set.digest:
        return
    with st.container(horizontal=True, key="strip", vertical_alignment="center", border=True):
        n = len(view.scores.query_ids)
        st.text(f"Sample: {' → '.join(view.systems)}, {n:,} questions about an invented product handbook.")
        st.page_link("pages/data.py", label="Use your files", icon=":material/upload_file:", query_params={})


def _answers_alone(view: View) -> None:
    """What is there when no ranked lists are loaded, and where to look."""
    with st.container(horizontal=True, key="answers_alone", vertical_alignment="center", border=True):
        st.text("Answers and their context are loaded, no ranked lists: this page is about what the answers cite.")
        params = to_params(state(), on_queries=False)
        st.page_link("pages/citations.py", label="Citations", icon=":material/format_quote:", query_params=params)


def _misread(view: View) -> None:
    """That citations are not read as they are written, where that is so: no number of them may stand unwarned."""
    if alarms := cited.alarms(view):
        components.problem_list(alarms, cited.MISREAD)
        params = to_params(state(), on_queries=False)
        st.page_link("pages/citations.py", label="Choose how they are read", query_params=params)


def verdict(comparison: Comparison) -> None:
    """The finding: badge, sentence, the same in answers, and the decision."""
    side = favours(comparison.metrics[comparison.primary])
    components.verdict(comparison.badge, comparison.sentence, comparison.in_answers, comparison.decision, side)


def cards(view: View, comparison: Comparison) -> None:
    """The key metrics by layer, the one the verdict is about first."""
    for layer in components.LAYERS:
        shown = _on_cards(comparison.primary, [spec for spec in comparison.metrics if spec.metric.layer == layer])
        differences = [comparison.metrics[spec] for spec in shown]
        if differences:
            components.cards(layer, differences, len(view.scores.query_ids), comparison.terms.confidence)


def _on_cards(primary: Spec, specs: Iterable[Spec]) -> list[Spec]:
    """The first few metrics of a layer, the primary one among them."""
    ordered = sorted((spec for spec in specs if spec.metric.name != "Judged"), key=lambda spec: spec != primary)
    return ordered[:ON_CARDS]


def forest(comparison: Comparison) -> Picture:
    """All differences with their intervals; gives what was drawn, for its table."""
    entry = CHARTS["forest"]
    drawn = entry.draw(comparison)
    components.picture(drawn, entry.label, entry.explanation, "forest")
    return drawn


def trust(view: View, comparison: Comparison) -> None:
    """What to know before believing the verdict."""
    components.heading("Can we trust it?", explained="What could make the verdict an accident of the test set.")
    one = comparison.metrics[comparison.primary]
    facts = [
        f"The interval's method is {METHODS.get(one.interval.method or '', 'none')}; "
        f"{one.interval.changed:,} of {one.interval.n:,} questions changed."
    ]
    if view.scores.positive_only:
        facts.append("All judgments are positive: what is not listed cannot be told from what is not relevant.")
    else:
        facts += _judged(comparison.scores, comparison.primary, view.systems)
    for name, missing in zip(view.systems, one.missing, strict=True):
        if missing:
            facts.append(f"{missing:,} questions are missing in {name}; {_effect(view, comparison.primary)}.")
    facts += one.warnings
    facts += [problem.found for problem in comparison.problems if problem.severity == "set aside"]
    with st.container(key="cautions"):
        components.bullets(dict.fromkeys(facts))


def _effect(view: View, spec: Spec) -> str:
    """What a question that a system lacks counts."""
    if spec.metric.takes != "lists":
        return "they are left out"
    return "they count 0" if view.state.missing == "zero" else "they are left out for every system"


METHODS = {
    "t": "the paired t interval",
    "padded": "the padded t interval, which holds for few or uneven changes",
    "skew": "the padded t interval corrected for skew, as a few large changes dominate",
    "bootstrap": "the bootstrap",
}


def _judged(scores: Scores, spec: Spec, systems: Iterable[str]) -> list[str]:
    """How much of what the systems show was judged, at the metric's cutoff."""
    beside = judged_beside(spec)
    if spec.metric.takes != "lists" or beside not in scores.specs:
        return []
    values = [scores.of(name, beside) for name in systems]
    shares = [plain(float(np.nanmean(one))) if (~np.isnan(one)).any() else "–" for one in values]
    return [f"{beside}: {' / '.join(shares)} of the documents shown were judged ({' / '.join(systems)})."]


def onward(comparison: Comparison) -> None:
    """The way on: the questions with the largest loss and the largest win."""
    differences = comparison.metrics[comparison.primary].differences
    if not (~np.isnan(differences)).any():
        return
    components.heading("Look at")
    ends = {"Largest loss": int(np.nanargmin(differences)), "Largest win": int(np.nanargmax(differences))}
    if comparison.primary.metric.direction == "lower":
        ends = dict(zip(ends, reversed(ends.values()), strict=True))
    for words, row in ends.items():
        label = f"{words}: {comparison.scores.query_ids[row]} ({signed(float(differences[row]))})"
        link_to(str(comparison.scores.query_ids[row]), label)


def alone(view: View) -> None:
    """One system: its values with their intervals, no verdict, and what to add for one."""
    level = view.state.confidence
    summaries = summarise(view.scores, level)[view.a]
    one = summaries[view.primary]
    if not one.n:
        components.lead(f"No question has a value of {view.primary} in {view.a}. Choose another metric.", "alone")
        return
    components.lead(
        f"{view.a} reaches {plain(one.mean)} on {view.primary} ({percent(level)} interval {plain(one.ci_low)} to "
        f"{plain(one.ci_high)}; {one.n:,} questions). With one system there is no verdict.",
        "alone",
    )
    st.page_link("pages/data.py", label="Add a second system to compare", icon=":material/upload_file:")
    for layer in components.LAYERS:
        specs = _on_cards(view.primary, [spec for spec in view.shown if spec.metric.layer == layer])
        if specs:
            pairs = [(spec, summaries[spec]) for spec in specs]
            components.single_cards(layer, pairs, len(view.scores.query_ids), level)
