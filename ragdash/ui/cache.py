"""The only two things that are kept: parsed data sets and what was computed of them, both under a content digest.

Kept objects are shared by all sessions and never changed. A cached function takes the digest and the settings as its
key; the tables travel beside it in an argument that is not hashed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import streamlit as st

from ragdash.cited import CitedAnswers
from ragdash.citing import cite
from ragdash.comparison import Comparison, Terms, companions, compare
from ragdash.drilldown import Drilldown, drill
from ragdash.evaluation import chosen_specs, evaluate
from ragdash.inputs import Inputs
from ragdash.metrics.registry import Spec
from ragdash.scores import Scores
from ragdash.settings import Settings

KEPT_SETS = 8


@dataclass(frozen=True, eq=False)
class DataSet:
    """Files read together: `digest` names them in links ("" for the sample), `a` and `b` the systems to start with."""

    digest: str
    inputs: Inputs
    a: str
    b: str


@dataclass
class Shelf:
    """The last few data sets that anybody uploaded, so that a link opens in another session; oldest out first."""

    sets: OrderedDict[str, DataSet] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, one: DataSet) -> None:
        """Keep a data set."""
        with self.lock:
            self.sets[one.digest] = one
            self.sets.move_to_end(one.digest)
            while len(self.sets) > KEPT_SETS:
                self.sets.popitem(last=False)

    def get(self, digest: str) -> DataSet | None:
        """The data set of this digest, if it is still here."""
        with self.lock:
            return self.sets.get(digest)


@st.cache_resource
def shelf() -> Shelf:
    """The one shelf of this server."""
    return Shelf()


def scores_of(data_set: DataSet, settings: Settings, metric: str) -> Scores:
    """Per-query scores of every system on the default metrics and `metric`."""
    return _scores(data_set.digest, repr(settings), _beyond_default(data_set, settings, metric), data_set, settings)


def comparison_of(
    data_set: DataSet, settings: Settings, terms: Terms, pair: tuple[str, str], metric: str
) -> Comparison:
    """Two systems compared on the default metrics and `metric`, with the verdict about that one."""
    return _comparison(data_set.digest, repr(settings), repr(terms), pair, metric, data_set, settings, terms)


def drilldown_of(data_set: DataSet, settings: Settings, query_id: str, systems: tuple[str, ...]) -> Drilldown:
    """One question's ranked lists."""
    return _drilldown(data_set.digest, settings.ties, query_id, systems, data_set, settings)


def cited_of(data_set: DataSet, system: str, style: str, pattern: str | None = None) -> CitedAnswers:
    """All citations of one system's answers, with what the judgments say of the documents."""
    return _cited(data_set.digest, system, style, pattern, data_set)


def shown_specs(data_set: DataSet, settings: Settings, metric: str) -> tuple[Spec, ...]:
    """The default metrics that these tables allow, and `metric`."""
    default = chosen_specs(data_set.inputs, None, settings)
    return tuple(dict.fromkeys([*default, *chosen_specs(data_set.inputs, [metric], settings)]))


def _beyond_default(data_set: DataSet, settings: Settings, metric: str) -> str:
    """`metric`, or "" where it is scored anyway: so that another choice among the default ones scores nothing anew."""
    asked = chosen_specs(data_set.inputs, [metric], settings)[0]
    return "" if asked in chosen_specs(data_set.inputs, None, settings) else metric


@st.cache_resource(max_entries=16, show_spinner="Scoring every question …")
def _scores(digest: str, key: str, extra: str, _set: DataSet, _settings: Settings) -> Scores:
    default = chosen_specs(_set.inputs, None, _settings)
    specs = shown_specs(_set, _settings, extra) if extra else default
    return evaluate(_set.inputs, companions(specs), _settings)


@st.cache_resource(max_entries=32, show_spinner="Comparing the two systems …")
def _comparison(
    digest: str, key: str, terms: str, pair: tuple[str, str], metric: str,
    _set: DataSet, _settings: Settings, _terms: Terms,
) -> Comparison:  # fmt: skip
    primary = chosen_specs(_set.inputs, [metric], _settings)[0]
    shown = shown_specs(_set, _settings, metric)
    return compare(scores_of(_set, _settings, metric), *pair, primary, shown=shown, terms=_terms)


@st.cache_resource(max_entries=64, show_spinner=False)
def _drilldown(
    digest: str, ties: str, query_id: str, systems: tuple[str, ...], _set: DataSet, _settings: Settings
) -> Drilldown:
    return drill(_set.inputs, query_id, systems, _settings.ties)


@st.cache_resource(max_entries=16, show_spinner="Reading the citations …")
def _cited(digest: str, system: str, style: str, pattern: str | None, _set: DataSet) -> CitedAnswers:
    found = cite(_set.inputs.answers[system], style, pattern)
    return found if _set.inputs.judgments is None else found.with_judgments(_set.inputs.judgments)
