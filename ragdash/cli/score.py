"""`ragdash score RUN… --judgments FILE`: every metric of every run, in total and a question at a time."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdash.cli.shared import add_shared_arguments, columns, load, number, plain, settings_of, warn
from ragdash.evaluation import evaluate
from ragdash.metrics.registry import Floats, Spec
from ragdash.scores import Scores
from ragdash.spreadsheet import neutral

if TYPE_CHECKING:
    from ragdash.summary import Summary


def add_arguments(parser: argparse.ArgumentParser, _: str) -> None:
    """The arguments of `ragdash score`."""
    parser.add_argument(
        "files", nargs="+", metavar="RUN", help="run or answers file; NAME=path names the system; - is stdin"
    )
    add_shared_arguments(parser)
    parser.add_argument("--per-query", "-q", action="store_true", help="also a value a question")
    parser.add_argument("--format", choices=tuple(WRITERS), default="table", help="what stdout gets")


def run(options: argparse.Namespace) -> int:
    """Score the files and print the result."""
    inputs = load(options, options.files)
    scores = evaluate(inputs, options.metrics, settings_of(options))
    problems = [*inputs.problems, *scores.problems]
    warn(problems)
    text = WRITERS[options.format](scores, options.per_query, options.confidence, [p.as_record() for p in problems])
    print(text, end="" if text.endswith("\n") else "\n")
    return 0


def summarise(scores: Scores, confidence: float) -> dict[str, dict[Spec, Summary]]:
    """A Summary of every system and metric; its t quantiles are loaded only where a format prints intervals."""
    from ragdash.summary import summarise as summaries_of

    return summaries_of(scores, confidence)


def write_table(scores: Scores, per_query: bool, confidence: float, _: list[Any]) -> str:
    """For reading: a block a system, and a line a question if asked."""
    blocks = []
    for name, summaries in summarise(scores, confidence).items():
        head = ["metric", "mean", f"{100 * confidence:.6g}% interval", "median", "p10", "p90", "ties", "n", "missing"]
        blocks.append(f"{name}\n{columns([head, *(_line(spec, one) for spec, one in summaries.items())])}")
        if per_query:
            blocks.append(columns([["query", *map(str, scores.specs)], *_query_lines(scores, name)]))
    return "\n\n".join(blocks)


def _line(spec: Spec, one: Summary) -> list[str]:
    ties = "–" if one.ties_low == one.ties_high or not one.n else f"{one.ties_low:.4f} to {one.ties_high:.4f}"
    lower, upper = spec.metric.span or (float("-inf"), float("inf"))
    interval = f"{number(max(one.ci_low, lower))} to {number(min(one.ci_high, upper))}"
    spread = [number(value) for value in (one.median, one.p10, one.p90)]
    return [str(spec), number(one.mean), interval, *spread, ties, f"{one.n:,}", f"{one.missing:,}"]


def _query_lines(scores: Scores, system: str) -> Iterator[list[str]]:
    values = scores.systems[system].values
    for at in np.flatnonzero(~np.isnan(values).all(axis=0)):
        yield [str(scores.query_ids[at]), *(number(float(value)) for value in values[:, at])]


def write_json(scores: Scores, per_query: bool, confidence: float, problems: list[Any]) -> str:
    """The whole result, unrounded; undefined values are null."""
    summaries = summarise(scores, confidence)
    result: dict[str, Any] = {
        "schema": 1,
        "systems": {name: {str(s): asdict(one) for s, one in by_spec.items()} for name, by_spec in summaries.items()},
    }
    if per_query:
        result["per_query"] = {name: dict(_query_values(scores, name)) for name in scores.systems}
        result["ties"] = {name: dict(_tie_values(scores, name)) for name in scores.systems}
    result["problems"] = problems
    return json.dumps(plain(result), ensure_ascii=False, allow_nan=False)


def _query_values(scores: Scores, system: str) -> Iterator[tuple[str, dict[str, float]]]:
    names, values = [str(spec) for spec in scores.specs], scores.systems[system].values
    for at in np.flatnonzero(~np.isnan(values).all(axis=0)):
        yield str(scores.query_ids[at]), dict(zip(names, values[:, at].tolist(), strict=True))


def _tie_values(scores: Scores, system: str) -> Iterator[tuple[str, dict[str, list[float]]]]:
    """For each question that ties can change, the lowest and highest value of the metrics they change."""
    one = scores.systems[system]
    for column, at in enumerate(one.tied.tolist()):
        open_ = np.flatnonzero(one.tie_low[:, column] < one.tie_high[:, column])
        ranges = {str(scores.specs[r]): [float(one.tie_low[r, column]), float(one.tie_high[r, column])] for r in open_}
        if ranges:
            yield str(scores.query_ids[at]), ranges


def write_csv(scores: Scores, per_query: bool, confidence: float, _: list[Any]) -> str:
    """One row a system and metric, or a system and question."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if per_query:
        writer.writerow(["system", "query_id", *map(str, scores.specs)])
        for name in scores.systems:
            for query, values in _query_values(scores, name):
                writer.writerow([neutral(name), neutral(query), *(neutral(value) for value in values.values())])
        return out.getvalue()
    summaries = summarise(scores, confidence)
    fields = [field.name for field in dataclasses.fields(next(iter(next(iter(summaries.values())).values())))]
    writer.writerow(["system", "metric", *fields])
    for name, by_spec in summaries.items():
        for spec, one in by_spec.items():
            writer.writerow([neutral(name), str(spec), *(neutral(value) for value in asdict(one).values())])
    return out.getvalue()


