"""The app in a browser: files dropped, the verdict read, the worst question opened, links that keep."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

expect.set_options(timeout=20_000)
QUESTIONS = [f"t{number:02}" for number in range(1, 31)]
HOSTILE = (
    "<img/src=x/onerror=alert(1)>",
    "![x](http://attacker.example/x.png)",
    '=HYPERLINK("http://attacker.example")',
    "[click](javascript:alert(1))",
    "<style>@import'http://attacker.example/x.css'</style>",
    "\u202egnitset",
    "$$\\href{http://attacker.example}{x}$$",
    ":material/home: :red[red] `code`",
)
Write = Callable[[str, str | bytes], Path]


def run(system: str, found_first: set[str]) -> str:
    """A run that has the relevant document first for some questions and second for the others."""
    lines = []
    for query in QUESTIONS:
        docs = [f"{query}-yes", f"{query}-no"]
        for at, doc in enumerate(docs if query in found_first else docs[::-1], 1):
            lines.append(f"{query} Q0 {doc} {at} {10 - at} {system}\n")
    return "".join(lines)


@pytest.fixture
def files(write: Write) -> list[Path]:
    """A baseline, a candidate that is better on 20 questions and worse on 3, and judgments."""
    judged = "".join(
        f"{query} 0 {query}-{word} {int(word == 'yes')}\n" for query in QUESTIONS for word in ("yes", "no")
    )
    return [
        write("old.run", run("old", set(QUESTIONS[20:]))),
        write("new.run", run("new", set(QUESTIONS[:27]))),
        write("judged.qrels", judged),
    ]


def drop(page: Page, zone: str, *paths: Path) -> None:
    page.locator(f".st-key-zone_{zone} input[type=file]").set_input_files([str(path) for path in paths])


def no_exception(page: Page) -> None:
    expect(page.get_by_test_id("stException")).to_have_count(0)


def upload(page: Page, url: str, files: list[Path]) -> None:
    """Drop the three files, each on its zone, and wait for the verdict."""
    page.goto(f"{url}/data")
    expect(page.get_by_text("The sample is loaded")).to_be_visible()
    drop(page, "a", files[0])
    expect(page.get_by_text("Drop judgments (a qrels file) in the third zone.")).to_be_visible()
    drop(page, "b", files[1])
    expect(page.get_by_text("new.run").first).to_be_visible()
    drop(page, "more", files[2])
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def open_row(page: Page, number: int) -> None:
    """Click a row of the table of questions, by its number on the screen."""
    grid = page.locator(".st-key-queries").get_by_test_id("stDataFrameResizable")
    grid.click(position={"x": 15, "y": 35 + 35 * number + 17})


def test_two_runs_and_judgments_then_the_verdict_then_the_worst_question(
    page: Page, app_url: str, files: list[Path]
) -> None:
    upload(page, app_url, files)
    expect(page.locator(".st-key-badge")).to_contain_text("new is better")
    verdict = page.locator(".st-key-lead_verdict")
    expect(verdict).to_have_text(re.compile("^new is better than old on nDCG@10"))
    expect(verdict).to_contain_text("20 better, 7 equal, 3 worse")
    assert "data=" in page.url
    page.get_by_role("link", name="Largest loss").click()
    expect(page.get_by_role("heading", name="Queries")).to_be_visible()
    expect(page.locator(".st-key-question")).to_contain_text("t28")
    expect(page.locator(".st-key-lead_query")).to_contain_text(
        "old has t28-yes (grade 1) at rank 1; in new it is at rank 2."
    )
    no_exception(page)


def test_a_click_in_the_table_opens_that_question_and_steps_follow_the_order(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/queries")
    cells = page.locator(".st-key-queries")
    expect(page.locator(".st-key-question")).to_be_visible()
    third = cells.get_by_test_id("glide-cell-1-2").text_content() or ""
    open_row(page, 2)
    expect(page.locator(".st-key-question")).to_contain_text(f"{third}  ")
    expect(page).to_have_url(re.compile(f"[?&]q={third}"))
    fourth = cells.get_by_test_id("glide-cell-1-3").text_content() or ""
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(page.locator(".st-key-question")).to_contain_text(f"{fourth}  ")
    page.keyboard.press("k")
    expect(page.locator(".st-key-question")).to_contain_text(f"{third}  ")
    no_exception(page)


def test_a_deep_link_on_a_fresh_server_opens_through_the_shell(page: Page, fresh_app_url: Callable[[], str]) -> None:
    page.goto(f"{fresh_app_url()}/queries?q=q010&metric=RR%4010")
    expect(page.locator(".st-key-question")).to_contain_text("q010  ")
    expect(page).to_have_title("Queries · ragdash")
    expect(page.locator(".st-key-menu")).to_contain_text("Overview")
    expect(page.locator(".st-key-lead_queries")).to_contain_text("on RR@10")
    page.reload()
    expect(page.locator(".st-key-question")).to_contain_text("q010  ")
    assert "q=q010" in page.url and "metric=RR" in page.url
    no_exception(page)


def test_a_reload_keeps_the_uploaded_files_and_the_question(page: Page, app_url: str, files: list[Path]) -> None:
    upload(page, app_url, files)
    page.locator(".st-key-menu").get_by_role("link", name="Queries").click()
    expect(page.locator(".st-key-lead_queries")).to_contain_text("From old to new, 3 got worse")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".st-key-question")).to_contain_text("t29")
    expect(page).to_have_url(re.compile(r"q=t29"))  # the address is written when the run ends
    page.reload()
    expect(page.locator(".st-key-question")).to_contain_text("t29")
    expect(page.locator(".st-key-lead_queries")).to_contain_text("From old to new")
    no_exception(page)


def test_back_returns_to_what_was_seen_before(page: Page, app_url: str) -> None:
    page.goto(app_url)
    expect(page.locator(".st-key-lead_verdict")).to_contain_text("on nDCG@10")
    page.get_by_role("link", name="Largest loss").click()
    expect(page.locator(".st-key-question")).to_be_visible()
    page.go_back()
    expect(page.locator(".st-key-lead_verdict")).to_contain_text("on nDCG@10")
    no_exception(page)


def test_a_broken_file_is_told_in_full_and_the_sample_stays(page: Page, app_url: str, write: Write) -> None:
    page.goto(f"{app_url}/data")
    expect(page.get_by_text("The sample is loaded")).to_be_visible()
    drop(page, "a", write("broken.run", "t1 Q0 d1 1 nan bm25\n"))
    expect(page.get_by_text("Nothing was changed")).to_be_visible()
    expect(page.get_by_text("broken.run, line 1")).to_be_visible()
    expect(page.get_by_text("The sample is loaded")).to_be_visible()
    no_exception(page)


def test_hostile_text_stays_text(page: Page, app_url: str, write: Write) -> None:
    def lines(turned: bool) -> str:
        rows = []
        for number in range(40):
            text = HOSTILE[number % len(HOSTILE)]
            query, docs = f"{number:02} {text}", [f"{text} yes", f"{text} no"]
            row = {
                "query_id": query, "query": text, "retrieved_ids": docs[::-1] if turned and number % 3 else docs,
                "relevance_grades": {docs[0]: 1, docs[1]: 0}, "generated_answer": f"{text} [{docs[0]}]",
                "context_doc_ids": docs, "reference": text, "system": ("B" if turned else "A") + HOSTILE[0],
            }  # fmt: skip
            rows.append(json.dumps(row))
        return "\n".join(rows)

    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"{app_url}/data")
    expect(page.get_by_text("The sample is loaded")).to_be_visible()
    documents = [json.dumps({"doc_id": f"{text} yes", "title": text, "text": text}) for text in HOSTILE]
    drop(page, "more", write("a.jsonl", lines(False)), write("b.jsonl", lines(True)))
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.locator(".st-key-badge")).to_contain_text(HOSTILE[0])
    page.locator(".st-key-menu").get_by_role("link", name="Data").click()
    drop(page, "a", write("documents.jsonl", "\n".join(documents)))
    expect(page.locator(".st-key-lead_verdict")).to_contain_text(HOSTILE[0])
    page.locator(".st-key-menu").get_by_role("link", name="Queries").click()
    for _ in HOSTILE:
        expect(page.locator(".st-key-question")).to_be_visible()
        before = page.locator(".st-key-question").text_content() or ""
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".st-key-question")).not_to_have_text(before)
    assert dialogs == []
    assert page.locator("img[src*='attacker'], a[href*='attacker'], a[href^='javascript']").count() == 0
    no_exception(page)
