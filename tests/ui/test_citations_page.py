"""The Citations page without a browser: the sample, answers alone, styles that do not fit, a pattern to try."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from streamlit.testing.v1 import AppTest

App = Callable[..., AppTest]
NUMBERS = range(1, 31)


def said(screen: AppTest) -> str:
    """All text on the screen; fails where there is an exception."""
    assert [one.message for one in screen.exception] == []
    shown = [*screen.title, *screen.text, *screen.markdown, *screen.caption, *screen.error, *screen.info]
    return "\n".join(one.value for one in shown)


def bodies(screen: AppTest, name: str) -> list[str]:
    return [one.proto.body for one in screen.get("html") if f'class="{name}"' in one.proto.body]


def answers(marks: Callable[[int], str], context: Sequence[str] = ("d1", "d2", "d3")) -> bytes:
    """Thirty answers, each with the citations that `marks` writes for its number."""
    rows = (
        {"query_id": f"t{number:02}", "generated_answer": f"Tides rise {marks(number)}.", "context_doc_ids": context}
        for number in NUMBERS
    )
    return "\n".join(json.dumps(row) for row in rows).encode()


def dropped(app: App, **files: bytes) -> AppTest:
    """The app after these files of answers were dropped, the first under A, the second under B."""
    screen = app("data")
    for zone, (name, content) in zip("ab", files.items(), strict=False):
        screen.file_uploader(key=f"drop_{zone}_0").set_value([(f"{name}.jsonl", content, "text/plain")])
        screen = screen.run()
    return screen


def alone(app: App, **files: bytes) -> AppTest:
    screen = dropped(app, **files)
    screen.switch_page("pages/citations.py")
    return screen.run()


def honest(number: int) -> str:
    return "[doc_id d1]"


def inventive(number: int) -> str:
    return "[doc_id d1] [doc_id d99]" if number % 2 else "[doc_id d2]"


# --- the sample --------------------------------------------------------------------------------------------------


def test_the_finding_comes_first_with_counts_and_interval(app: App) -> None:
    screen = app("citations")
    text = said(screen)
    assert screen.text[0].value.startswith(
        "hybrid invents more references than bm25: 24 of 391 citations name nothing in their context (bm25: 4 of 304)."
    )
    assert "95% interval −0." in text and "questions on which both cite something" in text
    cards = [body for body in bodies(screen, "card")]
    assert len(cards) == 4


def test_the_worst_citing_question_is_open_with_its_marks(app: App) -> None:
    screen = app("citations")
    table = screen.dataframe[0].value
    assert table["B ✗"].is_monotonic_decreasing
    assert table["B is"].iloc[0] == "invalid"
    shown = bodies(screen, "answer")
    assert "✗ no such document" in shown[1] and "✓ valid, grade" in shown[0]
    assert "B ✗ no such document" in bodies(screen, "documents")[0]
    assert f"{table['id'].iloc[0]}  " in said(screen)


def test_orders_and_steps_are_those_of_the_queries_page(app: App) -> None:
    screen = app("citations", by="a")
    table = screen.dataframe[0].value
    assert table["A ✗"].is_monotonic_decreasing and table["A ✗"].iloc[0] == 1
    screen.button(key="next").click().run()
    assert screen.query_params["q"] == table["id"].iloc[1]
    screen.text_input(key="jump").set_value("q010").run()
    assert "q010  " in said(screen)
    screen.switch_page("pages/queries.py")
    screen.query_params["q"] = "q010"
    assert "q010  " in said(screen.run())


def test_invalid_references_and_transitions_add_up(app: App) -> None:
    screen = app("citations")
    tables = [one.value for one in screen.dataframe]
    (invalid,) = [one for one in tables if "likely cause" in one]
    assert (invalid["A"].sum(), invalid["B"].sum()) == (4, 24)
    assert invalid.iloc[0]["reference"] == "example-001"
    assert "an example in the prompt?" in invalid.iloc[0]["likely cause"]
    (moved,) = [one for one in tables if "A was" in one]
    assert moved.drop(columns="A was").to_numpy().sum() == 300
    assert "Where all of A's citations are valid (189 questions), so are B's in 144; in 21" in said(screen)


def test_the_queries_page_marks_the_same_citations(app: App) -> None:
    assert "✗ no such document" in "".join(bodies(app("queries", q="q026"), "answer"))
    assert "✗ not in its context" in "".join(bodies(app("queries", q="q001"), "answer"))


def test_a_link_opens_a_question(app: App) -> None:
    assert "q026  What harmonic distortion" in said(app("citations", q="q026"))
    assert "link: question 'q999' is not among these." in said(app("citations", q="q999"))


# --- answers alone -----------------------------------------------------------------------------------------------


def test_two_files_of_answers_alone_lead_to_the_citations(app: App) -> None:
    screen = dropped(app, old=answers(honest), new=answers(inventive))
    assert screen.title[0].value == "Citations"
    text = said(screen)
    assert (
        "new invents more references than old: 15 of 45 citations name nothing in their context (old: 0 of 30)." in text
    )
    assert "30 questions · your files" in text
    assert "No document is judged relevant" not in text
    assert "new cites d99, which its context does not hold. Both cite d1." in text
    screen.switch_page("pages/overview.py").run()
    text = said(screen)
    assert "Answers and their context are loaded, no ranked lists" in text
    assert "new is worse than old on citation_validity" in text
    screen.switch_page("pages/queries.py").run()
    assert "on citation_validity" in said(screen)


def test_one_file_of_answers_shows_one_column(app: App) -> None:
    screen = alone(app, new=answers(inventive))
    text = said(screen)
    assert screen.text[0].value.startswith("15 of 45 citations of new name nothing in their context.")
    assert "Mean citation validity is 0.750" in text
    assert {" ✓", " ✗", " –"} <= set(screen.dataframe[0].value.columns)
    assert "From A to B" not in text


def test_runs_without_answers_say_what_is_missing(app: App, trec: dict[str, bytes]) -> None:
    screen = app("data")
    files = [(name, content, "text/plain") for name, content in trec.items()]
    screen = screen.file_uploader(key="drop_more_0").set_value(files).run()
    screen.switch_page("pages/citations.py").run()
    assert "There are no answers of" in said(screen)
    assert len(screen.dataframe) == 0


def test_where_nothing_is_invented_it_says_so(app: App) -> None:
    text = said(alone(app, old=answers(honest), new=answers(lambda n: "[doc_id d2]")))
    assert "Neither old nor new invents a reference: 0 of 30 citations" in text
    assert "Every citation names a document of its context." in text


# --- styles ------------------------------------------------------------------------------------------------------


def test_a_style_that_fits_no_answer_is_said_aloud(app: App) -> None:
    screen = app("citations", style="footnote")
    text = said(screen)
    assert "These citation numbers say nothing yet" in screen.error[0].value
    assert "bm25: no citation was found in any of its" in text and "read for [fn:1]" in text
    assert "[doc_id X] is in 193 of 199 answers: choose that style" in text
    assert "invents" not in text
    assert bodies(screen, "card") == []
    assert "These citation numbers say nothing yet" in app(style="footnote").error[0].value
    screen.selectbox(key="view_style").set_value("doc_id").run()
    assert "hybrid invents more references" in said(screen)
    assert screen.query_params["style"] == "doc_id"


def test_unread_brackets_are_found_and_a_pattern_reads_them(app: App) -> None:
    screen = alone(app, old=answers(lambda n: "[Doc d1]"), new=answers(lambda n: "[Doc d1] [Doc d7]"))
    text = said(screen)
    assert "no citation was found in any of its 30 answers" in text
    assert "Brackets such as [Doc d1] stand in 30 of them: try a pattern" in text
    (unread,) = [one.value for one in screen.dataframe if "looks like" in one.value]
    assert list(unread["times"]) == [30, 60]
    screen.text_input(key="try_pattern").set_value(r"\[Doc (\w+)\]").run()
    assert "It matches in 40 of 40 sample answers: 60 citations, 40 name a document" in said(screen)
    screen.button(key="use_pattern").click().run()
    text = said(screen)
    assert "new invents more references than old: 30 of 60 citations" in text
    assert screen.query_params["pattern"] == r"\[Doc (\w+)\]"
    screen.button(key="chip_pattern").click().run()
    assert "no citation was found" in said(screen)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[", "'[' is no regular expression"),
        ("[0-9]+", "'[0-9]+' has no group"),
        ("(a)(b)", "'(a)(b)' has 2 groups, where one is needed"),
        ("((?:[a-z ]|[a-z ][a-z ])+)$", "took longer than 250 milliseconds"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(app: App, pattern: str, message: str) -> None:
    screen = app("citations")
    screen.text_input(key="try_pattern").set_value(pattern).run()
    text = said(screen)
    assert "This pattern cannot be used" in text and message in text
    assert "hybrid invents more references" in text


def test_a_broken_pattern_in_a_link_is_reported_and_left_out(app: App) -> None:
    text = said(app("citations", pattern="[0-9"))
    assert "citation pattern: '[0-9' is no regular expression" in text
    assert "hybrid invents more references" in text


def test_a_style_no_one_knows_in_a_link_is_reported(app: App) -> None:
    assert "link: style is 'apa'. Known are: auto, " in said(app("citations", style="apa"))


def test_answers_without_context_are_an_alarm_and_no_zero(app: App) -> None:
    rows = [json.dumps({"query_id": f"t{n}", "generated_answer": f"Tides rise [doc_id d{n}]."}) for n in NUMBERS]
    screen = alone(app, new="\n".join(rows).encode())
    text = said(screen)
    assert "new: its answers come without context, so each of its 30 citations counts as invalid" in text
    assert bodies(screen, "card") == []
