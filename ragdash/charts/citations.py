"""The picture of the Citations page: which places of the context are cited."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from ragdash.charts.registry import Picture, chart
from ragdash.charts.theme import GRID, A, B, dressed
from ragdash.citationdiff import Positions


@chart("citation_positions", label="Cited by place in the context")
def citation_positions(found: Mapping[str, Positions]) -> Picture:
    """How often the document at each place of the context is cited, first place first.

    A steep fall says that answers lean on the first documents; it is right where the ranking is right. What stands in
    a place that is never cited costs tokens. Places beyond the twentieth are left out.
    """
    figure, rows, said = go.Figure(), [], []
    for mark, (name, one) in zip((A, B), found.items(), strict=False):
        places = list(range(1, len(one.given) + 1))
        rates = [cited / given if given else float("nan") for given, cited in zip(*one, strict=True)]
        figure.add_scatter(
            x=places, y=rates, mode="lines+markers", line={"color": mark.colour, "dash": mark.dash, "width": 2},
            marker={"symbol": mark.symbol, "size": 10, "color": mark.colour},
            text=[f"{mark.letter}, place {p}: {c:,} of {g:,} cited" for p, g, c in zip(places, *one, strict=True)],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
        for place, given, cited in zip(places, *one, strict=True):
            rows.append({"place": place, "system": f"{mark.letter} {name}", "given": int(given), "cited": int(cited)})
        if rates:
            said.append(f"{mark.letter} {name} {rates[0]:.0%} at place 1, {rates[-1]:.0%} at place {len(rates)}")
    dressed(figure, 260)
    figure.update_xaxes(title={"text": "place in the context", "font": {"size": 13}}, dtick=1, showgrid=False)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", gridcolor=GRID)
    alt = f"Share of context documents that are cited, by place: {'; '.join(said) or 'none'}."
    legend = " · ".join(f"{mark.sign} {mark.letter}" for mark, _ in zip((A, B), found, strict=False))
    table = pd.DataFrame(rows, columns=["place", "system", "given", "cited"])
    return Picture(figure, alt, f"{legend}. Hover for the counts.", table)
