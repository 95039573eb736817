"""CitedAnswers: all citations of all answers of one system as flat arrays, each resolved to a context document.

Which document a citation names is settled once, in ragdash.resolution; metrics only count. Citations come from the text
(ragdash.citations) or from a tool that gives them apart; both arrive as the arrays that `Marked` lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.problems import refuse
from ragdash.resolution import (
    INVALID,
    RULES,
    STATES,
    VALID,
    Codes,
    Contexts,
    Flags,
    Ints,
    Marked,
    Numbers,
    contexts_of,
    reading_of_numbers,
    resolve,
)
from ragdash.schema import Table, table_of

__all__ = ["RULES", "STATES", "CitedAnswers", "cited_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CitedAnswers:
    """All citations of all answers of one system.

    One an answer: `query_ids`, `texts`, `abstained`; with a table of queries `answerable`, with judgments `judged`
    (whether the question has any). One a context document: `contexts`; with judgments `relevant`.
    One a citation, answer after answer: `answer`, `start` and `end` (code points of the answer), `target`, `style` (an
    index into `styles`), `state` (into STATES), `rule` (into RULES), `document` (into `contexts`, -1 for none).
    `numbers` is how this run's bare numbers were read: as ids alone, or as positions where no id matches.
    """

    query_ids: pa.Array
    texts: pa.Array
    abstained: Flags
    contexts: Contexts
    answer: Ints
    start: Ints
    end: Ints
    target: pa.Array
    style: NDArray[np.int16]
    styles: tuple[str, ...]
    state: Codes
    rule: Codes
    document: Ints
    numbers: Numbers
    answerable: Flags | None = None
    judged: Flags | None = None
    relevant: Flags | None = None

    @classmethod
    def from_markers(cls, answers: Table, marked: Marked, declines: Flags | None = None) -> CitedAnswers:
        """Resolve the citations of a checked answers table, one system's.

        A citation names the document whose id it is; else the one whose id it is but for case; else, for a positional
        style where `reading_of_numbers` says positions, the document at that place of the context, 1 first.
        An answer abstained if the column `abstained` says so; where that is silent, if it is empty or if it is among
        `declines` (its words decline to answer) and has no valid citation.
        """
        texts = answers.column("answer")
        contexts = contexts_of(answers)
        numbers = reading_of_numbers(contexts)
        state, rule, document = resolve(marked, contexts, numbers)
        has_valid = np.bincount(marked.answer[state == VALID], minlength=len(answers)) > 0
        silent = np.zeros(len(answers), bool) if declines is None else declines & ~has_valid
        return cls(
            query_ids=answers.column("query_id"),
            texts=texts,
            abstained=_abstained(answers, silent),
            contexts=contexts,
            answer=marked.answer,
            start=marked.start,
            end=marked.end,
            target=marked.target,
            style=marked.style,
            styles=marked.styles,
            state=state,
            rule=rule,
            document=document,
            numbers=numbers,
        )

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def valid(self) -> Flags:
        """Which citations name exactly one context document, (citations,)."""
        return np.equal(self.state, VALID)

    @property
    def invalid(self) -> Flags:
        """Which citations name nothing in the context, (citations,)."""
        return np.equal(self.state, INVALID)

    def citations(self, which: Flags | None = None) -> Floats:
        """How many citations each answer has, or those in a mask (citations,): (answers,) out."""
        rows = self.answer if which is None else self.answer[which]
        return np.bincount(rows, minlength=len(self)).astype(float)

    def documents(self, which: Flags | None = None) -> Floats:
        """How many distinct context documents each answer has, or those in a mask (contexts,): (answers,) out."""
        rows = self.contexts.owner if which is None else self.contexts.owner[which]
        return np.bincount(rows, minlength=len(self)).astype(float)

    def cited(self) -> Flags:
        """Which context documents a valid citation names, (contexts,)."""
        mask = np.zeros(len(self.contexts), dtype=bool)
        mask[self.document[self.valid]] = True
        return mask

    def first_invalid(self) -> Ints:
        """The citations that are the first in their answer to give their invalid target."""
        rows = np.flatnonzero(self.invalid)
        coded = self.target.take(pa.array(rows)).dictionary_encode()
        keys = self.answer[rows] * len(coded.dictionary) + coded.indices.to_numpy(zero_copy_only=False)
        return rows[np.sort(np.unique(keys, return_index=True)[1])]

    def marker(self, citation: int) -> str:
        """The text of a citation as it stands in the answer."""
        text: str = self.texts[int(self.answer[citation])].as_py()
        return text[int(self.start[citation]) : int(self.end[citation])]

    def with_judgments(self, judgments: Table) -> CitedAnswers:
        """The answers with `judged` and `relevant` filled: a context document is relevant if its grade is above 0."""
        queries = judgments.column("query_id")
        positive = pc.greater(judgments.column("grade"), 0)
        ids = self.contexts.documents.dictionary_encode()
        size = len(ids.dictionary)
        question = pc.index_in(queries.filter(positive), self.query_ids)
        document = pc.index_in(judgments.column("doc_id").filter(positive), ids.dictionary)
        known = pc.and_(pc.is_valid(question), pc.is_valid(document))
        relevant = _whole(question.filter(known)) * size + _whole(document.filter(known))
        own_question = _whole(pc.index_in(self.query_ids, self.query_ids))  # a repeated question has one code
        pairs = own_question[self.contexts.owner] * size + _whole(ids.indices)
        return replace(self, judged=_flags(pc.is_in(self.query_ids, queries)), relevant=np.isin(pairs, relevant))

    def with_queries(self, queries: Table) -> CitedAnswers:
        """The answers with `answerable` filled; a question that the table lacks or leaves open is answerable."""
        if "answerable" not in queries:
            return self
        rows = pc.index_in(self.query_ids, queries.column("query_id"))
        return replace(self, answerable=_flags(pc.fill_null(queries.column("answerable").take(rows), True)))


def cited_of(
    *answers: Sequence[str],
    contexts: Sequence[Sequence[str]],
    relevant: Sequence[Sequence[str]] | None = None,
    abstained: Sequence[bool] | None = None,
    answerable: Sequence[bool] | None = None,
    positional: bool = False,
) -> CitedAnswers:
    """A few answers by hand: each the targets it cites; the others hold one entry an answer.

    `contexts` are the documents given to it, `relevant` those that judgments call relevant.

    >>> answers = cited_of(["d1", "d1", "d9"], [], contexts=[["d1", "d2"], []])
    >>> [STATES[state] for state in answers.state], answers.marker(2), answers.documents().tolist()
    (['valid', 'valid', 'invalid'], '[d9]', [2.0, 0.0])
    """
    if len(contexts) != len(answers):
        raise refuse("cited_of", f"{len(answers)} answers and {len(contexts)} contexts", "Give every answer a context")
    ids = [f"q{number}" for number in range(1, len(answers) + 1)]
    columns: dict[str, Any] = {
        "query_id": pa.array(ids, pa.string()),
        "answer": pa.array(["Text" + "".join(f"[{target}]" for target in one) for one in answers], pa.string()),
        "context_ids": pa.array([list(one) for one in contexts], pa.list_(pa.string())),
    }
    if abstained is not None:
        columns["abstained"] = pa.array(list(abstained), pa.bool_())
    table = table_of("answers", pa.table(columns), "answers")
    made = CitedAnswers.from_markers(table, _given(answers, positional))
    if answerable is not None:
        made = replace(made, answerable=np.array(answerable, dtype=bool))
    if relevant is not None:
        pairs = [(query, document) for query, one in zip(ids, relevant, strict=True) for document in one]
        rows = [{"query_id": query, "doc_id": document, "grade": 1.0} for query, document in pairs]
        grades = pa.Table.from_pylist(rows, pa.schema({"query_id": "string", "doc_id": "string", "grade": "double"}))
        made = made.with_judgments(table_of("judgments", grades, "judgments"))
        made = replace(made, judged=np.ones(len(made), dtype=bool))
    return made


@dataclass(frozen=True, eq=False)
class _Given:
    """Citations by hand, as `Marked` wants them."""

    answer: Ints
    start: Ints
    end: Ints
    target: pa.Array
    style: NDArray[np.int16]
    styles: tuple[str, ...]
    positional: Flags


def _given(answers: Sequence[Sequence[str]], positional: bool) -> _Given:
    rows = []
    for number, one in enumerate(answers):
        end = len("Text")
        for target in one:
            rows.append((number, end, end + len(target) + 2))
            end = rows[-1][-1]
    answer, start, end_of = np.array(rows, np.int64).reshape(-1, 3).T
    return _Given(
        answer,
        start,
        end_of,
        target=pa.array([target for one in answers for target in one], pa.string()),
        style=np.zeros(len(rows), np.int16),
        styles=("given",),
        positional=np.full(len(rows), positional),
    )


def _abstained(answers: Table, silent: Flags) -> Flags:
    empty = _flags(pc.equal(pc.utf8_trim_whitespace(answers.column("answer")), ""))
    guess = empty | silent
    if "abstained" not in answers:
        return guess
    return _flags(pc.coalesce(answers.column("abstained"), pa.array(guess)))


def _whole(values: pa.Array) -> Ints:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _flags(values: pa.Array) -> Flags:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)
