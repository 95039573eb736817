"""What an input may be at most; each limit can be changed by an environment variable of the name shown.

A message that refuses something over a limit names the variable.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limit:
    """A bound with the environment variable that changes it.

    >>> Limit("RAGDASH_MAX_EXAMPLE", 3, "rows").value
    3
    """

    variable: str
    default: int
    unit: str

    @property
    def value(self) -> int:
        """The bound in force; an unreadable variable is answered with ValueError by int()."""
        return int(os.environ.get(self.variable, self.default))

    @property
    def hint(self) -> str:
        """How to raise it, for a message."""
        return f"Split it, or raise the limit with the environment variable {self.variable}"


FILE_BYTES = Limit("RAGDASH_MAX_FILE_BYTES", 2048 * MEGABYTE, "bytes")
UNPACKED_BYTES = Limit("RAGDASH_MAX_UNPACKED_BYTES", 4096 * MEGABYTE, "bytes")
UNPACK_RATIO = Limit("RAGDASH_MAX_UNPACK_RATIO", 200, "times the packed size")
ROWS = Limit("RAGDASH_MAX_ROWS", 20_000_000, "rows")
LINE_BYTES = Limit("RAGDASH_MAX_LINE_BYTES", 64 * MEGABYTE, "bytes")
ID_BYTES = Limit("RAGDASH_MAX_ID_BYTES", 1024, "bytes")
JSON_DEPTH = Limit("RAGDASH_MAX_JSON_DEPTH", 64, "levels")
ZIP_ENTRIES = Limit("RAGDASH_MAX_ZIP_ENTRIES", 10_000, "files")
