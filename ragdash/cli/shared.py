"""What `score` and `compare` have in common: their arguments, how files become scores, how numbers are printed."""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragdash.inputs import Inputs, read_inputs
from ragdash.problems import Problem, refuse
from ragdash.settings import CONFIDENCE, Settings


def add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments about judgments, metrics and conventions."""
    parser.add_argument(
        "--judgments", "-j", action="append", default=[], metavar="FILE", help="file of judgments (qrels)"
    )
    parser.add_argument("--also", action="append", default=[], metavar="FILE", help="questions, documents or answers")
    parser.add_argument("--metrics", "-m", metavar="NAMES", help='such as "nDCG@10 RR AP"; see: ragdash metrics')
    parser.add_argument(
        "--conventions", choices=("ragdash", "classic"), default="ragdash", help="classic: the older harness"
    )
    parser.add_argument("--gain", choices=("linear", "exp"), default="linear", help="what a grade is worth in nDCG")
    parser.add_argument("--missing", choices=("zero", "skip"), default="zero", help="a judged query absent from a run")
    parser.add_argument("--no-relevant", choices=("zero", "skip"), default="zero", help="a query with nothing relevant")
    parser.add_argument(
        "--ties", choices=("doc_id", "rank", "given"), default="doc_id", help="what breaks equal scores"
    )
    parser.add_argument(
        "--empty", choices=("0", "1"), help="citation validity where nothing is cited (default: undefined)"
    )
    parser.add_argument(
        "--repeats", choices=("refuse", "mean"), default="refuse", help="two rows of one query and system"
    )
    parser.add_argument("--style", default="auto", help="how answers cite; see: ragdash styles")
    parser.add_argument("--pattern", metavar="REGEX", help="your own citation pattern, with one group")
    parser.add_argument("--strict", action="store_true", help="refuse a run that lists a document twice")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")


def settings_of(options: argparse.Namespace) -> Settings:
    """The settings that the arguments say."""
    low, high = CONFIDENCE
    if not low <= options.confidence <= high:
        mend = f"Give a share from {low:g} to {high:g}, such as 0.95"
        raise refuse("--confidence", f"it is {options.confidence:g}", mend)
    if options.style != "auto":
        importlib.import_module("ragdash.citations.registry").STYLES[options.style]  # an unknown one is refused
    return Settings(
        missing=options.missing,
        no_relevant=options.no_relevant,
        ties=options.ties,
        gain=options.gain,
        empty=None if options.empty is None else float(options.empty),
        conventions=options.conventions,
        strict=options.strict,
        repeats=options.repeats,
        style=options.style,
        pattern=options.pattern,
    )


def load(options: argparse.Namespace, files: Sequence[str], digests: bool = False) -> Inputs:
    """Read all files named; errors in any of them are raised together."""
    return read_inputs(files, options.judgments, options.also, repeats=options.repeats, digests=digests)


def save(path: str, content: bytes) -> None:
    """Write a file whole or not at all, or stdout where the path is `-`. Raises InputError where it cannot be."""
    if path == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        found = f"it cannot be written ({error.strerror or error})"
        raise refuse(path, found, "Name a file in a folder that exists and has room") from error


def warn(problems: Iterable[Problem]) -> None:
    """Notes and set-aside rows, on stderr."""
    for problem in problems:
        print(f"ragdash: {problem}", file=sys.stderr)


def plain(value: Any) -> Any:
    """A value for JSON: undefined and infinite numbers are null, nothing is rounded."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as an aligned table: the first column to the left, the others to the right.

    >>> print(columns([["metric", "mean"], ["AP", "0.5"]]))
    metric  mean
    AP       0.5
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = (
        [f"{row[0]:{widths[0]}}"] + [f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True)]
        for row in rows
    )
    return "\n".join("  ".join(line).rstrip() for line in lines)


def number(value: float, form: str = ".4f") -> str:
    """A number for reading, a dash where it is undefined."""
    return format(value, form) if math.isfinite(value) else "–"
