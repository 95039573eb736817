"""The questions of the report: the five that lost most, both lists side by side, both answers with their citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragdash.charts.theme import readers
from ragdash.citation_status import Piece, pieces
from ragdash.cited import CitedAnswers
from ragdash.citing import cite
from ragdash.drilldown import Drilldown, Place, drill, texts_of, what_changed, worst_first
from ragdash.report.markup import Inner, Markup, joined, table, tag, theirs
from ragdash.report.sections import name_of, section, side_name, side_value
from ragdash.results.stored import StoredResult

MOST, SHORT_LIST, LONG_LIST = 5, 10, 20
LONGEST_ANSWER, LONGEST_ID, LONGEST_TITLE = 4_000, 200, 120


def worst_questions(stored: StoredResult) -> Markup:
    """The questions that lost most on the primary metric, or where none lost, those the candidate does worst on."""
    comparison = stored.comparison
    one, direction = comparison.metrics[comparison.primary], comparison.primary.metric.direction
    sign = -1.0 if direction == "lower" else 1.0
    losses = np.where(sign * one.differences < 0, one.differences, np.nan)
    candidate = comparison.scores.of(comparison.candidate, comparison.primary)
    rows = worst_first(losses, direction, candidate)[:MOST]
    lead = f"{name_of(comparison.primary)} fell most on these, the largest loss first."
    if not len(rows):
        rows = worst_first(np.where(np.isnan(one.differences), np.nan, candidate), direction)[:MOST]
        lead = f"No question lost on {name_of(comparison.primary)}; these are the lowest of {comparison.candidate}."
    settings, answers = comparison.scores.settings, stored.tables.answers
    pair = (comparison.baseline, comparison.candidate)
    cited = {name: cite(answers[name], settings.style, settings.pattern) for name in pair if name in answers}
    listed = [_question(stored, int(row), cited) for row in rows]
    return section(
        "questions", "The worst questions", *(listed or [tag("p", "No question has both values.")]), lead=lead
    )


def _question(stored: StoredResult, row: int, cited: Mapping[str, CitedAnswers]) -> Markup:
    comparison, tables = stored.comparison, stored.tables
    pair, query_id = (comparison.baseline, comparison.candidate), str(comparison.scores.query_ids[row])
    one = drill(tables, query_id, pair, comparison.scores.settings.ties)
    asked, reference = texts_of(tables.queries, "query_id", ["query", "reference"], [query_id]).get(query_id, ("", ""))
    ids = [place.doc_id for places in one.lists for place in places] + [doc.doc_id for doc in one.relevant]
    titles = _titles(stored, ids)
    return tag(
        "article",
        tag("h3", theirs(_cut(query_id, LONGEST_ID)), " ", theirs(_cut(asked, LONGEST_ANSWER), class_="asked")),
        tag("p", _values(stored, row), class_="line"),
        tag("p", theirs(finding(one, stored.depth))) if any(one.lists) else None,
        *_lists(stored, one, titles),
        _missed(one, titles, stored.depth),
        *_answers(one, cited),
        tag("p", tag("b", "Reference answer: "), theirs(_cut(reference, LONGEST_ANSWER))) if reference else None,
        class_="question-block",
    )


def finding(one: Drilldown, depth: int | None) -> str:
    """What changed, in a sentence that does not call a document missing that merely stands below what was kept."""
    said = what_changed(one)
    return said if depth is None else re.sub(r"not among the [\d,]+ retrieved", f"not among the first {depth:,}", said)


def _values(stored: StoredResult, row: int) -> Markup:
    comparison = stored.comparison
    spec = comparison.primary
    value, change = readers(spec.metric.span is not None)
    a, b = (float(comparison.scores.of(name, spec)[row]) for name in (comparison.baseline, comparison.candidate))
    sides = [side_value("A", value(a)), "  ", side_value("B", value(b))]
    return joined([f"{name_of(spec)}  ", *sides, f"  B − A {change(b - a)}"])


def _titles(stored: StoredResult, ids: Sequence[str]) -> dict[str, str]:
    texts = texts_of(stored.tables.documents, "doc_id", ["title", "text"], ids)
    return {name: _cut(heading or text, LONGEST_TITLE) for name, (heading, text) in texts.items()}


def _lists(stored: StoredResult, one: Drilldown, titles: Mapping[str, str]) -> Iterator[Markup]:
    """Both ranked lists side by side, as far down as the metric looks."""
    if not any(one.lists):
        return
    most = min(max(SHORT_LIST, stored.comparison.primary.k or 0), LONG_LIST)
    halves = []
    for letter, system, places in zip("AB", one.systems, one.lists, strict=True):
        other = "BA"["AB".index(letter)]
        if not places:
            halves.append(tag("div", tag("p", side_name(letter, system), ": nothing was retrieved."), class_="half"))
            continue
        depth = f"first {min(most, len(places))} of {len(places):,}" if stored.depth is None else f"first {most}"
        rows = [_place(place, titles) for place in places[:most]]
        caption = joined([side_name(letter, system), f", {depth}"])
        halves.append(
            tag("div", table(caption, ("#", "grade", f"in {other}", "document"), rows, "list"), class_="half")
        )
    yield tag("div", *halves, class_="pairs")


def _place(place: Place, titles: Mapping[str, str]) -> Sequence[Inner]:
    move = "–"
    if place.elsewhere is not None:
        sign = "=" if place.elsewhere == place.rank else "▲" if place.rank < place.elsewhere else "▼"
        move = f"{place.elsewhere} {sign}"
    return str(place.rank), grade(place.grade), move, _document(place.doc_id, titles)


def _document(doc_id: str, titles: Mapping[str, str]) -> Markup:
    heading = titles.get(doc_id)
    return joined([theirs(_cut(doc_id, LONGEST_ID), class_="id"), *([" ", theirs(heading)] if heading else [])])


def grade(value: float | None) -> Markup:
    """A grade as a sign and a word, never a colour alone.

    >>> grade(None)
    '<span class="grade unjudged">? unjudged</span>'
    """
    if value is None:
        return tag("span", "? unjudged", class_="grade unjudged")
    sign, look = ("●", "relevant") if value > 0 else ("○", "judged")
    return tag("span", f"{sign} {value:g}", class_=f"grade {look}")


def _missed(one: Drilldown, titles: Mapping[str, str], depth: int | None) -> Markup | None:
    """Relevant documents that a system did not retrieve."""
    missed = [doc for doc in one.missed() if any(one.lists)]
    if not missed:
        return None
    head = ("document", "grade", "rank in A", "rank in B")
    none = "not retrieved" if depth is None else "–"
    rows = [
        (_document(doc.doc_id, titles), grade(doc.grade), *(none if rank is None else str(rank) for rank in doc.ranks))
        for doc in missed[:SHORT_LIST]
    ]
    where = "not retrieved" if depth is None else f"not among the first {depth:,}"
    return table(f"Relevant, but {where} by at least one system", head, rows, "list")


def _answers(one: Drilldown, cited: Mapping[str, CitedAnswers]) -> Iterator[Markup]:
    """Both answers with their citations marked by sign and word."""
    grades = {doc.doc_id: doc.grade for doc in one.relevant}
    grades |= {place.doc_id: place.grade for places in one.lists for place in places if place.grade is not None}
    halves = []
    for letter, system in zip("AB", one.systems, strict=True):
        if system not in cited:
            continue
        answers = cited[system]
        mine = [row for row, name in enumerate(answers.query_ids.to_pylist()) if name == one.query_id]
        said = [_answer(answers, row, grades) for row in mine] or [tag("p", "(no answer)")]
        halves.append(tag("div", tag("h4", side_name(letter, system), " answers"), *said, class_="half answer"))
    if halves:
        yield tag("div", *halves, class_="pairs")


def _answer(answers: CitedAnswers, row: int, grades: Mapping[str, float]) -> Markup:
    cut = list(_shortened(pieces(answers, row)))
    context = np.flatnonzero(answers.contexts.owner == row)
    uncited = context[~answers.cited()[context]]
    names = dict.fromkeys(answers.contexts.documents[int(at)].as_py() for at in uncited)
    quiet = tag("p", "In the context, never cited: ", theirs(", ".join(names)), class_="small") if names else None
    text = (
        joined(citation(piece, grades.get(piece.document)) for piece in cut)
        if cut and cut[0].text
        else "(empty answer)"
    )
    return joined([tag("p", tag("bdi", text), class_="said"), quiet])


def _shortened(cut: Sequence[Piece]) -> Iterator[Piece]:
    left = LONGEST_ANSWER
    for piece in cut:
        if left <= 0:
            yield Piece(" … (cut here)")
            return
        yield piece if piece.state else Piece(_cut(piece.text, left))
        left -= len(piece.text)


WORDS = {"valid": "✓", "ambiguous": "? names two documents", "invalid": "✗ not in the context"}


def citation(piece: Piece, grade: float | None = None) -> Markup:
    """A piece of an answer: text as it is, a citation with its state in sign and word, a valid one with the grade of
    what it names.

    >>> citation(Piece("[9]", "invalid"))
    '<mark class="invalid"><bdi>[9]</bdi> <b>✗ not in the context</b></mark>'
    """
    if not piece.state:
        return joined([piece.text])
    known = f" grade {grade:g}" if piece.state == "valid" and grade is not None else ""
    return tag("mark", theirs(piece.text), " ", tag("b", WORDS[piece.state] + known), class_=piece.state)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
