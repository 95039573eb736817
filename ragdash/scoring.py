"""All metrics of one system: its lists matched and measured, its answers cited, its brought-in scores placed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.citing import cite
from ragdash.matching import Judgments, Ranking, rank_lists
from ragdash.metrics.registry import Floats, Spec, brought_in_name
from ragdash.problems import Problem, refuse
from ragdash.ranking import Flags, Ints
from ragdash.schema import Table
from ragdash.scores import SystemScores
from ragdash.settings import Settings


@dataclass(frozen=True, eq=False)
class System:
    """The tables of one configuration."""

    name: str
    run: Table | None = None
    answers: Table | None = None
    scores: Table | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """What is the same for every system: the metrics, the judgments, and the questions they are counted on."""

    specs: tuple[Spec, ...]
    settings: Settings
    universe: pa.Array
    unanswerable: Flags
    judgments: Table | None = None
    coded: Judgments | None = None

    def rows(self, takes: str) -> list[int]:
        """The rows of the metrics that take lists, answers or scores."""
        return [row for row, spec in enumerate(self.specs) if spec.metric.takes == takes]

    def places(self, ids: pa.Array | pa.ChunkedArray) -> Ints:
        """Where each question id stands among all questions, (rows,)."""
        return np.asarray(pc.index_in(ids, value_set=self.universe).to_numpy(), dtype=np.int64)

    def blank(self) -> SystemScores:
        """Scores of a system for which nothing is known yet."""
        shape = (len(self.specs), len(self.universe))
        none = np.zeros((len(self.specs), 0))
        return SystemScores(np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(0, np.int64), none, none)


def score_system(system: System, plan: Plan) -> tuple[SystemScores, list[Problem]]:
    """Every metric of one system on every question, and what must be said about it."""
    result = plan.blank()
    problems: list[Problem] = []
    if plan.coded is not None and plan.rows("lists"):
        result, problems = _score_lists(system, plan, plan.coded)
    if plan.rows("answers"):
        problems = problems + _score_answers(system, plan, result)
    _place_scores(system, plan, result)
    return result, problems


def _score_lists(system: System, plan: Plan, coded: Judgments) -> tuple[SystemScores, list[Problem]]:
    """The retrieval metrics; repetitions of the run are measured apart, then averaged within each question."""
    if system.run is None:
        found = "there are answers or scores but no run for this system, so it has no retrieval score"
        mend = "Load its run, or give both files one system name"
        return plan.blank(), [Problem(system.name, found, mend, "note")]
    at = plan.places(coded.query_ids)
    counted, seen = ~plan.unanswerable[at], np.zeros(len(at), bool)
    parts: list[SystemScores] = []
    problems: list[Problem] = []
    for run in _repetitions(system.run):
        ranking = rank_lists(run, coded, plan.settings.ties, plan.settings.strict)
        parts.append(_score_ranking(ranking, plan, at, counted))
        problems += ranking.problems
        seen |= ranking.lists.present
    result = _average(parts)
    if not seen.any():
        raise _nothing_in_common(system.run, coded, result.extra)
    where = f"{system.name} ({system.run.files[0]})"
    return result, problems + _coverage_problems(where, seen, counted, result.extra, plan.settings)


def _repetitions(run: Table) -> list[Table]:
    """The run itself, or one run a value of its `repeat` column."""
    if "repeat" not in run:
        return [run]
    codes = np.asarray(run.column("repeat").fill_null("").dictionary_encode().indices)
    return [run.take(np.flatnonzero(codes == code)) for code in range(codes.max(initial=0) + 1)]


def _score_ranking(ranking: Ranking, plan: Plan, at: Ints, counted: Flags) -> SystemScores:
    """All retrieval metrics of one set of lists, and what equal scores allow."""
    lists, tied = ranking.lists, ranking.lists.tied()
    subset = lists.only(tied)
    best, worst = subset.with_ties("best"), subset.with_ties("worst")
    blank = plan.blank()
    low, high = (np.full((len(plan.specs), len(tied)), np.nan) for _ in range(2))
    for row in plan.rows("lists"):
        spec = plan.specs[row]
        values = _settle(spec, spec.compute(lists), lists.present, plan.settings)
        blank.values[row, at] = np.where(counted, values, np.nan)
        blank.absent[row, at] = ~lists.present & counted
        low[row] = _settle(spec, spec.compute(worst), subset.present, plan.settings)
        high[row] = _settle(spec, spec.compute(best), subset.present, plan.settings)
    extra = tuple(ranking.extra.to_pylist())
    return replace(blank, tied=at[tied], tie_low=low, tie_high=high, extra=extra, duplicates=ranking.duplicates)


def _settle(spec: Spec, values: Floats, present: Flags, settings: Settings) -> Floats:
    """What undefined values count as: no relevant document 0 or left out, an absent list the metric's `absent`."""
    if settings.no_relevant == "zero" and spec.metric.absent == 0:
        values = np.where(np.isnan(values), 0.0, values)
    return values if settings.missing == "zero" else np.where(present, values, np.nan)


