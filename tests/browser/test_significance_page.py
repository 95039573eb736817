"""The Significance page in a browser: a click on a question's bar opens that question, and Back returns."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

expect.set_options(timeout=20_000)


def test_a_click_on_a_bar_opens_that_question_and_back_returns(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/significance?metric=RR%4010")
    expect(page.locator(".st-key-lead_significance")).to_contain_text("RR@10")
    chart = page.locator(".st-key-sorted_differences")
    bars = chart.locator(".bars .point")
    expect(bars.first).to_be_attached()
    bars.last.scroll_into_view_if_needed()
    box = bars.last.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hovered = chart.locator(".hoverlayer")
    expect(hovered).to_contain_text("−")
    worst = re.search(r"(q\d+):", hovered.text_content() or "")
    assert worst is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_role("heading", name="Queries")).to_be_visible()
    expect(page.locator(".st-key-question")).to_contain_text(f"{worst[1]}  ")
    expect(page).to_have_url(re.compile(rf"queries\?.*q={worst[1]}"))
    assert "metric=RR" in page.url
    page.go_back()
    expect(page.locator(".st-key-lead_significance")).to_be_visible()
    expect(page.get_by_role("heading", name="Significance")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
