"""The picture of the places of the context that are cited."""

import numpy as np

from ragdash.charts.citations import citation_positions
from ragdash.charts.theme import A, B
from ragdash.citationdiff import Positions


def test_a_line_a_system_with_the_counts_in_words_and_in_the_table():
    drawn = citation_positions(
        {
            "bm25": Positions(np.array([4, 4]), np.array([3, 1])),
            "hybrid": Positions(np.array([4, 2]), np.array([1, 0])),
        }
    )
    first, second = drawn.figure.data
    assert (list(first.y), list(second.y)) == ([0.75, 0.25], [0.25, 0.0])
    assert (first.marker.symbol, second.marker.symbol) == (A.symbol, B.symbol)
    assert first.text[1] == "A, place 2: 1 of 4 cited"
    assert "A bm25 75% at place 1, 25% at place 2; B hybrid 25% at place 1, 0% at place 2" in drawn.alt
    assert drawn.rows.to_dict("records")[2] == {"place": 1, "system": "B hybrid", "given": 4, "cited": 1}


def test_nothing_given_draws_nothing():
    drawn = citation_positions({"a": Positions(np.zeros(0, int), np.zeros(0, int))})
    assert drawn.alt.endswith("none.") and len(drawn.rows) == 0
