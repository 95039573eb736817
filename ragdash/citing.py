"""From answers to CitedAnswers: find the markers, resolve them; and the same for one answer in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ragdash.citations.detect import AUTO, find_markers
from ragdash.citations.registry import STYLES, texts_of
from ragdash.cited import CitedAnswers
from ragdash.metrics.answer import declines
from ragdash.metrics.citation import citation_coverage, citation_validity
from ragdash.schema import Table, table_of

CITATION_PATTERNS: dict[str, str] = {style.name: style.pattern for style in STYLES if style.pattern}


def cite(answers: Table, style: str = AUTO, pattern: str | None = None) -> CitedAnswers:
    """All citations of one system's answers, found in their texts and resolved to their contexts.

    `style` is the name of a citation style, or `auto` for all of them; a `pattern` with one group takes its place.
    Raises InputError for an unknown style and for a pattern that cannot be used.

    >>> rows = pa.table({"query_id": ["q1"], "answer": ["Tides [2]."], "context_ids": [["d1", "d2"]]})
    >>> cite(table_of("answers", rows, "answers.jsonl")).cited().tolist()
    [False, True]
    """
    texts = answers.column("answer")
    return CitedAnswers.from_markers(answers, find_markers(texts, style, pattern), declines(texts))


@dataclass(frozen=True)
class CitationReport:
    """What one answer cites. The first five are counts: citations by occurrence, documents without repeats.

    `coverage` is NaN without context; `faithfulness` (citation validity) is 1.0 where nothing is cited. `uncited_docs`
    and `invalid_refs` are in the order of the context and of the answer, without repeats.
    """

    total_citations: int
    valid_citations: int
    invalid_citations: int
    context_docs: int
    cited_docs: int
    coverage: float
    faithfulness: float
    uncited_docs: list[str]
    invalid_refs: list[str]


def evaluate_citations(
    answer: str, context_doc_ids: Sequence[object], citation_pattern: str = CITATION_PATTERNS["doc_id"]
) -> CitationReport:
    """The citations of one answer, by a regular expression whose one group is what is cited.

    >>> report = evaluate_citations("Tides [doc_id 3] [doc_id 7], and [doc_id 99].", ["1", "3", "5", "7", "10"])
    >>> round(report.faithfulness, 4), report.coverage, report.invalid_refs, report.uncited_docs
    (0.6667, 0.4, ['99'], ['1', '5', '10'])
    """
    for name, pattern in CITATION_PATTERNS.items():
        if citation_pattern == pattern:
            return evaluate_with_pattern(answer, context_doc_ids, name)
    return _report(cite(_one_answer(answer, context_doc_ids), pattern=citation_pattern))


def evaluate_with_pattern(answer: str, context_doc_ids: Sequence[object], pattern_name: str) -> CitationReport:
    """The citations of one answer, by the name of a style such as those in CITATION_PATTERNS, or `auto`.

    >>> evaluate_with_pattern("Tides [1] and [4].", ["moon", "sun"], "bracket_number").invalid_refs
    ['4']
    """
    return _report(cite(_one_answer(answer, context_doc_ids), style=pattern_name))


def _one_answer(answer: str, context_doc_ids: Sequence[object]) -> Table:
    context = pa.array([[str(document) for document in context_doc_ids]], pa.list_(pa.string()))
    row = pa.table({"query_id": ["1"], "answer": texts_of([answer]), "context_ids": context})
    return table_of("answers", row, "answer")


def _report(answers: CitedAnswers) -> CitationReport:
    cited = answers.cited()
    return CitationReport(
        total_citations=len(answers.answer),
        valid_citations=int(np.sum(answers.valid)),
        invalid_citations=int(np.sum(answers.invalid)),
        context_docs=len(answers.contexts),
        cited_docs=int(cited.sum()),
        coverage=float(citation_coverage(answers)[0]),
        faithfulness=float(citation_validity(answers, empty=1)[0]),
        uncited_docs=answers.contexts.documents.filter(pa.array(~cited)).to_pylist(),
        invalid_refs=answers.target.take(pa.array(answers.first_invalid())).to_pylist(),
    )
