"""The forest plot as a picture of our own in SVG: it needs no script, scales to any width, and follows the theme."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragdash.charts.overview import favours
from ragdash.charts.theme import A, B, signed, title
from ragdash.comparison import Comparison, Difference
from ragdash.report.markup import Markup, joined, tag
from ragdash.verdict import percent, within_range

ROW, TOP, AXIS, MARK = 50, 22, 40, 6
LONGEST_LABEL = 34


def drawn(comparison: Comparison) -> list[Difference]:
    """The differences that share one scale: metrics from 0 to 1 with an interval, save Judged, which is no quality."""
    return [
        one
        for one in comparison.metrics.values()
        if one.spec.metric.span is not None and one.spec.metric.name != "Judged" and one.interval.n > 1
    ]


def forest(comparison: Comparison, rows: Sequence[Difference]) -> Markup:
    """The differences B − A with their intervals, a row a metric; the same numbers stand in words for who cannot see.

    Places are shares of the width, so that text keeps its size on a phone.
    """
    margin = comparison.terms.margin
    reach = _reach(comparison, rows, margin)
    bottom = TOP + ROW * len(rows)
    band = tag(
        "rect", class_="band", x=_at(-margin, reach), y=TOP, width=_share(2 * margin, reach), height=bottom - TOP
    )
    zero = tag("line", class_="zero", x1="50%", x2="50%", y1=TOP, y2=bottom)
    ends = joined(
        tag("text", text, x=x, y=TOP - 8, text_anchor=anchor, class_="small")
        for text, x, anchor in (("← A higher", "0%", "start"), ("B higher →", "100%", "end"))
    )
    ticks = joined(_tick(value, reach, bottom) for value in ticks_within(reach))
    lines = joined(_row(one, TOP + ROW * at, reach, comparison) for at, one in enumerate(rows))
    words = _words(comparison, rows)
    return tag(
        "svg",
        tag("title", "Differences by metric", id="forest-title"),
        tag("desc", words, id="forest-desc"),
        joined([band, zero, ends, ticks, lines]),
        class_="forest", role="img", aria_labelledby="forest-title forest-desc", width="100%", height=bottom + AXIS,
    )  # fmt: skip


def _reach(comparison: Comparison, rows: Sequence[Difference], margin: float) -> float:
    """How far the axis goes to both sides of zero, alike, so that sides can be compared by eye."""
    ends = [abs(end) for one in rows for end in (*_span(one), *one.bootstrap) if end == end]
    return max([*ends, 2 * margin, 0.02]) * 1.08


def _span(one: Difference) -> tuple[float, float]:
    return within_range(one.spec, one.interval.low, one.interval.high)


def ticks_within(reach: float) -> list[float]:
    """Round values for an axis from −reach to reach, zero in the middle: at most three to a side.

    >>> ticks_within(0.19)
    [-0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15]
    """
    power = 10.0 ** math.floor(math.log10(reach))
    step = next(step for step in (0.2 * power, 0.5 * power, power, 2 * power, 5 * power) if reach / step < 4)
    most = math.floor(reach / step)
    return [round(step * number, 12) for number in range(-most, most + 1)]


def _at(value: float, reach: float) -> str:
    return f"{50 + 50 * value / reach:.3f}%"


def _share(width: float, reach: float) -> str:
    return f"{50 * width / reach:.3f}%"


def _tick(value: float, reach: float, bottom: int) -> Markup:
    x = _at(value, reach)
    return joined(
        [
            tag("line", class_="tick", x1=x, x2=x, y1=bottom, y2=bottom + 5),
            tag(
                "text",
                f"{value:+g}".replace("-", "−") if value else "0",
                class_="small",
                x=x,
                y=bottom + 20,
                text_anchor="middle",
            ),
        ]
    )


def _row(one: Difference, top: int, reach: float, comparison: Comparison) -> Markup:
    """Name and numbers over the line of the interval, with the bootstrap's ticks and the mark of the estimate."""
    low, high = _span(one)
    middle = top + 36
    name = title(str(one.spec), one.spec.metric.label)
    label = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    side = favours(one)
    return tag(
        "g",
        tag("text", label, class_="name", x="0%", y=top + 18),
        tag(
            "text", signed(one.difference), tag("tspan", f" ({signed(low)} to {signed(high)})", class_="wide"),
            class_="value", x="100%", y=top + 18, text_anchor="end",
        ),
        tag("line", class_="interval", x1=_at(low, reach), x2=_at(high, reach), y1=middle, y2=middle),
        *(
            tag("line", class_="bootstrap", x1=_at(end, reach), x2=_at(end, reach), y1=middle - 6, y2=middle + 6)
            for end in one.bootstrap
            if end == end
        ),
        _mark(side, one, _at(one.difference, reach), middle),
        class_=f"side-{side or 'none'}",
    )  # fmt: skip


def _mark(side: str, one: Difference, x: str, middle: int) -> Markup:
    """A circle where A is better, a square where B is, a diamond where no direction can be said; open across zero."""
    low, high = one.interval.low, one.interval.high
    look = "mark" if low > 0 or high < 0 else "mark open"
    if side == "a":
        return tag("circle", class_=look, cx=x, cy=middle, r=MARK)
    shape = (
        tag("rect", class_=look, x=-MARK, y=-MARK, width=2 * MARK, height=2 * MARK)
        if side == "b"
        else tag("path", class_=look, d=f"M0 {-MARK - 1} L{MARK + 1} 0 L0 {MARK + 1} L{-MARK - 1} 0 Z")
    )
    return tag("svg", shape, x=x, y=middle, overflow="visible")


def legend(comparison: Comparison) -> str:
    """How to read the marks."""
    level = percent(comparison.terms.confidence)
    return (
        f"Line: {level} interval of the mean difference B − A. Filled: it excludes zero, and {B.sign} B or {A.sign} A "
        f"is better. Open ◇: it does not. Small ticks: the bootstrap's limits. Grey band: the margin, "
        f"±{comparison.terms.margin:g}; less does not matter."
    )


def _words(comparison: Comparison, rows: Sequence[Difference]) -> str:
    level = percent(comparison.terms.confidence)
    said = []
    for one in rows:
        low, high = _span(one)
        name = title(str(one.spec), one.spec.metric.label)
        said.append(f"{name} {signed(one.difference)}, {level} interval {signed(low)} to {signed(high)}")
    return f"Mean difference of {comparison.candidate} minus {comparison.baseline}: {'; '.join(said) or 'none'}."
