"""References that name nothing in their context: which, how often, in whose answers, and what may have caused them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.cited import CitedAnswers
from ragdash.schema import Table
from ragdash.tables import Tables

MOST = 50
SHOWN_QUESTIONS = 5
OFTEN = 3  # as many answers with one unknown id are no accident
PLACEHOLDER = re.compile(r"(?i)^(example|sample|placeholder|dummy|your|some|doc_?id|id|ref|title|x+|n|foo|bar)\b")


@dataclass(frozen=True)
class Invented:
    """A reference that names nothing: citations of it a system, the first questions it stands in, the likely cause
    ("" where nothing can be told)."""

    target: str
    counts: tuple[int, ...]
    query_ids: tuple[str, ...]
    cause: str


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of documents: ids of the corpus or of any context, title by id, ids retrieved by question."""

    ids: frozenset[str]
    corpus: bool
    titles: Mapping[str, str] = field(default_factory=dict)
    retrieved: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Seen:
    """One citation that names nothing: its question, its context, and whether bare numbers are read as ids there."""

    target: str
    query_id: str
    context: tuple[str, ...]
    ids_alone: bool


def invented(cited: Mapping[str, CitedAnswers], tables: Tables | None = None, most: int = MOST) -> list[Invented]:
    """The invalid references of one or two systems by name, the most frequent first, at most `most`.

    >>> from ragdash.cited import cited_of
    >>> b = cited_of(["ex-1", "d12"], ["ex-1"], ["ex-1"], contexts=[["d7", "d21"], ["d7"], ["d7"]])
    >>> for one in invented({"b": b}):
    ...     print(one.target, one.counts, one.cause)
    ex-1 (3,) the same in 3 answers: an example in the prompt?
    d12 (1,) a slip? its context has d21
    """
    counts = [Counter(one.target.filter(pa.array(one.invalid)).to_pylist()) for one in cited.values()]
    total: Counter[str] = sum(counts, Counter())
    chosen = [name for name, _ in sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))[:most]]
    seen = [_seen(one, chosen) for one in cited.values()]
    everywhere = {name: [one for part in seen for one in part.get(name, [])] for name in chosen}
    known = _known(cited, tables or Tables(), chosen, everywhere)
    return [
        Invented(
            target=name,
            counts=tuple(count[name] for count in counts),
            query_ids=tuple(dict.fromkeys(one.query_id for one in everywhere[name]))[:SHOWN_QUESTIONS],
            cause=_cause(everywhere[name], known),
        )
        for name in chosen
    ]


def _seen(cited: CitedAnswers, targets: Sequence[str]) -> dict[str, list[_Seen]]:
    """Where these targets stand, at most a few citations each."""
    wanted = np.asarray(pc.is_in(cited.target, value_set=pa.array(targets, pa.string())), dtype=bool)
    found: dict[str, list[_Seen]] = {}
    for row in np.flatnonzero(cited.invalid & wanted).tolist():
        target, answer = cited.target[row].as_py(), int(cited.answer[row])
        mine = found.setdefault(target, [])
        if len(mine) < 2 * SHOWN_QUESTIONS:
            first, last = (int(cited.contexts.starts[at]) for at in (answer, answer + 1))
            context = tuple(cited.contexts.documents.slice(first, last - first).to_pylist())
            mine.append(_Seen(target, cited.query_ids[answer].as_py(), context, cited.numbers == "ids"))
    return found


