"""`ragdash report RESULT --html FILE`: one file that anybody can open, from what `ragdash compare --save` kept."""

from __future__ import annotations

import argparse

from ragdash.cli.shared import save, warn
from ragdash.report.html import html_report
from ragdash.results.reading import read_result
from ragdash.sources import Source


def add_arguments(parser: argparse.ArgumentParser, _: str) -> None:
    """The arguments of `ragdash report`."""
    parser.add_argument("result", metavar="RESULT", help="a file that ragdash compare --save wrote; - is stdin")
    parser.add_argument("--html", metavar="FILE", required=True, help="the report to write; - is stdout")


def run(options: argparse.Namespace) -> int:
    """Read the result and write the report."""
    source = Source.from_stdin() if options.result == "-" else Source.from_path(options.result)
    stored = read_result(source)
    warn(problem for problem in stored.tables.problems if problem.severity == "set aside")
    save(options.html, html_report(stored).encode())
    return 0
