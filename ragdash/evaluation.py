"""From tables and metric names to per-query scores: one set of questions a metric, for everything on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.matching import Judgments, code_judgments
from ragdash.metrics.registry import Spec, brought_in, brought_in_name, split_names
from ragdash.problems import Problem, refuse
from ragdash.ranking import Flags
from ragdash.schema import Table
from ragdash.scores import Scores, SystemScores
from ragdash.scoring import Plan, System, score_system
from ragdash.settings import ANSWER_DEFAULT, RETRIEVAL_DEFAULT, Settings
from ragdash.tables import Tables


def evaluate(
    tables: Tables, metrics: str | Sequence[str | Spec] | None = None, settings: Settings | None = None
) -> Scores:
    """Score every system on every metric, a value a question.

    Without `metrics` the default set is taken that the tables allow. Raises InputError where a metric needs what was
    not given, a run shares no question with the judgments, or rows contradict one another.
    """
    settings = settings or Settings()
    if not tables.systems:
        raise refuse("input", "there is no run and no file of answers", "Give at least one system")
    specs = chosen_specs(tables, metrics, settings)
    _check_needs(specs, tables)
    coded = code_judgments(tables.judgments) if tables.judgments is not None else None
    universe = _universe(coded, [*tables.answers.values(), *tables.scores.values()])
    plan = Plan(specs, settings, universe, _unanswerable(universe, tables.queries), tables.judgments, coded)
    systems, problems = {}, list(coded.problems if coded else ())
    for name in tables.systems:
        system = System(name, tables.runs.get(name), tables.answers.get(name), tables.scores.get(name))
        systems[name], found = score_system(system, plan)
        problems += found
    if settings.missing == "skip":
        systems = _skip_missing(systems, plan)
    problems += _set_problems(plan)
    ids = np.array(universe.to_pylist(), dtype=np.str_)
    return Scores(ids, specs, systems, settings, tuple(problems), bool(coded and coded.positive_only))


def chosen_specs(tables: Tables, metrics: str | Sequence[str | Spec] | None, settings: Settings) -> tuple[Spec, ...]:
    """The metrics asked for, or the default set that the tables allow; scores of other tools by their own names."""
    columns = {name for table in tables.scores.values() for name in pc.unique(table.column("metric")).to_pylist()}
    known = sorted(brought_in_name(name) for name in columns)
    if metrics is None:
        ranked = tables.runs and tables.judgments is not None
        default = (RETRIEVAL_DEFAULT if ranked else ()) + (ANSWER_DEFAULT if tables.answers else ())
        if not default and not known:
            raise refuse("judgments", "none were given, and there are no answers", "Add a file of judgments")
        return settings.specs(default) + tuple(brought_in(name) for name in known)
    texts = split_names(metrics) if isinstance(metrics, str) else list(metrics)
    if not texts:
        raise refuse("metrics", "none is named", "Name at least one, such as nDCG@10, or leave the metrics out")
    typed = settings.specs([text for text in texts if str(text) not in known])
    return typed + tuple(brought_in(str(text)) for text in texts if str(text) in known)


def _check_needs(specs: tuple[Spec, ...], tables: Tables) -> None:
    for spec in specs:
        if spec.metric.takes == "lists" and not tables.runs:
            raise refuse(str(spec), "this metric needs a run, and none was given", "Add a run file")
        if spec.metric.takes == "lists" and tables.judgments is None:
            raise refuse(str(spec), "this metric needs judgments, and none were given", "Add a file of judgments")
        if spec.metric.takes == "answers" and not tables.answers:
            raise refuse(str(spec), "this metric needs answers, and none were given", "Add a file with answers")


def _universe(coded: Judgments | None, others: list[Table]) -> pa.Array:
    ids = [table.column("query_id") for table in others] + ([coded.query_ids] if coded else [])
    distinct = pc.unique(pa.concat_arrays(ids))
    return distinct.take(pc.array_sort_indices(distinct))


def _unanswerable(universe: pa.Array, queries: Table | None) -> Flags:
    if queries is None or "answerable" not in queries:
        return np.zeros(len(universe), dtype=bool)
    never = queries.column("query_id").filter(pc.equal(queries.column("answerable"), False))
    return np.asarray(pc.is_in(universe, value_set=never).to_numpy(zero_copy_only=False), dtype=bool)


def _skip_missing(systems: dict[str, SystemScores], plan: Plan) -> dict[str, SystemScores]:
    """Under missing=skip a question absent from one system leaves the retrieval metrics of all."""
    gone = np.any([one.absent for one in systems.values()], axis=0)
    gone[[row for row, spec in enumerate(plan.specs) if spec.metric.takes != "lists"]] = False
    return {name: replace(one, values=np.where(gone, np.nan, one.values)) for name, one in systems.items()}


def _set_problems(plan: Plan) -> list[Problem]:
    """What must be said about the set of questions itself."""
    if plan.coded is None or not plan.rows("lists"):
        return []
    ideal_list, _, ideal_grade = plan.coded.ideal
    best = np.bincount(ideal_list, weights=ideal_grade > 0, minlength=len(plan.coded.query_ids))
    unanswerable = plan.unanswerable[plan.places(plan.coded.query_ids)]
    hopeless, left_out = int(((best == 0) & ~unanswerable).sum()), int(unanswerable.sum())
    problems = _without_grade(plan, ~unanswerable)
    if hopeless:
        effect = "they count 0" if plan.settings.no_relevant == "zero" else "they are left out"
        found = f"judged queries without a relevant document: {hopeless:,}; {effect}"
        mend = "Mark those the corpus cannot answer with answerable=false"
        problems.append(Problem("judgments", found, mend, "note", hopeless))
    if left_out:
        found = f"judged queries marked answerable=false: {left_out:,}; they have no retrieval score"
        problems.append(Problem("queries", found, "Their answers are scored on abstention", "note", left_out))
    return problems


def _without_grade(plan: Plan, counted: Flags) -> list[Problem]:
    """Questions with relevant documents, but none of the grade that a metric's `rel` asks for."""
    if plan.coded is None:
        return []
    ideal_list, _, ideal_grade = plan.coded.ideal
    best = np.full(len(plan.coded.query_ids), -np.inf)
    np.maximum.at(best, ideal_list, ideal_grade)
    rels = {float(rel) for spec in plan.specs if isinstance(rel := dict(spec.options).get("rel"), float)}
    effect = "they count 0" if plan.settings.no_relevant == "zero" else "they are left out"
    problems = []
    for rel in sorted(rels):
        count = int((counted & (best > 0) & (best < rel)).sum())
        if count:
            found = f"judged queries without a document of grade {rel:g} or more: {count:,}; with rel={rel:g} {effect}"
            problems.append(Problem("judgments", found, "Check that the grades go that far", "note", count))
    return problems
