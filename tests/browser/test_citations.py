"""The Citations page in a browser: hostile answers stay text, marks point to their documents, a pattern is tried."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

expect.set_options(timeout=20_000)
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "![x](http://attacker.example/x.png)",
    "</span></mark></bdi></div><script>alert(1)</script>",
    "<style>@import'http://attacker.example/x.css'</style>",
    "\u202egnitset",
    "<iframe src=http://attacker.example></iframe> [click](javascript:alert(1))",
)
Write = Callable[[str, str | bytes], Path]


def lines(system: str, cited: Callable[[int], list[str]]) -> str:
    """Thirty answers of hostile text, with hostile ids in their context, in a system of hostile name."""
    rows = []
    for number in range(30):
        text = HOSTILE[number % len(HOSTILE)]
        rows.append(
            {
                "query_id": f"t{number:02} {text}",
                "query": text,
                "system": f"{system} {HOSTILE[0]}",
                "generated_answer": f"{text} " + " ".join(f"[doc_id {name}]" for name in cited(number)),
                "context_doc_ids": ["d1", "d2", f"d3{text}"],
            }
        )
    return "\n".join(map(json.dumps, rows))


def test_hostile_answers_alone_are_marked_and_stay_text(page: Page, app_url: str, write: Write) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    documents = [
        {"doc_id": name, "title": text, "text": text} for name, text in zip(("d1", "d2"), HOSTILE, strict=False)
    ]
    page.goto(f"{app_url}/data")
    expect(page.get_by_text("The sample is loaded")).to_be_visible()
    files = [
        write("old.jsonl", lines("old", lambda n: ["d1"])),
        write("new.jsonl", lines("new", lambda n: ["d1", "<b>d9</b>"] if n % 2 else ["d2"])),
        write("documents.jsonl", "\n".join(map(json.dumps, documents))),
    ]
    page.locator(".st-key-zone_more input[type=file]").set_input_files([str(path) for path in files])
    expect(page.get_by_role("heading", name="Citations", exact=True)).to_be_visible()
    expect(page.locator(".st-key-lead_citations")).to_contain_text("15 of 45 citations name nothing in their context")
    expect(page.locator(".st-key-answer_b mark.invalid")).to_contain_text("[doc_id <b>d9</b>]✗ no such document")
    expect(page.locator(".st-key-answer_a mark.valid")).to_have_attribute("title", re.compile("^d1\n"))
    expect(page.locator(".st-key-pointed_to details[open]").first).to_contain_text(HOSTILE[0])
    for _ in HOSTILE:
        before = page.locator(".st-key-question").text_content() or ""
        page.get_by_role("button", name="Next").click()
        expect(page.locator(".st-key-question")).not_to_have_text(before)
    expect(page.locator(".st-key-answer_a .answer bdi").first).to_be_visible()
    assert dialogs == []
    inside = page.locator(".answer, .documents")
    assert inside.locator("img, script, style, iframe, a, b b").count() == 0
    assert page.locator("img[src*='attacker'], a[href^='http://attacker'], a[href^='javascript'], iframe").count() == 0
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_deep_link_a_click_in_the_table_and_a_pattern(page: Page, fresh_app_url: Callable[[], str]) -> None:
    page.goto(f"{fresh_app_url()}/citations?q=q026")
    expect(page.locator(".st-key-question")).to_contain_text("q026  ")
    expect(page.locator(".st-key-answer_b mark.invalid")).to_contain_text("✗ no such document")
    table = page.locator(".st-key-queries")
    second = table.get_by_test_id("glide-cell-1-1").text_content() or ""
    table.get_by_test_id("stDataFrameResizable").click(position={"x": 15, "y": 35 + 35 + 17})
    expect(page.locator(".st-key-question")).to_contain_text(f"{second}  ")
    expect(page).to_have_url(re.compile(f"[?&]q={second}"))
    tried = page.get_by_role("textbox", name="Try a pattern")
    tried.fill("[0-9]+")
    tried.press("Enter")
    expect(page.get_by_text("has no group")).to_be_visible()
    tried.fill(r"\[doc_id (error-[0-9]+)\]")
    tried.press("Enter")
    expect(page.get_by_text("sample answers:")).to_be_visible()
    page.get_by_role("button", name="Read all answers with it").click()
    expect(page).to_have_url(re.compile("pattern="))
    expect(page.locator(".st-key-chip_pattern")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
