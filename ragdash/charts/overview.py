"""The pictures of the Overview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from ragdash.charts.registry import Picture, chart
from ragdash.charts.theme import BAND, GREY, A, B, dressed, readers, signed, title
from ragdash.comparison import Comparison, Difference
from ragdash.verdict import percent

ROW_PIXELS, FRAME_PIXELS = 38, 78


@chart("forest", label="Differences by metric")
def forest(comparison: Comparison) -> Picture:
    """The mean difference B − A of each metric, with its interval.

    The thick line is the decision interval, the two ticks on it are the bootstrap's limits. A filled mark means that
    the interval excludes zero, an open one that it does not. The grey band is the margin: differences inside it are
    too small to matter. Only metrics on the scale 0 to 1 are drawn; the table beneath holds all.
    """
    rows = {_name(one): one for one in comparison.metrics.values() if _drawn(one)}
    figure = forest_figure(rows, comparison)
    return Picture(figure, _words(comparison, rows), forest_legend(comparison), table(comparison))


def forest_figure(rows: Mapping[str, Difference], comparison: Comparison) -> go.Figure:
    """Differences as rows under one another, each by its name; the margin only where all share one scale."""
    figure = go.Figure()
    scaled = all(one.spec.metric.span is not None for one in rows.values())
    margin = comparison.terms.margin if scaled else 0.0
    if margin:
        figure.add_vrect(x0=-margin, x1=margin, fillcolor=BAND, line_width=0, layer="below")
    figure.add_vline(x=0, line_color=GREY, line_width=1)
    for name, one in rows.items():
        _add_row(figure, name, one, comparison)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(
        title={"text": "← A higher   ·   B higher →", "font": {"size": 13}},
        tickformat="+.2f" if scaled else None,
        range=_reach(list(rows.values()), [2 * margin, 0.02] if scaled else [1e-9]),
    )
    return dressed(figure, FRAME_PIXELS + ROW_PIXELS * len(rows))


def _name(one: Difference) -> str:
    return title(str(one.spec), one.spec.metric.label)


def _drawn(one: Difference) -> bool:
    """Judged says how far the others can be trusted; it is no quality of a system, and stands in the table only."""
    return one.spec.metric.span is not None and one.spec.metric.name != "Judged" and one.interval.n > 1


def forest_legend(comparison: Comparison) -> str:
    """How to read the rows."""
    level, margin = percent(comparison.terms.confidence), f"{comparison.terms.margin:g}"
    return (
        f"Filled: the {level} interval excludes zero, and {B.sign} B or {A.sign} A is better. Open ◇: it does not. "
        f"Ticks: bootstrap. Grey band: the margin, ±{margin}; less does not matter."
    )


def _add_row(figure: go.Figure, name: str, one: Difference, comparison: Comparison) -> None:
    _, change = readers(one.spec.metric.span is not None)
    colour = mark_colour(one)
    said = (
        f"{name}: {change(one.difference)}<br>{percent(comparison.terms.confidence)} interval "
        f"{change(one.ends[0])} to {change(one.ends[1])}<br>n = {one.interval.n:,}"
    )
    figure.add_scatter(
        x=list(one.ends), y=[name, name], mode="lines", line={"color": colour, "width": 4},
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=list(one.bootstrap), y=[name, name], mode="markers", hoverinfo="skip",
        marker={"symbol": "line-ns", "size": 13, "line": {"color": colour, "width": 2}},
    )  # fmt: skip
    figure.add_scatter(
        x=[one.difference], y=[name], mode="markers", text=[said], hovertemplate="%{text}<extra></extra>",
        marker={
            "size": 13,
            "symbol": _symbol(one),
            "color": colour,
            "line": {"color": colour, "width": 2},
        },
    )  # fmt: skip


def favours(one: Difference) -> str:
    """Which system a difference speaks for: "a", "b", or "" where the interval holds zero or no direction is known."""
    excludes = one.interval.low > 0 or one.interval.high < 0
    if one.spec.metric.direction == "none" or not excludes:
        return ""
    higher_wins = one.spec.metric.direction == "higher"
    return "b" if (one.interval.low > 0) == higher_wins else "a"


def mark_colour(one: Difference) -> str:
    """The colour of the system a difference speaks for, grey where it speaks for none."""
    return {"a": A.colour, "b": B.colour, "": GREY}[favours(one)]


def _symbol(one: Difference) -> str:
    filled = one.interval.low > 0 or one.interval.high < 0
    shape = {"a": A.symbol, "b": B.symbol, "": "diamond"}[favours(one)]
    return shape if filled else f"{shape}-open"


def _reach(rows: Sequence[Difference], at_least: Sequence[float]) -> list[float]:
    """Limits of the axis, the same to both sides of zero, so that sides can be compared by eye."""
    ends = [abs(end) for one in rows for end in one.ends if end == end]
    most = max([*ends, *at_least]) * 1.08
    return [-most, most]


def _words(comparison: Comparison, rows: Mapping[str, Difference]) -> str:
    """The picture in words, for those who do not see it."""
    level = percent(comparison.terms.confidence)
    each = "; ".join(
        f"{name} {signed(one.difference)}, {level} interval {signed(one.ends[0])} to "
        f"{signed(one.ends[1])}, {one.interval.n} questions"
        for name, one in rows.items()
    )
    return f"Mean difference B − A by metric ({comparison.baseline} to {comparison.candidate}): {each or 'none'}."


def table(comparison: Comparison) -> pd.DataFrame:
    """The numbers of the forest plot, one row a metric, rounded for reading."""
    level = comparison.terms.confidence
    return pd.DataFrame([{"Metric": _name(one)} | in_figures(one, level) for one in comparison.metrics.values()])


def in_figures(one: Difference, confidence: float) -> dict[str, str]:
    """A difference as a row of a table, column by column, rounded for reading."""
    value, change = readers(one.spec.metric.span is not None)
    interval = one.interval
    return {
        "A": value(one.baseline),
        "B": value(one.candidate),
        "B − A": change(one.difference),
        f"{percent(confidence)} interval": f"{change(one.ends[0])} to {change(one.ends[1])}",
        "bootstrap": f"{change(one.bootstrap[0])} to {change(one.bootstrap[1])}",
        "p": p_words(one.shown_p),
        "n": f"{interval.n:,}",
        "B better": f"{interval.wins:,}",
        "equal": f"{interval.ties:,}",
        "B worse": f"{interval.losses:,}",
    }


def p_words(p: float | None) -> str:
    """A p for reading; a dash where it is not said."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
