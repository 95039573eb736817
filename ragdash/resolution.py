"""Which context document a citation names: by its id, by its id but for case, or by its position.

Everything is done for all citations of all answers at once; strings are coded once and joined as integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.schema import Table

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int8]
Numbers = Literal["ids", "positions"]

STATES = ("valid", "invalid", "ambiguous")
VALID, INVALID, AMBIGUOUS = range(3)
RULES = ("none", "id", "folded", "position")
NO_RULE, BY_ID, BY_FOLDED_ID, BY_POSITION = range(4)
SMALL_IDS = 0.1  # the share of context ids that could be positions from which on bare numbers are read as ids
NUMBER = "^[0-9]{1,9}$"


class Marked(Protocol):
    """Citations before they are resolved, one entry a citation, in the order of answers and starts.

    `answer` is a row of the answers, `start` and `end` a span in code points, `target` (Arrow strings) what is named,
    `style` an index into `styles`, `positional` whether a number in it may count the context documents.
    """

    @property
    def answer(self) -> Ints: ...
    @property
    def start(self) -> Ints: ...
    @property
    def end(self) -> Ints: ...
    @property
    def target(self) -> pa.Array: ...
    @property
    def style(self) -> NDArray[np.int16]: ...
    @property
    def styles(self) -> tuple[str, ...]: ...
    @property
    def positional(self) -> Flags: ...


@dataclass(frozen=True, eq=False)
class Contexts:
    """The distinct context documents of all answers, flat, in the order given.

    One a document: `documents` (its id, dictionary-coded) and `owner` (its answer); those of answer i start at
    `starts[i]`.
    One an entry as given, repeated and empty ids included: `entry_document` (-1 where the id is empty); those of answer
    i start at `entry_starts[i]`.
    """

    documents: pa.DictionaryArray
    owner: Ints
    starts: Ints
    entry_document: Ints
    entry_starts: Ints

    def __len__(self) -> int:
        return len(self.owner)


def contexts_of(answers: Table) -> Contexts:
    """The contexts of a checked answers table; a document given twice to an answer counts once, where it came first."""
    none = pa.nulls(len(answers), pa.list_(pa.string()))
    lists = answers.column("context_ids") if "context_ids" in answers else none
    ids = pc.fill_null(pc.list_flatten(lists), "")
    parent = _whole(pc.list_parent_indices(lists))
    coded = ids.dictionary_encode()
    rows = np.flatnonzero(_flags(pc.not_equal(ids, "")))
    first, number = _distinct(parent[rows] * len(coded.dictionary) + _whole(coded.indices)[rows])
    entry_document = np.full(len(ids), -1)
    entry_document[rows] = number
    kept = rows[first]
    edges = np.arange(len(answers) + 1)
    return Contexts(
        documents=coded.take(pa.array(kept)),
        owner=parent[kept],
        starts=np.searchsorted(parent[kept], edges),
        entry_document=entry_document,
        entry_starts=np.searchsorted(parent, edges),
    )


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """Where each distinct key stands first, in that order, and for every key its number in that order."""
    ordered = np.sort(keys)
    if np.all(ordered[1:] != ordered[:-1]):
        return np.arange(len(keys)), np.arange(len(keys))
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    return first[order], number[inverse]


def reading_of_numbers(contexts: Contexts) -> Numbers:
    """How the bare numbers of a run are read, decided once for all of its answers.

    As "ids" where at least a tenth of the context ids are numbers no larger than the longest context, so that an id
    could be taken for a position; else as "positions". Context 1, 3, 5 reads ids; d1, d2 or 7187158 positions.
    """
    if not len(contexts):
        return "positions"
    ids = contexts.documents
    number = _numbers(ids.dictionary)[_whole(ids.indices)]
    longest = int(np.max(np.diff(contexts.entry_starts)))
    small = (number >= 0) & (number <= longest)
    return "ids" if float(small.mean()) >= SMALL_IDS else "positions"


def resolve(marked: Marked, contexts: Contexts, numbers: Numbers) -> tuple[Codes, Codes, Ints]:
    """The state (into STATES), the rule (into RULES) and the document (-1 for none) of every citation.

    The first rule that names a document decides: valid where it names one, ambiguous where it names more; a citation
    that no rule resolves is invalid.
    """
    state = np.full(len(marked.answer), INVALID, np.int8)
    rule = np.full(len(marked.answer), NO_RULE, np.int8)
    document = np.full(len(marked.answer), -1)
    _by_name(marked, contexts, BY_ID, state, rule, document)
    _by_name(marked, contexts, BY_FOLDED_ID, state, rule, document)
    if numbers == "positions":
        _by_position(marked, contexts, state, rule, document)
    return state, rule, document


def _by_name(marked: Marked, contexts: Contexts, by: int, state: Codes, rule: Codes, document: Ints) -> None:
    """Fill in what the ids resolve among the citations without a rule."""
    rows = np.flatnonzero(rule == NO_RULE)
    ids, targets = contexts.documents.dictionary, marked.target.take(pa.array(rows)).dictionary_encode()
    names = targets.dictionary
    if by == BY_FOLDED_ID:
        if not np.any(_numbers(names) < 0):  # numbers have no case
            return
        ids, names = _folded(ids), _folded(names).dictionary_encode()
        targets, names = names.indices.take(targets.indices), names.dictionary
    else:
        targets = targets.indices
    code = _whole(pc.fill_null(pc.index_in(ids, names), -1))[_whole(contexts.documents.indices)]
    known = np.flatnonzero(code >= 0)
    keys = contexts.owner[known] * len(names) + code[known]
    order = np.argsort(keys, kind="stable")
    wanted = marked.answer[rows] * len(names) + _whole(targets)
    left = np.searchsorted(keys[order], wanted, side="left")
    named = np.searchsorted(keys[order], wanted, side="right") - left
    hit, one = rows[named > 0], named[named > 0] == 1
    rule[hit] = by
    state[hit] = np.where(one, VALID, AMBIGUOUS)
    document[hit] = np.where(one, known[order][left[named > 0]], -1)


def _by_position(marked: Marked, contexts: Contexts, state: Codes, rule: Codes, document: Ints) -> None:
    """Fill in what the positions resolve, 1 first, counted in the context as given."""
    rows = np.flatnonzero((rule == NO_RULE) & marked.positional)
    position = _numbers(marked.target.take(pa.array(rows)))
    first = contexts.entry_starts[marked.answer[rows]]
    size = contexts.entry_starts[marked.answer[rows] + 1] - first
    inside = (position >= 1) & (position <= size)
    rows, named = rows[inside], contexts.entry_document[(first + position - 1)[inside]]
    rows, named = rows[named >= 0], named[named >= 0]
    rule[rows], state[rows], document[rows] = BY_POSITION, VALID, named


def _numbers(texts: pa.Array) -> Ints:
    """The whole numbers written in the texts, -1 where there is none."""
    written = pc.match_substring_regex(texts, NUMBER)
    return _whole(pc.if_else(written, texts, "-1").cast(pa.int64()))


def _folded(texts: pa.Array) -> pa.Array:
    """The texts without difference of case."""
    return pa.array([text.casefold() for text in texts.to_pylist()], pa.string())


def _whole(values: pa.Array) -> Ints:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.int64)


def _flags(values: pa.Array) -> Flags:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=bool)
