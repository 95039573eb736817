"""Cells of a table for spreadsheets, in which no text of a user may act as a formula."""

from __future__ import annotations

from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def neutral(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; an undefined number is empty, a number stays one.

    >>> neutral("=1+1"), neutral("q1"), neutral(-0.5), neutral(float("nan")), neutral(None)
    ("'=1+1", 'q1', -0.5, '', '')
    """
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(FORMULA) else cell
    return "" if cell is None or cell != cell else cell
