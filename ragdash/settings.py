"""How the cases are treated on which evaluators differ, and what is computed when nobody says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ragdash.matching import Ties
from ragdash.metrics.citation import EMPTY
from ragdash.metrics.registry import Spec, parse_all
from ragdash.metrics.retrieval import GAIN
from ragdash.problems import refuse

Policy = Literal["zero", "skip"]
Conventions = Literal["ragdash", "classic"]
RETRIEVAL_DEFAULT = ("nDCG@10", "R@10", "RR@10", "AP", "P@5", "Hit@5", "Judged@10")
ANSWER_DEFAULT = ("citation_validity", "citation_coverage", "no_citation")
PRIMARY_DEFAULT = "nDCG@10"
CONFIDENCE = (0.5, 0.9999)

ALLOWED: dict[str, tuple[object, ...]] = {
    "missing": get_args(Policy),
    "no_relevant": get_args(Policy),
    "ties": get_args(Ties),
    "gain": GAIN.choices,
    "empty": EMPTY.choices,
    "conventions": get_args(Conventions),
    "repeats": ("refuse", "mean"),
}


@dataclass(frozen=True)
class Settings:
    """How the cases are treated on which evaluators differ; the defaults are ragdash's, `classic` the older harness'.

    missing: a judged question absent from a run counts 0 ("zero"), or leaves every system ("skip").
    no_relevant: a judged question without a relevant document counts 0, or is left out.
    ties: what breaks equal scores. gain, empty: options for the metrics whose names do not set them.
    """

    missing: Policy = "zero"
    no_relevant: Policy = "zero"
    ties: Ties = "doc_id"
    gain: str = "linear"
    empty: float | None = None
    conventions: Conventions = "ragdash"
    strict: bool = False
    repeats: Literal["refuse", "mean"] = "refuse"
    style: str = "auto"
    pattern: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            value = getattr(self, name)
            if value not in allowed:
                known = ", ".join(str(choice) for choice in allowed)
                raise refuse(f"settings, {name}", f"it is {value!r}", f"Choose one of {known}")

    def specs(self, names: str | Sequence[str | Spec]) -> tuple[Spec, ...]:
        """Metric names read, with the conventions of these settings put in where a name is silent.

        >>> [str(spec) for spec in Settings(conventions="classic").specs("nDCG@10 AP")]
        ['nDCG(gain=exp)@10', 'AP']
        """
        classic = self.conventions == "classic"
        gain, empty = ("exp", 1.0) if classic else (self.gain, self.empty)
        return parse_all(names, {"gain": gain, "empty": empty})
