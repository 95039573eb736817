"""Files as users name them (paths, globs, folders, zips, uploads, standard input) into the tables of one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from ragdash.formats.merging import by_system, first_rows, merge_documents, merge_queries
from ragdash.formats.opening import Given, Named, Opened, expand, known_suffixes, name_apart
from ragdash.formats.registry import Loaded, read
from ragdash.problems import InputError, Problem
from ragdash.schema import Table, concat
from ragdash.sources import Source
from ragdash.tables import Tables

__all__ = ["FileReport", "Given", "Inputs", "Named", "by_system", "read_inputs", "system_name"]

Role = Literal["run", "judgments", "any"]
SYSTEM_KINDS = ("run", "answers", "scores")


@dataclass(frozen=True)
class FileReport:
    """What one file turned out to be: its format and why, rows of each kind, systems, SHA-256 and stored size."""

    name: str
    format: str
    reason: str
    rows: Mapping[str, int]
    systems: tuple[str, ...]
    digest: str
    size: int


@dataclass(frozen=True, eq=False)
class Inputs(Tables):
    """The tables of everything loaded, with a report on each file and what is to be said about them; no errors."""

    files: tuple[FileReport, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems, in the order of the files that name them."""
        known = super().systems
        in_files = [name for file in self.files for name in file.systems if name in known]
        return tuple(dict.fromkeys([*in_files, *known]))


@dataclass(eq=False)
class _File:
    """One file to read: what it was given as, the name the user gave its system, whether it came out of a folder or
    archive, the name its system has otherwise, which files were given under one name with it, and what was found."""

    source: Source
    role: Role
    system: str | None = None
    packed: bool = False
    stem: str = ""
    together: object = None
    loaded: Loaded | None = None
    digest: str = ""

    @property
    def tables(self) -> dict[str, Table]:
        return self.loaded.tables if self.loaded else {}


@dataclass(eq=False)
class _System:
    """The tables of one system in one file, the name it is known by so far, and whether a row gave it that name."""

    file: _File
    name: str
    in_rows: bool
    tables: dict[str, Table] = field(default_factory=dict)


def read_inputs(
    files: Iterable[Given],
    judgments: Iterable[Given] = (),
    others: Iterable[Given] = (),
    *,
    names: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    progress: Callable[[Source], None] | None = None,
    repeats: Literal["refuse", "mean"] = "refuse",
    digests: bool = True,
) -> Inputs:
    """Read runs, answers and scores from `files`, judgments from `judgments`, and whatever `others` hold.

    A text may be a path, a glob, a folder, a zip, `NAME=path`, or `-` for standard input; `Named` takes the two apart.
    A system is called by NAME or by `names` (of the file), NAME/x where there are several under it; by the `system`
    column or by several tags in one file; else by the file's name without known suffixes. Two of one name get their
    folder in front, then -2.
    `formats` (of the file) overrides detection; `progress` is called with the Source after each batch; `repeats="mean"`
    takes two rows of one system and query for repetitions; without `digests` the reports have none.
    Raises InputError with every error of every file.
    """
    problems: list[Problem] = []
    opened: list[_File] = []
    roles: tuple[tuple[Role, Iterable[Given]], ...] = (("run", files), ("judgments", judgments), ("any", others))
    for role, group in roles:
        for given in group:
            together = object()
            with _collecting(problems):
                for one in expand(given):
                    if isinstance(one, Problem):
                        problems.append(one)
                    else:
                        opened.append(_of(one, role, together))
    name_apart([file.source for file in opened])
    for file in opened:
        with _collecting(problems):
            name = file.source.name
            if file.system is None and names and names.get(name):
                file.system, file.together = names[name], file
            file.loaded = read(file.source, (formats or {}).get(name), progress)
            file.digest = file.source.digest() if digests else ""
            problems += [one for one in file.loaded.problems if not (one.repetition and repeats == "mean")]
            problems += _misplaced(file)
    if any(problem.severity == "error" for problem in problems):
        raise InputError(problem for problem in problems if problem.severity == "error")
    return _gathered([file for file in opened if file.loaded], problems)


def _of(opened: Opened, role: Role, together: object) -> _File:
    return _File(opened.source, role, opened.system, opened.packed, system_name(opened.source.name), together)


