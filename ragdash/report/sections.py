"""The sections of the report that say what was found: verdict, cards, differences, slices, citations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragdash.charts.overview import favours
from ragdash.charts.theme import A, B, readers, signed, title
from ragdash.citation_status import CitationCounts, count_citations
from ragdash.citing import cite
from ragdash.comparison import Comparison, Difference
from ragdash.evaluation import evaluate
from ragdash.funnel import funnel_specs, funnels
from ragdash.metrics.registry import Spec
from ragdash.report import forest as plot
from ragdash.report.markup import Inner, Markup, joined, table, tag, theirs
from ragdash.results.stored import StoredResult
from ragdash.slices import slices_of
from ragdash.verdict import FEWEST_QUERIES, percent, within_range

LAYERS = {
    "retrieval": ("Retrieval", "Did we find the evidence, at the right ranks?"),
    "generation": ("Generation", "Did the answer use the evidence, and cite it?"),
    "end to end": ("End to end", "Scores that came with the files."),
}
ON_CARDS, ON_SLICES, FEW_TARGETS, USUAL_K = 4, 6, 8, 10


def section(name: str, heading: str, *inner: Inner, lead: str = "") -> Markup:
    """A section with its heading and the sentence under it."""
    said = tag("p", lead, class_="question") if lead else None
    return tag("section", tag("h2", heading, id=name), said, *inner, aria_labelledby=name)


def name_of(spec: Spec) -> str:
    """What a metric is called for reading."""
    return title(str(spec), spec.metric.label)


def side_name(letter: str, system: str) -> Markup:
    """A or B with its sign and the system's name."""
    mark = A if letter == "A" else B
    sign = tag("span", mark.sign, class_=f"sign-{letter.lower()}", aria_hidden="true")
    return joined([sign, f" {letter} ", theirs(system)])


def verdict(comparison: Comparison) -> Markup:
    """Badge, sentence, the same in answers, what else changed, and the decision."""
    side = favours(comparison.metrics[comparison.primary]) or "none"
    pair = joined([side_name("A", comparison.baseline), " → ", side_name("B", comparison.candidate)])
    others = _also(comparison)
    return tag(
        "header",
        tag("p", pair, class_="pair"),
        tag("h1", comparison.badge),
        tag("p", comparison.sentence, class_="lead"),
        tag("p", comparison.in_answers) if comparison.in_answers else None,
        tag("p", others) if others else None,
        tag("p", comparison.decision, class_="decision"),
        class_=f"verdict side-{side}",
    )


def _also(comparison: Comparison) -> str:
    """The other metrics whose intervals exclude zero against the candidate, so that no gain hides a loss."""
    lost = [
        f"{name_of(one.spec)} {readers(one.spec.metric.span is not None)[1](one.difference)}"
        for spec, one in comparison.metrics.items()
        if spec != comparison.primary and favours(one) == "a" and spec.metric.name != "Judged"
    ]
    return f"Worse in {comparison.candidate}: {', '.join(lost)}." if lost else ""


def funnel(stored: StoredResult) -> Markup | None:
    """How many questions pass each stage in A and in B, where both have runs and the lists are whole."""
    comparison, tables = stored.comparison, stored.tables
    pair = (comparison.baseline, comparison.candidate)
    if stored.depth is not None or tables.judgments is None or not all(name in tables.runs for name in pair):
        return None
    k = comparison.primary.k or USUAL_K
    found = funnels(evaluate(tables, funnel_specs(tables, k), comparison.scores.settings), tables, k)
    a, b = (found[name] for name in pair)
    rows = [
        (stage, f"{of_a:,}", f"{of_b:,}")
        for stage, of_a, of_b in zip(a.stages, a.counts(), b.counts(), strict=False)  # as far as both can say
    ]
    head = ("stage of the evidence", side_name("A", pair[0]), side_name("B", pair[1]))
    caption = f"Of {len(a):,} questions; a stage counts only where all before it held"
    lead = "In how many questions is there relevant evidence, and how far does it come?"
    return section("funnel", "How far the evidence gets", table(caption, head, rows, "numbers"), lead=lead)


def cards(comparison: Comparison) -> Iterator[Markup]:
    """The key metrics of each layer; the whole table holds the rest."""
    for layer, (heading, question) in LAYERS.items():
        specs = [spec for spec in comparison.metrics if spec.metric.layer == layer and spec.metric.name != "Judged"]
        shown = [comparison.metrics[spec] for spec in sorted(specs, key=lambda spec: spec != comparison.primary)]
        if shown:
            each = (_card(one, comparison) for one in shown[:ON_CARDS])
            yield section(layer.replace(" ", "-"), heading, tag("div", *each, class_="cards"), lead=question)


def _card(one: Difference, comparison: Comparison) -> Markup:
    value, change = readers(one.spec.metric.span is not None)
    side, interval = favours(one), one.interval
    low, high = within_range(one.spec, interval.low, interval.high)
    word = {"a": f"{A.sign} A better", "b": f"{B.sign} B better", "": _open(one)}[side]
    return tag(
        "article",
        tag("h3", name_of(one.spec)),
        tag(
            "p",
            tag("strong", change(one.difference), class_="delta"),
            " ",
            tag("span", word, class_="tag"),
            class_="line",
        ),
        tag("p", f"{percent(comparison.terms.confidence)}: {change(low)} to {change(high)}", class_="small"),
        tag("p", side_value("A", value(one.baseline)), "  ", side_value("B", value(one.candidate)), class_="line"),
        tag("p", _counted(one, len(comparison.scores.query_ids)), class_="small"),
        class_=f"card side-{side or 'none'}",
    )