def write_trec_eval(scores: Scores, per_query: bool, _confidence: float, _: list[Any]) -> str:
    """trec_eval's own layout: measure, question, value to four digits."""
    lines = []
    for name, one in scores.systems.items():
        if per_query:
            for at in np.flatnonzero(~np.isnan(one.values).all(axis=0)):
                lines += _trec_lines(scores, str(scores.query_ids[at]), one.values[:, at])
        lines += [f"{'runid':<22}\tall\t{name}", f"{'num_q':<22}\tall\t{_counted(scores, name)}"]
        known = ~np.isnan(one.values)
        total = np.where(known, one.values, 0.0).sum(axis=1)
        lines += _trec_lines(
            scores, "all", np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)
        )
    return "\n".join(lines)


def _counted(scores: Scores, system: str) -> int:
    lists = [row for row, spec in enumerate(scores.specs) if spec.metric.takes == "lists"]
    return int((~np.isnan(scores.systems[system].values[lists or slice(None)])).any(axis=0).sum())


def _trec_lines(scores: Scores, query: str, values: Floats) -> list[str]:
    """A line a metric; undefined values have none, as in trec_eval."""
    pairs = zip(scores.specs, values.tolist(), strict=True)
    return [f"{trec_name(spec):<22}\t{query}\t{value:6.4f}" for spec, value in pairs if value == value]


def trec_name(spec: Spec) -> str:
    """The name trec_eval gives a metric, ours where it has none.

    >>> from ragdash.metrics.registry import parse
    >>> [trec_name(parse(name)) for name in ("nDCG@10", "AP", "P@5", "RR", "P(rel=2)@5")]
    ['ndcg_cut_10', 'map', 'P_5', 'recip_rank', 'P(rel=2)@5']
    """
    if spec.options or not spec.metric.trec_name:
        return str(spec)
    if spec.k is None:
        return spec.metric.trec_name
    cut = "_cut" if spec.metric.cutoff == "optional" and spec.metric.name in ("nDCG", "AP", "RR") else ""
    return f"{spec.metric.trec_name}{cut}_{spec.k}"


WRITERS = {"table": write_table, "json": write_json, "csv": write_csv, "trec_eval": write_trec_eval}
