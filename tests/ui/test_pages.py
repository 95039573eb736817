"""Every page in every state of the data, without a browser: no exception, and the text that has to be there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

App = Callable[..., AppTest]
PAGES = ("overview", "queries", "data")


def said(screen: AppTest) -> str:
    """All text on the screen; fails where there is an exception."""
    assert [one.message for one in screen.exception] == []
    shown = [*screen.title, *screen.text, *screen.markdown, *screen.caption, *screen.error, *screen.info]
    return "\n".join(one.value for one in shown)


def drop(screen: AppTest, zone: str, *files: tuple[str, bytes]) -> AppTest:
    """Drop files on a zone of the Data page."""
    uploader = screen.file_uploader(key=f"drop_{zone}_0")
    return uploader.set_value([(name, content, "text/plain") for name, content in files]).run()


def loaded(app: App, trec: dict[str, bytes], *names: str) -> AppTest:
    """The app after these of the small files were dropped."""
    screen = app("data")
    zones = {"old.run": "a", "new.run": "b", "judged.qrels": "more"}
    for name in names:
        screen = drop(screen, zones[name], (name, trec[name]))
        if screen.title[0].value != "Data":
            break
    return screen


# --- the sample --------------------------------------------------------------------------------------------------


def test_the_app_opens_on_the_overview_of_the_sample(app: App) -> None:
    text = said(app())
    assert "Sample: bm25 → hybrid" in text
    assert "hybrid" in text and "nDCG@10" in text and "95% interval" in text
    assert "Decision:" in text and "In answers:" in text
    assert "Can we trust it?" in text


def test_the_cards_stand_by_layer_with_both_values_and_the_interval(app: App) -> None:
    screen = app()
    assert [layer for layer in ("Retrieval", "Generation") if layer in said(screen)] == ["Retrieval", "Generation"]
    (card,) = [one for one in screen.get("html") if 'class="card"' in one.proto.body][:1]
    assert "A <b>0." in card.proto.body and "B <b>0." in card.proto.body and "95%:" in card.proto.body


def test_the_queries_page_opens_on_the_worst_question(app: App) -> None:
    screen = app("queries")
    table = screen.dataframe[0].value
    assert table["b"].is_monotonic_increasing
    equal = table[table["b"] == table["b"].iloc[0]]
    assert equal["difference"].is_monotonic_increasing
    assert f"{table['id'].iloc[0]}  {table['question'].iloc[0]}" in said(screen)
    assert {"rank", "grade", "in B", "document", "title"} == set(screen.dataframe[1].value.columns)


def test_the_data_page_says_what_each_file_was_read_as(app: App) -> None:
    screen = app("data")
    assert "The sample is loaded" in said(screen)
    files = screen.dataframe[0].value
    assert list(files["file"])[:2] == ["bm25.jsonl", "hybrid.jsonl"]
    assert (files["because"] != "").all()
    assert {metric.label for metric in screen.metric} >= {"in both", "only A", "only B", "without judgments"}


# --- one's own files ---------------------------------------------------------------------------------------------


def test_two_runs_and_judgments_lead_to_the_verdict(app: App, trec: dict[str, bytes]) -> None:
    screen = loaded(app, trec, "old.run", "new.run", "judged.qrels")
    assert screen.title[0].value == "Overview"
    text = said(screen)
    assert "\nnew is better\n" in text
    assert "30 questions: 20 better, 7 equal, 3 worse" in text
    assert "Sample:" not in text
    assert "30 questions · your files" in text


def test_after_the_upload_every_page_shows_the_files(app: App, trec: dict[str, bytes]) -> None:
    screen = loaded(app, trec, "old.run", "new.run", "judged.qrels")
    screen.switch_page("pages/queries.py").run()
    assert "From old to new, 3 got worse, 20 better, 7 stayed equal on nDCG@10." in said(screen)
    assert "old has t28-yes (grade 1) at rank 1; in new it is at rank 2." in said(screen)
    screen.switch_page("pages/data.py").run()
    assert "Your files are loaded: 2 systems (old, new), 30 questions, 60 judgments." in said(screen)
    screen.button(key="back_to_sample").click().run()
    assert "The sample is loaded" in said(screen)


def test_a_run_alone_leaves_the_sample_in_place_and_asks_for_judgments(app: App, trec: dict[str, bytes]) -> None:
    screen = loaded(app, trec, "old.run")
    text = said(screen)
    assert "Drop judgments (a qrels file) in the third zone." in text
    assert "The sample is loaded" in text


def test_one_run_and_judgments_give_one_column_and_no_verdict(app: App, trec: dict[str, bytes]) -> None:
    screen = loaded(app, trec, "old.run", "judged.qrels")
    assert "Drop a second one under B for a verdict" in said(screen)
    screen.switch_page("pages/overview.py").run()
    text = said(screen)
    assert "With one system there is no verdict." in text
    assert "old reaches 0.754 on nDCG@10" in text
    assert "Decision" not in text
    screen.switch_page("pages/queries.py").run()
    assert "questions have nDCG@10 = 0" in said(screen)
    assert list(screen.dataframe[0].value.columns) == ["id", "a"]


def test_a_broken_file_is_answered_in_full_and_changes_nothing(app: App, trec: dict[str, bytes]) -> None:
    broken = trec["old.run"] + b"\nt30 Q0 d9 9 nan old\n"
    screen = drop(app("data"), "a", ("old.run", broken), ("judged.qrels", trec["judged.qrels"]))
    text = said(screen)
    assert "Nothing was changed: these files cannot be used as they are" in text
    assert "old.run, line 61" in text
    assert "The sample is loaded" in text


def test_judgments_of_other_questions_are_an_error_that_changes_nothing(app: App, trec: dict[str, bytes]) -> None:
    foreign = b"x1 0 d1 1\nx2 0 d2 1\n"
    screen = drop(app("data"), "more", ("old.run", trec["old.run"]), ("judged.qrels", foreign))
    text = said(screen)
    assert "Check that both files use the same query ids" in text
    assert "The sample is loaded" in text


# --- links -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_files_this_server_does_not_have_says_so(app: App, page: str) -> None:
    text = said(app(page, data="0123456789abcdef"))
    assert "This link needs other data" in text
    assert "0123456789abcdef" in text
    assert "Decision" not in text


def test_a_link_opens_uploaded_files_in_another_session(app: App, trec: dict[str, bytes]) -> None:
    first = loaded(app, trec, "old.run", "new.run", "judged.qrels")
    second = app("overview", data=first.query_params["data"])
    assert "\nnew is better\n" in said(second)


def test_a_link_sets_systems_metric_settings_and_question(app: App) -> None:
    screen = app("queries", a="hybrid", b="bm25", metric="RR@10", gain="exp", margin="0.02", q="q010", by="a")
    text = said(screen)
    assert "From hybrid to bm25" in text and "on RR@10" in text and "q010  " in text
    assert screen.dataframe[0].value["a"].is_monotonic_increasing
    assert {button.label for button in screen.button if button.key.startswith("chip_")} == {
        "margin = 0.02",
        "gain = exp",
    }


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"a": "bm52"}, "link: there is no system 'bm52'. Did you mean bm25?"),
        ({"metric": "nDCGG@10"}, "metric: there is no metric 'nDCGG'. Did you mean nDCG"),
        ({"margin": "wide"}, "link: margin is 'wide'. Give a number from 0 to 1."),
        ({"q": "q999"}, "link: question 'q999' is not among these."),
    ],
)
def test_what_a_link_gets_wrong_is_said_and_the_page_still_shows(
    app: App, params: dict[str, str], message: str
) -> None:
    screen = app("queries", **params)
    assert message in said(screen)
    assert len(screen.dataframe) > 0


# --- choices -----------------------------------------------------------------------------------------------------


def test_swapping_turns_the_difference_round(app: App) -> None:
    screen = app("queries")
    before = screen.dataframe[0].value.set_index("id")["difference"]
    screen.button(key="swap").click().run()
    after = screen.dataframe[0].value.set_index("id")["difference"]
    assert "From hybrid to bm25" in said(screen)
    assert (before + after[before.index]).abs().max() == 0
    assert screen.query_params["a"] == "hybrid"


def test_choosing_b_as_the_baseline_makes_a_the_candidate(app: App) -> None:
    screen = app()
    screen.selectbox(key="view_a").set_value("hybrid").run()
    assert "Sample: hybrid → bm25" in said(screen)


def test_the_metric_changes_every_page_and_stands_in_the_address(app: App) -> None:
    screen = app()
    screen.selectbox(key="view_metric").set_value("RR@10").run()
    assert "on RR@10" in said(screen)
    assert screen.query_params["metric"] == "RR@10"
    screen.switch_page("pages/queries.py")
    screen.query_params["metric"] = "RR@10"
    assert "on RR@10" in said(screen.run())


def test_next_and_previous_go_through_the_order_and_stop_at_its_ends(app: App) -> None:
    screen = app("queries")
    ids = list(screen.dataframe[0].value["id"])
    assert screen.button(key="previous").disabled
    screen.button(key="next").click().run()
    assert f"{ids[1]}  " in said(screen)
    assert screen.query_params["q"] == ids[1]
    screen.button(key="previous").click().run()
    assert f"{ids[0]}  " in said(screen)
    screen.text_input(key="jump").set_value(ids[-1]).run()
    assert screen.button(key="next").disabled


def test_the_open_question_stays_when_the_metric_changes(app: App) -> None:
    screen = app("queries", q="q010")
    screen.selectbox(key="view_metric").set_value("AP").run()
    assert "q010  " in said(screen)


def test_settings_are_chips_and_a_click_puts_the_default_back(app: App) -> None:
    screen = app(ties="rank")
    screen.button(key="chip_ties").click().run()
    assert "ties" not in screen.query_params
    assert not [button for button in screen.button if button.key == "chip_ties"]


def test_the_settings_dialog_changes_the_state(app: App) -> None:
    screen = app()
    screen.button(key="settings").click().run()
    screen.selectbox(key="view_gain").set_value("exp").run()
    assert "nDCG(gain=exp)@10" in said(screen)


# --- many questions ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> dict[str, bytes]:
    """1,200 questions; the later, the worse for `b`."""
    names = [f"m{number:04}" for number in range(1200)]

    def run(system: str, rank_of: Callable[[int], int]) -> bytes:
        rows = []
        for number, name in enumerate(names):
            docs = [f"no{at}" for at in range(1, rank_of(number))] + ["yes"]
            rows += [f"{name} Q0 {doc} {at} {-at} {system}" for at, doc in enumerate(docs, 1)]
        return "\n".join(rows).encode()

    judged = "\n".join(f"{name} 0 yes 1" for name in names)
    return {"a.run": run("a", lambda _: 1), "b.run": run("b", lambda n: 1 + n // 130), "judged.qrels": judged.encode()}


def test_at_most_500_rows_are_shown_and_the_page_follows_the_question(app: App, many: dict[str, bytes]) -> None:
    screen = drop(app("data"), "more", *many.items())
    screen.switch_page("pages/queries.py").run()
    assert len(screen.dataframe[0].value) == 500
    assert "Questions 1 to 500 of 1,200." in said(screen)
    screen.get("pagination")[0].set_value(2).run()
    assert "Questions 501 to 1,000 of 1,200." in said(screen)
    screen.text_input(key="jump").set_value("m0000").run()
    assert "Questions 1,001 to 1,200 of 1,200." in said(screen)
    assert "m0000" in set(screen.dataframe[0].value["id"])
    assert "1,071 of 1,200" in said(screen)