def side_value(letter: str, value: str) -> Markup:
    """A value with the letter and sign of its system."""
    sign = tag("span", (A if letter == "A" else B).sign, class_=f"sign-{letter.lower()}", aria_hidden="true")
    return tag("span", sign, f" {letter} ", tag("b", value), class_="value")


def _open(one: Difference) -> str:
    if one.spec.metric.direction == "none":
        return "direction not declared"
    return "unchanged" if one.interval.changed == 0 else "not settled"


def _counted(one: Difference, questions: int) -> str:
    n = one.interval.n
    of = f"{n:,} questions" if n == questions else f"{n:,} of {questions:,} questions"
    counts = f"{one.interval.wins:,} better, {one.interval.ties:,} equal, {one.interval.losses:,} worse"
    return f"{of}: {counts}"


def differences(comparison: Comparison) -> Markup:
    """The forest plot and the table with the numbers of every metric."""
    rows = plot.drawn(comparison)
    picture = [tag("figure", plot.forest(comparison, rows), tag("figcaption", plot.legend(comparison)))] if rows else []
    head = (
        "metric",
        "A",
        "B",
        "B − A",
        f"{percent(comparison.terms.confidence)} interval",
        "p",
        "n",
        "better",
        "equal",
        "worse",
    )
    caption = "Every metric: means over the same questions, and the difference question by question"
    body = table(caption, head, [_numbers(one) for one in comparison.metrics.values()], "numbers")
    return section("differences", "Differences by metric", *picture, body)


def _numbers(one: Difference) -> Sequence[Inner]:
    value, change = readers(one.spec.metric.span is not None)
    low, high = within_range(one.spec, one.interval.low, one.interval.high)
    p = one.shown_p
    shown = "–" if p is None else "<\u00a00.001" if p < 0.001 else f"{p:.3f}"
    counts = (one.interval.n, one.interval.wins, one.interval.ties, one.interval.losses)
    return (
        name_of(one.spec), value(one.baseline), value(one.candidate), change(one.difference),
        f"{change(low)} to {change(high)}", shown, *(f"{count:,}" for count in counts),
    )  # fmt: skip


def slices(stored: StoredResult) -> Markup | None:
    """The mean difference in each slice with its n; exploratory, so nothing is tested and nothing coloured."""
    comparison = stored.comparison
    masks = slices_of(stored.tables.queries, comparison.scores.query_ids)
    shown = [spec for spec in comparison.metrics if spec.metric.span is not None and spec.metric.name != "Judged"]
    shown = sorted(shown, key=lambda spec: spec != comparison.primary)[:ON_SLICES]
    if not masks or not shown:
        return None
    rows = []
    for name, mask in masks.items():
        cells = [_cell(comparison.metrics[spec].differences[mask]) for spec in shown]
        rows.append([joined([theirs(name), tag("span", f" {int(mask.sum()):,} questions", class_="small")]), *cells])
    caption = "Mean difference B − A by slice; n counts the questions that have both values"
    lead = f"Exploratory: many cells, none of them tested. Under {FEWEST_QUERIES} questions a cell says little."
    return section("slices", "Where", table(caption, ["slice", *map(name_of, shown)], rows, "numbers"), lead=lead)


def _cell(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Inner:
    known = differences[~np.isnan(differences)]
    if not len(known):
        return "–"
    few = " few" if len(known) < FEWEST_QUERIES else ""
    return tag(
        "span", signed(float(known.mean())), tag("span", f" n {len(known):,}", class_="small"), class_=f"cell{few}"
    )


def citations(stored: StoredResult) -> Markup | None:
    """How the answers of both systems cite, and what their invalid citations name."""
    comparison, answers = stored.comparison, stored.tables.answers
    settings = comparison.scores.settings
    pair = {"A": comparison.baseline, "B": comparison.candidate}
    counts = {
        letter: count_citations(cite(answers[name], settings.style, settings.pattern))
        for letter, name in pair.items()
        if name in answers
    }
    if not counts:
        return None
    said = " ".join(
        f"{pair[letter]}: {one.invalid:,} of {one.citations:,} citations name nothing in their context."
        for letter, one in counts.items()
    )
    head = ["count", *(side_name(letter, pair[letter]) for letter in counts)]
    rows = [[label, *(f"{getattr(one, name):,}" for one in counts.values())] for name, label in COUNTED.items()]
    lists = [_targets(letter, pair[letter], one) for letter, one in counts.items() if one.invalid_targets]
    listed = tag("div", *lists, class_="pairs") if lists else None
    return section(
        "citations", "Citations", table("Answers and their citations", head, rows, "numbers"), listed, lead=said
    )


COUNTED = {
    "answers": "answers",
    "declined": "declined to answer",
    "without": "answered without any citation",
    "citations": "citations",
    "valid": "valid: name a document of the context",
    "invalid": "invalid: name nothing in the context",
    "ambiguous": "ambiguous: name two documents",
}


def _targets(letter: str, system: str, one: CitationCounts) -> Markup:
    shown = one.invalid_targets[:FEW_TARGETS]
    more = len(one.invalid_targets) - len(shown)
    items = [tag("li", theirs(target), f" × {count:,}") for target, count in shown]
    rest = tag("li", f"and {more:,} more") if more else None
    return tag(
        "div", tag("h3", "Invalid citations of ", side_name(letter, system)), tag("ul", *items, rest), class_="half"
    )
