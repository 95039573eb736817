"""A user's pattern: what it finds, what is refused and in which words, and that nothing hangs."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.citations.detect import find_markers
from ragdash.citations.pattern import compile_pattern
from ragdash.problems import InputError

HOSTILE = r"((?:a|aa)+)$"
REFUSED = {
    r"\[(\d+": r"'\\[(\\d+' is no regular expression: missing ) at position 6. Mend it there.",
    "[(0-9": "'[(0-9' is no regular expression: unterminated character set at position 5. Mend it there.",
    "*(a)": "'*(a)' is no regular expression: nothing to repeat at position 0. Mend it there.",
    r"\[[0-9]+\]": r"'\\[[0-9]+\\]' has no group, so nothing says which part names the document. "
    r"Put round brackets around that part, such as \[([0-9]+)\].",
    r"(\[)(\d+)\]": r"'(\\[)(\\d+)\\]' has 2 groups, where one is needed. "
    "Keep round brackets around the part that names the document, write (?:…) for the others.",
    "([0-9]*)": "'([0-9]*)' also matches nothing at all, so it would find a citation between any two characters. "
    "Write + in place of *, and at least one character that must be there.",
    "": "'' has no group, so nothing says which part names the document. "
    r"Put round brackets around that part, such as \[([0-9]+)\].",
}


@pytest.mark.parametrize("pattern", REFUSED)
def test_the_message_of_a_pattern_that_cannot_be_used(pattern: str) -> None:
    with pytest.raises(InputError) as error:
        find_markers(["a [1]"], pattern=pattern)
    assert str(error.value) == f"citation pattern: {REFUSED[pattern]}"


def test_a_pattern_that_matches_nothing_only_inside_a_text() -> None:
    with pytest.raises(InputError, match="also matches nothing at all"):
        find_markers(["a b", "ab"], pattern=r"(?<=a)( ?)")


def test_a_pattern_that_is_too_long() -> None:
    with pytest.raises(InputError) as error:
        compile_pattern("(" + "a" * 1000 + ")")
    assert str(error.value).endswith(
        "has 1,002 characters, more than 1,000. Shorten it, or raise the limit with RAGDASH_MAX_PATTERN_CHARACTERS."
    )


def test_the_group_is_the_target_and_the_match_the_span() -> None:
    found = find_markers(["See <<d 1>>", None, "<<>> <<😀>>"], pattern="<<(.*?)>>")
    assert found.answer.tolist() == [0, 2, 2]
    assert (found.start.tolist(), found.end.tolist()) == ([4, 0, 5], [11, 4, 10])
    assert found.target.to_pylist() == ["d 1", "", "😀"]
    assert found.styles == ("pattern",)


def test_a_match_without_its_group_names_nothing_and_still_counts() -> None:
    assert find_markers(["see above, see [1]"], pattern=r"\[(\d)\]|above").target.to_pylist() == ["", "1"]


def test_a_hostile_pattern_ends_in_a_message() -> None:
    started = time.monotonic()
    with pytest.raises(InputError) as error:
        find_markers(["fine", "a" * 60 + "b"], pattern=HOSTILE)
    assert time.monotonic() - started < 5
    assert str(error.value) == (
        "citation pattern: '((?:a|aa)+)$' took longer than 250 milliseconds on answer 2, so the search was given up. "
        "Repeat less inside of what is repeated, or raise the limit with RAGDASH_MAX_PATTERN_ANSWER_MS."
    )


def test_the_limit_for_all_answers_holds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDASH_MAX_PATTERN_ANSWER_MS", "60000")
    monkeypatch.setenv("RAGDASH_MAX_PATTERN_TOTAL_MS", "100")
    with pytest.raises(InputError) as error:
        find_markers(["a" * 60 + "b"] * 3, pattern=HOSTILE)
    assert "took longer than 100 milliseconds on all 3 answers" in str(error.value)
    assert "RAGDASH_MAX_PATTERN_TOTAL_MS" in str(error.value)


HEAVY = ["(a+)+$", "((?R))", "((?R)?a)", r"(?:(x+x+)+)y", "(a{1,1000}){1,1000}b", "((?:foo.*){e<=8})", HOSTILE]


@pytest.mark.parametrize("pattern", HEAVY)
@pytest.mark.parametrize("text", ["a" * 40 + "b", "x" * 40, "foo" * 300])
def test_no_pattern_hangs(pattern: str, text: str) -> None:
    started = time.monotonic()
    try:
        find_markers([text], pattern=pattern)
    except InputError as error:
        assert f"citation pattern: {pattern!r} " in str(error)
    assert time.monotonic() - started < 5


@given(st.text(st.sampled_from("()[]{}|*+?\\.^$a1,-:<>=!PRdwpL&#x"), max_size=14) | st.text(max_size=8))
def test_any_pattern_runs_or_is_refused(pattern: str) -> None:
    try:
        find_markers(["a1[2] (x)"], pattern=pattern)
    except InputError as error:
        assert str(error).startswith("citation pattern: ")
