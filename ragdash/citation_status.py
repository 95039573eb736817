"""How answers cite, in words and counts: for a column, a filter, a report. The metrics count the same; this names."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.cited import CitedAnswers
from ragdash.citing import cite
from ragdash.resolution import STATES
from ragdash.schema import Table
from ragdash.settings import Settings

# the worst last: of several answers to a question the worst is told
STATUSES = ("no answer", "declined", "valid", "no citation", "ambiguous", "invalid")
NO_ANSWER, DECLINED, VALID, NO_CITATION, AMBIGUOUS, INVALID = range(len(STATUSES))


def statuses(answers: Table, query_ids: NDArray[np.str_], settings: Settings) -> list[str]:
    """One word a question for how its answer cites, (queries,), out of STATUSES.

    "invalid": a citation names nothing in the context; else "ambiguous": one names two documents; else "no citation"
    where the answer cites nothing (and "declined" where it declined to answer); else "valid". Of repetitions the worst.

    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1"], "answer": ["Tides [doc_id 9]."], "context_ids": [["d1"]]})
    >>> statuses(table_of("answers", rows, "answers.jsonl"), np.array(["q1", "q2"]), Settings())
    ['invalid', 'no answer']
    """
    cited = cite(answers, settings.style, settings.pattern)
    at = pc.index_in(cited.query_ids, value_set=pa.array(query_ids.tolist(), pa.string()))
    known = np.asarray(pc.is_valid(at).to_numpy(zero_copy_only=False), dtype=bool)
    worst = np.full(len(query_ids), NO_ANSWER)
    place = np.asarray(at.drop_null().to_numpy(zero_copy_only=False), dtype=np.int64)
    np.maximum.at(worst, place, status_codes(cited)[known])
    return [STATUSES[code] for code in worst]


def status_codes(cited: CitedAnswers) -> NDArray[np.int64]:
    """The status of each answer as a number into STATUSES, (answers,)."""
    some = cited.citations() > 0
    by_state = [cited.citations(cited.state == STATES.index(state)) > 0 for state in ("invalid", "ambiguous")]
    return np.select([*by_state, some, cited.abstained], [INVALID, AMBIGUOUS, VALID, DECLINED], NO_CITATION)


@dataclass(frozen=True)
class CitationCounts:
    """All answers of one system: how many answer, decline and cite nothing, their citations by state, and what the
    invalid ones name, the most frequent first."""

    answers: int
    declined: int
    without: int
    citations: int
    valid: int
    invalid: int
    ambiguous: int
    invalid_targets: tuple[tuple[str, int], ...]


def count_citations(cited: CitedAnswers) -> CitationCounts:
    """Count the citations of all answers, each as often as it stands there.

    >>> from ragdash.cited import cited_of
    >>> counts = count_citations(cited_of(["d1", "d9", "d9"], [], contexts=[["d1"], ["d1"]]))
    >>> counts.citations, counts.invalid, counts.without, counts.invalid_targets
    (3, 2, 1, (('d9', 2),))
    """
    nothing = (cited.citations() == 0) & ~cited.abstained
    by_state = {name: int((cited.state == number).sum()) for number, name in enumerate(STATES)}
    targets = Counter(cited.target.filter(pa.array(cited.invalid)).to_pylist())
    return CitationCounts(
        answers=len(cited),
        declined=int(cited.abstained.sum()),
        without=int(nothing.sum()),
        citations=len(cited.answer),
        valid=by_state["valid"],
        invalid=by_state["invalid"],
        ambiguous=by_state["ambiguous"],
        invalid_targets=tuple(sorted(targets.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


@dataclass(frozen=True)
class Piece:
    """A piece of an answer's text: a citation with its state, the document it names and what it gives as a name, or
    the text between two."""

    text: str
    state: str = ""
    document: str = ""
    target: str = ""


def pieces(cited: CitedAnswers, answer: int) -> list[Piece]:
    """One answer's text cut at its citations; joined, the pieces are the text. A marker that names several documents
    is one piece with the worst of their states.

    >>> from ragdash.cited import cited_of
    >>> [(one.text, one.state) for one in pieces(cited_of(["d1", "d9"], contexts=[["d1"]]), 0)]
    [('Text', ''), ('[d1]', 'valid'), ('[d9]', 'invalid')]
    """
    text: str = cited.texts[answer].as_py()
    rank = {"valid": 0, "ambiguous": 1, "invalid": 2}
    marks: dict[tuple[int, int], Piece] = {}
    for row in np.flatnonzero(cited.answer == answer):
        span = (int(cited.start[row]), int(cited.end[row]))
        state, number = STATES[cited.state[row]], int(cited.document[row])
        document = cited.contexts.documents[number].as_py() if number >= 0 else ""
        if span not in marks or rank[state] > rank[marks[span].state]:
            marks[span] = Piece(text[slice(*span)], state, document, cited.target[row].as_py())
    found, end = [], 0
    for (start, stop), piece in sorted(marks.items()):
        if start > end:
            found.append(Piece(text[end:start]))
        found.append(piece)
        end = max(end, stop)
    return [*found, Piece(text[end:])] if end < len(text) or not found else found
