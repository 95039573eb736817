"""The sources that a path, glob, folder, zip archive or `NAME=path` stands for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ragdash import limits
from ragdash.formats.beir import Pieces, beir_pieces
from ragdash.formats.registry import FORMATS, detect
from ragdash.problems import InputError, Problem, refuse
from ragdash.sources import Source

PACKING = (".gz", ".zst", ".json")
LISTED = 5


@dataclass(frozen=True)
class Named:
    """A path with the name of its system apart from it, so that either may hold any letters; None gives no name."""

    system: str | None
    path: str | Path


Given = str | Path | Source | Named


@dataclass(frozen=True)
class Opened:
    """A file to read, the name given to its system, if any, and whether it came out of a folder or archive."""

    source: Source
    system: str | None = None
    packed: bool = False


def known_suffixes() -> set[str]:
    """The ends of file names that say nothing of a system: those of the formats, and how files are packed."""
    return {*PACKING, *(extension for entry in FORMATS for extension in entry.extensions)}


def expand(given: Given) -> Iterator[Opened | Problem]:
    """The files that a path, glob, folder, zip or upload stands for, and what is to be said about the others in it.

    A file that cannot be opened is a problem and does not keep the others of a glob, folder or archive from being read.
    Raises InputError where there is nothing to open at all.
    """
    if isinstance(given, Source):
        yield from _unzipped(given, None)
        return
    text, system = (str(given.path), given.system) if isinstance(given, Named) else (str(given), None)
    if not isinstance(given, Named) and "=" in text and not Path(text).exists():
        system, _, text = text.partition("=")
        system = system or None
    if not text.strip():
        where = f"{system}=" if system else "files"
        raise refuse(where, "the name of a file is empty", "Give a path, or - for standard input")
    if text == "-":
        yield Opened(Source.from_stdin(), system)
    elif glob.has_magic(text) and not Path(text).exists():
        found = sorted(glob.glob(text, recursive=True))
        if not found:
            raise refuse(text, "no file matches", "Check the spelling, or quote it so that the shell leaves it alone")
        for one in found:
            yield from _attempted(_expand_path(Path(one), system))
    else:
        yield from _expand_path(Path(text), system)


def _expand_path(path: Path, system: str | None) -> Iterator[Opened | Problem]:
    yield from _folder(path, system) if path.is_dir() else _unzipped(Source.from_path(path), system)


def _attempted(opened: Iterator[Opened | Problem]) -> Iterator[Opened | Problem]:
    try:
        yield from opened
    except InputError as error:
        yield from error.problems


def _folder(folder: Path, system: str | None) -> Iterator[Opened | Problem]:
    """A BEIR set and the files beside it; of any other folder the files in it, not those in folders below."""
    paths = _files_below(folder)
    pieces = beir_pieces(str(folder), paths)
    beside = {"", pieces.root} if pieces else {""}
    near = [path for path in paths if path.rpartition("/")[0] in beside or (pieces and path in pieces.files)]
    near = [path for path in near if not (pieces and path in pieces.left_out)]
    if not near:
        raise refuse(str(folder), "there are no files in this folder", f"Name them, for instance {folder / '*' / '*'}")
    below = [path for path in paths if path not in {*near, *(pieces.left_out if pieces else ())}]
    if below:
        yield _left_out(str(folder), below, "in folders below it", "Name their folder to read them")
    sources = []
    for path in near:
        try:
            sources.append(Source.from_path(folder / path, f"{folder.name}/{path}"))
        except InputError as error:
            yield from error.problems
    yield from _readable(str(folder), sources, system, pieces)


def _files_below(folder: Path) -> list[str]:
    most = limits.ZIP_ENTRIES
    paths: list[str] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [(Path(here) / name).relative_to(folder).as_posix() for name in names if not name.startswith(".")]
        if len(paths) > most.value:
            raise refuse(str(folder), f"the folder has more than {most.value:,} files", "Name the files that are meant")
    return sorted(paths)


def _unzipped(source: Source, system: str | None) -> Iterator[Opened | Problem]:
    if not source.is_zip():
        yield Opened(source, system)
        return
    members = {member.name.removeprefix(f"{source.name}/"): member for member in source.members()}
    if not members:
        raise refuse(source.name, "the archive holds no files", "Choose another")
    pieces = beir_pieces(source.name, members)
    kept = [member for name, member in members.items() if not (pieces and name in pieces.left_out)]
    yield from _readable(source.name, kept, system, pieces)


def _readable(
    where: str, sources: list[Source], system: str | None, pieces: Pieces | None
) -> Iterator[Opened | Problem]:
    """The files in a folder or archive, but for those in no known format whose names promise none: these are noted."""
    if pieces and pieces.note:
        yield pieces.note
    known = known_suffixes()
    others = []
    for source in sources:
        if (pieces or PurePosixPath(source.name).suffix.casefold() not in known) and not _is_known(source):
            others.append(source.name.rpartition("/")[2])
        else:
            yield Opened(source, system, packed=True)
    if others and len(others) == len(sources):
        shown = _listed(others)
        raise refuse(where, f"no file in it is in a known format ({shown})", "Choose another")
    if others:
        yield _left_out(where, others, "in no known format", "Name such a file by itself to see why")


def _is_known(source: Source) -> bool:
    try:
        detect(source)
    except InputError:
        return False
    return True


def _left_out(where: str, names: list[str], which: str, mend: str) -> Problem:
    number = len(names)
    found = f"{number:,} file{'s' * (number != 1)} {which} {'were' if number != 1 else 'was'} left out"
    return Problem(where, f"{found} ({_listed(names)})", mend, "note", number)


def _listed(names: Iterable[str]) -> str:
    first, *rest = [", ".join(list(names)[:LISTED]), *list(names)[LISTED:]]
    return f"{first} and {len(rest):,} more" if rest else first


def name_apart(sources: list[Source]) -> None:
    """Give files of one name their folder in front, then (2), so that a message names one of them."""
    for source in _twins(sources):
        source.name = f"{source.folder}/{source.name}" if source.folder else source.name
    taken: set[str] = set()
    for source in sources:
        number, name = 2, source.name
        while source.name in taken:
            source.name, number = f"{name} ({number})", number + 1
        taken.add(source.name)


def _twins(sources: list[Source]) -> list[Source]:
    names = [source.name for source in sources]
    return [source for source in sources if names.count(source.name) > 1]