def _average(parts: list[SystemScores]) -> SystemScores:
    """Repetitions of a run as one: each question's mean over the repetitions that have it."""
    if len(parts) == 1:
        return parts[0]
    weight = np.array([~(part.absent | np.isnan(part.values)) for part in parts], dtype=float)
    weight[:, ~weight.any(axis=0)] = 1.0
    tied = np.unique(np.concatenate([part.tied for part in parts]))

    def mean(arrays: list[Floats], weights: Floats) -> Floats:
        return np.asarray(np.where(weights > 0, arrays, 0.0).sum(axis=0) / weights.sum(axis=0))

    def edge(part: SystemScores, values: Floats) -> Floats:
        full = part.values.copy()
        full[:, part.tied] = values
        return full[:, tied]

    low = mean([edge(part, part.tie_low) for part in parts], weight[:, :, tied])
    high = mean([edge(part, part.tie_high) for part in parts], weight[:, :, tied])
    absent = np.all([part.absent for part in parts], axis=0)
    extra = tuple(sorted({name for part in parts for name in part.extra}))
    return SystemScores(mean([part.values for part in parts], weight), absent, tied, low, high, extra)


def _nothing_in_common(run: Table, coded: Judgments, extra: tuple[str, ...]) -> Exception:
    ours, theirs = ", ".join(extra[:3]) or "none", ", ".join(coded.query_ids[:3].to_pylist()) or "none"
    found = f"no query of this run has judgments (run: {ours} …; judgments: {theirs} …)"
    return refuse(run.files[0], found, "Check that both files use the same query ids")


def _coverage_problems(
    where: str, seen: Flags, counted: Flags, extra: tuple[str, ...], settings: Settings
) -> list[Problem]:
    """Judged questions the run lacks, and questions of the run that nobody judged."""
    problems, missing, judged = [], int((counted & ~seen).sum()), int(counted.sum())
    if missing:
        effect = "they count 0" if settings.missing == "zero" else "they are left out for every system"
        mend = "Check whether the run is a subset or the retriever failed"
        found = f"judged queries missing from this run: {missing:,} of {judged:,}; {effect}"
        problems.append(Problem(where, found, mend, "note", missing))
    if extra:
        found = f"queries of this run without judgments: {len(extra):,}; they have no retrieval score"
        problems.append(Problem(where, found, "Judge them, or leave them out of the run", "note", len(extra)))
    return problems


def _score_answers(system: System, plan: Plan, result: SystemScores) -> list[Problem]:
    """Fill in the metrics of answers; repeated answers to a question are averaged.

    A metric that needs a column which the answers lack, such as the context, is undefined, and that is said.
    """
    rows = plan.rows("answers")
    if system.answers is None:
        result.absent[rows] = True
        return []
    at = plan.places(system.answers.column("query_id"))
    _refuse_repeats(system.answers, at, plan.settings)
    cited = cite(system.answers, plan.settings.style, plan.settings.pattern)
    if plan.judgments is not None:
        cited = cited.with_judgments(plan.judgments)
    cited = replace(cited, answerable=~plan.unanswerable[at])
    lacking: dict[str, list[str]] = {}
    for row in rows:
        spec = plan.specs[row]
        result.absent[row] = np.bincount(at, minlength=len(plan.universe)) == 0
        missing = [column for column in spec.metric.needs if column not in system.answers]
        if missing:
            lacking.setdefault(missing[0], []).append(str(spec))
        else:
            result.values[row] = _mean_by(at, spec.compute(cited), len(plan.universe))
    found = "the answers have no column {}, so these are undefined: {}"
    mend = "Add the documents each answer was given"
    return [Problem(system.name, found.format(c, ", ".join(names)), mend, "note") for c, names in lacking.items()]


def _mean_by(at: Ints, values: Floats, size: int) -> Floats:
    """Mean of the defined values of each question, NaN where there is none."""
    known = ~np.isnan(values)
    count = np.bincount(at[known], minlength=size)
    total = np.bincount(at[known], weights=values[known], minlength=size)
    return np.asarray(np.divide(total, count, out=np.full(size, np.nan), where=count > 0))


def _refuse_repeats(table: Table, at: Ints, settings: Settings) -> None:
    if settings.repeats == "mean" or "repeat" in table or len(np.unique(at)) == len(at):
        return
    order = np.argsort(at, kind="stable")
    again = int(np.flatnonzero(at[order][1:] == at[order][:-1])[0])
    first, second = int(order[again]), int(order[again + 1])
    found = f"query {table.column('query_id')[second].as_py()!r} has two answers (the first in {table.where(first)})"
    raise refuse(table.where(second), found, "Keep one, or say that rows are repetitions (--repeats mean)")


def _place_scores(system: System, plan: Plan, result: SystemScores) -> None:
    """Fill in brought-in scores; several values of one question are averaged."""
    for row in plan.rows("scores"):
        if system.scores is None:
            result.absent[row] = True
            continue
        columns = system.scores.column("metric")
        wanted = next((c for c in pc.unique(columns).to_pylist() if brought_in_name(c) == str(plan.specs[row])), "")
        mine = system.scores.rows.filter(pc.equal(columns, wanted))
        values = np.asarray(mine.column("value").to_numpy(), dtype=float)
        result.values[row] = _mean_by(plan.places(mine.column("query_id").combine_chunks()), values, len(plan.universe))
        result.absent[row] = np.isnan(result.values[row])
