"""The robustness strip: does the verdict hang on a choice that another evaluator would have made differently?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ragdash.comparison import Comparison, Terms, compare
from ragdash.evaluation import evaluate
from ragdash.matching import Ties
from ragdash.metrics.registry import Spec
from ragdash.scores import Scores, SystemScores
from ragdash.settings import Policy, Settings
from ragdash.tables import Tables
from ragdash.tipping import side_of
from ragdash.verdict import BADGES, Verdict

CUTOFFS = (3, 5, 20)
METHODS = {"t": "the plain t interval", "bootstrap": "the bootstrap interval"}
POLICIES: dict[Policy, str] = {"zero": "counting {} 0", "skip": "leaving out {}"}


@dataclass(frozen=True)
class Choice:
    """The comparison with one thing chosen otherwise, in words; `agrees` says that the verdict favours the same system
    (or still none). `difference` is the mean of candidate − baseline over `n` questions."""

    words: str
    verdict: Verdict | None
    difference: float
    n: int
    agrees: bool


@dataclass(frozen=True)
class Robustness:
    """The verdict on one metric and what it is under every choice that changes anything here."""

    verdict: Verdict | None
    choices: tuple[Choice, ...]
    names: tuple[str, str]

    @property
    def agreeing(self) -> int:
        """How many choices agree. A count of choices, not a probability: they are no random sample."""
        return sum(choice.agrees for choice in self.choices)

    @property
    def sentence(self) -> str:
        """How many choices agree, and which do not."""
        total, dissent = len(self.choices), [one for one in self.choices if not one.agrees]
        if not total:
            return "No other choice of method changes anything here."
        if not dissent:
            return "The one other choice agrees." if total == 1 else f"All {total} other choices agree."
        badges = [self._badge(one.verdict) for one in dissent]
        if len(dissent) == 1:
            return f"{self.agreeing} of {total} choices agree; {dissent[0].words} does not ({badges[0]})."
        same = len(set(badges)) == 1
        said = [one.words + ("" if same else f" ({said})") for one, said in zip(dissent, badges, strict=True)]
        listed = f"{', '.join(said[:-1])} and {said[-1]} do not"
        return f"{self.agreeing} of {total} choices agree; {listed}{f' ({badges[0]})' if same else ''}."

    def _badge(self, verdict: Verdict | None) -> str:
        if verdict is None:
            return "no verdict"
        text = BADGES[verdict]
        text = text if text.startswith("{") else text[0].lower() + text[1:]
        return text.format(baseline=self.names[0], candidate=self.names[1])


def robustness(tables: Tables, comparison: Comparison) -> Robustness:
    """The verdict on the primary metric under the other gain, cutoffs, ties, policies and interval methods.

    Choices under which no question's value and no interval changes are left out, such as the gain of binary grades.
    `tables` are those the comparison was made from. Every choice changes one thing and keeps the rest.
    """
    names = (comparison.baseline, comparison.candidate)
    base = comparison.metrics[comparison.primary]
    if base.verdict is None:
        return Robustness(None, (), names)
    choices = []
    for words, scores, spec, terms in _alternatives(tables, comparison):
        if terms == comparison.terms and not _changed(comparison, scores, spec):
            continue
        one = compare(scores, *names, spec, shown=[spec], terms=terms).metrics[spec]
        if terms != comparison.terms and one.interval.method == base.interval.method:
            continue
        agrees = side_of(one.verdict) == side_of(base.verdict)
        choices.append(Choice(words, one.verdict, one.difference, one.interval.n, agrees))
    return Robustness(base.verdict, tuple(choices), names)


Alternative = tuple[str, Scores, Spec, Terms]


def _alternatives(tables: Tables, comparison: Comparison) -> Iterator[Alternative]:
    """Every choice in words, with the scores, the metric and the terms it leads to."""
    spec, scores, terms = comparison.primary, comparison.scores, comparison.terms
    variants = dict(_variants(spec, scores.positive_only))
    if variants:
        measured = evaluate(_needed(tables, comparison, scores.settings), list(variants.values()), scores.settings)
        for words, variant in variants.items():
            yield words, measured, variant, terms
    for words, settings in _other_settings(tables, comparison):
        yield words, evaluate(_needed(tables, comparison, settings), [spec], settings), spec, terms
    yield from ((words, extreme, spec, terms) for words, extreme in _tie_extremes(comparison))
    for method, words in METHODS.items():
        yield words, scores, spec, replace(terms, method=method)


def _variants(spec: Spec, positive_only: bool) -> Iterator[tuple[str, Spec]]:
    """The primary metric with another option or cutoff."""
    options = {option.name: option for option in spec.metric.options}
    if "gain" in options:
        others = [gain for gain in options["gain"].choices if gain != spec.option("gain")]
        yield from ((f"gain = {gain}", spec.having("gain", gain)) for gain in others)
    if spec.k is not None:
        yield from ((f"k = {k}", replace(spec, k=k)) for k in CUTOFFS if k != spec.k)
    if "judged_only" in options and not positive_only and not spec.option("judged_only"):
        yield "judged documents only", spec.having("judged_only", True)
    if "empty" in options:
        for empty in (None, 0.0, 1.0):
            if empty != spec.option("empty"):
                words = POLICIES["skip"] if empty is None else f"counting {{}} {empty:g}"
                yield words.format("answers without citation"), spec.having("empty", empty)


def _other_settings(tables: Tables, comparison: Comparison) -> Iterator[tuple[str, Settings]]:
    """The settings with one policy changed, where that could matter."""
    spec, scores = comparison.primary, comparison.scores
    if spec.metric.takes != "lists":
        return
    settings, row = scores.settings, scores.index(spec)
    other: dict[str, Policy] = {"zero": "skip", "skip": "zero"}
    if any(scores.systems[name].absent[row].any() for name in (comparison.baseline, comparison.candidate)):
        turned = other[settings.missing]
        yield POLICIES[turned].format("missing questions"), replace(settings, missing=turned)
    turned = other[settings.no_relevant]
    if _some_hopeless(tables):
        yield POLICIES[turned].format("questions with nothing relevant"), replace(settings, no_relevant=turned)
    if any(len(scores.systems[name].tied) for name in (comparison.baseline, comparison.candidate)):
        ties: Ties = "given" if settings.ties == "doc_id" else "doc_id"
        words = "the order given" if ties == "given" else "document id"
        yield f"breaking ties by {words}", replace(settings, ties=ties)


def _some_hopeless(tables: Tables) -> bool:
    """Whether some judged question has no relevant document."""
    if tables.judgments is None:
        return False
    queries = tables.judgments.column("query_id").dictionary_encode()
    best = np.bincount(
        np.asarray(queries.indices.to_numpy()), weights=np.asarray(tables.judgments.column("grade").to_numpy()) > 0
    )
    return bool((best == 0).any())


def _needed(tables: Tables, comparison: Comparison, settings: Settings) -> Tables:
    """The tables of the two systems; of all where a question missing in any leaves every system."""
    if settings.missing == "skip":
        return tables
    pair = (comparison.baseline, comparison.candidate)
    kept = {
        kind: {name: table for name, table in getattr(tables, kind).items() if name in pair}
        for kind in ("runs", "answers", "scores")
    }
    return Tables(
        runs=kept["runs"], judgments=tables.judgments, answers=kept["answers"],
        queries=tables.queries, documents=tables.documents, scores=kept["scores"],
    )  # fmt: skip


def _tie_extremes(comparison: Comparison) -> Iterator[tuple[str, Scores]]:
    """The scores with every tie broken for one system and against the other."""
    scores, spec, pair = comparison.scores, comparison.primary, (comparison.baseline, comparison.candidate)
    if spec.metric.takes != "lists":
        return
    ranges = [scores.tie_range(name, spec) for name in pair]
    against = ((f"breaking ties against {pair[1]}", (1, 0)), (f"breaking ties against {pair[0]}", (0, 1)))
    for words, edges in against:
        systems = {}
        for name, low_high, edge in zip(pair, ranges, edges, strict=True):
            absent = scores.systems[name].absent[[scores.index(spec)]]
            none = np.zeros((1, 0))
            systems[name] = SystemScores(low_high[edge][None], absent, np.zeros(0, np.int64), none, none)
        yield words, Scores(scores.query_ids, (spec,), systems, scores.settings, (), scores.positive_only)


def _changed(comparison: Comparison, scores: Scores, spec: Spec) -> bool:
    """Whether any counted question has another value in either system."""
    first, second = (
        [where.of(name, metric) for name in (comparison.baseline, comparison.candidate)]
        for where, metric in ((comparison.scores, comparison.primary), (scores, spec))
    )
    paired = [~np.isnan(values[0] + values[1]) for values in (first, second)]
    if not np.array_equal(comparison.scores.query_ids[paired[0]], scores.query_ids[paired[1]]):
        return True
    return any(
        not np.array_equal(before[paired[0]], after[paired[1]]) for before, after in zip(first, second, strict=True)
    )
