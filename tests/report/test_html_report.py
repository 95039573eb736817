"""The HTML report: it says what the comparison says, opens without any request, and no text of a user does anything."""

import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from ragdash.api import compare_tables
from ragdash.bundle import bundled
from ragdash.evaluation import evaluate
from ragdash.funnel import funnel_specs, funnels
from ragdash.inputs import read_inputs
from ragdash.report.forest import drawn, ticks_within
from ragdash.report.html import html_report
from ragdash.report.markup import Markup, escaped, tag
from ragdash.report.questions import finding
from ragdash.results import keeping
from ragdash.results.reading import read_result
from ragdash.results.stored import StoredResult
from ragdash.results.writing import write_result
from ragdash.schema import table_of
from ragdash.sources import Source
from ragdash.tables import Tables

VOID = {"meta", "br", "line", "rect", "circle", "path", "link"}
SAMPLE = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl", "documents.jsonl")


class Page(HTMLParser):
    """What a browser makes of the report: elements with their attributes, ids, and the text in each element."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.open, self.text, self.words = [], [], [], [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        self.ids += [value for key, value in attributes if key == "id"]
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open and self.open[-1] == name, f"</{name}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, text):
        self.words.setdefault(self.open[-1] if self.open else "", []).append(text)
        if not {"style", "title"} & set(self.open[-1:]):
            self.text.append(text)

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def shown(self):
        return " ".join("".join(self.text).split())


@pytest.fixture(scope="module")
def sample():
    inputs = read_inputs((), (), [Source.from_path(bundled("sample_data") / name) for name in SAMPLE])
    return StoredResult.of(compare_tables(inputs, "bm25", "hybrid"), inputs)


@pytest.fixture(scope="module")
def page(sample):
    return Page(html_report(sample))


# --- what it says ------------------------------------------------------------------------------------------------


def test_the_verdict_comes_first(page, sample):
    comparison = sample.comparison
    start = page.shown[: page.shown.index("How far")]
    parts = [comparison.badge, comparison.sentence, comparison.in_answers, comparison.decision]
    places = [start.index(part) for part in parts]
    assert places == sorted(places)
    assert page.words["h1"] == [comparison.badge]
    assert "Worse in hybrid: Citation validity −0.063" in start


def test_every_section_is_there_in_the_order_of_reading(page):
    assert page.words["h2"] == [
        "How far the evidence gets",
        "Retrieval", "Generation", "End to end", "Differences by metric", "Where", "The worst questions", "Citations",
        "What to keep in mind", "What the metrics mean", "How this was made",
    ]  # fmt: skip


def test_the_funnel_counts_are_those_of_the_funnel(page, sample):
    inputs, scores = sample.tables, sample.comparison.scores
    found = funnels(evaluate(inputs, funnel_specs(inputs, 10), scores.settings), inputs, 10)
    shown = page.shown[page.shown.index("How far") : page.shown.index("RetrievalDid")]
    for at, stage in enumerate(found["bm25"].stages):
        assert f"{stage}{found['bm25'].counts()[at]}{found['hybrid'].counts()[at]}" in shown
    assert found["bm25"].counts()[0] == len(found["bm25"]) == 256 and "in the top 10" in shown


def test_slices_show_the_mean_difference_and_n_of_every_cell(page, sample):
    comparison, queries = sample.comparison, sample.tables.queries
    members = {row["query_id"]: row["slice"] for row in queries.rows.to_pylist()}
    of = np.array([members[name] == ["identifier"] for name in comparison.scores.query_ids])
    differences = comparison.metrics[comparison.primary].differences[of]
    known = differences[~np.isnan(differences)]
    expected = f"identifier 38 questions{known.mean():+.3f} n {len(known)}".replace("-", "−")
    assert len(known) == 38 and expected in page.shown and "Exploratory" in page.shown


def test_the_five_worst_questions_are_those_with_the_largest_loss(page, sample):
    comparison = sample.comparison
    differences = comparison.metrics[comparison.primary].differences
    order = np.argsort(np.where(np.isnan(differences), np.inf, differences), kind="stable")
    worst = set(comparison.scores.query_ids[order[:5]])
    section = page.shown[page.shown.index("The worst questions") : page.shown.index("citations name nothing")]
    heads = set(re.findall(r"\bq\d{3}\b", section))
    fifth = differences[order[4]]
    assert {name for name in worst if differences[list(comparison.scores.query_ids).index(name)] < fifth} <= heads
    assert len(heads) == 5 and section.count("Reference answer:") == 5
    assert "bm25 has error-4144 (grade 3) at rank 1; in hybrid it is at rank 9." in section
    assert section.count("● A bm25, first 10 of 20") == 5 and "? unjudged" in section


def test_invalid_citations_are_marked_by_word(page):
    marks = [attributes["class"] for attributes in page.all("mark")]
    assert "invalid" in marks and "valid" in marks
    assert page.shown.count("✗ not in the context") == marks.count("invalid")
    assert "bm25: 4 of 304 citations name nothing in their context. hybrid: 24 of 391" in page.shown


def test_numbers_that_another_must_check_are_there(page, sample):
    for report in sample.tables.files:
        assert report.digest and report.digest in page.shown and report.name in page.shown
    assert "ragdash compare bm25.jsonl hybrid.jsonl --judgments=judgments.qrels" in page.shown
    for spec in sample.comparison.metrics:
        assert spec.metric.meaning in page.shown


def test_a_stored_result_gives_the_same_report(sample):
    again = read_result(Source.from_bytes("r", write_result(sample.comparison, sample.tables)))
    assert html_report(again) == html_report(sample)
    assert len(html_report(sample).encode()) < 200_000


# --- what it is --------------------------------------------------------------------------------------------------


def test_the_document_is_well_formed_and_accessible(page):
    assert page.open == [] and len(page.ids) == len(set(page.ids))
    assert page.all("html") == [{"lang": "en"}]
    levels = [int(name[1]) for name, _ in page.tags if re.fullmatch("h[1-6]", name)]
    assert levels.count(1) == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels))
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(one.get("scope") in ("col", "row") for one in page.all("th"))
    svg = next(one for one in page.all("svg") if one.get("role") == "img")
    assert set(svg["aria-labelledby"].split()) <= set(page.ids)
    assert {one["aria-labelledby"] for one in page.all("section")} <= set(page.ids)
    assert "nDCG@10 +0.036, 95% interval +0.008 to +0.064" in page.words["desc"][0]


def test_nothing_is_run_and_nothing_is_asked_for(page):
    names = {name for name, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "a", "base", "video", "audio"}
    attributes = {key for _, found in page.tags for key in found}
    assert not {key for key in attributes if key.startswith("on")} and not attributes & {"src", "href", "style"}
    policy = page.all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'") and "script" not in policy
    style = "".join(page.words["style"])
    assert (
        "url(" not in style
        and "@import" not in style
        and "prefers-color-scheme: dark" in style
        and "@media print" in style
    )


# --- hostile text ------------------------------------------------------------------------------------------------

EVIL = (
    "</style></title></bdi><img src=x onerror=alert(1)><script>alert(1)</script>"
    '"\' onload="x &lt;b&gt; \u202eevil\u202c \0\x1b'
)
SHOWN = EVIL.replace("\0", "\ufffd").replace("\x1b", "\ufffd")


OURS = (
    {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "section",
        "article",
        "div",
        "p",
        "span",
        "bdi",
    }
    | {"h1", "h2", "h3", "h4", "b", "strong", "svg", "desc", "g", "line", "rect", "circle", "path", "text", "tspan"}
    | {"figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "mark", "dl", "dt"}
    | {"dd", "pre", "code"}
)


def hostile():
    """A comparison in which every text that a user gives is hostile."""
    ids = [f"{EVIL} {n}" for n in range(25)]
    good, bad = [f"{EVIL} good", f"{EVIL} bad"], [f"{EVIL} bad", f"{EVIL} good"]

    def run(orders):
        rows = [(q, d, -float(r)) for q, docs in zip(ids, orders, strict=True) for r, d in enumerate(docs)]
        return table_of(
            "run",
            pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))),
            EVIL,
        )

    judged = {"query_id": ids, "doc_id": good[:1] * 25, "grade": [1] * 25}
    asked = {"query_id": ids, "query": [EVIL] * 25, "reference": [EVIL] * 25, "slice": [[EVIL]] * 25}
    said = {"query_id": ids, "answer": [f"{EVIL} [doc_id {EVIL[:20]}] [doc_id none]"] * 25, "context_ids": [good] * 25}
    scored = {"query_id": ids, "metric": [EVIL] * 25, "value": [float(n) for n in range(25)]}
    a, b = f"{EVIL} a", f"{EVIL} b"
    answers, scores = table_of("answers", pa.table(said), EVIL), table_of("scores", pa.table(scored), EVIL)
    tables = Tables(
        {a: run([good] * 25), b: run([bad] * 20 + [good] * 5)},
        table_of("judgments", pa.table(judged), EVIL),
        {a: answers, b: answers},
        table_of("queries", pa.table(asked), EVIL),
        table_of("documents", pa.table({"doc_id": good, "title": [EVIL, ""], "text": [EVIL] * 2}), EVIL),
        {a: scores, b: scores},
    )
    return StoredResult.of(compare_tables(tables, a, b), tables)


def test_hostile_text_is_only_text():
    content = html_report(hostile())
    page = Page(content)
    assert page.open == []
    assert {name for name, _ in page.tags} <= OURS
    assert not {key for _, found in page.tags for key in found if key.startswith("on")}
    assert len(page.all("style")) == 1 and "</style><" not in "".join(page.words["style"])
    flat = " ".join(SHOWN.split())
    assert page.shown.count(flat) > 40, "and every text is shown in full"
    assert not re.search("[\0\x1b]", content)


def test_a_lone_surrogate_does_not_stop_the_report():
    assert escaped("\udcff") == "?" and tag("p", "\udcff").encode() == b"<p>?</p>"


@pytest.mark.parametrize("text", ["<", ">", "&", '"', "'", "&lt;", "\u2028"])
def test_escaping_is_the_same_in_text_and_attributes(text):
    page = Page(tag("p", text, title=text))
    assert page.shown == text.strip() and page.all("p") == [{"title": text}]


def test_only_markup_passes_unescaped():
    assert tag("b", Markup("<i>x</i>"), "<i>") == "<b><i>x</i>&lt;i&gt;</b>"
    assert escaped(Markup("<i>") + "<") == "&lt;i&gt;&lt;", "what is put together outside tag is text again"


# --- what a comparison may lack ----------------------------------------------------------------------------------


def runs(n, lost):
    def run(swapped):
        rows = [
            (f"q{i:02}", d, -float(r))
            for i in range(n)
            for r, d in enumerate(("x", "d") if i in swapped else ("d", "x"))
        ]
        return table_of(
            "run",
            pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))),
            "r",
        )

    judged = pa.table({"query_id": [f"q{i:02}" for i in range(n)], "doc_id": ["d"] * n, "grade": [1] * n})
    return Tables({"old": run(()), "new": run(lost)}, table_of("judgments", judged, "j"))


def test_with_runs_and_judgments_alone_there_are_no_slices_and_no_citations():
    tables = runs(30, range(8))
    page = Page(html_report(StoredResult.of(compare_tables(tables, "old", "new"), tables)))
    assert page.open == [] and {"Where", "Citations", "Generation"}.isdisjoint(page.words["h2"])
    assert "judgments: all are positive" in page.shown
    assert "No command line gives these numbers again: old was not read from a file." in page.shown


def test_where_nothing_was_lost_the_lowest_of_the_candidate_are_shown():
    tables = runs(30, ())
    comparison = compare_tables(tables, "old", "new")
    shown = Page(html_report(StoredResult.of(comparison, tables))).shown
    assert "No question lost on nDCG@10; these are the lowest of new." in shown
    assert "unchanged" in shown


def test_answers_alone_have_no_lists():
    rows = {"query_id": ["q1", "q2"], "context_ids": [["d"], ["d"]]}
    a = table_of("answers", pa.table(rows | {"answer": ["T [doc_id d].", "U [doc_id d]."]}), "a")
    b = table_of("answers", pa.table(rows | {"answer": ["T [doc_id z].", ""]}), "b")
    tables = Tables(answers={"A": a, "B": b})
    page = Page(html_report(StoredResult.of(compare_tables(tables, "A", "B"), tables)))
    assert page.open == [] and "(empty answer)" not in page.shown, "q2 has no validity in B, so it is no loss"
    assert "[doc_id z] ✗ not in the context" in page.shown and "first 10" not in page.shown


def test_a_list_that_was_cut_never_says_that_a_document_was_not_retrieved(monkeypatch):
    monkeypatch.setenv("RAGDASH_MAX_RESULT_ROWS", "10")
    monkeypatch.setattr(keeping, "DEPTH", 1)
    tables = runs(30, range(25))
    content = write_result(compare_tables(tables, "old", "new"), tables)
    shown = Page(html_report(read_result(Source.from_bytes("r", content)))).shown
    assert "How far the evidence gets" not in shown, "a list cut short cannot say what was retrieved"
    questions = shown[shown.index("The worst questions") : shown.index("What to keep in mind")]
    assert questions.count("not among the first 1.") == 5 and "retrieved" not in questions


def test_the_words_about_a_cut_list_are_those_of_the_drilldown():
    from ragdash.drilldown import drill

    one = drill(runs(1, [0]), "q00", ["old", "nobody"])
    assert "missing: nothing was retrieved" in finding(one, None)


@pytest.mark.parametrize("reach", [0.0216, 0.05, 0.0999, 0.1, 0.3, 0.75, 1.0, 1.08, 2.2])
def test_ticks_are_few_round_and_within_the_axis(reach):
    ticks = ticks_within(reach)
    assert 0.0 in ticks and 3 <= len(ticks) <= 9 and max(ticks) <= reach and ticks == [-tick for tick in ticks[::-1]]


def test_judged_and_scores_without_a_scale_are_not_drawn(sample):
    names = [str(one.spec) for one in drawn(sample.comparison)]
    assert "nDCG@10" in names and not {"Judged@10", "latency_ms", "cost_usd"} & set(names)