def _known(
    cited: Mapping[str, CitedAnswers], tables: Tables, targets: Sequence[str], seen: Mapping[str, list[_Seen]]
) -> _Known:
    """What the loaded tables say about these targets and about the contexts they should have named."""
    names = pa.array(targets, pa.string())
    known = {doc for one in cited.values() for doc in _among(one.contexts.documents.dictionary, names)}
    titles: dict[str, str] = {}
    if tables.documents is not None:
        known.update(_among(tables.documents.column("doc_id"), names))
        given = {doc for places in seen.values() for place in places for doc in place.context}
        titles = _titles(tables.documents, given)
    queries = pa.array({place.query_id for places in seen.values() for place in places}, pa.string())
    retrieved: dict[str, set[str]] = {}
    for system in cited:
        if system in tables.runs:
            run = tables.runs[system].rows.select(["query_id", "doc_id"])
            rows = run.filter(pc.and_(pc.is_in(run["query_id"], queries), pc.is_in(run["doc_id"], names)))
            for query, doc in zip(rows["query_id"].to_pylist(), rows["doc_id"].to_pylist(), strict=True):
                retrieved.setdefault(query, set()).add(doc)
    frozen = {query: frozenset(docs) for query, docs in retrieved.items()}
    return _Known(frozenset(known), tables.documents is not None, titles, frozen)


def _among(ids: pa.Array, names: pa.Array) -> list[str]:
    return list(names.filter(pc.is_in(names, value_set=ids)).to_pylist())


def _titles(documents: Table, ids: set[str]) -> dict[str, str]:
    if "title" not in documents:
        return {}
    rows = documents.rows.filter(pc.is_in(documents.column("doc_id"), pa.array(sorted(ids), pa.string())))
    return dict(zip(rows["doc_id"].to_pylist(), rows["title"].to_pylist(), strict=True))


def _cause(seen: Sequence[_Seen], known: _Known) -> str:
    """The likely cause, if most of these places have the same one."""
    found = Counter(_cause_of_one(one, known) for one in seen)
    cause, times = found.most_common(1)[0]
    if cause and 2 * times >= len(seen):
        return cause
    target, answers = seen[0].target, len({one.query_id for one in seen})
    if PLACEHOLDER.search(target) or (answers >= OFTEN and target not in known.ids):
        often = f"the same in {answers} answers" if answers > 1 else "looks like a placeholder"
        return f"{often}: an example in the prompt?"
    return "invented: no loaded document has this id" if known.corpus and target not in known.ids else ""


def _cause_of_one(one: _Seen, known: _Known) -> str:
    target, size = one.target, len(one.context)
    if not size:
        return "the answer has no context"
    for doc in one.context:
        if known.titles.get(doc, "").casefold() == target.casefold():
            return f"the title of {doc}, which is in the context: this reads ids, not titles"
    if target.isdecimal() and len(target) < 10:
        return _number(int(target), size, one.ids_alone)
    alike = next((doc for doc in one.context if one_slip_apart(target, doc)), "")
    hint = f"; its context has {alike}" if alike else ""
    if target in known.retrieved.get(one.query_id, ()):
        return f"retrieved for this question, but not in the context{hint}"
    if target in known.ids:
        return f"a document that this question was not given{hint}"
    return f"a slip? its context has {alike}" if alike else ""


def _number(number: int, size: int, ids_alone: bool) -> str:
    """Why a bare number names nothing in a context of `size` documents."""
    if 1 <= number <= size:
        return "a position? numbers are read as ids here" if ids_alone else "an empty place of the context"
    if number in (0, size + 1):
        return f"off by one? its context has {size} documents"
    return f"beyond the {size} documents of its context"


def one_slip_apart(one: str, other: str) -> bool:
    """Whether one slip makes these names the same: a character more, less or other, or two that changed places.

    A digit instead of another is a slip only between neighbours, such as 005 and 006: ids in a series are all alike.

    >>> one_slip_apart("error-4714", "error-4741"), one_slip_apart("d1", "d12"), one_slip_apart("kb-a", "kb-b")
    (True, True, True)
    >>> one_slip_apart("modes-005", "modes-006"), one_slip_apart("modes-005", "modes-009")
    (True, False)
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
        return short[at:] == long[at + 1 :]
    apart = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    if len(apart) == 1:
        a, b = apart[0]
        return not (a.isdecimal() and b.isdecimal()) or abs(int(a) - int(b)) == 1
    return len(apart) == 2 and apart[0] == apart[1][::-1]
