"""What the systems answered to one question: each citation a mark in the text, and the documents the marks point to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from ragdash.charts.theme import A, B
from ragdash.citation_status import Piece, pieces
from ragdash.citationdiff import QuestionDiff, answer_rows, question_diff, what_differs
from ragdash.cited import CitedAnswers
from ragdash.drilldown import Drilldown, texts_of
from ragdash.report.markup import Markup, joined, tag, theirs
from ragdash.ui import cache, components
from ragdash.ui.view import View

MARKS = (A, B)
SHOWN_TEXT = 400
MOST_TEXT = 4000
SIGNS = {"valid": "✓", "invalid": "✗", "ambiguous": "≈"}
UNCLEAR = "could be two documents"
TREATED = {"valid": "✓ cited", "uncited": "– never cited", "absent": "not given"}
LEGEND = (
    "✓ names a document of the context &ensp; ✗ names nothing in the context &ensp; ≈ could be two documents "
    "&ensp; – in the context, never cited"
)


@dataclass(frozen=True)
class Known:
    """What is known of the documents of a question: title and text by id, what the judgments say (None without any),
    and whether a corpus is loaded, so that an id it lacks is nobody's."""

    documents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grades: Mapping[str, float | None] | None = None
    corpus: bool = False

    def invalid(self, target: str) -> str:
        """What an invalid reference is, in words."""
        return "no such document" if self.corpus and target not in self.documents else "not in its context"

    def grade(self, document: str) -> str:
        """A grade in words; empty without judgments."""
        if self.grades is None:
            return ""
        grade = self.grades.get(document)
        return "unjudged" if grade is None else f"grade {grade:g}"

    def hint(self, document: str) -> str:
        """What stands behind a mark, cut for a tooltip."""
        return "\n".join(filter(None, (document, *self.documents.get(document, ()))))[:SHOWN_TEXT]


def citing(view: View) -> dict[str, CitedAnswers]:
    """The citations of the systems on the screen that have answers, by name."""
    settings = view.state.settings
    return {
        name: cache.cited_of(view.data_set, name, settings.style, settings.pattern)
        for name in view.systems
        if name in view.data_set.inputs.answers
    }


def finding(view: View, query_id: str) -> str:
    """What the answers to this question cite, in a sentence; empty where there is no answer."""
    cited = citing(view)
    if not any(len(answer_rows(one, query_id)) for one in cited.values()):
        return ""
    return what_differs(question_diff(list(cited.values()), query_id), list(cited))


def show(view: View, one: Drilldown, reference: str) -> None:
    """Answers side by side, the documents given to them, and the reference answer."""
    cited = citing(view)
    if any(len(answer_rows(answers, one.query_id)) for answers in cited.values()):
        found = question_diff(list(cited.values()), one.query_id)
        known = _known(view, one, found)
        for number, (column, name) in enumerate(zip(st.columns(len(view.systems)), view.systems, strict=True)):
            mark = MARKS[number]
            with column, st.container(border=True, key=f"answer_{mark.letter.lower()}"):
                st.text(f"{mark.sign} {mark.letter}  {name}" if view.b else f"{name} answers")
                _texts(cited.get(name), one.query_id, known)
                _uncited(found, list(cited), name)
        st.caption(LEGEND)
        _pointed_to(found, cited, known)
    if reference:
        with st.container(key="reference"):
            st.caption("Reference answer")
            st.text(reference, width="stretch")


def _texts(cited: CitedAnswers | None, query_id: str, known: Known) -> None:
    """The answers of one system, repetitions under one another."""
    rows = [] if cited is None else answer_rows(cited, query_id).tolist()
    if cited is None or not rows:
        st.text("(no answer)")
        return
    for row in rows:
        if cited.texts[row].as_py().strip():
            st.html(marked(pieces(cited, row), known))
        else:
            st.text("(empty answer)")


def marked(cut: Sequence[Piece], known: Known | None = None) -> Markup:
    """An answer as HTML: every text escaped, every citation a mark with sign, word and colour, and on hover the text it
    points to.

    >>> print(marked([Piece("<b> "), Piece("[d9]", "invalid", target="d9")]))  # doctest: +NORMALIZE_WHITESPACE
    <div class="answer"><bdi>&lt;b&gt; </bdi><mark class="cite invalid"
    title="d9"><bdi>[d9]</bdi><span class="said">✗ not in its context</span></mark></div>
    """
    return tag("div", *(_mark(one, known or Known()) for one in cut), class_="answer")


