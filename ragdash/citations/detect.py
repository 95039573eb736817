"""All markers of all answers: by one style, by every style at once, or by a user's pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ragdash.citations.pattern import find_pattern
from ragdash.citations.registry import STYLES, Flags, Ints, Markers, Style, blocks, texts_of

AUTO = "auto"


def find_markers(answers: pa.Array | Sequence[str | None], style: str = AUTO, pattern: str | None = None) -> Markers:
    """Every citation written in the answers, in the order they are read.

    `style` is a name or `auto`, which reads all styles that are safe for it since a run may mix them; of two markers
    that overlap the one that starts first is kept, of two that start together the longer one. A `pattern` takes the
    place of the style. Raises InputError for an unknown style and a pattern that cannot be used.

    >>> found = find_markers(["Tides [1][2].", None, "Moon [[ref:1]] (Source: Tides)."])
    >>> found.answer.tolist(), found.start.tolist(), found.target.to_pylist()
    ([0, 0, 2, 2], [6, 9, 5, 15], ['1', '2', '1', 'Tides'])
    >>> {name: round(rate, 2) for name, rate in found.match_rates().items() if rate}
    {'source_ref': 0.33, 'bracket_number': 0.33, 'source_title': 0.33}
    """
    texts = texts_of(answers)
    if pattern is not None:
        return find_pattern(texts, pattern)
    chosen = [one for one in STYLES if one.safe_for_auto] if style == AUTO else [STYLES[style]]
    return _read(texts, chosen)


def _read(texts: pa.Array, styles: list[Style]) -> Markers:
    parts: list[tuple[Ints, Ints, Ints, Ints]] = [(np.zeros(0, np.int64),) * 4]
    targets: list[pa.Array] = [pa.array([], pa.string())]
    for text in blocks(texts):
        for number, one in enumerate(styles):
            found = one.function(text)
            parts.append((*text.place(found), np.full(len(found.target), number)))
            targets.append(found.target)
    answer, start, end, style = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((-end, start, answer))
    order = order[_apart(answer[order], start[order], end[order], style[order])]
    return Markers(
        answers=len(texts),
        answer=answer[order],
        start=start[order],
        end=end[order],
        target=pa.concat_arrays(targets).take(pa.array(order)),
        style=style[order].astype(np.int16),
        styles=tuple(one.name for one in styles),
        positional=np.array([one.positional for one in styles], dtype=bool)[style[order]],
    )


def _apart(answer: Ints, start: Ints, end: Ints, style: Ints) -> Flags:
    """Which of the sorted markers to keep so that no two overlap, save entries of one marker that names several."""
    keep = np.ones(len(answer), dtype=bool)
    clash = (answer[1:] == answer[:-1]) & (start[1:] < end[:-1])
    if not clash.any():
        return keep
    kept = (-1, 0, 0, 0)
    for row, marker in enumerate(zip(answer.tolist(), start.tolist(), end.tolist(), style.tolist(), strict=True)):
        if marker[0] != kept[0] or marker[1] >= kept[2]:
            kept = marker
        else:
            keep[row] = marker == kept
    return keep
