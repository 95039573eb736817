"""What a chart is and how one is registered: a figure, its alternative text, and the same numbers as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from ragdash.registry import Entry, Registry, explanation_of


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn chart: `alt` says in words what it shows, `legend` how to read its marks, `rows` holds the
    same numbers for reading."""

    figure: go.Figure
    alt: str
    legend: str
    rows: pd.DataFrame


@dataclass(frozen=True)
class Chart(Entry):
    """A registered chart; its explanation says how to read it."""

    draw: Callable[..., Picture]


CHARTS: Registry[Chart] = Registry("chart", "ragdash.charts")
Draw = Callable[..., Picture]


def chart(name: str, *, label: str) -> Callable[[Draw], Draw]:
    """Register the decorated function as a chart; its docstring becomes the explanation users read."""

    def register(function: Draw) -> Draw:
        CHARTS.add(Chart(name, label, explanation_of(function), function), function.__module__)
        return function

    return register
