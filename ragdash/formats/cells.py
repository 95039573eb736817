"""Cells of rows as other tools write them (JSON values, text, Arrow columns) as ids, texts, numbers and lists.

Ids are never guessed: text stays as written, a whole number becomes its digits, anything else is a fault.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash import limits
from ragdash.formats.faults import Faults
from ragdash.problems import shorten

Cells: TypeAlias = "Sequence[Any] | pa.Array"
LIST = 'Write a list such as ["d1", "d2"]'
GRADES = 'Write an object such as {"d1": 2, "d2": 0}'


class TooDeep(ValueError):
    """JSON nested deeper than the limit."""


class Unclear(ValueError):
    """JSON that is well formed but may mean two things, or has a character that is no text."""


class Unfit(ValueError):
    """A cell that is not what its column holds; the text says what it is instead."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows of a file under the names their columns have there, with the line of each and a place for faults."""

    columns: dict[str, Cells]
    lines: NDArray[np.int64]
    faults: Faults

    def __len__(self) -> int:
        return len(self.lines)

    def rows(self, mask: NDArray[np.bool_]) -> Sheet:
        """Some of the rows."""
        if mask.all():
            return self
        at = np.flatnonzero(mask)
        columns = {
            name: cells.take(pa.array(at)) if isinstance(cells, pa.Array) else [cells[int(row)] for row in at]
            for name, cells in self.columns.items()
        }
        return Sheet(columns, self.lines[at], self.faults)

    def given(self, name: str) -> NDArray[np.bool_]:
        """Which rows have something in this column, (rows,)."""
        cells = self.columns.get(name)
        if cells is None:
            return np.zeros(len(self), bool)
        if isinstance(cells, pa.Array):
            filled = pc.not_equal(cells, "") if pa.types.is_string(cells.type) else cells.is_valid()
            return np.asarray(filled.fill_null(False), bool)
        return np.array([cell is not None and cell != "" for cell in cells], bool)

    def ids(self, name: str) -> pa.Array:
        """A column of ids as text; cells that are none are faults."""
        return self._texts(name, as_id)

    def texts(self, name: str) -> pa.Array:
        """A column of text."""
        return self._texts(name, as_text)

    def values(self, name: str) -> pa.Array:
        """A column of numbers or truth values: as such where all are of one sort, else as written."""
        cells = self.columns[name]
        if isinstance(cells, pa.Array):
            return flat(cells)
        if any(isinstance(cell, bool) for cell in cells) and not all(isinstance(c, bool | None) for c in cells):
            return pa.array([written(cell) for cell in cells], pa.string())
        try:
            return pa.array(cells)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            return pa.array([written(cell) for cell in cells], pa.string())

    def lists(self, name: str, read: Callable[[Any], Any], mend: str = LIST) -> list[Any]:
        """A column of lists (or objects), each cell read by `read`; None where there is none or it is a fault."""
        cells = self.columns.get(name)
        if cells is None:
            return [None] * len(self)
        return [self._cell(name, row, cell, read, mend) for row, cell in enumerate(python_values(cells))]

    def _texts(self, name: str, read: Callable[[Any], str | None]) -> pa.Array:
        cells = self.columns[name]
        if isinstance(cells, pa.Array):
            return flat(cells)
        try:
            return pa.array(cells, pa.string())
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            mend = "Write ids as text" if read is as_id else "Write text"
            texts = [self._cell(name, row, cell, read, mend) for row, cell in enumerate(cells)]
            shown = [
                written(cell) if text is None and cell is not None else text
                for text, cell in zip(texts, cells, strict=True)
            ]
            return pa.array(shown, pa.string())

    def _cell(self, name: str, row: int, cell: Any, read: Callable[[Any], Any], mend: str) -> Any:
        if cell is None:
            return None
        try:
            return read(cell)
        except Unfit as fault:
            self.faults.add(name, int(self.lines[row]), f"{name} is {shorten(written(cell))}, {fault}", mend)
            return None


