"""Every message a user sees about input: where it is, what was found, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "set aside", "note"]


@dataclass(frozen=True)
class Problem:
    """One thing a user should know about what was loaded.

    `error` stops the work; `set aside` says that `count` rows were left out and why; `note` is for information.
    `repetition` marks the error that a question stands twice, which ends where repetitions are to be averaged.

    >>> print(Problem("qrels.txt, line 3", "grade is 'x', which is not a number", "Write a number"))
    qrels.txt, line 3: grade is 'x', which is not a number. Write a number.
    """

    where: str
    found: str
    mend: str
    severity: Severity = "error"
    count: int = 1
    repetition: bool = False

    def __str__(self) -> str:
        mend = self.mend if self.mend.endswith((".", "?")) else f"{self.mend}."
        return f"{self.where}: {self.found}. {mend}"

    def as_record(self) -> dict[str, str | int]:
        """The problem as plain values, for JSON and tables."""
        return {
            "severity": self.severity,
            "where": self.where,
            "found": self.found,
            "mend": self.mend,
            "count": self.count,
        }


class InputError(ValueError):
    """Input that cannot be used; carries every problem found, not only the first.

    >>> str(InputError([Problem("run.txt", "the file is empty", "Choose a file with rows")]))
    'run.txt: the file is empty. Choose a file with rows.'
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def refuse(where: str, found: str, mend: str) -> InputError:
    """An InputError with one problem, to be raised."""
    return InputError([Problem(where, found, mend)])


def nearest(name: str, known: Iterable[str], most: int = 3, spellings: Mapping[str, str] | None = None) -> str:
    """A hint that names what the user may have meant; `spellings` leads from other spellings to known names.

    >>> nearest("nDCGG", ["nDCG", "AP", "RR"])
    'Did you mean nDCG?'
    >>> nearest("zzz", ["nDCG", "AP"])
    'Known are: nDCG, AP'
    """
    offered = {candidate: candidate for candidate in known} | dict(spellings or {})
    by_folded = {spelling.casefold(): candidate for spelling, candidate in offered.items()}
    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=most, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(dict.fromkeys(by_folded[match] for match in close))}?"
    return f"Known are: {', '.join(dict.fromkeys(by_folded.values()))}"


def shorten(text: str, most: int = 80) -> str:
    """Text of a user quoted in a message, cut so that the message stays readable.

    >>> shorten("abcdef", most=4)
    "'abc…'"
    """
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")
