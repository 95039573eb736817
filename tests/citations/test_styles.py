"""Every registered style: its own examples, spans, and that answers never run into one another."""

import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.citations.detect import find_markers
from ragdash.citations.registry import GAP, STYLES, Found, Joined, blocks, joined, texts_of

SEED = {"bracket_number", "doc_id", "source_ref", "footnote", "source_title"}
EXAMPLES = [(style.name, text, targets) for style in STYLES for text, targets in style.examples.items()]
MARKS = ["[1]", "[23]", "[", "]", "[doc_id d1]", "[doc_id ", "[[ref:a b]]", "[[ref:", "]]", "[fn:1]", "[fn:"]
MARKS += ["(Source: T (2))", "(Source: ", "(", ")"]
PIECES = st.sampled_from([*MARKS, "\n", " ", "\t", GAP, "é", "e\u0301", "😀", "\u202e", "潮汐", "１", "x"])
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join)


def test_the_seed_styles_are_there() -> None:
    assert set(STYLES.names()) >= SEED


@pytest.mark.parametrize(("name", "text", "targets"), EXAMPLES)
def test_an_example_gives_its_targets(name: str, text: str, targets: list[str]) -> None:
    assert find_markers([text], name).target.to_pylist() == list(targets)


@pytest.mark.parametrize("style", list(STYLES), ids=lambda style: style.name)
def test_a_style_has_examples_decoys_and_a_meaning(style) -> None:
    assert any(targets for targets in style.examples.values())
    assert any(not targets for targets in style.examples.values())
    assert style.meaning and style.label and style.family


@given(st.lists(TEXTS, max_size=6))
def test_many_answers_give_what_each_gives_alone(answers: list[str]) -> None:
    for style in STYLES:
        together = find_markers(answers, style.name)
        alone = [
            (row, match.start(), match.end(), match[1].strip())
            for row, answer in enumerate(answers)
            for match in re.finditer(style.pattern, answer)
        ]
        found = zip(together.answer, together.start, together.end, together.target.to_pylist(), strict=True)
        assert [(int(row), int(start), int(end), target) for row, start, end, target in found] == alone


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert find_markers([text, text[::-1]]).answers == 2


def test_half_characters_can_be_read() -> None:
    assert find_markers(["\ud83d [1] \udc00[doc_id \ud800]"]).target.to_pylist() == ["1", "\ufffd"]


def test_spans_count_code_points() -> None:
    answer = "😀 潮汐e\u0301 [1]"
    found = find_markers(["é", answer])
    assert answer[found.start[0] : found.end[0]] == "[1]"


HEADS = ["[", "[1", "[[ref:", "[doc_id ", "[doc_id:", "[fn:", "(Source: ", "(Source: (", "(Source:  a(b)"]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("tail", ["", " " * 100_000, "x" * 100_000])
def test_time_is_linear_in_the_text(head: str, tail: str) -> None:
    started = time.process_time()
    find_markers([head * 100_000 + tail, head + tail])
    assert time.process_time() - started < 5  # a quadratic search takes minutes


def test_blocks_divide_between_answers_only() -> None:
    texts = texts_of(["abc", None, "", "defg", "h"])
    pieces = [(block.first, block.text.split(GAP)) for block in blocks(texts, size=3)]
    assert [text for _, block in pieces for text in block] == ["abc", "", "", "defg", "h"]
    assert [first for first, _ in pieces] == [0, 3]
    assert list(blocks(texts_of([]))) == []


def test_a_style_that_runs_over_two_answers_is_a_programming_error() -> None:
    text = joined(texts_of(["a[", "]b"]))
    with pytest.raises(ValueError, match="a style matched across two answers"):
        text.place(Found(np.array([1]), np.array([4]), None))


def test_place_names_the_answer() -> None:
    text = Joined("ab\0cd", np.array([0, 3, 6]), first=7)
    answer, start, end = text.place(Found(np.array([0, 3]), np.array([2, 5]), None))
    assert (answer.tolist(), start.tolist(), end.tolist()) == ([7, 8], [0, 0], [2, 2])
