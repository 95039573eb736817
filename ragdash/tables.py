"""Everything loaded for one evaluation, by kind: what the reader of files makes and the evaluation takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragdash.schema import Table


@dataclass(frozen=True, eq=False)
class Tables:
    """Checked tables; runs, answers and brought-in scores by the name of their system."""

    runs: Mapping[str, Table] = field(default_factory=dict)
    judgments: Table | None = None
    answers: Mapping[str, Table] = field(default_factory=dict)
    queries: Table | None = None
    documents: Table | None = None
    scores: Mapping[str, Table] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of all systems, in the order they were loaded."""
        return tuple(dict.fromkeys([*self.runs, *self.answers, *self.scores]))
