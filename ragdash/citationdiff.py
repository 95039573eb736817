"""What two systems cite, question by question: by both, by one alone, by neither, and what names nothing.

Counts are for tables of all questions, names for one question. The metrics count the same; this says where and what.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.citation_status import DECLINED, NO_ANSWER, NO_CITATION, STATUSES, status_codes
from ragdash.cited import CitedAnswers
from ragdash.resolution import AMBIGUOUS, INVALID, VALID, Flags, Ints

By = Literal["a", "b", "diff"]
MOST_POSITIONS = 20


@dataclass(frozen=True, eq=False)
class Side:
    """One system, (queries,) each: citations by state, each as often as it stands there; `uncited`, how many distinct
    context documents it never cites; `status`, a number into STATUSES. Answers to one question are taken together."""

    valid: Ints
    invalid: Ints
    ambiguous: Ints
    uncited: Ints
    status: Ints


@dataclass(frozen=True, eq=False)
class CitationDiff:
    """All questions that one of the systems answers, in byte order, and a Side a system.

    `both` is how many documents both cite, `only` for each system how many it alone cites, (queries,) each.
    """

    query_ids: NDArray[np.str_]
    sides: tuple[Side, ...]
    both: Ints
    only: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.query_ids)

    def transitions(self) -> Ints:
        """How many questions have the first system's status and the second's, (STATUSES, STATUSES)."""
        size = len(STATUSES)
        first, second = self.sides[0].status, self.sides[-1].status
        return np.bincount(first * size + second, minlength=size * size).reshape(size, size)

    def worst_first(self, by: By) -> Ints:
        """Row numbers, the worst citing of the second system ("b"), the first ("a"), or the worst change first.

        Worst is: more citations that name nothing, then more that are ambiguous, then an answer without any, then more
        context left uncited by an answer that does not decline; equal questions stand in the order of their ids.
        """
        first, second = _faults(self.sides[0]), _faults(self.sides[-1])
        faults = {"a": first, "b": second, "diff": [b - a for a, b in zip(first, second, strict=True)]}[by]
        return np.lexsort([-fault for fault in reversed(faults)])


def _faults(side: Side) -> list[Ints]:
    answered = (side.status != DECLINED) & (side.status != NO_ANSWER)
    return [side.invalid, side.ambiguous, (side.status == NO_CITATION).astype(np.int64), side.uncited * answered]


def citation_diff(cited: Sequence[CitedAnswers]) -> CitationDiff:
    """Compare what one or two systems cite. A document counts once a question, whatever the number of citations.

    >>> from ragdash.cited import cited_of
    >>> a = cited_of(["d1", "d2"], ["d9"], contexts=[["d1", "d2", "d3"], ["d1"]])
    >>> b = cited_of(["d2", "d3"], ["d1"], contexts=[["d1", "d2", "d3"], ["d1"]])
    >>> found = citation_diff([a, b])
    >>> found.both.tolist(), [only.tolist() for only in found.only], found.sides[0].invalid.tolist()
    ([1, 0], [[1, 0], [1, 1]], [0, 1])
    """
    distinct = pc.unique(pa.concat_arrays([one.query_ids for one in cited]))
    ids = distinct.take(pc.array_sort_indices(distinct))
    names = pc.unique(pa.concat_arrays([one.contexts.documents.dictionary for one in cited]))
    size = max(len(names), 1)
    places = [_whole(pc.index_in(one.query_ids, value_set=ids)) for one in cited]
    given, valid = [], []
    for one, place in zip(cited, places, strict=True):
        code = _whole(pc.index_in(one.contexts.documents.dictionary, value_set=names))
        keys = place[one.contexts.owner] * size + code[_whole(one.contexts.documents.indices)]
        given.append(np.unique(keys))
        valid.append(np.unique(keys[one.cited()]))
    sides = []
    for one, place, had, used in zip(cited, places, given, valid, strict=True):
        uncited = _per_question(np.setdiff1d(had, used), size, len(ids))
        sides.append(_side(one, place, uncited, len(ids)))
    both = valid[0] if len(cited) == 1 else np.intersect1d(valid[0], valid[1])
    only = tuple(_per_question(np.setdiff1d(one, both), size, len(ids)) for one in valid)
    text = np.array(ids.to_pylist(), dtype=np.str_)
    return CitationDiff(text, tuple(sides), _per_question(both, size, len(ids)), only)


def _side(one: CitedAnswers, place: Ints, uncited: Ints, size: int) -> Side:
    valid, invalid, ambiguous = (
        np.bincount(place[one.answer[one.state == state]], minlength=size) for state in (VALID, INVALID, AMBIGUOUS)
    )
    status = np.full(size, NO_ANSWER)
    np.maximum.at(status, place, status_codes(one))
    return Side(valid, invalid, ambiguous, uncited, status)


def _per_question(keys: Ints, size: int, questions: int) -> Ints:
    return np.bincount(keys // size, minlength=questions)


class Positions(NamedTuple):
    """How many documents were given at each place of the context, 1 first, and how many of them cited; (places,)."""

    given: Ints
    cited: Ints


def by_position(cited: CitedAnswers, most: int = MOST_POSITIONS) -> Positions:
    """Which places of the context are cited: an answer that only reads the first shows here.

    >>> from ragdash.cited import cited_of
    >>> by_position(cited_of(["d1"], ["d1", "d2"], contexts=[["d1", "d2"], ["d1", "d2", "d3"]])).cited.tolist()
    [2, 1, 0]
    """
    place = np.arange(len(cited.contexts)) - cited.contexts.starts[cited.contexts.owner]
    given = np.bincount(place[place < most])
    return Positions(given, np.bincount(place[cited.cited() & (place < most)], minlength=len(given)))


@dataclass(frozen=True)
class QuestionDiff:
    """What is cited for one question. A tuple a system in `only`, `invalid`, `ambiguous` and `uncited` (given to it and
    never cited); `ignored` was given to all systems and cited by none. Documents in the order they were given."""

    both: tuple[str, ...]
    only: tuple[tuple[str, ...], ...]
    invalid: tuple[tuple[str, ...], ...]
    ambiguous: tuple[tuple[str, ...], ...]
    uncited: tuple[tuple[str, ...], ...]
    ignored: tuple[str, ...]


def question_diff(cited: Sequence[CitedAnswers], query_id: str) -> QuestionDiff:
    """One question of one or two systems, by name.

    >>> from ragdash.cited import cited_of
    >>> a = cited_of(["d1", "d2"], contexts=[["d1", "d2", "d3"]])
    >>> b = cited_of(["d2", "d9", "d9"], contexts=[["d2", "d3"]])
    >>> one = question_diff([a, b], "q1")
    >>> one.both, one.only, one.invalid, one.uncited, one.ignored
    (('d2',), (('d1',), ()), ((), ('d9',)), (('d3',), ('d3',)), ('d3',))
    """
    found = [_named(one, query_id) for one in cited]
    valid = [set(one.valid) for one in found]
    shared = set.intersection(*valid) if len(found) > 1 else set()
    uncited = [tuple(doc for doc in one.given if doc not in own) for one, own in zip(found, valid, strict=True)]
    ignored = set.intersection(*map(set, uncited))
    return QuestionDiff(
        both=tuple(doc for doc in found[0].given if doc in shared),
        only=tuple(
            tuple(doc for doc in one.given if doc in own - shared) for one, own in zip(found, valid, strict=True)
        ),
        invalid=tuple(one.invalid for one in found),
        ambiguous=tuple(one.ambiguous for one in found),
        uncited=tuple(uncited),
        ignored=tuple(doc for doc in found[0].given if doc in ignored),
    )


class _Named(NamedTuple):
    given: tuple[str, ...]
    valid: tuple[str, ...]
    invalid: tuple[str, ...]
    ambiguous: tuple[str, ...]


def _named(cited: CitedAnswers, query_id: str) -> _Named:
    """What one system was given and cites for a question, each name once."""
    answers = answer_rows(cited, query_id)
    documents = np.flatnonzero(np.isin(cited.contexts.owner, answers))
    rows = np.flatnonzero(np.isin(cited.answer, answers))
    state = cited.state[rows]
    return _Named(
        given=_distinct(cited.contexts.documents.take(pa.array(documents)).to_pylist()),
        valid=_distinct(cited.contexts.documents.take(pa.array(cited.document[rows[state == VALID]])).to_pylist()),
        invalid=_distinct(cited.target.take(pa.array(rows[state == INVALID])).to_pylist()),
        ambiguous=_distinct(cited.target.take(pa.array(rows[state == AMBIGUOUS])).to_pylist()),
    )


def answer_rows(cited: CitedAnswers, query_id: str) -> Ints:
    """The rows of the answers to one question: none, one, or one a repetition."""
    return np.flatnonzero(_flags(pc.equal(cited.query_ids, query_id)))


def what_differs(one: QuestionDiff, systems: Sequence[str]) -> str:
    """The finding about one question in a sentence or two: what names nothing first, then what only one cites.

    >>> found = QuestionDiff(("d2",), (("d1",), ()), ((), ("d9",)), ((), ()), (("d3",), ("d3",)), ("d3",))
    >>> what_differs(found, ["bm25", "hybrid"])
    'hybrid cites d9, which its context does not hold. Only bm25 cites d1; both cite d2.'
    """
    said = [
        f"{name} cites {_listed(targets)}, which its context does not hold."
        for name, targets in zip(systems, one.invalid, strict=True)
        if targets
    ]
    said += [
        f"{name} cites {_listed(targets)}, which could be two documents."
        for name, targets in zip(systems, one.ambiguous, strict=True)
        if targets
    ]
    if len(systems) == 1:
        cites = one.only[0]
        said.append(f"It cites {_listed(cites)}." if cites else "It cites no document of its context.")
        return " ".join(said)
    parts = [f"only {name} cites {_listed(docs)}" for name, docs in zip(systems, one.only, strict=True) if docs]
    parts += [f"both cite {_listed(one.both)}"] if one.both else []
    rest = "; ".join(parts) or "neither cites a document of its context"
    return " ".join([*said, f"{rest[0].upper()}{rest[1:]}."])


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _whole(values: pa.Array) -> Ints:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _flags(values: pa.Array) -> Flags:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)