def _mark(piece: Piece, known: Known) -> Markup:
    if not piece.state:
        return theirs(piece.text)
    words = {"invalid": known.invalid(piece.target), "ambiguous": UNCLEAR}
    grade = known.grade(piece.document)
    word = words.get(piece.state) or ("valid, " + grade if grade else "valid")
    said = tag("span", f"{SIGNS[piece.state]} {word}", class_="said")
    hint = known.hint(piece.document or piece.target)
    return tag("mark", theirs(piece.text), said, class_=f"cite {piece.state}", title=hint)


def _uncited(found: QuestionDiff, systems: list[str], name: str) -> None:
    """The documents that this system was given and never cites."""
    docs = found.uncited[systems.index(name)] if name in systems else ()
    if docs:
        st.text(f"– never cited: {', '.join(docs)}", width="stretch")


def _pointed_to(found: QuestionDiff, cited: Mapping[str, CitedAnswers], known: Known) -> None:
    """Every document given or cited, with what each answer does with it; those cited are open."""
    components.heading("What they cite", explained="Cited by both first, then by one alone, then what nobody cites.")
    letters = [mark.letter for mark, _ in zip(MARKS, cited, strict=False)] if len(cited) > 1 else [""]
    entries = []
    for doc in _in_order(found):
        states = [_treated(found, number, doc) for number in range(len(letters))]
        words = {"invalid": f"✗ {known.invalid(doc)}", "ambiguous": f"≈ {UNCLEAR}"} | TREATED
        treated = [(state, f"{letter} {words[state]}".strip()) for letter, state in zip(letters, states, strict=True)]
        there = {"valid", "uncited"} & set(states)
        entries.append(_entry(doc, treated, known.grade(doc) if there else "", *known.documents.get(doc, ("", ""))))
    with st.container(key="pointed_to"):
        if entries:
            st.html(tag("div", *entries, class_="documents"))
        else:
            st.text("Neither a context nor a citation.")


def _entry(doc: str, treated: Sequence[tuple[str, str]], grade: str, title: str, text: str) -> Markup:
    """One document: what each answer does with it, its name, and its text to unfold."""
    said = [tag("span", words, class_=f"how {state}") for state, words in treated]
    name = tag("b", theirs(doc))
    about = joined([*said, " ", name, f" {grade}" if grade else "", " " if title else "", theirs(title)])
    if not text:
        return tag("div", about, class_="document")
    unfolded = any(state == "valid" for state, _ in treated)
    passage = f"{text[:MOST_TEXT]} …" if len(text) > MOST_TEXT else text
    return tag("details", tag("summary", about), tag("p", theirs(passage)), open=unfolded, class_="document")


def _in_order(found: QuestionDiff) -> list[str]:
    """Cited by both, only by one, naming nothing, ambiguous, never cited: each once."""
    groups = (found.both, *found.only, *found.invalid, *found.ambiguous, found.ignored, *found.uncited)
    return list(dict.fromkeys(doc for group in groups for doc in group))


def _treated(found: QuestionDiff, system: int, doc: str) -> str:
    """What one answer does with a document: a key of TREATED, "invalid" or "ambiguous"."""
    if doc in found.both or doc in found.only[system]:
        return "valid"
    if doc in found.invalid[system]:
        return "invalid"
    if doc in found.ambiguous[system]:
        return "ambiguous"
    return "uncited" if doc in found.uncited[system] else "absent"


def _known(view: View, one: Drilldown, found: QuestionDiff) -> Known:
    """What the loaded tables say of every document that the question is about."""
    inputs = view.data_set.inputs
    documents = texts_of(inputs.documents, "doc_id", ["title", "text"], _in_order(found))
    return Known(documents, None if inputs.judgments is None else _grades(one), inputs.documents is not None)


def _grades(one: Drilldown) -> dict[str, float | None]:
    """What is known of this question's documents from its lists and judgments."""
    listed = {place.doc_id: place.grade for places in one.lists for place in places}
    return listed | {doc.doc_id: doc.grade for doc in one.relevant}
