"""Reads the handbook's source: passages with the questions they answer, error codes and spare parts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

SEED = "tarnholm-1"
REFUSED = "The handbook does not say."
KEPT = {"lookup": 74, "paraphrase": 78, "multi-hop": 34, "conflict": 32, "identifier": 38, "unanswerable": 44}


def chance(*what: object) -> float:
    """A number in [0, 1) that depends on the seed and on what is decided, and on nothing else."""
    key = "|".join(map(str, (SEED, *what))).encode()
    return int.from_bytes(hashlib.sha256(key).digest()[:6], "big") / 2**48


def choose(options: list[str], *what: object) -> str:
    """One of the options, the same one each time for the same decision."""
    return options[int(chance(*what) * len(options))]


@dataclass
class Passage:
    """A passage of the handbook; passages of one topic are on topic for each other's questions."""

    doc_id: str
    title: str
    topic: str
    text: str = ""


@dataclass
class Question:
    """A question, the answer a person accepts, and the grades that follow from how it was written."""

    kinds: list[str]
    query: str
    reference: str
    grades: dict[str, int] = field(default_factory=dict)
    topic: str = ""
    query_id: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the handbook answers it."""
        return bool(self.grades)


def read(folder: Path) -> tuple[list[Passage], list[Question]]:
    """All passages by id and all questions, numbered in a shuffled order."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for path in sorted(folder.glob("*.txt")):
        reader = {"codes.txt": _codes, "parts.txt": _parts}.get(path.name, _prose)
        found, asked = reader(path.read_text(encoding="utf-8").splitlines())
        passages += found
        questions += asked
    _check(passages, questions)
    questions = _drawn(questions)
    for number, question in enumerate(questions, 1):
        question.query_id = f"q{number:03d}"
    return sorted(passages, key=lambda passage: passage.doc_id), questions


def _drawn(questions: list[Question]) -> list[Question]:
    """As many questions of each first kind as KEPT says, in a shuffled order."""
    drawn: list[Question] = []
    for question in sorted(questions, key=lambda question: chance("drawn", question.query)):
        drawn += [question] * (sum(other.kinds[0] == question.kinds[0] for other in drawn) < KEPT[question.kinds[0]])
    return drawn


def _check(passages: list[Passage], questions: list[Question]) -> None:
    ids = [passage.doc_id for passage in passages]
    named = {doc_id for question in questions for doc_id in question.grades}
    if len(set(ids)) < len(ids) or not named <= set(ids):
        twice = sorted({doc_id for doc_id in ids if ids.count(doc_id) > 1})
        raise ValueError(f"ids that stand twice: {twice}; graded, but no passage: {sorted(named - set(ids))}")
    if len({question.query for question in questions}) < len(questions):
        raise ValueError("a question stands twice")


def _prose(lines: list[str]) -> tuple[list[Passage], list[Question]]:
    """`# id | title | topic`, lines of text, then `? kinds | question | answer | id=grade …` for its questions."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for line in filter(None, map(str.strip, lines)):
        if line.startswith("# "):
            passages.append(Passage(*_cells(line[2:])))
        elif line.startswith("? "):
            kinds, query, reference, *others = [*_cells(line[2:]), ""]
            own = {} if kinds == "unanswerable" else {passages[-1].doc_id: 3}
            graded = {doc_id: int(grade) for doc_id, grade in (pair.split("=") for pair in " ".join(others).split())}
            topic = passages[-1].topic if own else ""
            questions.append(Question(kinds.split(), query, reference or REFUSED, own | graded, topic))
        else:
            passages[-1].text = f"{passages[-1].text}\n{line}".strip()
    return passages, questions


def _codes(lines: list[str]) -> tuple[list[Passage], list[Question]]:
    """`code | name | lamp | cause | action | question?`: one passage a code, in one of four layouts."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for line in filter(None, map(str.strip, lines)):
        code, name, lamp, cause, action, *asked = _cells(line)
        doc_id = f"error-{code.removeprefix('E-')}"
        text = choose(
            [
                f"{code} ({name}). {cause} {action} Status lamp: {lamp}.",
                f"{cause} The cabinet reports this as {code}, {name}, and the lamp shows {lamp}. {action}",
                f"Code: {code}\nName: {name}\nLamp: {lamp}\nCause: {cause}\nWhat to do: {action}",
                f"When the display shows {code}, the reason is {name}. {cause} Lamp: {lamp}. {action}",
            ],
            "layout",
            code,
        )
        passages.append(Passage(doc_id, f"Error {code}: {name}", f"error-{code[2:4]}", text))
        for query in asked:
            reference = f"{code} means {name}: {cause[0].lower()}{cause[1:]} {action}"
            if "lamp" in query:
                reference = f"With {code} ({name}) the status lamp shows {lamp}."
            questions.append(Question(["identifier"], query, reference, {doc_id: 3}))
    return passages, questions


def _parts(lines: list[str]) -> tuple[list[Passage], list[Question]]:
    """`number | name | fits | note | question?`: one passage a spare part."""
    passages: list[Passage] = []
    questions: list[Question] = []
    for line in filter(None, map(str.strip, lines)):
        number, name, fits, note, *asked = _cells(line)
        doc_id = f"part-{number.removeprefix('HB-')}"
        text = choose(
            [
                f"Part {number} is the {name}. It fits {fits}. {note}",
                f"Order number: {number}\nDescription: {name}\nFits: {fits}\n{note}",
                f"For {fits}: {name}, order number {number}. {note}",
            ],
            "layout",
            number,
        )
        passages.append(Passage(doc_id, f"Spare part {number}: {name}", f"part-{number[3:5]}", text))
        for query in asked:
            reference = f"{number} is the {name}; it fits {fits}. {note}"
            questions.append(Question(["identifier"], query, reference, {doc_id: 3}))
    return passages, questions


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]
