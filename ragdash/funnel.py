"""The evidence funnel: how far each question's evidence gets, and the first stage that broke.

Relevant evidence exists → it is retrieved → it is in the top k → it is in the context → it is cited → the answer is
right. A stage counts only where all before it held, so the counts never rise, and each lost question has one cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ragdash.cited import CitedAnswers
from ragdash.metrics.registry import Metric, Spec, brought_in, parse
from ragdash.problems import nearest, refuse
from ragdash.ranking import Flags, Floats, Ints, RankedLists
from ragdash.registry import explanation_of
from ragdash.scores import Scores
from ragdash.tables import Tables

NOT_COUNTED = -1
STAGES = ("relevant exists", "retrieved", "in the top {k}", "in the context", "cited", "answer right")
RIGHT_FROM = 0.5  # a share of repetitions, or a brought-in score, from which a stage counts as passed


class Break(Enum):
    """The first stage that broke, in the order of the stages; the name is safe in links."""

    NOTHING_RELEVANT = "nothing relevant is judged"
    NOT_RETRIEVED = "not retrieved"
    RANKED_TOO_LOW = "ranked too low"
    NOT_IN_CONTEXT = "not in the context"
    NOT_CITED = "not cited"
    WRONG = "answer wrong"
    NOTHING = "nothing broke"
    NOT_COUNTED = "not counted"


BREAKS = tuple(Break)


def exists(lists: RankedLists) -> Floats:
    """1 where a question has a document judged relevant (grade above 0), else undefined; (lists,)."""
    return np.where(lists.relevant() > 0, 1.0, np.nan)


def in_context(answers: CitedAnswers) -> Floats:
    """1 where a relevant document is in the context, else 0; (answers,)."""
    return (answers.documents(_relevant(answers)) > 0).astype(float)


def cited(answers: CitedAnswers) -> Floats:
    """1 where a valid citation names a relevant document, else 0; (answers,)."""
    return (answers.documents(_relevant(answers) & answers.cited()) > 0).astype(float)


def _relevant(answers: CitedAnswers) -> Flags:
    """Which context documents are judged relevant; none without judgments, (contexts,)."""
    return np.zeros(len(answers.contexts), dtype=bool) if answers.relevant is None else answers.relevant


EXISTS = Metric("funnel_exists", STAGES[0], explanation_of(exists), exists, "retrieval", "higher", "lists")
CONTEXT = Metric("funnel_context", STAGES[3], explanation_of(in_context), in_context, "generation", "higher", "answers")
CITED = Metric("funnel_cited", STAGES[4], explanation_of(cited), cited, "generation", "higher", "answers")


def funnel_specs(tables: Tables, k: int, right: str | None = None) -> tuple[Spec, ...]:
    """The metrics `funnels` reads from the scores, one a stage that the tables can say.

    Without answers that have contexts the funnel ends at the top k. `right` names a brought-in score of answers, such
    as `ragas/answer_correctness`: with it the funnel ends at the answers whose score is at least 0.5.
    Raises InputError where there is no run, no judgment, or no such score.
    """
    if not tables.runs or tables.judgments is None:
        raise refuse("funnel", "it needs a run and judgments", "Add them")
    specs = [Spec(EXISTS), parse("Hit"), parse(f"Hit@{k}")]
    if not any("context_ids" in answers for answers in tables.answers.values()):
        return tuple(specs)
    specs += [Spec(CONTEXT), Spec(CITED)]
    if right is None:
        return tuple(specs)
    known = {name for scores in tables.scores.values() for name in scores.column("metric").unique().to_pylist()}
    if right not in known:
        raise refuse("funnel", f"there is no score {right!r}", nearest(right, sorted(known)))
    return (*specs, brought_in(right))


@dataclass(frozen=True, eq=False)
class Funnel:
    """One system: `stages` in words; `reached` how many of them a question passed, −1 not counted, (queries,)."""

    query_ids: NDArray[np.str_]
    stages: tuple[str, ...]
    reached: Ints

    def __len__(self) -> int:
        """How many questions are counted."""
        return int((self.reached >= 0).sum())

    def counts(self, among: Flags | None = None) -> tuple[int, ...]:
        """How many questions passed each stage, never rising; `among` is a mask (queries,), such as a slice."""
        reached = self.reached if among is None else self.reached[among]
        return tuple(int((reached > stage).sum()) for stage in range(len(self.stages)))

    def lost(self, among: Flags | None = None) -> dict[Break, int]:
        """How many counted questions broke first at each stage, those where nothing broke last."""
        reached = self.reached if among is None else self.reached[among]
        ends = (*BREAKS[: len(self.stages)], Break.NOTHING)
        return {end: int((reached == number).sum()) for number, end in enumerate(ends)}

    def broken(self) -> list[Break]:
        """The first broken stage of each question, (queries,): a column to show and to filter by."""
        ends = (*BREAKS[: len(self.stages)], Break.NOTHING, Break.NOT_COUNTED)
        return [ends[number] for number in self.reached]

    def at(self, end: Break) -> Flags:
        """The questions that broke first at this stage, (queries,)."""
        return np.array([one is end for one in self.broken()], dtype=bool)


def funnels(scores: Scores, tables: Tables, k: int, right: str | None = None) -> dict[str, Funnel]:
    """The funnel of every system that has a run; `scores` hold `funnel_specs` of the same tables, k and `right`.

    The questions are those of the retrieval metrics. Stages that this system's tables cannot say are left out. A
    judged question without an answer has nothing in its context. Repetitions count by their majority.

    >>> import pyarrow as pa
    >>> from ragdash.evaluation import evaluate
    >>> from ragdash.schema import table_of
    >>> rows = pa.table({"query_id": ["q1", "q1", "q2"], "doc_id": ["x", "d1", "x"], "score": [2.0, 1.0, 1.0]})
    >>> judged = pa.table({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "grade": [1, 1]})
    >>> tables = Tables({"a": table_of("run", rows, "a.run")}, table_of("judgments", judged, "qrels"))
    >>> funnel = funnels(evaluate(tables, funnel_specs(tables, 1)), tables, 1)["a"]
    >>> dict(zip(funnel.stages, funnel.counts()))
    {'relevant exists': 2, 'retrieved': 1, 'in the top 1': 0}
    >>> [one.value for one in funnel.broken()]
    ['ranked too low', 'not retrieved']
    """
    specs = funnel_specs(tables, k, right)
    return {name: _funnel(scores, tables, name, specs) for name in scores.systems if name in tables.runs}


def _funnel(scores: Scores, tables: Tables, system: str, specs: tuple[Spec, ...]) -> Funnel:
    mine = specs[: _said(tables, system, specs)]
    k = specs[2].k
    passed = np.array([scores.of(system, spec) >= RIGHT_FROM for spec in mine])
    counted = ~np.isnan(scores.of(system, mine[0]))
    reached = np.logical_and.accumulate(passed, axis=0).sum(axis=0)
    stages = tuple(words.format(k=k) for words in STAGES[: len(mine)])
    return Funnel(scores.query_ids, stages, np.where(counted, reached, NOT_COUNTED))


def _said(tables: Tables, system: str, specs: tuple[Spec, ...]) -> int:
    """How many of the stages this system's own tables can say."""
    answers, brought = tables.answers.get(system), tables.scores.get(system)
    if answers is None or "context_ids" not in answers:
        return min(len(specs), 3)
    scored = brought is not None and str(specs[-1]) in brought.column("metric").unique().to_pylist()
    return len(specs) if scored else min(len(specs), 5)
