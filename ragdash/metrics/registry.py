"""What a metric is, how one is registered, and how a name such as `nDCG(gain=exp)@10` is read and printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragdash.problems import InputError, Problem, nearest, refuse, shorten
from ragdash.registry import Entry, Registry, explanation_of

Floats = NDArray[np.float64]
Value = float | str | bool | None
Layer = Literal["retrieval", "generation", "end to end"]
Direction = Literal["higher", "lower", "none"]


def ratio(part: Floats, whole: Floats | float) -> Floats:
    """part ÷ whole, NaN where whole is 0."""
    divisor = np.broadcast_to(np.asarray(whole, dtype=float), part.shape)
    return np.asarray(np.divide(part, divisor, out=np.full(part.shape, np.nan), where=divisor != 0))


@dataclass(frozen=True)
class Option:
    """A setting inside a metric's name, such as `gain` in `nDCG(gain=exp)@10`.

    `choices` are the values allowed; without choices it is a number, or a truth value where the default is one.
    """

    name: str
    default: Value
    meaning: str
    choices: tuple[Value, ...] = ()

    def read(self, text: str) -> Value:
        """The value typed; raises InputError when it is none of the choices or not a number."""
        text = text.strip().strip("'\"")
        if isinstance(self.default, bool):
            if text.casefold() in ("true", "false", "1", "0"):
                return text.casefold() in ("true", "1")
            raise refuse(f"metric option {self.name}", f"{text!r} is neither True nor False", "Write True or False")
        for choice in self.choices:
            if _show(choice) == text:
                return choice
        if self.choices:
            raise refuse(f"metric option {self.name}", f"there is no {text!r}", nearest(text, map(_show, self.choices)))
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not np.isfinite(number):
            raise refuse(f"metric option {self.name}", f"{text!r} is not a number", "Write a number, such as 2")
        return number


@dataclass(frozen=True)
class Metric(Entry):
    """A registered metric. `function` takes RankedLists or CitedAnswers and the options, and gives one float each.

    `takes` says which; `cutoff` whether `@k` may or must follow the name; `span` the lowest and highest value, None
    where there is none; `absent` what a judged query that a run lacks counts under missing=zero (lists only); `needs`
    the columns of the answers without which it is undefined.
    """

    function: Callable[..., Floats]
    layer: Layer
    direction: Direction
    takes: Literal["lists", "answers", "scores"]
    cutoff: Literal["required", "optional", "none"] = "none"
    options: tuple[Option, ...] = ()
    aliases: tuple[str, ...] = ()
    span: tuple[float, float] | None = (0.0, 1.0)
    absent: float = 0.0
    trec_name: str = ""
    needs: tuple[str, ...] = ()


METRICS: Registry[Metric] = Registry("metric", "ragdash.metrics", first=("retrieval", "citation"))


def metric(
    name: str,
    *,
    label: str,
    layer: Layer,
    takes: Literal["lists", "answers"],
    direction: Direction = "higher",
    **facts: Any,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register the decorated function as a metric; its docstring becomes the explanation users read."""

    def register(function: Callable[..., Floats]) -> Callable[..., Floats]:
        METRICS.add(
            Metric(
                name=name,
                label=label,
                explanation=explanation_of(function),
                function=function,
                layer=layer,
                direction=direction,
                takes=takes,
                **facts,
            ),
            function.__module__,
        )
        return function

    return register


@dataclass(frozen=True)
class Spec:
    """A metric with its options and cutoff: what a name such as `P(rel=2)@5` says.

    >>> spec = parse("ndcg_cut_10")
    >>> str(spec), spec.k
    ('nDCG@10', 10)
    >>> str(parse("nDCG(dcg='exp-log2')@10"))
    'nDCG(gain=exp)@10'
    """

    metric: Metric
    k: int | None = None
    options: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        inside = ",".join(f"{name}={_show(value)}" for name, value in self.options)
        return self.metric.name + (f"({inside})" if inside else "") + ("" if self.k is None else f"@{self.k}")

    def __hash__(self) -> int:
        return hash(str(self))

    def option(self, name: str) -> Value:
        """The value of an option, its default where the name does not say."""
        defaults: dict[str, Value] = {option.name: option.default for option in self.metric.options}
        return (defaults | dict(self.options))[name]

    def having(self, name: str, value: Value) -> Spec:
        """The same metric with an option set, if it has that option."""
        defaults: dict[str, Value] = {option.name: option.default for option in self.metric.options}
        if name not in defaults:
            return self
        return replace(self, options=_differing(defaults | dict(self.options) | {name: value}, defaults))

    def compute(self, source: Any) -> Floats:
        """The metric of every list of a RankedLists, or of every answer of a CitedAnswers; NaN where undefined.

        Lists come whole: they are condensed (`judged_only`) and cut at k here, before the metric sees them.
        """
        options = dict(self.options)
        if self.metric.takes == "lists":
            source = source.judged_only() if options.pop("judged_only", False) else source
            source = source.cut(self.k)
        return self.metric.function(source, **options)


def _brought_in(_: Any) -> Floats:
    """A score another tool gave, read from a file as it is."""
    raise TypeError("a brought-in score is read, never computed")


LOWER_IS_BETTER = ("latency_ms", "cost_usd")


