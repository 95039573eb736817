"""The tipping point: how many unjudged documents would have to be relevant before the verdict changed, and which.

A document nobody judged counts as not relevant. Where that could decide the comparison, these are the ones to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.comparison import Comparison, compare
from ragdash.imagined import Pool, WhatIf
from ragdash.matching import code_judgments
from ragdash.ranking import Flags, Floats, Ints
from ragdash.schema import Table, concat, table_of
from ragdash.scores import Scores, SystemScores
from ragdash.tables import Tables
from ragdash.verdict import BADGES, Verdict

DEFAULT_DEPTH, DEEPEST = 10, 20
CHANGE = 1e-12
GRADED_HERE = "graded here"


class ToJudge(NamedTuple):
    """An unjudged document, its rank in each list (None where not retrieved), and what its being relevant would add to
    the mean difference candidate − baseline, once those before it are relevant too."""

    query_id: str
    doc_id: str
    rank_baseline: int | None
    rank_candidate: int | None
    effect: float


@dataclass(frozen=True)
class Tipping:
    """What unjudged documents could do to a verdict.

    `documents` are the unjudged ones in the top `depth` of `system` that would move the difference against the verdict,
    in judging order: the largest effect first. The first `count` of them, relevant with `grade`, turn `before` into
    `after`; both are None where even all of them do not. `unjudged` counts all unjudged documents there.
    """

    system: str
    depth: int
    grade: float
    before: Verdict
    documents: tuple[ToJudge, ...]
    unjudged: int
    count: int | None
    after: Verdict | None
    names: tuple[str, str]

    def __str__(self) -> str:
        where = f"of the {self.unjudged:,} unjudged documents in {self.system}'s top {self.depth}"
        if self.unjudged == 0:
            return f"{self.system}'s top {self.depth} is fully judged: no unjudged document can change the verdict."
        if self.after is None:
            return f"The verdict stands even if every one {where} were relevant (grade {self.grade:g})."
        badge = BADGES[self.after].format(baseline=self.names[0], candidate=self.names[1])
        return (
            f"If the first {self.count:,} {where} were relevant (grade {self.grade:g}), the verdict would be: {badge}."
        )


def side_of(verdict: Verdict | None) -> str:
    """Which system a verdict favours: "candidate", "baseline" or "neither".

    >>> side_of("candidate_better_size_unclear"), side_of("practically_equal")
    ('candidate', 'neither')
    """
    return next((side for side in ("candidate", "baseline") if (verdict or "").startswith(side)), "neither")


def tipping_point(tables: Tables, comparison: Comparison) -> Tipping | None:
    """The tipping point of the verdict on the primary metric; None where unjudged documents have no part in it.

    The documents are those of the system the verdict does not favour, the candidate's where it favours neither, in its
    top k: the first 10 for a metric without a cutoff, at most the first 20. Their grade is the most common one above 0
    (of equally common ones the lowest). The verdict changes when it favours another system, or none, from then on.
    Documents are put in order by their effect one by one, within a question first; the effects and the verdict are
    those of exact recomputation. Only questions that are counted now take part.
    None for metrics of answers, `Judged` and `judged_only`, and without a verdict. Raises InputError for repeated runs.
    """
    spec, verdict = comparison.primary, comparison.metrics[comparison.primary].verdict
    condensed = dict(spec.options).get("judged_only", False)
    if spec.metric.takes != "lists" or spec.metric.name == "Judged" or condensed or verdict is None:
        return None
    if tables.judgments is None or not {comparison.baseline, comparison.candidate} <= tables.runs.keys():
        return None
    favoured = side_of(verdict) == "candidate"
    system = comparison.baseline if favoured else comparison.candidate
    what_if = WhatIf(tables, comparison, code_judgments(tables.judgments))
    depth = min(spec.k or DEFAULT_DEPTH, DEEPEST)
    pool = what_if.unjudged(system, depth)
    order, effect, nested = _judging_order(what_if, pool, -1.0 if favoured else 1.0)
    count, after = _first_change(what_if, comparison, pool.query[order], nested, verdict)
    documents = _documents(what_if, pool, order, effect)
    names = (comparison.baseline, comparison.candidate)
    return Tipping(system, depth, what_if.grade, verdict, documents, len(pool.query), count, after, names)


def with_judgments(tables: Tables, graded: Mapping[tuple[str, str], float]) -> Tables:
    """The tables with grades added: (query_id, document id) → grade. A pair judged before takes the new one.

    >>> judged = table_of("judgments", pa.table({"query_id": ["q1"], "doc_id": ["d1"], "grade": [1]}), "qrels")
    >>> more = with_judgments(Tables(judgments=judged), {("q1", "d2"): 2.0, ("q1", "d1"): 0.0})
    >>> more.judgments.column("doc_id").to_pylist(), more.judgments.column("grade").to_pylist()
    (['d2', 'd1'], [2.0, 0.0])
    """
    if not graded:
        return tables
    queries, documents = zip(*graded, strict=True)
    columns = {"query_id": list(queries), "doc_id": list(documents), "grade": list(graded.values())}
    fresh = table_of("judgments", pa.table(columns), GRADED_HERE)
    if tables.judgments is None:
        return replace(tables, judgments=fresh)
    kept = np.flatnonzero(~_among(tables.judgments, fresh))
    return replace(tables, judgments=concat([tables.judgments.take(kept), fresh]))


def _among(judgments: Table, fresh: Table) -> Flags:
    """Which judgments are about a pair that `fresh` holds too, (rows,)."""
    codes = []
    for name in ("query_id", "doc_id"):
        distinct = pc.unique(fresh.column(name))
        at = [pc.fill_null(pc.index_in(one.column(name), value_set=distinct), -1) for one in (judgments, fresh)]
        codes.append([np.asarray(one.to_numpy(), dtype=np.int64) for one in at])
    (query, new_query), (doc, new_doc) = codes
    size = len(fresh) + 1
    return (query >= 0) & (doc >= 0) & np.isin(query * size + doc, new_query * size + new_doc)


def _judging_order(what_if: WhatIf, pool: Pool, sign: float) -> tuple[Ints, Floats, tuple[Floats, Floats]]:
    """Which documents of the pool to judge, in order; what each adds to its question's difference; and both systems'
    values of that question once it and those before it are relevant. `sign` is the direction that matters."""
    n = len(pool.query)
    alone = _difference(what_if.values(pool.query, pool, np.arange(n), np.arange(n)))
    within = np.lexsort((-sign * alone, pool.query))  # the documents of a question, largest effect first
    query = pool.query[within]
    step = np.arange(n) - np.searchsorted(query, query)
    virtual = np.repeat(np.arange(n), step + 1)
    item = within[virtual - (np.arange(len(virtual)) - np.repeat(np.cumsum(step + 1) - step - 1, step + 1))]
    nested = what_if.values(query, pool, virtual, item)
    before = _difference(what_if.values(query, pool, np.zeros(0, np.int64), np.zeros(0, np.int64)))
    reached = _difference(nested)
    effect = reached - np.where(step > 0, np.concatenate([[0.0], reached[:-1]])[:n], before)
    worth = _running_minimum(sign * effect, step)
    order = np.argsort(-worth, kind="stable")
    order = order[worth[order] > CHANGE]
    return within[order], effect[order], (nested[0][order], nested[1][order])


def _difference(values: tuple[Floats, Floats]) -> Floats:
    return values[1] - values[0]


def _running_minimum(worth: Floats, step: Ints) -> Floats:
    """The least worth so far within each question, so that no document comes before those it builds on."""
    least = worth.copy()
    for depth in range(1, int(step.max(initial=0)) + 1):
        at = np.flatnonzero(step == depth)
        least[at] = np.minimum(least[at], least[at - 1])
    return least


def _first_change(
    what_if: WhatIf, comparison: Comparison, query: Ints, nested: tuple[Floats, Floats], before: Verdict
) -> tuple[int | None, Verdict | None]:
    """How many of the documents change whom the verdict favours, by bisection, and what it is then."""

    def verdict_after(count: int) -> Verdict | None:
        return _verdict(what_if, comparison, query[:count], (nested[0][:count], nested[1][:count]))

    low, high = 0, len(query)
    if not high or side_of(verdict_after(high)) == side_of(before):
        return None, None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if side_of(verdict_after(middle)) == side_of(before) else (low, middle)
    return high, verdict_after(high)


def _verdict(what_if: WhatIf, comparison: Comparison, query: Ints, nested: tuple[Floats, Floats]) -> Verdict | None:
    """The verdict on the primary metric with the values of some questions replaced, the last one of each."""
    scores, spec = what_if.scores, what_if.spec
    systems = {}
    for name, fresh in zip(what_if.systems, nested, strict=True):
        values = scores.of(name, spec).copy()
        values[what_if.at[query]] = fresh  # the last value of a question is that of all its documents so far
        none = np.zeros((1, 0))
        absent = scores.systems[name].absent[scores.index(spec)]
        systems[name] = SystemScores(values[None], absent[None], np.zeros(0, np.int64), none, none)
    imagined = Scores(scores.query_ids, (spec,), systems, scores.settings, (), scores.positive_only)
    return compare(imagined, *what_if.systems, spec, terms=comparison.terms).metrics[spec].verdict


def _documents(what_if: WhatIf, pool: Pool, order: Ints, effect: Floats) -> tuple[ToJudge, ...]:
    queries = what_if.coded.query_ids.take(pa.array(pool.query[order])).to_pylist()
    documents = pool.doc_id.take(pa.array(order)).to_pylist()
    ranks = [[rank or None for rank in one[order].tolist()] for one in pool.ranks]
    means = (effect / max(int(what_if.counted.sum()), 1)).tolist()
    return tuple(map(ToJudge, queries, documents, *ranks, means))
