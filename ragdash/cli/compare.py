"""`ragdash compare A B --judgments FILE`: is the candidate B better than the baseline A?"""

from __future__ import annotations

import argparse
import json
import textwrap
from dataclasses import asdict
from typing import Any

from ragdash.api import compare_tables
from ragdash.cli.shared import add_shared_arguments, columns, load, number, plain, save, settings_of, warn
from ragdash.comparison import Comparison, Difference, Terms
from ragdash.inputs import Inputs
from ragdash.problems import refuse
from ragdash.verdict import percent, within_range


def add_arguments(parser: argparse.ArgumentParser, _: str) -> None:
    """The arguments of `ragdash compare`."""
    parser.add_argument("baseline", metavar="A", help="run or answers file of the baseline; NAME=path names it")
    parser.add_argument("candidate", metavar="B", help="run or answers file of the candidate")
    add_shared_arguments(parser)
    parser.add_argument("--primary", metavar="NAME", help="the metric the verdict is about (default nDCG@10)")
    parser.add_argument(
        "--margin", type=float, default=0.01, help="the smallest difference that matters (default 0.01)"
    )
    parser.add_argument(
        "--ci", choices=("auto", "t", "padded", "skew", "bootstrap"), default="auto", help="interval method"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="what stdout gets")
    parser.add_argument("--save", metavar="RESULT", help="also keep everything in one file; see: ragdash report")


def run(options: argparse.Namespace) -> int:
    """Compare two files and print the verdict."""
    terms = Terms(options.margin, options.confidence, options.ci)
    inputs = load(options, [options.baseline, options.candidate], digests=options.save is not None)
    names = inputs.systems
    if len(names) != 2:
        raise refuse("compare", f"the files hold {len(names)} systems ({', '.join(names)})", "Give one system a file")
    comparison = compare_tables(
        inputs, *names, metrics=options.metrics, primary=options.primary, terms=terms, settings=settings_of(options)
    )
    problems = [*inputs.problems, *comparison.problems]
    warn(problems)
    if options.save is not None:
        keep(options.save, comparison, inputs)
    print(as_table(comparison) if options.format == "table" else as_json(comparison, [p.as_record() for p in problems]))
    return 0


def keep(path: str, comparison: Comparison, inputs: Inputs) -> None:
    """Write the result file."""
    from ragdash.results.writing import write_result  # here, since Parquet slows every start

    if path == "-":
        raise refuse("--save", "stdout gets the comparison already", "Name a file, such as result.ragdash")
    save(path, write_result(comparison, inputs))


def as_table(comparison: Comparison) -> str:
    """For reading: the verdict first, then a line a metric, then what to keep in mind."""
    terms = comparison.terms
    head = [
        "metric",
        "A",
        "B",
        "B - A",
        f"{percent(terms.confidence)} interval",
        "p",
        "better",
        "equal",
        "worse",
        "verdict",
    ]
    rows = [_line(one) for one in comparison.metrics.values()]
    said = [wrapped(f"{spec}: {text}") for spec, one in comparison.metrics.items() for text in one.warnings]
    words = [comparison.badge, comparison.sentence, comparison.in_answers, comparison.decision]
    parts = [
        "\n".join(wrapped(text) for text in words if text),
        f"A {comparison.baseline} · B {comparison.candidate}",
        columns([head, *rows]),
    ]
    return "\n\n".join([*parts, *(["\n".join(said)] if said else [])])


def wrapped(text: str) -> str:
    """A text as lines of a readable length."""
    return textwrap.fill(text, 110, subsequent_indent="  ")


def _line(one: Difference) -> list[str]:
    interval, p = one.interval, one.shown_p
    spread = " to ".join(number(edge, "+.4f") for edge in within_range(one.spec, interval.low, interval.high))
    said = "–" if p is None else ("<0.001" if p < 0.001 else f"{p:.3f}")
    means = [number(one.baseline), number(one.candidate), number(one.difference, "+.4f")]
    counts = [f"{count:,}" for count in (interval.wins, interval.ties, interval.losses)]
    return [str(one.spec), *means, spread, said, *counts, one.verdict or "–"]


def as_json(comparison: Comparison, problems: list[Any]) -> str:
    """The whole result, unrounded; undefined values are null."""
    settings = asdict(comparison.scores.settings) | asdict(comparison.terms)
    return json.dumps(
        plain(
            {
                "schema": 1,
                "baseline": comparison.baseline,
                "candidate": comparison.candidate,
                "primary": str(comparison.primary),
                "badge": comparison.badge,
                "sentence": comparison.sentence,
                "in_answers": comparison.in_answers,
                "decision": comparison.decision,
                "metrics": {str(spec): _record(one) for spec, one in comparison.metrics.items()},
                "settings": settings,
                "problems": problems,
            }
        ),
        ensure_ascii=False,
        allow_nan=False,
    )


def _record(one: Difference) -> dict[str, Any]:
    interval = one.interval
    return {
        "layer": one.spec.metric.layer,
        "direction": one.spec.metric.direction,
        "baseline": one.baseline,
        "candidate": one.candidate,
        "difference": one.difference,
        "low": interval.low,
        "high": interval.high,
        "p": one.shown_p,
        "n": interval.n,
        "changed": interval.changed,
        "wins": interval.wins,
        "ties": interval.ties,
        "losses": interval.losses,
        "method": interval.method,
        "bootstrap_low": one.bootstrap[0],
        "bootstrap_high": one.bootstrap[1],
        "verdict": one.verdict,
        "missing_baseline": one.missing[0],
        "missing_candidate": one.missing[1],
        "n_common": one.common[0],
        "difference_common": one.common[1],
        "warnings": list(one.warnings),
    }
