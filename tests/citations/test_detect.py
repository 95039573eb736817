"""`auto`, overlaps and match rates."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.citations import detect
from ragdash.citations.detect import find_markers
from ragdash.citations.registry import STYLES, Found, Style
from ragdash.problems import InputError


def test_auto_reads_a_mixture_in_the_order_of_the_text() -> None:
    found = find_markers(["[fn:1] then [2], (Source: A) [[ref:b]]", "", "[doc_id c]"])
    names = [found.styles[style] for style in found.style]
    assert names == ["footnote", "bracket_number", "source_title", "source_ref", "doc_id"]
    assert found.target.to_pylist() == ["1", "2", "A", "b", "c"]
    assert found.answer.tolist() == [0, 0, 0, 0, 2]
    assert found.positional.tolist() == [True, True, False, False, False]


def test_a_marker_inside_of_a_marker_does_not_count() -> None:
    found = find_markers(["(Source: Tides [1]) [2]"])
    assert found.target.to_pylist() == ["Tides [1]", "2"]


@given(st.lists(st.sampled_from(["[1]", "(Source: ", ")", "(", "[[ref:2]]", "[doc_id 3]"]), max_size=20).map("".join))
def test_markers_of_auto_never_overlap(text: str) -> None:
    found = find_markers([text, text])
    same = found.answer[1:] == found.answer[:-1]
    assert np.all(found.start[1:][same] >= found.end[:-1][same])


def _style(name: str, spans: list[tuple[int, int, str]]) -> Style:
    start, end, targets = zip(*spans, strict=True)
    found = Found(np.array(start), np.array(end), pa.array(targets))
    return Style(name, name, "For a test.", lambda text: found, family="test")


def test_the_longer_of_two_that_start_together_is_kept() -> None:
    short, long = _style("short", [(0, 3, "s"), (8, 9, "t")]), _style("long", [(0, 5, "l"), (4, 6, "m")])
    found = detect._read(pa.array(["0123456789"]), [short, long])
    assert found.target.to_pylist() == ["l", "t"]


def test_a_chain_of_overlaps_keeps_the_first_and_the_one_after_it() -> None:
    chain = [_style("a", [(0, 4, "a")]), _style("b", [(3, 7, "b")]), _style("c", [(6, 9, "c")])]
    assert detect._read(pa.array(["0123456789"]), chain).target.to_pylist() == ["a", "c"]


def test_a_marker_that_names_several_documents_keeps_them_all() -> None:
    several = _style("several", [(0, 5, "1"), (0, 5, "2"), (0, 5, "2")])
    assert detect._read(pa.array(["[1,2]"]), [several]).target.to_pylist() == ["1", "2", "2"]


def test_match_rates_count_answers_not_markers() -> None:
    rates = find_markers(["[1][2]", "[3] [fn:1]", "none", ""]).match_rates()
    assert rates["bracket_number"] == 0.5
    assert rates["footnote"] == 0.25
    assert rates["doc_id"] == 0.0
    assert set(rates) == {style.name for style in STYLES if style.safe_for_auto}


def test_no_answers_at_all() -> None:
    found = find_markers([])
    assert len(found) == 0
    assert all(np.isnan(rate) for rate in found.match_rates().values())


def test_null_answers_and_all_string_types() -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert find_markers(pa.array(["a [1]", None], kind)).start.tolist() == [2]


def test_an_unknown_style_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError) as error:
        find_markers(["[1]"], "bracket_numbers")
    assert str(error.value) == "citation style: there is no 'bracket_numbers'. Did you mean bracket_number?"
