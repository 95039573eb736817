"""The pictures of the mean difference: its distribution over resampled questions, and its parts by slice."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import pandas as pd
import plotly.graph_objects as go

from ragdash.charts.overview import forest_figure, forest_legend, in_figures, mark_colour
from ragdash.charts.registry import Picture, chart
from ragdash.charts.theme import BAND, GREY, dressed, readers, title
from ragdash.significance import Significance, SliceDifference, density
from ragdash.verdict import percent, within_range

LONGEST_NAME = 26
DECISION_AT, BOOTSTRAP_AT = -0.14, -0.34
TAILS = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)
METHOD_NAMES = {"t": "paired t", "padded": "padded t", "skew": "padded t, skew-corrected", "bootstrap": "bootstrap"}


@chart("distribution", label="The mean difference, if other questions had been drawn")
def distribution(found: Significance) -> Picture:
    """How the mean difference B − A varies when the questions are drawn again from these, infinitely often.

    The curve is the bootstrap's exact limit: no seed, no chance in it. Its height has no unit. Beneath it stand two
    intervals: the thick line is the one the verdict is taken from, the thin one the bootstrap's own percentiles. The
    bootstrap is too narrow where fewer than about 40 questions changed. The grey band is the margin.
    """
    if found.distribution is None:
        raise ValueError("a distribution needs at least two questions with a value in both systems")
    one, colour = found.one, mark_colour(found.one)
    x, height = density(found.distribution)
    figure = go.Figure()
    _add_margin(figure, found)
    figure.add_scatter(
        x=x, y=height, mode="lines" if len(x) > 1 else "markers", line={"color": colour, "width": 2}, fill="tozeroy",
        fillcolor=_thin(colour), hovertemplate="%{x:+.3f}<extra></extra>", name="distribution",
    )  # fmt: skip
    decision, bootstrap = _intervals(found)
    ends = within_range(one.spec, one.interval.low, one.interval.high)
    _add_interval(figure, DECISION_AT, ends, decision, {"color": colour, "width": 7})
    _add_interval(figure, BOOTSTRAP_AT, one.bootstrap, bootstrap, {"color": colour, "width": 2})
    figure.add_scatter(
        x=[one.difference], y=[DECISION_AT], mode="markers", hoverinfo="skip", name="mean",
        marker={"symbol": "diamond", "size": 14, "color": colour},
    )  # fmt: skip
    figure.update_yaxes(
        range=[-0.5, 1.08], tickvals=[0.5, DECISION_AT, BOOTSTRAP_AT], ticktext=["means", "decision", "bootstrap"]
    )
    _name_axis(figure, found)
    dressed(figure, 330)
    _, change = readers_of(found)
    words = (
        f"Distribution of the mean difference B − A in {found.spec} over resampled questions, around "
        f"{change(one.difference)}. {decision}. {bootstrap}."
    )
    legend = f"Thick, with the mean ◆: {decision}. Thin: {bootstrap}. {_band_words(found)}"
    return Picture(figure, words, legend, _distribution_rows(found))


def _intervals(found: Significance) -> tuple[str, str]:
    """The two intervals in words: the one the verdict is taken from, and the bootstrap's."""
    one, level = found.one, percent(found.comparison.terms.confidence)
    _, change = readers_of(found)
    low, high = within_range(one.spec, one.interval.low, one.interval.high)
    method = METHOD_NAMES[one.interval.method or "t"]
    return (
        f"{level} decision interval ({method}) {change(low)} to {change(high)}",
        f"{level} bootstrap interval {change(one.bootstrap[0])} to {change(one.bootstrap[1])}",
    )


