"""What a result file holds once it is read: the comparison, the tables behind it, and who wrote it."""

from __future__ import annotations

from dataclasses import dataclass

import ragdash
from ragdash.comparison import Comparison
from ragdash.inputs import Inputs
from ragdash.tables import Tables

SUFFIX = ".ragdash"


@dataclass(frozen=True, eq=False)
class StoredResult:
    """A comparison that can be drawn again without the files it came from.

    `depth` says how many documents of each ranked list were kept; None means that every list is whole, so that the
    scores could be computed anew. `version` is that of the ragdash that wrote it.
    """

    comparison: Comparison
    tables: Inputs
    depth: int | None = None
    version: str = ragdash.__version__

    @classmethod
    def of(cls, comparison: Comparison, tables: Tables) -> StoredResult:
        """A comparison just made, as if it had been stored: reports take either."""
        return cls(comparison, inputs_of(tables))


def inputs_of(tables: Tables) -> Inputs:
    """The tables as Inputs; those that came from memory have no files."""
    return tables if isinstance(tables, Inputs) else Inputs(**vars(tables))
