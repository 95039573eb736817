"""The only plug-in machinery there is: a registry is a dictionary of frozen records filled by decorators."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ragdash.problems import nearest, refuse


@dataclass(frozen=True)
class Entry:
    """What every registered thing has: a name to type, a label to read, and its explanation."""

    name: str
    label: str
    explanation: str

    @property
    def meaning(self) -> str:
        """The first sentence of the explanation, for a hover or a table."""
        return first_paragraph(self.explanation)


E = TypeVar("E", bound=Entry)


class Registry(Generic[E]):
    """Entries by name: by module, those named in `first` first, then by module name; within a module as added.

    >>> metals = Registry[Entry]("metal")
    >>> metals.add(Entry("tin", "Tin", "Soft."))
    >>> [entry.label for entry in metals]
    ['Tin']
    >>> metals["tinn"]
    Traceback (most recent call last):
    ragdash.problems.InputError: metal: there is no 'tinn'. Did you mean tin?
    """

    def __init__(self, noun: str, package: str | None = None, first: tuple[str, ...] = ()) -> None:
        self.noun = noun
        self._first = first
        self._package = package
        self._entries: dict[str, E] = {}
        self._home: dict[str, str] = {}
        self._loaded = package is None
        self._loading = threading.RLock()

    def add(self, entry: E, home: str = "") -> None:
        """Register an entry of the module `home`; a name taken twice is a programming error."""
        if entry.name in self._entries:
            raise KeyError(f"{self.noun} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        self._home[entry.name] = home.rpartition(".")[2]

    def _load(self) -> dict[str, E]:
        if not self._loaded:
            with self._loading:
                package = importlib.import_module(str(self._package))
                found = [module.name for module in pkgutil.iter_modules(package.__path__)]
                for name in found:
                    importlib.import_module(f"{package.__name__}.{name}")
                order = {name: place for place, name in enumerate(dict.fromkeys([*self._first, *found]))}
                known = sorted(self._entries, key=lambda name: order.get(self._home[name], len(order)))
                self._entries = {name: self._entries[name] for name in known}
                self._loaded = True
        return self._entries

    def __getitem__(self, name: str) -> E:
        entries = self._load()
        if name not in entries:
            raise refuse(self.noun, f"there is no {name!r}", nearest(name, entries))
        return entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._load()

    def __iter__(self) -> Iterator[E]:
        return iter(self._load().values())

    def __len__(self) -> int:
        return len(self._load())

    def names(self) -> list[str]:
        """All names, in the order of registration."""
        return list(self._load())


def explanation_of(thing: object) -> str:
    """The docstring of a registered function or class, without indentation; it must exist."""
    text = inspect.getdoc(thing)
    if not text:
        raise ValueError(f"{thing!r} needs a docstring: it is what users read")
    return text


def first_paragraph(text: str) -> str:
    """The first paragraph as one line.

    >>> first_paragraph("Hits in\\nthe top k.\\n\\nMore.")
    'Hits in the top k.'
    """
    return " ".join(text.split("\n\n", 1)[0].split())
