"""Reproduce this number: the command line that prints it again, with the digests of the files it came from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from ragdash.comparison import Terms, default_primary
from ragdash.evaluation import chosen_specs
from ragdash.inputs import FileReport, Inputs, system_name
from ragdash.metrics.registry import Spec, split_names
from ragdash.problems import refuse
from ragdash.settings import Settings

# What a metric's printed name already says, so that no option repeats it: gain, empty, conventions.
POLICIES = ("missing", "no_relevant", "ties", "repeats", "style", "pattern")


def compare_command(
    inputs: Inputs,
    baseline: str,
    candidate: str,
    *,
    metrics: Sequence[Spec],
    primary: Spec,
    settings: Settings | None = None,
    terms: Terms | None = None,
) -> str:
    """`ragdash compare` for two systems, quoted for a POSIX shell, only options that are not the default.

    Comment lines before it hold the SHA-256 of each file. File names are those the files were given under, so run it
    where they lie. Raises InputError where no command line can give these two systems: one was not read from a file, or
    one file holds several systems.
    """
    settings, terms = settings or Settings(), terms or Terms()
    names = (baseline, candidate)
    files = [_file_of(inputs, name) for name in names]
    beside = [file for file in _beside(inputs, names) if file not in files]
    arguments = [_given(file, name) for file, name in zip(files, names, strict=True)]
    options = [*_metrics(inputs, metrics, primary), *_settings(settings), *_terms(terms)]
    return _text("compare", [*files, *beside], [*arguments, *_files(beside, names), *options])


def score_command(inputs: Inputs, *, metrics: Sequence[Spec], settings: Settings | None = None) -> str:
    """`ragdash score` for every system of `inputs`; otherwise as `compare_command`.

    >>> from ragdash.metrics.registry import parse_all
    >>> from ragdash.sources import Source
    >>> from ragdash.inputs import read_inputs
    >>> run = Source.from_bytes("a.run", b"q1 Q0 d1 1 2.5 t" + bytes([10]))
    >>> judged = Source.from_bytes("my qrels", b"q1 0 d1 1" + bytes([10]))
    >>> inputs = read_inputs([run], [judged])
    >>> print(score_command(inputs, metrics=parse_all("AP RR@10")).splitlines()[-1])
    ragdash score a.run --judgments='my qrels' --metrics='AP RR@10'
    """
    settings = settings or Settings()
    files = [file for file in inputs.files if file.systems]
    beside = [file for file in inputs.files if not file.systems]
    arguments = [_given(file, *file.systems[:1]) if len(file.systems) == 1 else _path(file) for file in files]
    options = [*_metrics(inputs, metrics, None), *_settings(settings)]
    return _text("score", [*files, *beside], [*arguments, *_files(beside, inputs.systems), *options])


def _file_of(inputs: Inputs, system: str) -> FileReport:
    """The file of a system that `compare` takes as its own: the one with its run, else with its answers or scores."""
    for kind in ("run", "answers", "scores"):
        for file in inputs.files:
            if file.systems == (system,) and kind in file.rows:
                return file
    if any(system in file.systems for file in inputs.files):
        found = f"{system} stands in one file with other systems, and compare takes one system a file"
        raise refuse("reproduce", found, "Split the file by its column system, or by its tag")
    raise refuse("reproduce", f"{system} was not read from a file", "Load its file")


def _beside(inputs: Inputs, names: tuple[str, ...]) -> Iterator[FileReport]:
    """The files of no system, and further ones of these systems; those of other systems are left out."""
    for file in inputs.files:
        if not file.systems or set(file.systems) <= set(names):
            yield file


def _files(beside: Sequence[FileReport], names: Sequence[str]) -> Iterator[str]:
    for file in beside:
        role = "judgments" if set(file.rows) == {"judgments"} else "also"
        yield f"--{role}={_given(file, *file.systems) if len(file.systems) == 1 else _path(file)}"


def _given(file: FileReport, system: str) -> str:
    """How a file is named on the command line: with the name of its system where its own gives another."""
    if system_name(file.name) == system:
        return _path(file)
    if "=" in system:
        raise refuse("reproduce", f"the system {system!r} has = in its name", "Give it another name on the Data page")
    return f"{system}={_path(file)}"


def _path(file: FileReport) -> str:
    return f"./{file.name}" if file.name.startswith("-") else file.name


def _metrics(inputs: Inputs, metrics: Sequence[Spec], primary: Spec | None) -> Iterator[str]:
    """The metrics in full, so that no setting changes what they mean; nothing where they are the default."""
    standard = chosen_specs(inputs, None, Settings())
    names = [str(spec) for spec in metrics]
    if tuple(metrics) != standard and split_names(" ".join(names)) == names:
        yield f"--metrics={' '.join(names)}"
    if primary is not None and primary != default_primary(tuple(metrics), Settings()):
        yield f"--primary={primary}"


def _settings(settings: Settings) -> Iterator[str]:
    standard = Settings()
    for name in POLICIES:
        value = getattr(settings, name)
        if value != getattr(standard, name):
            yield f"--{name.replace('_', '-')}={value}"
    if settings.strict:
        yield "--strict"


def _terms(terms: Terms) -> Iterator[str]:
    standard = Terms()
    if terms.margin != standard.margin:
        yield f"--margin={terms.margin!r}"
    if terms.confidence != standard.confidence:
        yield f"--confidence={terms.confidence!r}"
    if terms.method != standard.method:
        yield f"--ci={terms.method}"


def _text(command: str, files: Sequence[FileReport], arguments: Sequence[str]) -> str:
    lines = [f"# sha256 {file.digest}  {_printable(file.name)}" for file in files if file.digest]
    if any(".zip/" in file.name.casefold() for file in files):
        lines.append("# unpack the archive first, into a folder of its name")
    return "\n".join([*lines, " ".join(["ragdash", command, *map(_quoted, arguments)])])


def _quoted(argument: str) -> str:
    """An argument for the shell, the value of an option quoted apart from its name."""
    name, equals, value = argument.partition("=")
    if equals and name.startswith("--"):
        return f"{name}={shlex.quote(value)}"
    return shlex.quote(argument)


def _printable(name: str) -> str:
    """A file name on one line: what could end the comment or hide is replaced."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)
