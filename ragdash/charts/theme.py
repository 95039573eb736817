"""The one look of all charts: A and B by colour and shape, greys that read on white and on black, number formats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go


@dataclass(frozen=True)
class Mark:
    """How one system is drawn everywhere: a colour and a shape (never the colour alone), and a sign for text."""

    letter: str
    colour: str
    symbol: str
    dash: str
    sign: str


A = Mark("A", "#0072B2", "circle", "solid", "●")
B = Mark("B", "#D55E00", "square", "dash", "■")
GREY = "#8a8a8a"
BAND = "rgba(138,138,138,0.18)"
GRID = "rgba(138,138,138,0.25)"
CONFIG = {"displaylogo": False, "displayModeBar": False}


def dressed(figure: go.Figure, height: int) -> go.Figure:
    """The figure with the common margins and greys; the page's own theme sets fonts and background."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        dragmode=False,
        hoverlabel={"align": "left"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True, fixedrange=True)
    figure.update_yaxes(gridcolor="rgba(0,0,0,0)", zeroline=False, automargin=True, fixedrange=True)
    return figure


def signed(value: float, form: str = "+.3f") -> str:
    """A difference for reading, with a true minus sign; a dash where it is undefined.

    >>> signed(-0.0314), signed(0.0), signed(float("nan"))
    ('−0.031', '0.000', '–')
    """
    if not math.isfinite(value):
        return "–"
    text = format(value, form)
    return text[1:] if not set(text) & set("123456789") else text.replace("-", "−", 1)


def plain(value: float, form: str = ".3f") -> str:
    """A value for reading; a dash where it is undefined.

    >>> plain(0.67149), plain(float("nan"))
    ('0.671', '–')
    """
    return signed(value, f"+{form}").lstrip("+")


def readers(bounded: bool) -> tuple[Callable[[float], str], Callable[[float], str]]:
    """How values and differences of a metric are written: three decimals, or three digits where it has no scale.

    >>> value, change = readers(bounded=False)
    >>> value(0.00033612), change(-120.4)
    ('0.000336', '−120')
    """
    return (plain, signed) if bounded else (lambda value: _digits(value, False), lambda value: _digits(value, True))


def _digits(value: float, sign: bool) -> str:
    """Three digits that count, without an exponent."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 100:
        return signed(value, "+,.0f") if sign else plain(value, ",.0f")
    text = np.format_float_positional(value, 3, unique=False, fractional=False, trim="-", sign=sign and value != 0)
    return text.replace("-", "−", 1)


def title(name: str, label: str) -> str:
    """What a metric is called over a card or beside a row: a name of the field as it is, a long one by its label.

    >>> title("nDCG@10", "nDCG"), title("citation_validity", "Citation validity")
    ('nDCG@10', 'Citation validity')
    """
    return label if "_" in name and "(" not in name else name
