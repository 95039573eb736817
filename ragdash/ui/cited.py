"""What the Citations page is made of: computed once for the data and settings on the screen, drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ragdash.citationdiff import CitationDiff, citation_diff
from ragdash.cited import CitedAnswers
from ragdash.comparison import Comparison, Terms, compare
from ragdash.evaluation import evaluate
from ragdash.invented import Invented, invented
from ragdash.metrics.registry import Spec
from ragdash.problems import Problem
from ragdash.scores import Scores
from ragdash.settings import Settings
from ragdash.stylefit import misfit
from ragdash.ui import answers, cache
from ragdash.ui.cache import DataSet
from ragdash.ui.view import View

METRICS = ("no_citation", "citation_validity", "citation_coverage")
AGAINST_JUDGMENTS = "citation_precision"
VALIDITY = 1
MISREAD = "These citation numbers say nothing yet: citations are not read as they are written"


@dataclass(frozen=True, eq=False)
class Measured:
    """The citation metrics of all systems; `comparison` is None where one system answers."""

    scores: Scores
    specs: tuple[Spec, ...]
    comparison: Comparison | None


@dataclass(frozen=True, eq=False)
class Found:
    """What the page shows: the citations of the systems that have answers and how they differ; `rows` of the diff, the
    worst first. `alarms` say whose numbers mean nothing; where nobody's do, nothing is `measured`."""

    cited: dict[str, CitedAnswers]
    diff: CitationDiff
    rows: NDArray[np.int64]
    alarms: tuple[Problem, ...]
    measured: Measured | None

    @property
    def ids(self) -> NDArray[np.str_]:
        """The questions in the order of the page."""
        return self.diff.query_ids[self.rows]

    def __len__(self) -> int:
        return len(self.rows)


def gathered(view: View) -> Found | None:
    """Everything the page shows; None where no system on the screen has answers."""
    cited = answers.citing(view)
    if not cited:
        return None
    diff = _diff(view.data_set.digest, repr(view.state.settings), tuple(cited), cited)
    rows = diff.worst_first(view.state.by if len(cited) > 1 else "a")
    wrong = alarms(view)
    return Found(cited, diff, rows, wrong, _measured(view, len(cited)) if len(wrong) < len(cited) else None)


def _measured(view: View, systems: int) -> Measured:
    data_set, settings, terms = view.data_set, view.state.settings, view.state.terms
    scores, specs = _scored(data_set.digest, repr(settings), data_set, settings)
    if systems < 2:
        return Measured(scores, specs, None)
    key = repr((settings, terms))
    return Measured(scores, specs, _compared(data_set.digest, key, view.systems, scores, specs, terms))


def alarms(view: View) -> tuple[Problem, ...]:
    """Why the citation numbers of systems on the screen mean nothing; none where the reading fits."""
    settings, wrong = view.state.settings, []
    for name, one in answers.citing(view).items():
        auto = None if len(one.answer) else cache.cited_of(view.data_set, name, "auto")
        wrong.append(misfit(name, one, settings, auto))
    return tuple(one for one in wrong if one is not None)


@st.cache_resource(max_entries=16, show_spinner="Counting the citations …")
def _scored(digest: str, key: str, _set: DataSet, _settings: Settings) -> tuple[Scores, tuple[Spec, ...]]:
    names = [*METRICS, AGAINST_JUDGMENTS] if _set.inputs.judgments is not None else METRICS
    specs = _settings.specs(names)
    return evaluate(_set.inputs, specs, _settings), specs


@st.cache_resource(max_entries=32, show_spinner=False)
def _compared(
    digest: str, key: str, pair: tuple[str, ...], _scores: Scores, _specs: tuple[Spec, ...], _terms: Terms
) -> Comparison:
    return compare(_scores, pair[0], pair[1], _specs[VALIDITY], terms=_terms)


@st.cache_resource(max_entries=16, show_spinner=False)
def _diff(digest: str, key: str, systems: tuple[str, ...], _cited: dict[str, CitedAnswers]) -> CitationDiff:
    return citation_diff(list(_cited.values()))


def invalid_targets(view: View, found: Found) -> list[Invented]:
    """The references that name nothing, the most frequent first."""
    key = repr(view.state.settings)
    return _invented(view.data_set.digest, key, tuple(found.cited), found.cited, view.data_set)


@st.cache_resource(max_entries=16, show_spinner="Looking for causes …")
def _invented(
    digest: str, key: str, systems: tuple[str, ...], _cited: dict[str, CitedAnswers], _set: DataSet
) -> list[Invented]:
    return invented(_cited, _set.inputs)
