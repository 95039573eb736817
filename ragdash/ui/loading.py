"""From dropped files to a data set on the screen: bytes kept at once, read together, shown only without errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ragdash.bundle import bundled
from ragdash.inputs import Inputs, read_inputs
from ragdash.problems import InputError, Problem
from ragdash.sources import Source
from ragdash.ui import cache, components
from ragdash.ui.cache import DataSet
from ragdash.ui.state import change, state
from ragdash.ui.view import resolve

ZONES = {
    "a": ("A · baseline", "The run, or the answers, of what you have today."),
    "b": ("B · candidate", "The run, or the answers, of what you would change to."),
    "more": ("Judgments, questions, documents, more systems", "Each file is recognised by what is in it."),
}
SAMPLE_FILES = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl", "documents.jsonl")
FILES, CURRENT, OUTCOME = "ragdash_files", "ragdash_set", "ragdash_outcome"
FRESH, ROUND = "ragdash_fresh", "ragdash_round"


@dataclass(frozen=True)
class Dropped:
    """One file as it was dropped, kept apart from the widget, which forgets it on every change of page."""

    name: str
    content: bytes = field(repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self.content).hexdigest()


Files = dict[str, tuple[Dropped, ...]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of the files dropped last: what was read, what is wrong, and the sentence that says what is next."""

    inputs: Inputs | None = None
    problems: tuple[Problem, ...] = ()
    waiting: str = ""
    shown: bool = False

    @property
    def failed(self) -> bool:
        """Whether an error keeps these files from being shown."""
        return any(one.severity == "error" for one in self.problems)


@st.cache_resource(show_spinner="Reading the sample …")
def sample() -> DataSet:
    """The sample comparison that comes with the app."""
    folder = bundled("sample_data")
    inputs = read_inputs((), (), [Source.from_path(folder / name) for name in SAMPLE_FILES])
    a, b = inputs.systems[:2]
    return DataSet("", inputs, a, b)


def active() -> DataSet | None:
    """The data the state names: the sample, this session's files, or the server's of that digest; None if unknown."""
    digest = state().files
    if not digest:
        return sample()
    mine = st.session_state.get(CURRENT)
    found = mine if mine is not None and mine.digest == digest else cache.shelf().get(digest)
    if found is not None:
        st.session_state[CURRENT] = found
    return cast("DataSet | None", found)


def dropped() -> Files:
    """The files of each zone."""
    return cast(Files, st.session_state.setdefault(FILES, {zone: () for zone in ZONES}))


def take(zone: str, key: str) -> Callable[[], None]:
    """The callback of a drop zone: its bytes are kept at once."""

    def keep() -> None:
        files = tuple(Dropped(one.name, one.getvalue()) for one in st.session_state[key] or ())
        st.session_state[FILES] = dropped() | {zone: files}
        st.session_state[FRESH] = True

    return keep


def outcome() -> Outcome | None:
    """What became of the files dropped last; None where there are none."""
    return cast("Outcome | None", st.session_state.get(OUTCOME))


def read_dropped() -> bool:
    """Read what was dropped since the last run; True where other data are on the screen now."""
    slot = st.empty()  # drawn on every run, so that nothing below it moves
    if not st.session_state.pop(FRESH, False):
        return False
    files = dropped()
    if not any(files.values()):
        st.session_state.pop(OUTCOME, None)
        return False
    result = _read(files, slot.progress(0.0, "Reading your files …"))
    slot.empty()
    st.session_state[OUTCOME] = result
    return result.shown


def _read(files: Files, bar: DeltaGenerator) -> Outcome:
    """Read the files together, score them once, and put them on the screen if nothing is wrong."""
    order = [one for zone in ZONES for one in files[zone]]
    try:
        sources = [Source.from_bytes(one.name, one.content) for one in order]
        inputs = read_inputs((), (), sources, progress=_shown_on(bar, sources))
        waiting = _waiting(inputs)
        if not inputs.systems or (inputs.judgments is None and not inputs.answers and not inputs.scores):
            return Outcome(inputs, inputs.problems, waiting)
        data_set = DataSet(_digest(order), inputs, *_pair(inputs, files))
        bar.progress(1.0, "Scoring every question …")
        problems = _scored(data_set)
    except InputError as error:
        return Outcome(None, error.problems)
    _show(data_set)
    return Outcome(inputs, (*inputs.problems, *problems), waiting, shown=True)


def _scored(data_set: DataSet) -> tuple[Problem, ...]:
    """Score and compare once with the settings in force, so that a fault is found before anything is shown."""
    view = resolve(data_set, replace(state(), a="", b="", q=""))
    return view.comparison.problems if view.comparison else view.scores.problems


def _shown_on(bar: DeltaGenerator, sources: list[Source]) -> Callable[[Source], None]:
    """Shows how many bytes of all files were read."""
    total = max(sum(one.size for one in sources), 1)

    def show(source: Source) -> None:
        done = sum(one.consumed for one in sources)
        bar.progress(min(done / total, 1.0), f"Reading {components.inert(source.name)} …")

    return show


def _pair(inputs: Inputs, files: Files) -> tuple[str, str]:
    """The systems to start with: those of the files dropped under A and under B, else the first two."""
    systems = list(inputs.systems)
    of_zone = {zone: {one.digest for one in files[zone]} for zone in ("a", "b")}
    named = {
        zone: [name for file in inputs.files if file.digest in digests for name in file.systems]
        for zone, digests in of_zone.items()
    }
    a = next(iter(named["a"]), "") or next(iter([name for name in systems if name not in named["b"]] or systems))
    b = next((name for name in [*named["b"], *systems] if name != a), "")
    return a, b


def _show(data_set: DataSet) -> None:
    """These data become what every page of this session shows, and are kept under their digest for links."""
    st.session_state[CURRENT] = data_set
    cache.shelf().put(data_set)
    change(files=data_set.digest, a="", b="", q="")


def _waiting(inputs: Inputs) -> str:
    """What is still missing for a verdict, as a sentence; "" where nothing is."""
    if not inputs.systems:
        return "These files hold no system yet. Drop a run, or answers, under A."
    if inputs.runs and inputs.judgments is None and not inputs.answers:
        return "Nothing says yet which documents are relevant. Drop judgments (a qrels file) in the third zone."
    if len(inputs.systems) < 2:
        return "There is one system. Drop a second one under B for a verdict, or look at this one alone."
    return ""


def _digest(files: list[Dropped]) -> str:
    """Names the data in links: the same files in the same zones give the same digest."""
    named = json.dumps([[one.name, one.digest] for one in files])
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def back_to_sample() -> None:
    """Forget the files of this session and show the sample."""
    for key in (FILES, CURRENT, OUTCOME, FRESH):
        st.session_state.pop(key, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1
    change(files="", a="", b="", q="")
