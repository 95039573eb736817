"""How the cells of a column become ids, numbers, text, truth values or lists, and what is said of one that cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash import limits
from ragdash.problems import shorten

TRUE, FALSE = ("true", "1", "yes", "t", "y"), ("false", "0", "no", "f", "n")

Read = tuple[pa.Array, "NDArray[np.bool_] | None", Callable[[Any], tuple[str, str]]]


def _plain(cells: pa.Array) -> pa.Array:
    """Dictionaries, views and null columns as plain strings or numbers."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if pa.types.is_null(cells.type) or pa.types.is_large_string(cells.type) or pa.types.is_string_view(cells.type):
        return cells.cast(pa.string())
    return cells


def _mask(cells: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(cells, True).to_numpy(zero_copy_only=False), dtype=bool)


def _read_ids(cells: pa.Array) -> Read:
    cells = _plain(cells)
    if pa.types.is_floating(cells.type):
        why = "is a number with a fraction or exponent, so the id as written is lost"
        return cells.cast(pa.string()), np.ones(len(cells), bool), lambda cell: (f"{cell!r} {why}", "Write ids as text")
    if not pa.types.is_string(cells.type):
        cells = cells.cast(pa.string())
    length = pc.binary_length(cells)
    most = limits.ID_BYTES.value
    extent = pc.min_max(length)
    if not cells.null_count and len(cells) and extent["min"].as_py() > 0 and extent["max"].as_py() <= most:
        return cells, None, _id_fault
    return cells, _mask(pc.or_(pc.equal(length, 0), pc.greater(length, most))), _id_fault


def _read_names(cells: pa.Array) -> Read:
    """Ids of which few differ: a dictionary of text stays one, which costs little; `Table.column` gives plain text."""
    if not pa.types.is_dictionary(cells.type) or cells.null_count:
        return _read_ids(cells)
    names, bad, why = _read_ids(cells.dictionary)
    kept = pa.DictionaryArray.from_arrays(cells.indices, names)
    return kept, None if bad is None else bad[cells.indices.to_numpy()], why


def _id_fault(cell: Any) -> tuple[str, str]:
    if cell is None or cell == "":
        return "is empty", "Give every row an id"
    return f"{shorten(str(cell))} is longer than {limits.ID_BYTES.value:,} bytes", limits.ID_BYTES.hint


def _number_fault(cell: Any) -> tuple[str, str]:
    if cell is None or cell == "":
        return "is empty", "Write a number in every row"
    if isinstance(cell, float) or _float(str(cell)) is not None:
        return f"is {cell}, which has no place in an order", "Write a finite number in every row"
    return f"is {shorten(str(cell))}, which is not a number", "Write a number in every row"


def _floats(cells: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers as float64 and where a text was none; empty and null cells are NaN."""
    cells = _plain(cells)
    if not pa.types.is_string(cells.type):
        return np.asarray(cells.cast(pa.float64()).to_numpy(zero_copy_only=False), float), np.zeros(len(cells), bool)
    try:
        return np.asarray(cells.cast(pa.float64()).to_numpy(zero_copy_only=False), float), np.zeros(len(cells), bool)
    except pa.ArrowInvalid:
        values = [_float(text) for text in cells.to_pylist()]
        bad = np.array([value is None for value in values])
        return np.array([np.nan if value is None else value for value in values]), bad


def _float(text: str | None) -> float | None:
    if text is None or not text.strip():
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None


def _read_numbers(cells: pa.Array) -> Read:
    cells = _plain(cells)
    if not pa.types.is_string(cells.type):
        cells = cells.cast(pa.float64())
        if not cells.null_count and pc.all(pc.is_finite(cells)).as_py():
            return cells, None, _number_fault
    numbers, bad = _floats(cells)
    return pa.array(numbers), bad | ~np.isfinite(numbers), _number_fault


def _read_values(cells: pa.Array) -> Read:
    numbers, bad = _floats(cells)
    return pa.array(numbers), bad | np.isinf(numbers), _number_fault


def _read_text(cells: pa.Array) -> Read:
    cells = _plain(cells)
    text = cells if pa.types.is_string(cells.type) else cells.cast(pa.string())
    return pc.fill_null(text, ""), None, _id_fault


def _read_flags(cells: pa.Array) -> Read:
    cells = _plain(cells)
    if pa.types.is_boolean(cells.type):
        return cells, None, _id_fault
    words = pc.utf8_lower(pc.utf8_trim_whitespace(cells.cast(pa.string())))
    yes, no = pc.is_in(words, pa.array(TRUE)), pc.is_in(words, pa.array(FALSE))
    empty = pc.or_(pc.is_null(words), pc.fill_null(pc.equal(words, ""), True))
    flags = pc.if_else(empty, pa.scalar(None, pa.bool_()), yes)
    bad = pc.invert(pc.or_(pc.or_(yes, no), empty))
    return flags, _mask(bad), lambda cell: (f"is {shorten(str(cell))}, neither true nor false", "Write true or false")


def _read_id_lists(cells: pa.Array) -> Read:
    if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type) or pa.types.is_null(cells.type):
        lists = cells.cast(pa.list_(pa.string()))
        return lists, None, _id_fault
    return (
        pa.nulls(len(cells), pa.list_(pa.string())),
        np.ones(len(cells), bool),
        lambda cell: (
            f"is {shorten(str(cell))}, which is not a list",
            'Write a list such as ["d1", "d2"]',
        ),
    )


READERS: dict[str, Callable[[pa.Array], Read]] = {
    "id": _read_ids,
    "name": _read_names,
    "number": _read_numbers,
    "value": _read_values,
    "text": _read_text,
    "flag": _read_flags,
    "ids": _read_id_lists,
}