class _collecting:
    """Puts the problems of an InputError aside, so that the next file is read too."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, InputError):
            self._problems += error.problems
            return True
        return False


def _misplaced(file: _File) -> Iterator[Problem]:
    """A run where judgments should be, or judgments alone where a run should be."""
    if file.loaded is None or any(problem.severity == "error" for problem in file.loaded.problems):
        return
    label, held = file.loaded.detection.format.label, ", ".join(file.tables)
    if file.role == "run" and not file.packed and set(file.tables) == {"judgments"}:
        found = f"this file holds judgments only ({label}), but was given as a run"
        yield Problem(file.source.name, found, "Give it as judgments (--judgments), and a run here")
    if file.role == "judgments" and not file.packed and "judgments" not in file.tables:
        found = f"this file was given as judgments, but holds none ({label}: {held})"
        yield Problem(file.source.name, found, "Give judgments: query, document and grade in every row")


def _gathered(files: list[_File], problems: list[Problem]) -> Inputs:
    systems = [system for file in files if file.role != "judgments" for system in _systems(file)]
    _put_under_names(systems)
    problems += _settle_names(systems)
    by_kind: dict[str, dict[str, Table]] = {kind: {} for kind in SYSTEM_KINDS}
    for system in systems:
        for kind, table in system.tables.items():
            by_kind[kind][system.name] = table
    judgments, notes = _judgments(files)
    documents, repeats = merge_documents([file.tables["documents"] for file in files if "documents" in file.tables])
    return Inputs(
        runs=by_kind["run"],
        judgments=judgments,
        answers=by_kind["answers"],
        queries=merge_queries([file.tables["queries"] for file in files if "queries" in file.tables]),
        documents=documents,
        scores=by_kind["scores"],
        files=tuple(_report(file, [one.name for one in systems if one.file is file]) for file in files),
        problems=tuple(problems + notes + repeats),
    )


def _report(file: _File, systems: list[str]) -> FileReport:
    loaded = file.loaded
    if loaded is None:
        raise ValueError(f"{file.source.name} was not read")
    found = loaded.detection
    source = file.source
    return FileReport(
        source.name, found.format.label, found.reason, loaded.rows, tuple(systems), file.digest, source.size
    )


def _systems(file: _File) -> list[_System]:
    """The systems in a file, with the names that the file or its rows give them."""
    parts = {kind: by_system(file.tables[kind]) for kind in SYSTEM_KINDS if kind in file.tables}
    inside = list(dict.fromkeys(name for split in parts.values() for name in split))
    trusted = len(inside) > 1 or (file.loaded is not None and file.loaded.detection.format.names_systems)
    systems = []
    for inner in inside:
        name = inner if inner and trusted else file.stem
        tables = {kind: split[inner] for kind, split in parts.items() if inner in split}
        systems.append(_System(file, name, bool(inner and trusted), tables))
    return systems


def _put_under_names(systems: list[_System]) -> None:
    """Call the systems given under one NAME by it: NAME where there is one, else NAME/x and NAME/y."""
    named = [one for one in systems if one.file.system is not None]
    under: dict[int, set[str]] = {}
    for one in named:
        under.setdefault(id(one.file.together), set()).add(one.name)
    files = {group: {id(one.file) for one in named if id(one.file.together) == group} for group in under}
    for one in named:
        group = id(one.file.together)
        alone = len(under[group]) == 1 or (len(files[group]) == 1 and not one.in_rows)
        one.name = f"{one.file.system}" if alone else f"{one.file.system}/{one.name}"


def system_name(file: str) -> str:
    """A system's name from its file's: the last part without known suffixes.

    >>> system_name("runs/bm25.k1=0.9.run.txt.gz")
    'bm25.k1=0.9'
    """
    known = known_suffixes()
    path = PurePosixPath(file)
    while path.suffix.casefold() in known and path.stem:
        path = path.with_suffix("")
    return path.name


def _settle_names(systems: list[_System]) -> Iterator[Problem]:
    """Make names distinct where two files give the same kind of table under one: folder in front, then -2."""
    clashing = [one for one in systems if any(_clash(one, other) for other in systems)]
    for one in clashing:
        if one.file.source.folder and one.file.system is None:
            one.name = f"{one.file.source.folder}/{one.name}"
    for at, one in enumerate(systems):
        name, number = one.name, 2
        while any(_clash(one, other) for other in systems[:at]):
            one.name, number = f"{name}-{number}", number + 1
        if one.name != name:
            mend = f"It is called {one.name}; give it another name with NAME=path"
            yield Problem(one.file.source.name, f"there is a system {name} already", mend, "note")


def _clash(one: _System, other: _System) -> bool:
    return one is not other and one.name == other.name and bool(one.tables.keys() & other.tables.keys())


def _judgments(files: list[_File]) -> tuple[Table | None, list[Problem]]:
    """Judgments given as such; where there are none, those that stand in the rows of runs and answers."""
    given = [file for file in files if "judgments" in file.tables]
    apart = [file for file in given if file.role == "judgments" or not set(SYSTEM_KINDS) & file.tables.keys()]
    if apart:
        beside = [file for file in given if file not in apart]
        found, mend = "the judgments in its rows were left out", "They are used where no judgments are given apart"
        notes = [Problem(f.source.name, found, mend, "note", len(f.tables["judgments"])) for f in beside]
        return concat([file.tables["judgments"] for file in apart]), notes
    if not given:
        return None, []
    whole = concat([file.tables["judgments"] for file in given])
    return whole.take(first_rows(whole, ["query_id", "doc_id", "grade"])), []
