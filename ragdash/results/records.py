"""Frozen dataclasses as plain JSON values and back, with every value checked against the types they declare."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def record_of(value: Any) -> dict[str, Any]:
    """A dataclass as plain values, by field.

    >>> from ragdash.comparison import Terms
    >>> record_of(Terms())
    {'margin': 0.01, 'confidence': 0.95, 'method': 'auto'}
    """
    return asdict(value)


def of_record(kind: type[T], record: Any) -> T:
    """The dataclass that a record was made of; a field the record lacks takes its default.

    Raises ValueError where the record has another field or a value of another type than declared.

    >>> from ragdash.comparison import Terms
    >>> of_record(Terms, {"margin": 0.02}).margin
    0.02
    >>> of_record(Terms, {"margin": "wide"})
    Traceback (most recent call last):
    ValueError: margin is 'wide'
    """
    known = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(record, dict) or record.keys() - known.keys():
        raise ValueError(f"no {kind.__name__}: {record!r:.80}")
    types_of = get_type_hints(kind)
    values = {}
    for name, one in known.items():
        if name in record:
            values[name] = _checked(name, record[name], types_of[name])
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{name} is missing")
    return kind(**values)


def _checked(name: str, value: Any, declared: Any) -> Any:
    """The value as the declared type: a choice, a number, a text, a tuple of one of them, or a mapping from text."""
    origin, inner = get_origin(declared), get_args(declared)
    if origin in (Union, types.UnionType):
        if any(_fits(value, one) for one in inner):
            return value
    elif origin is tuple and isinstance(value, list):
        return tuple(_checked(name, one, inner[0]) for one in value)
    elif isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: _checked(name, one, inner[1]) for key, one in value.items()}
    elif _fits(value, declared):
        return value
    raise ValueError(f"{name} is {value!r:.80}")


def _fits(value: Any, declared: Any) -> bool:
    if get_origin(declared) is Literal:
        return value in get_args(declared)
    if declared in (int, float):
        return isinstance(value, int | declared) and not isinstance(value, bool)
    return isinstance(value, declared)