def _add_interval(
    figure: go.Figure, at: float, ends: tuple[float, float], said: str, line: dict[str, str | int]
) -> None:
    figure.add_scatter(
        x=list(ends), y=[at, at], mode="lines", line=line, name=said.split(" (")[0], text=[said] * 2,
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _distribution_rows(found: Significance) -> pd.DataFrame:
    """Percentiles of the resampled means, and how much of them is above zero."""
    spread = found.distribution
    if spread is None:
        return pd.DataFrame()
    _, change = readers_of(found)
    rows = [(f"{100 * share:g} % of the means are at most", change(spread.quantile(share))) for share in TAILS]
    above = 1 - spread.cdf(0.0)
    return pd.DataFrame([*rows, ("share of the means above 0", f"{above:.1%}")], columns=["Resampled means", "value"])


@chart("forest_slices", label="Differences by slice")
def forest_slices(found: Significance) -> Picture:
    """The mean difference B − A of the metric on each slice, with its interval, the largest slice first.

    Exploratory: the intervals are not corrected for how many slices there are, so one in twenty excludes zero by
    chance alone. Take a slice that stands out as a question for new data. Slices under 20 questions are in the table
    only. Marks as in the differences by metric.
    """
    drawn = [part for part in found.slices if part.one is not None]
    names = _axis_names(drawn)
    rows = {name: part.one for name, part in zip(names, drawn, strict=True) if part.one is not None}
    figure = forest_figure(rows, found.comparison)
    _, change = readers_of(found)
    level = percent(found.comparison.terms.confidence)
    each = "; ".join(
        f"{part.name} {change(part.one.difference)}, {level} interval {change(part.one.interval.low)} to "
        f"{change(part.one.interval.high)}, {part.n} questions"
        for part in drawn
        if part.one is not None
    )
    words = f"Mean difference B − A in {found.spec} by slice, exploratory, not corrected: {each or 'none'}."
    legend = f"Exploratory: not corrected for the number of slices. {forest_legend(found.comparison)}"
    return Picture(figure, words, legend, _slice_rows(found))


def _axis_names(parts: Sequence[SliceDifference]) -> list[str]:
    """What stands beside each row: the slice, cut where it stays distinct, and its size; markup is inert."""
    short = [part.name if len(part.name) <= LONGEST_NAME else part.name[: LONGEST_NAME - 1] + "…" for part in parts]
    names = [cut if short.count(cut) == 1 else part.name for cut, part in zip(short, parts, strict=True)]
    return [f"{html.escape(name)} · n = {part.n:,}" for name, part in zip(names, parts, strict=True)]


def _slice_rows(found: Significance) -> pd.DataFrame:
    """All slices, those too small for an estimate too."""
    level = found.comparison.terms.confidence
    rows = [
        {"Slice": part.name, "n": f"{part.n:,}"} | ({} if part.one is None else in_figures(part.one, level))
        for part in found.slices
    ]
    return pd.DataFrame(rows).fillna("–")


def _add_margin(figure: go.Figure, found: Significance) -> None:
    """The zero line, and the margin where the metric has a scale to say it on."""
    margin = found.comparison.terms.margin
    if margin and found.spec.metric.span is not None:
        figure.add_vrect(x0=-margin, x1=margin, fillcolor=BAND, line_width=0, layer="below")
    figure.add_vline(x=0, line_color=GREY, line_width=1.5)


def _band_words(found: Significance) -> str:
    margin = found.comparison.terms.margin
    return f"Grey band: the margin, ±{margin:g}." if margin and found.spec.metric.span is not None else ""


def _name_axis(figure: go.Figure, found: Significance) -> None:
    figure.update_xaxes(
        title={"text": f"← A higher   ·   mean {metric_title(found)}, B − A   ·   B higher →", "font": {"size": 13}},
        tickformat="+.2f" if found.spec.metric.span is not None else None,
    )


def metric_title(found: Significance) -> str:
    """The metric as it stands on an axis, its markup inert."""
    return html.escape(title(str(found.spec), found.spec.metric.label))


def readers_of(found: Significance) -> tuple[Callable[[float], str], Callable[[float], str]]:
    """How values and differences of this metric are written."""
    return readers(found.spec.metric.span is not None)


def _thin(colour: str) -> str:
    """A colour of the theme as a fill that the margin's band shines through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"
