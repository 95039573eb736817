"""The pictures of every question's pair of values: the sorted differences, and A against B."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from ragdash.charts.registry import Picture, chart
from ragdash.charts.significance import metric_title, readers_of
from ragdash.charts.theme import GREY, GRID, A, B, dressed
from ragdash.significance import Significance

MOST_BARS = 2_000
MOST_POINTS = 5_000
MOST_ROWS = 1_000
BINS = 40


@chart("sorted_differences", label="Every question's difference")
def sorted_differences(found: Significance) -> Picture:
    """Each question's difference B − A, the largest gain of B on the left, the largest loss on the right.

    Wide flat parts are questions that did not change. A verdict that rests on a few tall bars is a verdict about
    those few questions. A click opens the question. Above 2,000 questions the bars become a filled line.
    """
    pairs, one = found.pairs, found.one
    _, change = readers_of(found)
    figure = go.Figure()
    (_add_bars if len(pairs) <= MOST_BARS else _add_outline)(figure, found)
    figure.add_hline(y=0, line_color=GREY, line_width=1)
    figure.add_hline(y=one.difference, line_color=GREY, line_width=1, line_dash="dot")
    dressed(figure, 330)
    figure.update_xaxes(
        title={"text": "questions, largest gain of B first", "font": {"size": 13}}, showgrid=False,
        range=[0.5, len(pairs) + 0.5],
    )  # fmt: skip
    figure.update_yaxes(title={"text": "B − A", "font": {"size": 13}}, gridcolor=GRID)
    words = (
        f"Differences B − A in {found.spec} of {len(pairs):,} questions, sorted: {counted(found)}; from "
        f"{change(float(pairs.difference[0]))} to {change(float(pairs.difference[-1]))}."
    )
    click = "A click opens the question." if len(pairs) <= MOST_BARS else "Open questions on the Queries page."
    higher = f"Above zero {B.sign} B is higher, below {A.sign} A. Dotted: the mean, {change(one.difference)}. "
    return Picture(figure, words, higher + click, _pair_rows(found))


def counted(found: Significance) -> str:
    """Wins, ties and losses of B, as they stand in the chart's title."""
    interval = found.one.interval
    if found.spec.metric.direction == "none":
        return f"{interval.wins:,} higher in B · {interval.ties:,} equal · {interval.losses:,} lower"
    return f"{interval.wins:,} better in B · {interval.ties:,} equal · {interval.losses:,} worse"


def _add_bars(figure: go.Figure, found: Significance) -> None:
    """One bar a question; its id travels with it, so that a click can open it."""
    pairs = found.pairs
    value, change = readers_of(found)
    columns = (pairs.ids, pairs.baseline, pairs.candidate, pairs.difference)
    figures = zip(*(column.tolist() for column in columns), strict=True)
    said = [f"{html.escape(name)}: {change(d)}<br>A {value(a)}, B {value(b)}" for name, a, b, d in figures]
    figure.add_bar(
        x=np.arange(1, len(pairs) + 1), y=pairs.difference, customdata=[[str(name)] for name in pairs.ids],
        text=said, textposition="none", hovertemplate="%{text}<extra></extra>",
        marker={
            "color": _higher(pairs.difference),
            "line": {"width": 0},
        },
        unselected={"marker": {"opacity": 1}},
    )  # fmt: skip
    figure.update_layout(hovermode="x", bargap=0 if len(pairs) > 100 else 0.15)


def _add_outline(figure: go.Figure, found: Significance) -> None:
    """The same as two filled lines, of as many points as a screen can show, both ends among them."""
    difference = found.pairs.difference
    kept = np.unique(np.linspace(0, len(difference) - 1, MOST_BARS).round().astype(int))
    for mark, height in ((B, np.maximum(difference[kept], 0.0)), (A, np.minimum(difference[kept], 0.0))):
        figure.add_scatter(
            x=kept + 1, y=height, mode="lines", fill="tozeroy", hoverinfo="skip", fillcolor=mark.colour,
            line={"color": mark.colour, "width": 1},
        )  # fmt: skip


def _pair_rows(found: Significance) -> pd.DataFrame:
    """Every question's values in the order drawn; of very many, the largest gains and the largest losses."""
    pairs = found.pairs
    half = MOST_ROWS // 2
    rows = np.arange(len(pairs))
    if len(rows) > MOST_BARS:
        rows = np.r_[rows[:half], rows[-half:]]
    value, change = readers_of(found)
    return pd.DataFrame(
        {
            "question": pairs.ids[rows],
            "A": [value(one) for one in pairs.baseline[rows].tolist()],
            "B": [value(one) for one in pairs.candidate[rows].tolist()],
            "B − A": [change(one) for one in pairs.difference[rows].tolist()],
        }
    )