def brought_in_name(column: str) -> str:
    """What a score that came with the files is called: as there, with `brought/` in front where a metric of ours has
    that name.

    >>> brought_in_name("latency_ms"), brought_in_name("AP")
    ('latency_ms', 'brought/AP')
    """
    try:
        parse(column)
    except InputError:
        return column
    return f"brought/{column}"


def brought_in(name: str) -> Spec:
    """The entry of a score that came with the files; which direction is better is known for latency and cost only.

    >>> brought_in("latency_ms").metric.direction, brought_in("ragas/faithfulness").metric.direction
    ('lower', 'none')
    """
    direction: Direction = "lower" if name in LOWER_IS_BETTER else "none"
    entry = Metric(name, name, explanation_of(_brought_in), _brought_in, "end to end", direction, "scores", span=None)
    return Spec(entry)


NAME = re.compile(
    r"\s*(?P<base>[A-Za-z][A-Za-z_\-]*?)(?:_cut)?(?:\((?P<options>[^()]*)\))?(?:[@_.](?P<k>-?[0-9][0-9.]*))?\s*$"
)
LONGEST_CUTOFF = 9
FOREIGN_OPTIONS = {("dcg", "exp-log2"): "gain=exp", ("dcg", "log2"): "gain=linear"}


def parse(name: str, silent: Mapping[str, Value] | None = None) -> Spec:
    """Read one metric name, in our notation, ir_measures', trec_eval's or plain words.

    `silent` holds what an option is where the name does not say.
    Raises InputError for an unknown metric (the nearest names are offered), option, value or cutoff.

    >>> [str(parse(name)) for name in ("map", "mrr@10", "P_5", "recall_100", "Success@5", "precision@10")]
    ['AP', 'RR@10', 'P@5', 'R@100', 'Hit@5', 'P@10']
    """
    match = NAME.match(name)
    if not match:
        raise refuse("metric", f"{name!r} cannot be read", "Write a name such as nDCG@10 or P(rel=2)@5")
    found = _by_name(match["base"])
    chosen = _options(found, match["options"] or "", name)
    defaults: dict[str, Value] = {option.name: option.default for option in found.options}
    full = defaults | {key: value for key, value in (silent or {}).items() if key in defaults} | chosen
    return Spec(found, _cutoff(found, match["k"], name), _differing(full, defaults))


def parse_all(names: str | Iterable[str | Spec], silent: Mapping[str, Value] | None = None) -> tuple[Spec, ...]:
    """Read several names, given as a list or as one text with blanks or commas between them; repeats are dropped.

    >>> [str(spec) for spec in parse_all("nDCG@10, P(rel=2,judged_only=True)@5 AP map")]
    ['nDCG@10', 'P(judged_only=True,rel=2)@5', 'AP']
    """
    specs: list[Spec] = []
    problems: list[Problem] = []
    for text in split_names(names) if isinstance(names, str) else names:
        try:
            specs.append(text if isinstance(text, Spec) else parse(text, silent))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(dict.fromkeys(specs))


def split_names(text: str) -> list[str]:
    """The names in a text, with blanks or commas between them but not inside their brackets.

    >>> split_names("nDCG@10, P(rel=2, judged_only=True)@5 AP")
    ['nDCG@10', 'P(rel=2, judged_only=True)@5', 'AP']
    """
    return re.findall(r"(?:\([^()]*\)|[^\s,(])+", text)


def _by_name(base: str) -> Metric:
    folded = base.casefold().replace("-", "_")
    for entry in METRICS:
        if folded in (entry.name.casefold(), *(alias.casefold() for alias in entry.aliases)):
            return entry
    aliases = {alias: entry.name for entry in METRICS for alias in entry.aliases}
    raise refuse("metric", f"there is no metric {base!r}", nearest(base, METRICS.names(), spellings=aliases))


def _cutoff(found: Metric, text: str | None, name: str) -> int | None:
    if text is None:
        if found.cutoff == "required":
            raise refuse("metric", f"{name!r} has no cutoff", f"Write {found.name}@10, for the first ten")
        return None
    if found.cutoff == "none":
        raise refuse("metric", f"{found.name} takes no cutoff, found @{text}", f"Write {found.name}")
    if not text.isdecimal() or not text.isascii() or len(text) > LONGEST_CUTOFF or int(text) < 1:
        mend = "Write a whole number of 1 or more, such as @10"
        raise refuse("metric", f"the cutoff of {shorten(name, 60)} is {shorten(text, 20)[1:-1]}", mend)
    return int(text)


def _differing(options: Mapping[str, Value], defaults: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted((key, value) for key, value in options.items() if value != defaults[key]))


def _options(found: Metric, text: str, name: str) -> dict[str, Value]:
    known = {option.name: option for option in found.options}
    chosen: dict[str, Value] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        translated = FOREIGN_OPTIONS.get((key, value.strip("'\"")))
        if translated:
            key, equals, value = translated.partition("=")
        if key not in known or not equals:
            hint = nearest(key, known) if known else f"{found.name} has no options"
            raise refuse("metric", f"{name!r} has an unknown option {part!r}", hint)
        if key in chosen:
            raise refuse("metric", f"{name!r} sets {key} twice", "Set it once")
        chosen[key] = known[key].read(value)
    return chosen


def _show(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
