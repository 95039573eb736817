"""The forest plot: what is drawn is what was computed, filled only where zero is excluded, and said in words too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ragdash.charts.overview import favours, forest
from ragdash.charts.registry import CHARTS
from ragdash.charts.theme import GREY, A, B, plain, readers, signed
from ragdash.comparison import Comparison, Terms, compare
from ragdash.evaluation import evaluate
from ragdash.metrics.registry import parse
from ragdash.schema import table_of
from ragdash.tables import Tables


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """New finds the document first in 40 of 60 questions where old has it second; both always find it."""
    queries = [f"q{number:02}" for number in range(60)]

    def run(first: int) -> pa.Table:
        rows = [
            (query, doc, 2.0 - at)
            for number, query in enumerate(queries)
            for at, doc in enumerate(["yes", "no"] if number < first else ["no", "yes"])
        ]
        return pa.table(dict(zip(("query_id", "doc_id", "score"), zip(*rows, strict=True), strict=True)))

    judged = pa.table({"query_id": queries, "doc_id": ["yes"] * 60, "grade": [1] * 60})
    tables = Tables(
        runs={"old": table_of("run", run(10), "old"), "new": table_of("run", run(50), "new")},
        judgments=table_of("judgments", judged, "qrels"),
    )
    scores = evaluate(tables, "RR@10 R@10 Judged@10")
    return compare(scores, "old", "new", parse("RR@10"), terms=Terms(margin=0.02))


def test_each_metric_has_a_line_ticks_and_a_mark_at_its_numbers(comparison: Comparison) -> None:
    one = comparison.metrics[parse("RR@10")]
    line, ticks, mark = forest(comparison).figure.data[:3]
    assert list(line.x) == [one.interval.low, one.interval.high]
    assert list(ticks.x) == list(one.bootstrap)
    assert list(mark.x) == [one.difference]
    assert mark.x[0] == pytest.approx(40 * 0.5 / 60)


def test_a_mark_is_filled_and_coloured_only_where_zero_is_excluded(comparison: Comparison) -> None:
    marks = {trace.y[0]: trace.marker for trace in forest(comparison).figure.data if trace.text}
    assert (marks["RR@10"].symbol, marks["RR@10"].color) == (B.symbol, B.colour)
    assert (marks["R@10"].symbol, marks["R@10"].color) == ("diamond-open", GREY)


def test_turned_round_the_other_system_is_favoured(comparison: Comparison) -> None:
    turned = compare(comparison.scores, "new", "old", parse("RR@10"))
    one = turned.metrics[parse("RR@10")]
    assert favours(one) == "a"
    mark = forest(turned).figure.data[2].marker
    assert (mark.symbol, mark.color) == (A.symbol, A.colour)


def test_judged_stands_in_the_table_but_is_not_drawn(comparison: Comparison) -> None:
    drawn = forest(comparison)
    assert "Judged@10" not in {trace.y[0] for trace in drawn.figure.data}
    assert list(drawn.rows["Metric"]) == ["RR@10", "R@10", "Judged@10"]


def test_the_margin_and_zero_are_drawn_and_both_sides_are_as_wide(comparison: Comparison) -> None:
    figure = forest(comparison).figure
    band, zero = figure.layout.shapes
    assert (band.x0, band.x1, zero.x0) == (-0.02, 0.02, 0)
    low, high = figure.layout.xaxis.range
    assert low == -high
    assert high >= comparison.metrics[parse("RR@10")].interval.high


def test_the_words_and_the_table_hold_the_same_numbers(comparison: Comparison) -> None:
    drawn, one = forest(comparison), comparison.metrics[parse("RR@10")]
    said = f"RR@10 {signed(one.difference)}, 95% interval {signed(one.interval.low)} to {signed(one.interval.high)}"
    assert said in drawn.alt
    row = drawn.rows.iloc[0]
    assert (row["A"], row["B"], row["B − A"]) == (plain(one.baseline), plain(one.candidate), signed(one.difference))
    assert (row["B better"], row["equal"], row["B worse"]) == ("40", "20", "0")


def test_every_chart_is_explained() -> None:
    assert all(entry.label and entry.meaning for entry in CHARTS)


@pytest.mark.parametrize(
    ("value", "bounded", "shown", "changed"),
    [
        (0.0, True, "0.000", "0.000"),
        (-0.00001, True, "0.000", "0.000"),
        (1234.56, False, "1,235", "+1,235"),
        (-0.0000226, False, "−0.0000226", "−0.0000226"),
        (92.34, False, "92.3", "+92.3"),
        (0.0, False, "0", "0"),
        (np.nan, False, "–", "–"),
        (np.inf, True, "–", "–"),
    ],
)
def test_numbers_as_they_are_read(value: float, bounded: bool, shown: str, changed: str) -> None:
    read, change = readers(bounded)
    assert (read(value), change(value)) == (shown, changed)