@chart("scatter", label="A against B")
def scatter(found: Significance) -> Picture:
    """Each question's value in A (across) and in B (up). On the diagonal nothing changed; above it B is higher.

    Questions with the same two values share one bubble, whose area says how many they are. Above 5,000 questions
    squares replace the bubbles: the darker, the more questions.
    """
    pairs = found.pairs
    low, high = _reach(found)
    figure = go.Figure()
    figure.add_scatter(
        x=[low, high], y=[low, high], mode="lines", line={"color": GREY, "width": 1, "dash": "dot"}, hoverinfo="skip"
    )
    (_add_squares if len(pairs) > MOST_POINTS else _add_bubbles)(figure, found)
    axis = {"range": [low, high], "constrain": "domain", "showgrid": True}
    dressed(figure, 420)
    figure.update_xaxes(title={"text": f"{A.sign} A {metric_title(found)}", "font": {"size": 13}}, **axis)
    figure.update_yaxes(
        title={"text": f"{B.sign} B {metric_title(found)}", "font": {"size": 13}},
        scaleanchor="x",
        gridcolor=GRID,
        **axis,
    )
    above, below = int((pairs.difference > 0).sum()), int((pairs.difference < 0).sum())
    words = (
        f"{found.spec} of each of {len(pairs):,} questions in A and in B: {above:,} above the diagonal, "
        f"{len(pairs) - above - below:,} on it, {below:,} below."
    )
    dense = "Darker: more questions." if len(pairs) > MOST_POINTS else "Area: how many questions."
    return Picture(figure, words, f"Above the dotted diagonal {B.sign} B is higher. {dense}", _point_rows(found))


def _add_bubbles(figure: go.Figure, found: Significance) -> None:
    value, _ = readers_of(found)
    a, b, count = found.pairs.points()
    said = [
        f"A {value(x)}, B {value(y)}<br>n = {n:,}"
        for x, y, n in zip(a.tolist(), b.tolist(), count.tolist(), strict=True)
    ]
    most = int(count.max())
    figure.add_scatter(
        x=a, y=b, mode="markers", text=said, cliponaxis=False, hovertemplate="%{text}<extra></extra>",
        marker={
            "size": count, "sizemode": "area", "sizeref": 2 * most / 34**2, "sizemin": 3.5,
            "color": _higher(b - a), "opacity": 0.65, "line": {"width": 0},
        },
    )  # fmt: skip


def _add_squares(figure: go.Figure, found: Significance) -> None:
    pairs, edges = found.pairs, np.linspace(*_reach(found), BINS + 1)
    count, _, _ = np.histogram2d(pairs.candidate, pairs.baseline, bins=(edges, edges))
    middle = (edges[1:] + edges[:-1]) / 2
    figure.add_heatmap(
        x=middle, y=middle, z=np.where(count > 0, np.log10(np.maximum(count, 1)), np.nan), customdata=count,
        colorscale=[[0, "rgba(138,138,138,0.25)"], [1, "#0072B2"]], showscale=False, zmin=0,
        hovertemplate="A %{x:.2f}, B %{y:.2f}<br>n = %{customdata:,}<extra></extra>",
    )  # fmt: skip


def _point_rows(found: Significance) -> pd.DataFrame:
    """The most frequent pairs of values."""
    value, _ = readers_of(found)
    a, b, count = found.pairs.points()
    rows = np.argsort(-count, kind="stable")[:MOST_ROWS]
    return pd.DataFrame(
        {
            "A": [value(x) for x in a[rows].tolist()],
            "B": [value(y) for y in b[rows].tolist()],
            "questions": count[rows].tolist(),
        }
    )


def _reach(found: Significance) -> tuple[float, float]:
    """Both axes: the metric's scale, or what occurs where it has none, with room for the marks."""
    values = np.concatenate([found.pairs.baseline, found.pairs.candidate])
    low, high = found.spec.metric.span or (float(values.min()), float(values.max()))
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _higher(difference: NDArray[np.float64]) -> list[str]:
    """The colour of the system that is higher, grey where none is."""
    return [B.colour if one > 0 else A.colour if one < 0 else GREY for one in difference.tolist()]