def flat(cells: pa.Array) -> pa.Array:
    """An Arrow column as it is, or as written where its cells are lists, times or the like."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, pa.types.is_null)
    if any(test(kind) for test in (*plain, pa.types.is_large_string, pa.types.is_string_view)):
        return cells
    return pa.array([None if cell is None else str(cell) for cell in cells.to_pylist()], pa.string())


def python_values(cells: Cells) -> Sequence[Any]:
    """Cells as Python values; an Arrow map becomes pairs, as Arrow gives them."""
    if isinstance(cells, pa.Array):
        return list(cells.to_pylist())
    return cells


def written(cell: Any) -> str:
    """A cell as it would be written."""
    return cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=str)


def as_id(cell: Any) -> str | None:
    """A cell as an id: text as it is, whole numbers as digits. Raises Unfit for anything else."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float):
        raise Unfit("a number with a fraction or exponent, so the id as written is lost")
    raise Unfit("which is not an id")


def as_text(cell: Any) -> str | None:
    """A cell as text; numbers as written. Raises Unfit for lists and objects."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, int | float):
        return written(cell)
    raise Unfit("which is not text")


def as_ids(cell: Any) -> list[str] | None:
    """A cell as a list of ids; text is read as JSON. Raises Unfit where it is no list or an entry is no id."""
    cell = _unpacked(cell)
    if cell is None:
        return None
    if not isinstance(cell, list):
        raise Unfit("which is not a list")
    if all(isinstance(entry, str) for entry in cell):
        return cell
    return [_entry(entry) for entry in cell]


def _entry(cell: Any) -> str:
    try:
        found = as_id(cell)
    except Unfit as fault:
        raise Unfit(f"with {written(cell)} in it, {fault}") from fault
    if found is None:
        raise Unfit("with an empty entry")
    return found


def as_names(cell: Any) -> list[str] | None:
    """A cell as a list of names; a text that is no JSON list is a single name."""
    if isinstance(cell, str) and not cell.strip().startswith("["):
        return [cell] if cell.strip() else None
    return as_ids(cell)


def as_numbers(cell: Any) -> list[Any] | None:
    """A cell as a list of numbers, or of texts that may be numbers. Raises Unfit where it is no list."""
    cell = _unpacked(cell)
    if cell is None:
        return None
    if not isinstance(cell, list) or any(isinstance(entry, list | dict | bool | None) for entry in cell):
        raise Unfit("which is not a list of numbers")
    return cell


def as_grades(cell: Any) -> dict[str, Any] | None:
    """A cell as grades by document id. Raises Unfit where it is no object (or Arrow map or struct)."""
    cell = _unpacked(cell)
    if cell is None:
        return None
    if isinstance(cell, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in cell):
        return {str(as_id(key)): grade for key, grade in cell}
    if not isinstance(cell, dict):
        raise Unfit("which is not an object of grades by document")
    return {key: grade for key, grade in cell.items() if grade is not None}


def _unpacked(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    if not cell.strip():
        return None
    try:
        return parse_json(cell)
    except Unclear as error:
        raise Unfit(f"where {error}") from error
    except ValueError as error:
        raise Unfit(f"which is broken JSON ({error})" if cell.strip()[0] in "[{" else "which is not a list") from error


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def parse_json(text: str | bytes) -> Any:
    """A JSON value.

    Raises ValueError for broken JSON, TooDeep for one nested deeper than the limit, Unclear for an object with a key
    twice and for half of a surrogate pair.
    """
    most = limits.JSON_DEPTH.value
    shown = text if isinstance(text, str) else text.decode()
    if shown.count("[") + shown.count("{") > most:
        depth = 0
        for token in TOKEN.finditer(shown):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
            if depth > most:
                raise TooDeep(f"nested deeper than {most} levels")
    try:
        value = json.loads(shown)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise TooDeep("nested too deep") from error
    keys = _keys(value)
    if shown.count(":") != keys and shown.count('":') + shown.count('" :') != keys:  # one letter counts much faster
        json.loads(shown, object_pairs_hook=_object)
    if "\\" in shown and ("\\ud" in shown or "\\uD" in shown):
        _check_characters(value)
    return value


def _keys(value: Any) -> int:
    """How many keys an object and those directly in it have: cheap to compare with the marks that follow keys."""
    if not isinstance(value, dict):
        return 0
    return len(value) + sum(len(cell) for cell in value.values() if isinstance(cell, dict))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise Unclear(f"the key {shorten(twice)} stands twice in one object")
    return found


def _check_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise Unclear(f"{half} is a character that is no valid text") from error
