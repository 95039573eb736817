"""The pictures of the Significance page: what is drawn is what was computed, in figure, words and table alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ragdash.charts.paired import MOST_BARS, MOST_POINTS, MOST_ROWS, counted, scatter, sorted_differences
from ragdash.charts.significance import distribution, forest_slices
from ragdash.charts.theme import GREY, A, B, signed
from ragdash.comparison import Terms, compare
from ragdash.metrics.registry import Spec, parse
from ragdash.scores import Scores, SystemScores
from ragdash.settings import Settings
from ragdash.significance import Significance, SliceDifference, significance, slice_differences
from ragdash.stats.bootstrap import resample_means

LATENCY = Spec(replace(parse("AP").metric, name="latency", label="Latency", direction="lower", span=None))


def looked_at(a: np.ndarray, b: np.ndarray, spec: Spec | None = None, prefix: str = "q") -> Significance:
    """These values of one metric in two systems, the questions called q0000 onward."""
    spec = spec or parse("RR@10")

    def system(values: np.ndarray) -> SystemScores:
        none = np.zeros((1, 0))
        return SystemScores(values[None], np.zeros((1, len(a)), dtype=bool), np.zeros(0, np.int64), none, none)

    ids = np.array([f"{prefix}{number:04}" for number in range(len(a))])
    scores = Scores(ids, (spec,), {"old": system(a), "new": system(b)}, Settings())
    return significance(compare(scores, "old", "new", spec, terms=Terms(margin=0.02)))


@pytest.fixture(scope="module")
def found() -> Significance:
    """30 gains of 0.5, 20 ties at 1, 10 losses of 0.5."""
    return looked_at(np.repeat([0.5, 1.0, 1.0], [30, 20, 10]), np.repeat([1.0, 1.0, 0.5], [30, 20, 10]))


# --- the distribution --------------------------------------------------------------------------------------------


def test_the_two_intervals_are_drawn_and_named_at_their_ends(found: Significance) -> None:
    drawn = distribution(found)
    decision, bootstrap, mean = drawn.figure.data[1:]
    one = found.one
    assert (list(decision.x), list(bootstrap.x)) == ([one.interval.low, one.interval.high], list(one.bootstrap))
    assert decision.line.width > bootstrap.line.width
    assert list(mean.x) == [one.difference] == [pytest.approx(1 / 6)]
    for ends, words in (
        ((one.interval.low, one.interval.high), "95% decision interval (paired t)"),
        (one.bootstrap, "95% bootstrap interval"),
    ):
        said = f"{words} {signed(ends[0])} to {signed(ends[1])}"
        assert said in drawn.alt and said in drawn.legend


def test_the_curve_is_filled_and_the_margin_and_zero_are_drawn(found: Significance) -> None:
    figure = distribution(found).figure
    curve = figure.data[0]
    assert curve.fill == "tozeroy" and max(curve.y) == 1 and curve.line.color == B.colour
    band, zero = figure.layout.shapes
    assert (band.x0, band.x1, zero.x0) == (-0.02, 0.02, 0)


def test_the_table_of_the_distribution_holds_its_percentiles(found: Significance) -> None:
    rows = dict(distribution(found).rows.itertuples(index=False))
    low, high = found.one.bootstrap
    assert rows["2.5 % of the means are at most"] == signed(low)
    assert rows["97.5 % of the means are at most"] == signed(high)
    resampled = resample_means(found.pairs.difference[:, None], 20_000, seed=1)
    above = float(rows["share of the means above 0"].rstrip("%")) / 100
    assert above < 1 and above == pytest.approx(float((resampled > 0).mean()), abs=0.001)


def test_equal_differences_are_one_point_with_a_padded_interval() -> None:
    drawn = distribution(looked_at(np.full(30, 0.5), np.full(30, 0.5)))
    assert list(drawn.figure.data[0].x) == [0.0] and drawn.figure.data[0].mode == "markers"
    assert "padded t" in drawn.legend and drawn.figure.data[0].line.color == GREY


def test_a_metric_without_a_scale_has_no_margin() -> None:
    drawn = distribution(looked_at(np.tile([100.0, 300.0], 20), np.tile([120.0, 330.0], 20), LATENCY))
    assert len(drawn.figure.layout.shapes) == 1 and "margin" not in drawn.legend
    assert "around +25." in drawn.alt


# --- the slices --------------------------------------------------------------------------------------------------


def with_slices(found: Significance, *names: str) -> Significance:
    size = len(found.comparison.scores.query_ids)
    masks = {name: np.arange(size) < size - 10 * at for at, name in enumerate(names)}
    return replace(found, slices=slice_differences(found.comparison, masks))


def test_each_slice_has_its_size_in_its_name_and_its_own_interval(found: Significance) -> None:
    sliced = with_slices(found, "lookup", "code")
    drawn = forest_slices(sliced)
    marks = {trace.y[0]: trace for trace in drawn.figure.data if trace.text}
    assert list(marks) == ["lookup · n = 60", "code · n = 50"]
    assert [trace.x[0] for trace in marks.values()] == [pytest.approx(1 / 6), pytest.approx(0.3)]
    assert "not corrected" in drawn.legend and "exploratory" in drawn.alt


def test_slices_too_small_are_in_the_table_only(found: Significance) -> None:
    (part,) = with_slices(found, "lookup").slices
    drawn = forest_slices(replace(found, slices=(part, SliceDifference("tiny", 7, None))))
    assert {trace.y[0] for trace in drawn.figure.data} == {"lookup · n = 60"}
    assert list(drawn.rows["Slice"]) == ["lookup", "tiny"]
    assert list(drawn.rows.iloc[1])[1:3] == ["7", "–"]


def test_long_slices_are_cut_where_they_stay_distinct_and_markup_is_inert(found: Significance) -> None:
    long = "a very long name of a slice, the "
    drawn = forest_slices(with_slices(found, f"{long}first", f"{long}second", "x" * 60, "<b>bold</b>"))
    names = [trace.y[0].split(" · ")[0] for trace in drawn.figure.data if trace.text]
    assert names == [f"{long}first", f"{long}second", "x" * 25 + "…", "&lt;b&gt;bold&lt;/b&gt;"]


# --- every question ----------------------------------------------------------------------------------------------


def test_bars_stand_sorted_in_the_colour_of_who_is_higher_and_carry_their_question(found: Significance) -> None:
    (bars,) = sorted_differences(found).figure.data
    assert list(bars.y) == [0.5] * 30 + [0.0] * 20 + [-0.5] * 10
    assert list(bars.marker.color) == [B.colour] * 30 + [GREY] * 20 + [A.colour] * 10
    assert [one[0] for one in bars.customdata] == found.pairs.ids.tolist()


def test_the_title_counts_and_the_words_and_the_table_agree(found: Significance) -> None:
    drawn = sorted_differences(found)
    assert counted(found) == "30 better in B · 20 equal · 10 worse"
    assert counted(found) in drawn.alt and "from +0.500 to −0.500" in drawn.alt
    assert list(drawn.rows.iloc[0]) == ["q0000", "0.500", "1.000", "+0.500"]
    assert len(drawn.rows) == 60


def test_what_is_better_turns_where_lower_is_better_but_the_bars_do_not() -> None:
    turned = looked_at(np.repeat([0.0, 1.0], [30, 10]), np.ones(40), parse("no_citation"))
    assert counted(turned) == "0 better in B · 10 equal · 30 worse"
    assert sorted_differences(turned).figure.data[0].y[0] == 1.0


def test_names_with_markup_are_inert_in_the_hover() -> None:
    hostile = looked_at(np.zeros(30), np.ones(30), prefix='<a href="http://attacker.example">')
    (bars,) = sorted_differences(hostile).figure.data
    assert "<a" not in bars.text[0] and "&lt;a" in bars.text[0]


def random_pairs(n: int) -> Significance:
    draw = np.random.default_rng(7)
    return looked_at(draw.random(n), draw.random(n))


def test_above_two_thousand_questions_a_filled_line_replaces_the_bars() -> None:
    few, many = (sorted_differences(random_pairs(n)) for n in (MOST_BARS, MOST_BARS + 1))
    assert [trace.type for trace in few.figure.data] == ["bar"]
    assert "A click opens" in few.legend and "A click opens" not in many.legend
    gains, losses = many.figure.data
    assert (gains.fill, losses.fill) == ("tozeroy", "tozeroy")
    assert min(gains.y) == 0 == max(losses.y) and len(gains.x) <= MOST_BARS
    assert (gains.x[0], gains.x[-1]) == (1, MOST_BARS + 1)
    assert len(many.rows) == MOST_ROWS


# --- A against B -------------------------------------------------------------------------------------------------


def test_questions_with_the_same_values_share_a_bubble_of_their_number(found: Significance) -> None:
    diagonal, bubbles = scatter(found).figure.data
    assert list(diagonal.x) == list(diagonal.y)
    points = zip(bubbles.x, bubbles.y, bubbles.marker.size, bubbles.marker.color, strict=True)
    assert set(points) == {(0.5, 1.0, 30, B.colour), (1.0, 1.0, 20, GREY), (1.0, 0.5, 10, A.colour)}
    assert bubbles.marker.sizemode == "area"


def test_the_axes_are_square_and_the_words_count_the_sides(found: Significance) -> None:
    drawn = scatter(found)
    assert drawn.figure.layout.xaxis.range == drawn.figure.layout.yaxis.range
    assert drawn.figure.layout.yaxis.scaleanchor == "x"
    assert "30 above the diagonal, 20 on it, 10 below" in drawn.alt
    assert list(drawn.rows.iloc[0]) == ["0.500", "1.000", 30]


def test_above_five_thousand_questions_squares_hold_every_question_once() -> None:
    drawn = scatter(random_pairs(MOST_POINTS + 1))
    squares = drawn.figure.data[1]
    assert squares.type == "heatmap"
    assert np.sum(squares.customdata) == MOST_POINTS + 1
    empty = np.asarray(squares.customdata) == 0
    assert (np.isnan(np.asarray(squares.z, dtype=float)) == empty).all()
    assert scatter(random_pairs(MOST_POINTS)).figure.data[1].type == "scatter"


def test_squares_stand_at_a_across_and_b_up() -> None:
    a, b = np.full(MOST_POINTS + 1, 0.1), np.full(MOST_POINTS + 1, 0.9)
    squares = scatter(looked_at(a, b)).figure.data[1]
    row, column = map(int, np.argwhere(np.asarray(squares.customdata) > 0)[0])
    assert squares.x[column] == pytest.approx(0.1, abs=0.03)
    assert squares.y[row] == pytest.approx(0.9, abs=0.03)


def test_a_metric_without_a_scale_is_drawn_over_what_occurs() -> None:
    drawn = scatter(looked_at(np.tile([100.0, 300.0], 20), np.tile([120.0, 330.0], 20), LATENCY))
    low, high = drawn.figure.layout.xaxis.range
    assert low < 100 and 330 < high < 350
