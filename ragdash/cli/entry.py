"""`ragdash COMMAND …`: the arguments, and what every command shares: exit codes, messages, no traceback."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from typing import NamedTuple

import ragdash
from ragdash.problems import InputError, Problem


class Command(NamedTuple):
    """A command: the module that runs it, what it is for, and whether it reads tables."""

    module: str
    purpose: str
    tables: bool = False


COMMANDS = {
    "score": Command("ragdash.cli.score", "score runs against judgments", tables=True),
    "compare": Command("ragdash.cli.compare", "compare a candidate with a baseline, question by question", tables=True),
    "report": Command("ragdash.cli.report", "make one HTML file of a saved result, to share"),
    "metrics": Command("ragdash.cli.listing", "list the metrics and what they mean"),
    "formats": Command("ragdash.cli.listing", "list the file formats that are read"),
    "styles": Command("ragdash.cli.listing", "list the citation styles that are found"),
    "app": Command("ragdash.cli.app", "open the pages in a browser"),
}
DONE, BAD_INPUT, STOPPED = 0, 2, 130


def main(arguments: Sequence[str] | None = None, own_process: bool = False) -> int:
    """Run one command. Returns 0 when done and 2 for bad input or usage; results go to stdout, the rest to stderr.

    `own_process` says that nothing but this command will run, which lets it start quicker.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="ragdash",
        description="Did the new retriever really get better, for whom, and does the answer still cite honestly?",
    )
    parser.add_argument("--version", action="version", version=f"ragdash {ragdash.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, purpose, _) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
        if name in given[:1]:
            importlib.import_module(module).add_arguments(command, name)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    options = parser.parse_args(given)
    try:
        if own_process and COMMANDS[options.command].tables:
            _leave_pandas_out()
        return int(importlib.import_module(COMMANDS[options.command].module).run(options))
    except InputError as error:
        if options.debug:
            raise
        _show_errors(error.problems, getattr(options, "format", "table"))
        return BAD_INPUT
    except BrokenPipeError:
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        print("ragdash: stopped", file=sys.stderr)
        return STOPPED
    except OSError as error:
        if options.debug:
            raise
        print(f"ragdash: {error.filename or 'output'}: {error.strerror or error}. Check the place.", file=sys.stderr)
        return BAD_INPUT
    except Exception as error:
        if options.debug:
            raise
        print(f"ragdash: {type(error).__name__}: {error} (this is our fault; --debug shows where)", file=sys.stderr)
        return BAD_INPUT


class _NoPandas:
    """An import finder that finds no pandas."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


def _leave_pandas_out() -> None:
    """pyarrow imports pandas, which takes longer than scoring, as soon as it meets a number: let it find none."""
    pyarrow = importlib.import_module("pyarrow")
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pyarrow.scalar(0)
    finally:
        sys.meta_path.remove(finder)


def _show_errors(problems: Sequence[Problem], form: str) -> None:
    if form == "json":
        print(json.dumps({"schema": 1, "problems": [problem.as_record() for problem in problems]}, ensure_ascii=False))
    for problem in problems:
        print(f"ragdash: {problem}", file=sys.stderr)
