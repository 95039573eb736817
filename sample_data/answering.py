"""Answers as two configurations of a language model would write them, by rule: no model is called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from retrieval import words
from source import Passage, Question, chance, choose

REFUSALS = [
    "I could not find this in the documentation.",
    "I could not find this in the documentation.",
    "The passages provided do not contain this information.",
    "I'm sorry, but the passages provided do not answer this question.",
]
LEADS = ["According to the handbook, ", "According to the documentation, ", "As documented, "]
LINKS = ["", "", "In addition: ", "Note also: ", "Related: "]
CODE = re.compile(r"\b(E-\d{4}|HB-\d{4}-\d\d)\b")
POINTING = re.compile(r"(It|Its|This|They|That|Then|Until)\b")
COMMON = {"cabinet", "system", "hearth", "gate", "house", "tarnholm", "cells", "not", "may", "tell", "must"}
SMALL = {"The", "A", "An", "At", "It", "You", "No", "Yes", "Up", "Only", "Every", "After", "Before", "In", "On", "With"}


@dataclass(frozen=True)
class Generator:
    """A configuration of the generator: how much it writes and how often it goes wrong."""

    name: str
    context: int
    quote: float  # answers in the words of the passage
    lead: float  # opens with a phrase
    second: float  # adds a sentence of a passage
    third: float
    invent: float  # a citation names what is not in the context
    bare: float  # no citation at all
    give_up: float  # refuses though the evidence is there
    confuse: float  # takes the first code of its context for the one asked about
    guess: float  # answers though the evidence is missing
    million: float  # USD for a million tokens
    pace: float  # milliseconds a token

    def falls(self, share: float, question: Question, *what: object) -> bool:
        """True in this share of cases, the same each time for this configuration, question and decision."""
        return chance(self.name, question.query, *what) < share


def answer(question: Question, context: list[Passage], generator: Generator, ids: list[str]) -> str:
    """What this configuration writes for a question with this context."""
    evidence = _evidence(question, context)
    astray = CODE.search(question.query) and context[0] not in evidence
    if astray and generator.falls(generator.confuse, question, "confuse"):
        return _cited(question, _mistaken(question, context), context, generator, ids)
    guess = generator.guess if question.answerable else generator.guess / 2
    if not evidence and not generator.falls(guess, question, "guess"):
        return choose(REFUSALS, generator.name, question.query)
    if evidence and generator.falls(generator.give_up, question, "give up"):
        return REFUSALS[0]
    said = _said(question, context, evidence, generator)
    if not said:
        return choose(REFUSALS, generator.name, question.query)
    return _cited(question, said, context, generator, ids)


def _cited(
    question: Question, said: list[tuple[str, str]], context: list[Passage], generator: Generator, ids: list[str]
) -> str:
    """The sentences with their citations: now and then none at all, or one to an id that is not in the context."""
    if generator.falls(generator.bare, question, "bare"):
        return " ".join(text for text, _ in said)
    parts = []
    for number, (text, source) in enumerate(said):
        if generator.falls(generator.invent, question, "invent", number):
            source = _invented(source.partition("]")[0], context, ids, (generator.name, question.query, number))
        parts.append(f"{text[:-1]} [doc_id {source}]{text[-1]}")
    return " ".join(parts)


def _said(
    question: Question, context: list[Passage], evidence: list[Passage], generator: Generator
) -> list[tuple[str, str]]:
    """The sentences of the answer, each with the passage it rests on; none where nothing in the context fits."""
    if evidence:
        said = [(_led(question, evidence[0], generator), _sources(question, evidence, generator))]
    else:
        said = _mistaken(question, context)
    offers = _offers(question, context, evidence, {text for text, _ in said})
    second = generator.falls(generator.second, question, "second")
    third = generator.falls(generator.third, question, "third")
    wanted = (not said) + second + third
    for number, (sentence, doc_id) in enumerate(offers[:wanted]):
        same = said and said[-1][1].endswith(doc_id)
        link = choose(LINKS, generator.name, question.query, number) if said and not same else ""
        said.append((link + sentence, doc_id))
    return said


def _evidence(question: Question, context: list[Passage]) -> list[Passage]:
    """The passages of the context that answer at least in part, the one nearest to the reference first."""
    needed = set(words(question.reference))
    found = [passage for passage in context if question.grades.get(passage.doc_id, 0) >= 2]
    grade = question.grades
    return sorted(found, key=lambda passage: (-grade[passage.doc_id], -len(needed & set(words(passage.text)))))


def _sources(question: Question, evidence: list[Passage], generator: Generator) -> str:
    """What the first sentence cites: a second passage too where the answer needs both."""
    both = question.kinds[0] in ("multi-hop", "conflict") and len(evidence) > 1
    if both and generator.falls(0.7, question, "both"):
        return f"{evidence[0].doc_id}] [doc_id {evidence[1].doc_id}"
    return evidence[0].doc_id


def _mistaken(question: Question, context: list[Passage]) -> list[tuple[str, str]]:
    """A code that is not in the context is explained by one that looks like it."""
    code = CODE.search(question.query)
    alike = [passage for passage in context if re.match(r"(Error|Spare part) ", passage.title)]
    if not code or not alike:
        return []
    name = alike[0].title.partition(": ")[2]
    said = f"{code[1]} means {name}." if code[1].startswith("E") else f"{code[1]} is the {name}."
    return [(said, alike[0].doc_id)]


def _offers(
    question: Question, context: list[Passage], evidence: list[Passage], said: set[str]
) -> list[tuple[str, str]]:
    """Sentences of the context that go with the question, the most fitting first, none that says the same again."""
    asked = set(words(question.query))
    known = set().union(*(words(text) for text in said)) if said else set()
    offers = []
    for place, passage in enumerate(context):
        for sentence in sentences(passage.text):
            used = set(words(sentence))
            shared = sum(not word.isdigit() for word in asked & used - COMMON)
            fits = passage in evidence or (shared >= 2 and not POINTING.match(sentence))
            if fits and len(used & known) < 0.4 * len(used):
                worth = (shared + (passage in evidence)) / (2 + len(used) ** 0.5)
                offers.append((round(worth, 6), -place, sentence, passage))
    ranked = sorted(offers, key=lambda offer: offer[:3], reverse=True)
    return [(sentence, passage.doc_id) for _, _, sentence, passage in ranked]


def _led(question: Question, passage: Passage, generator: Generator) -> str:
    """The answer proper: in the words of the reference, or the sentence of the passage that says the same."""
    text = question.reference
    needed = set(words(text))
    for sentence in sentences(passage.text):
        covered = len(needed & set(words(sentence))) / max(1, len(needed))
        if covered >= 0.7 and generator.falls(generator.quote, question, "quote"):
            text = sentence
            break
    first = text.split(" ")[0]
    if first in SMALL - {"Yes", "No"} and generator.falls(generator.lead, question, "lead"):
        return choose(LEADS, generator.name, question.query, "which") + text[0].lower() + text[1:]
    return text


def _invented(source: str, context: list[Passage], ids: list[str], key: tuple[object, ...]) -> str:
    """An id that is not in the context: a neighbour, one that no document has, or the example of the prompt."""
    inside = {passage.doc_id for passage in context}
    area, _, number = source.rpartition("-")
    kind = chance("kind", *key)
    near = [doc_id for doc_id in ids if doc_id.startswith(f"{area}-") and doc_id not in inside]
    if kind < 0.45 and near:
        return choose(near, "near", *key)
    if kind < 0.75:
        return f"{area}-{int(number) + 200 + int(chance('far', *key) * 40):0{len(number)}d}"
    return "example-001"


def sentences(text: str) -> list[str]:
    """The full sentences of a passage, without the labels before them; rows of tables are left out."""
    found = []
    for line in text.split("\n"):
        plain = re.sub(r"^(Cause|What to do|Description|Fits): ", "", line)
        found += [part.strip() for part in re.split(r"(?<=[.!?]) (?=[A-Z])", plain)]
    return [part for part in found if part.endswith(".") and len(part) > 30 and "|" not in part]
