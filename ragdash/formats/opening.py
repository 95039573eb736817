"""The sources that a path, glob, folder, zip archive or `NAME=path` stands for."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragdash.formats.beir import beir_pieces
from ragdash.problems import refuse
from ragdash.sources import Source

Given = str | Path | Source


@dataclass(frozen=True)
class Opened:
    """A file to read, the name given to its system ("" for none), and whether it came out of a folder or archive."""

    source: Source
    system: str = ""
    packed: bool = False


def expand(given: Given) -> Iterator[Opened]:
    """The files that a path, glob, folder, zip or upload stands for."""
    if isinstance(given, Source):
        yield from _unzipped(given, "")
        return
    text, system = str(given), ""
    if text == "-":
        yield Opened(Source.from_stdin())
        return
    if "=" in text and not Path(text).exists():
        system, _, text = text.partition("=")
        if text == "-":
            yield Opened(Source.from_stdin(), system)
            return
    path = Path(text)
    if glob.has_magic(text) and not path.exists():
        found = sorted(glob.glob(text, recursive=True))
        if not found:
            raise refuse(text, "no file matches", "Check the spelling, or quote it so that the shell leaves it alone")
        for one in found:
            yield from expand(Path(one))
    elif path.is_dir():
        yield from _folder(path)
    else:
        yield from _unzipped(Source.from_path(path), system)


def _folder(folder: Path) -> Iterator[Opened]:
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    pieces = beir_pieces(str(folder), paths)
    if pieces is None:
        mend = f"Name the files in it, for instance {folder / '*'}"
        raise refuse(str(folder), "this folder is no BEIR set: it has neither corpus.jsonl nor qrels/", mend)
    for piece in pieces:
        yield Opened(Source.from_path(folder / piece, f"{folder.name}/{piece}"), packed=True)


def _unzipped(source: Source, system: str) -> Iterator[Opened]:
    if not source.is_zip():
        yield Opened(source, system)
        return
    members = {member.name.removeprefix(f"{source.name}/"): member for member in source.members()}
    if not members:
        raise refuse(source.name, "the archive holds no files", "Choose another")
    for piece in beir_pieces(source.name, members) or members:
        yield Opened(members[piece], packed=True)


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
