"""The Significance page without a browser: the finding, the facts, the tables, in every state of the data."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

App = Callable[..., AppTest]


def said(screen: AppTest) -> str:
    """All text on the screen; fails where there is an exception."""
    assert [one.message for one in screen.exception] == []
    shown = [*screen.title, *screen.text, *screen.markdown, *screen.caption, *screen.error, *screen.info]
    return "\n".join(one.value for one in shown)


def tables(screen: AppTest) -> list[list[str]]:
    return [list(one.value.columns) for one in screen.dataframe]


@pytest.fixture(scope="module")
def sample_text(request: pytest.FixtureRequest) -> str:
    """What the page says about the sample."""
    root = request.getfixturevalue("root")
    screen = AppTest.from_file(str(root / "app.py"), default_timeout=60)
    screen.switch_page("pages/significance.py")
    return said(screen.run())


def test_the_first_sentence_is_the_finding(app: App) -> None:
    screen = app("significance")
    assert screen.title[0].value == "Significance"
    assert screen.text[0].value == (
        "With 256 paired questions the improvement in nDCG@10 is settled in direction, not in size."
    )


@pytest.mark.parametrize(
    "words",
    [
        "Without the 3 largest changes the mean is +0.0",
        "This set can see ±0.0",
        "To see +0.020 you need about ",
        "Exploratory: not corrected for the number of slices.",
        "Under 20 questions, so not estimated: unanswerable (0).",
        "better in B · ",
        "95% decision interval (paired t)",
        "95% bootstrap interval",
    ],
)
def test_the_page_says(sample_text: str, words: str) -> None:
    assert words in sample_text


def test_five_charts_each_with_its_table_and_the_tests(app: App) -> None:
    screen = app("significance")
    assert len(screen.get("plotly_chart")) == 5
    first = [columns[0] for columns in tables(screen)]
    assert first == ["Resampled means", "Metric", "Slice", "question", "A", "test"]
    tests = screen.dataframe[5].value
    assert list(tests["test"]) == ["Paired t", "Padded t", "Skew-corrected t", "Bootstrap"]
    assert list(tests["decides"]) == ["✓ the verdict's", "", "", ""]
    assert (tests["what it is for"] != "").all() and set(tests.columns) >= {"95% interval", "p"}


def test_each_bar_carries_its_question(app: App) -> None:
    screen = app("significance")
    ids = list(screen.dataframe[3].value["question"])
    (bars,) = [
        trace
        for chart in screen.get("plotly_chart")
        for trace in json.loads(chart.proto.spec)["data"]
        if trace["type"] == "bar"
    ]
    assert [one[0] for one in bars["customdata"]] == ids and len(ids) == 256


def test_metric_margin_and_confidence_are_followed(app: App) -> None:
    text = said(app("significance", metric="R@10", margin="0.3", confidence="0.9"))
    assert (
        "paired questions it is settled that R@10 changes by less than the 0.3 that matters. hybrid is higher" in text
    )
    assert "90% decision interval" in text and "±0.3" in text


def test_a_metric_without_scale_or_direction_still_has_its_page(app: App) -> None:
    text = said(app("significance", metric="latency_ms"))
    assert "latency_ms" in text.splitlines()[1]
    assert "This set can see ±" in text and "you need about" not in text


def test_uploaded_runs_name_no_slices_and_the_page_says_so(app: App, trec: dict[str, bytes]) -> None:
    screen = app("data")
    for zone, name in (("a", "old.run"), ("b", "new.run"), ("more", "judged.qrels")):
        screen = screen.file_uploader(key=f"drop_{zone}_0").set_value([(name, trec[name], "text/plain")]).run()
    screen.switch_page("pages/significance.py").run()
    text = said(screen)
    assert "With 30 paired questions the improvement in nDCG@10 is settled in direction and in size" in text
    assert "The questions name no slices." in text
    assert len(screen.get("plotly_chart")) == 4


def test_with_one_system_the_page_says_what_is_missing(app: App, trec: dict[str, bytes]) -> None:
    screen = app("data")
    for zone, name in (("a", "old.run"), ("more", "judged.qrels")):
        screen = screen.file_uploader(key=f"drop_{zone}_0").set_value([(name, trec[name], "text/plain")]).run()
    screen.switch_page("pages/significance.py").run()
    assert "With one system there is no difference to be sure of." in said(screen)
    assert not screen.get("plotly_chart")
