"""Whether the citation style fits the answers: match rates, brackets left unread, and the alarm where nothing fits.

A style that fits no answer would make validity undefined and the share without citation 1: a number about the reading,
not about the system. So it is said aloud.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ragdash.citations.registry import STYLES, blocks
from ragdash.cited import CitedAnswers
from ragdash.problems import Problem, shorten
from ragdash.resolution import Ints
from ragdash.settings import Settings

MOST_SHAPES = 10
SHOWN_EXAMPLES = 3
BRACKET = re.compile(
    r"\[\^?[^\[\]\n\0]{1,60}\](?!\()|【[^【】\n\0]{1,60}】|<(?:cite|ref|source)\b[^<>\n\0]{0,60}>"
    r"|\((?i:source|sources|ref|doc|document|passage|cf\.|see)\b[^()\n\0]{0,60}\)"
)
NAMES_SOMETHING = re.compile(r"(?i)\d|\b(doc|document|ref|source|cite|passage|chunk|context|fn|id)\b|^【|^<")
INTERVAL = re.compile(r"^\[\s*-?\d+(\.\d+)?\s*,\s*-?\d+\.\d+\s*\]$|^\[\s*0\s*,\s*1\s*\]$|^\[-\d")


@dataclass(frozen=True)
class StyleFit:
    """One style on one system's answers: in how many of the `of` answers it occurs, its citations, the valid ones."""

    name: str
    label: str
    answers: int
    of: int
    citations: int
    valid: int


@dataclass(frozen=True)
class Unread:
    """Brackets of one shape (`#` stands for what holds a number) that look like citations and were not read as such."""

    shape: str
    count: int
    answers: int
    examples: tuple[str, ...]


def style_fits(cited: CitedAnswers) -> list[StyleFit]:
    """Every style these answers were read for, the one in most answers first; answers that decline are left out.

    >>> from ragdash.cited import cited_of
    >>> style_fits(cited_of(["d1", "d9"], [], contexts=[["d1"], ["d1"]]))
    [StyleFit(name='given', label='given', answers=1, of=2, citations=2, valid=1)]
    """
    given = ~cited.abstained
    found = []
    for number, name in enumerate(cited.styles):
        mine = (cited.style == number) & given[cited.answer]
        label = STYLES[name].label if name in STYLES else name
        answers = len(np.unique(cited.answer[mine]))
        found.append(StyleFit(name, label, answers, int(given.sum()), int(mine.sum()), int(cited.valid[mine].sum())))
    return sorted(found, key=lambda one: -one.answers)


def unread(cited: CitedAnswers, most: int = MOST_SHAPES) -> list[Unread]:
    """Brackets that look like citations but were read as none, by shape, the most frequent first.

    >>> from ragdash.citing import cite
    >>> import pyarrow as pa
    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1"], "answer": ["Tides [Doc 3] [Doc 12], see [1] and [the moon](url) [0, 1]."]})
    >>> unread(cite(table_of("answers", rows, "answers.csv")))
    [Unread(shape='[Doc #]', count=2, answers=1, examples=('[Doc 3]', '[Doc 12]'))]
    """
    shapes: Counter[str] = Counter()
    where: dict[str, set[int]] = {}
    examples: dict[str, dict[str, None]] = {}
    spans = _spans(cited)
    for text in blocks(cited.texts):
        for match in BRACKET.finditer(text.text):
            mark = match[0]
            if not NAMES_SOMETHING.search(mark) or INTERVAL.search(mark):
                continue
            local = int(np.searchsorted(text.starts, match.start(), side="right")) - 1
            answer, start = local + text.first, match.start() - int(text.starts[local])
            if _is_read(spans, answer, start, start + len(mark)):
                continue
            shape = re.sub(r"[\w.-]*\d[\w.-]*", "#", mark)
            shapes[shape] += 1
            where.setdefault(shape, set()).add(answer)
            known = examples.setdefault(shape, {})
            if len(known) < SHOWN_EXAMPLES:
                known[mark] = None
    ordered = sorted(shapes.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return [Unread(shape, count, len(where[shape]), tuple(examples[shape])) for shape, count in ordered]


def _spans(cited: CitedAnswers) -> list[list[tuple[int, int]]]:
    """The spans of the citations of each answer."""
    starts: Ints = np.searchsorted(cited.answer, np.arange(len(cited) + 1))
    pairs = list(zip(cited.start.tolist(), cited.end.tolist(), strict=True))
    return [pairs[first:last] for first, last in pairwise(starts.tolist())]


def _is_read(spans: list[list[tuple[int, int]]], answer: int, start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans[answer])


def misfit(system: str, cited: CitedAnswers, settings: Settings, by_auto: CitedAnswers | None = None) -> Problem | None:
    """What makes this system's citation numbers meaningless; None where the reading fits.

    `by_auto` is the same answers read for every style, so that a better one can be named.

    >>> from ragdash.cited import cited_of
    >>> print(misfit("b", cited_of([], [], contexts=[["d1"], ["d2"]]), Settings(style="footnote")))
    b: no citation was found in any of its 2 answers, read for [fn:1]; its validity is undefined, neither 0 nor 1. If \
they do cite, choose another style or try a pattern.
    """
    given = int((~cited.abstained).sum())
    if not given:
        return None
    if not len(cited.answer):
        found = f"no citation was found in any of its {given:,} answers, read for {read_for(settings)}"
        return Problem(system, f"{found}; its validity is undefined, neither 0 nor 1", _instead(cited, by_auto))
    if not len(cited.contexts):
        found = f"its answers come without context, so each of its {len(cited.answer):,} citations counts as invalid"
        return Problem(system, found, "Give the documents each answer saw in the column context_ids")
    if not cited.valid.any():
        example, document = cited.target[0].as_py(), cited.contexts.documents[0].as_py()
        found = (
            f"none of its {len(cited.answer):,} citations names a document of its context: answers cite "
            f"{shorten(example, 40)}, contexts hold {shorten(document, 40)}"
        )
        return Problem(system, found, "Check that both use the same ids, or choose another style")
    return None


def read_for(settings: Settings) -> str:
    """What the answers were read for, in words.

    >>> read_for(Settings()), read_for(Settings(style="doc_id")), read_for(Settings(pattern="<(.+?)>"))
    ('every style', '[doc_id X]', "the pattern '<(.+?)>'")
    """
    if settings.pattern is not None:
        return f"the pattern {shorten(settings.pattern, 60)}"
    return "every style" if settings.style == "auto" else STYLES[settings.style].label


def _instead(cited: CitedAnswers, by_auto: CitedAnswers | None) -> str:
    """What to do where nothing was found."""
    best = style_fits(by_auto)[0] if by_auto is not None and len(by_auto.answer) else None
    if best is not None:
        return f"{best.label} is in {best.answers:,} of {best.of:,} answers: choose that style"
    brackets = unread(cited, 1)
    if brackets:
        return f"Brackets such as {brackets[0].examples[0]} stand in {brackets[0].answers:,} of them: try a pattern"
    return "If they do cite, choose another style or try a pattern"
