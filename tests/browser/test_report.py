"""The HTML report in a real browser: screen and phone, light, dark and printed, without a request or a script."""

from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Browser

from ragdash.api import compare_tables
from ragdash.bundle import bundled
from ragdash.inputs import read_inputs
from ragdash.report.html import html_report
from ragdash.results.stored import StoredResult
from ragdash.schema import table_of
from ragdash.sources import Source
from ragdash.tables import Tables

EVIL = "</style><img src=http://foreign.example/x onerror=document.title='run'><script>document.title='run'</script>"
SAMPLE = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl", "documents.jsonl")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    inputs = read_inputs((), (), [Source.from_path(bundled("sample_data") / name) for name in SAMPLE])
    path = tmp_path_factory.mktemp("report") / "sample.html"
    path.write_text(html_report(StoredResult.of(compare_tables(inputs, "bm25", "hybrid"), inputs)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    ids, long = [f"{EVIL}{n}" for n in range(25)], "w" * 900
    asked = {"query_id": ids, "query": [EVIL + long] * 25, "slice": [[EVIL, long]] * 25}
    said = {"query_id": ids, "answer": [f"{EVIL} [doc_id {long}]"] * 25, "context_ids": [[long[:500]]] * 25}
    runs = {
        f"{EVIL}{name}": table_of("run", pa.table({"query_id": ids, "doc_id": [doc] * 25, "score": [1.0] * 25}), "r")
        for name, doc in (("a", EVIL), ("b", long))
    }
    judged = table_of("judgments", pa.table({"query_id": ids, "doc_id": [EVIL] * 25, "grade": [1] * 25}), "j")
    answers = dict.fromkeys(runs, table_of("answers", pa.table(said), "a"))
    tables = Tables(runs, judged, answers, table_of("queries", pa.table(asked), "q"))
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    path.write_text(html_report(StoredResult.of(compare_tables(tables, *runs), tables)), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["sample", "hostile"])
def test_it_opens_alone_and_fits(browser: Browser, request, name, width, scheme):
    path: Path = request.getfixturevalue(name)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked, said = [], []
    context.on("request", lambda one: asked.append(one.url))
    context.on("console", lambda one: said.append(one.text))
    page = context.new_page()
    page.goto(path.as_uri())
    assert asked == [path.as_uri()] and said == []
    assert "better" in page.title() or "worse" in page.title()
    assert page.evaluate("document.documentElement.scrollWidth") == width, "nothing stands out of the page"
    assert page.evaluate("document.images.length + document.scripts.length") == 0
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[scheme]
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"
    context.close()


def test_a_printed_page_is_no_wider_than_the_paper_and_splits_no_card(browser: Browser, sample):
    context = browser.new_context(viewport={"width": 690, "height": 1000})
    page = context.new_page()
    page.goto(sample.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == 690
    rule = "[...document.querySelectorAll('.card, .verdict, figure')].map(one => getComputedStyle(one).breakInside)"
    assert set(page.evaluate(rule)) == {"avoid"}
    context.close()
