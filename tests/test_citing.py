"""The doors for one answer, and the worked example of the documentation."""

import math
import re

import pytest

from ragdash.citations.registry import STYLES
from ragdash.citing import CITATION_PATTERNS, evaluate_citations, evaluate_with_pattern
from ragdash.problems import InputError

ANSWER = "Tides follow the moon [doc_id 3]. They rise twice a day [doc_id 7], or so it is said [doc_id 99]."
CONTEXT = ["1", "3", "5", "7", "10"]


def test_the_worked_example() -> None:
    report = evaluate_citations(ANSWER, CONTEXT)
    assert report.faithfulness == pytest.approx(2 / 3, abs=0)
    assert report.coverage == 2 / 5
    assert report.invalid_refs == ["99"]
    assert report.uncited_docs == ["1", "5", "10"]
    counts = (report.total_citations, report.valid_citations, report.invalid_citations, report.context_docs)
    assert counts == (3, 2, 1, 5)
    assert report.cited_docs == 2


@pytest.mark.parametrize("marker", ["[{}]", "[doc_id {}]", "[[ref:{}]]", "[fn:{}]", "(Source: {})"])
def test_the_worked_example_in_every_style(marker: str) -> None:
    answer = " ".join(marker.format(number) for number in (3, 7, 99))
    report = evaluate_with_pattern(answer, [1, 3, 5, 7, 10], "auto")
    assert (report.faithfulness, report.coverage) == (2 / 3, 2 / 5)
    assert (report.invalid_refs, report.uncited_docs) == (["99"], ["1", "5", "10"])


def test_the_patterns_are_those_of_the_registry() -> None:
    assert set(CITATION_PATTERNS) >= {"bracket_number", "doc_id", "source_ref", "footnote", "source_title"}
    for name, pattern in CITATION_PATTERNS.items():
        assert pattern == STYLES[name].pattern
        assert re.compile(pattern).groups == 1


@pytest.mark.parametrize("name", ["bracket_number", "doc_id", "source_ref", "footnote", "source_title"])
def test_a_pattern_of_the_registry_is_its_style(name: str) -> None:
    answer = "[1][doc_id 1] [[ref:1]] [fn:1] (Source: 1)"
    by_pattern = evaluate_citations(answer, ["a", "b"], citation_pattern=CITATION_PATTERNS[name])
    assert by_pattern == evaluate_with_pattern(answer, ["a", "b"], name)
    assert by_pattern.valid_citations == (1 if STYLES[name].positional else 0)


def test_a_pattern_of_ones_own() -> None:
    report = evaluate_citations("See <b> and <z>.", ["a", "b", "b"], citation_pattern="<([a-z])>")
    assert (report.faithfulness, report.coverage, report.invalid_refs) == (0.5, 0.5, ["z"])
    assert report.context_docs == 2


def test_nothing_cited() -> None:
    report = evaluate_citations("Tides.", ["1", "2"])
    assert (report.faithfulness, report.coverage, report.uncited_docs) == (1.0, 0.0, ["1", "2"])


def test_no_context() -> None:
    report = evaluate_citations("Tides [doc_id 1].", [])
    assert (report.faithfulness, report.invalid_refs, report.uncited_docs) == (0.0, ["1"], [])
    assert math.isnan(report.coverage)


def test_an_empty_answer_and_half_a_character() -> None:
    assert evaluate_citations("", []).total_citations == 0
    assert evaluate_citations("\ud800[doc_id 1]", ["1"]).valid_citations == 1


def test_an_unknown_pattern_name() -> None:
    with pytest.raises(InputError) as error:
        evaluate_with_pattern("", [], "docid")
    assert str(error.value) == "citation style: there is no 'docid'. Did you mean doc_id?"
