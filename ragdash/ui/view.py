"""What is on the screen: the loaded data seen through the state, with every name in it known to exist."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ragdash.citations.pattern import compile_pattern
from ragdash.comparison import Comparison, default_primary
from ragdash.evaluation import chosen_specs
from ragdash.metrics.registry import Spec
from ragdash.problems import InputError, Problem, nearest
from ragdash.scores import Scores
from ragdash.ui import cache
from ragdash.ui.cache import DataSet
from ragdash.ui.state import DEFAULT, ViewState


@dataclass(frozen=True, eq=False)
class View:
    """Data, the two systems (`b` is "" where there is one), and the metric the page is about, as it is named in links.

    `faults` says what of the state did not fit these data and was replaced.
    """

    data_set: DataSet
    state: ViewState
    a: str
    b: str
    metric: str
    faults: tuple[Problem, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems shown: both, or the only one."""
        return tuple(filter(None, (self.a, self.b)))

    @cached_property
    def primary(self) -> Spec:
        """The metric with the settings put in."""
        return chosen_specs(self.data_set.inputs, [self.metric], self.state.settings)[0]

    @cached_property
    def scores(self) -> Scores:
        """Per-query scores of all systems."""
        return cache.scores_of(self.data_set, self.state.settings, self.metric)

    @cached_property
    def comparison(self) -> Comparison | None:
        """The comparison of A and B; None where there is no B."""
        if not self.b:
            return None
        return cache.comparison_of(self.data_set, self.state.settings, self.state.terms, (self.a, self.b), self.metric)

    @property
    def shown(self) -> tuple[Spec, ...]:
        """The metrics a page shows, in order; those computed only for the cautions are left out."""
        return cache.shown_specs(self.data_set, self.state.settings, self.metric)


def metric_names(data_set: DataSet) -> list[str]:
    """The metrics to choose from, as they are named in links: those with something to say about better and worse."""
    specs = chosen_specs(data_set.inputs, None, DEFAULT.settings)
    return [str(spec) for spec in specs if spec.metric.name != "Judged"]


def resolve(data_set: DataSet, state: ViewState) -> View:
    """The state seen on these data: what nobody chose takes its default, what does not exist too, with a problem."""
    systems, faults = data_set.inputs.systems, []
    chosen = {"a": data_set.a, "b": data_set.b}
    for name in chosen:
        asked = getattr(state, name)
        if asked in systems:
            chosen[name] = asked
        elif asked:
            faults.append(Problem("link", f"there is no system {asked!r}", nearest(asked, systems)))
    if chosen["a"] == chosen["b"]:
        chosen["b"] = next((name for name in systems if name != chosen["a"]), "")
    state, unusable = _with_usable_pattern(state)
    metric, wrong = _metric(data_set, state)
    return View(data_set, state, chosen["a"], chosen["b"], metric, (*faults, *unusable, *wrong))


def _with_usable_pattern(state: ViewState) -> tuple[ViewState, tuple[Problem, ...]]:
    """The state without a citation pattern that cannot be used, and why it cannot."""
    try:
        if state.pattern:
            compile_pattern(state.pattern)
    except InputError as error:
        return replace(state, pattern=""), error.problems
    return state, ()


def _metric(data_set: DataSet, state: ViewState) -> tuple[str, tuple[Problem, ...]]:
    """The metric asked for, else the default one of these data and why."""
    names = metric_names(data_set)
    if state.metric in names:
        return state.metric, ()
    default = str(default_primary(chosen_specs(data_set.inputs, None, DEFAULT.settings), DEFAULT.settings))
    if state.metric == DEFAULT.metric:
        return default, ()
    try:
        spec = chosen_specs(data_set.inputs, [state.metric], DEFAULT.settings)[0]
    except InputError as error:
        return default, error.problems
    inputs = data_set.inputs
    there = {"lists": bool(inputs.runs) and inputs.judgments is not None, "answers": bool(inputs.answers)}
    if there.get(spec.metric.takes, True):
        return str(spec), ()
    return default, (Problem(str(spec), "these files do not hold what it needs", f"{default} is shown instead"),)
