"""Citation metrics: empty cases, and an independent implementation with sets, an answer at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.cited import cited_of
from ragdash.metrics.registry import METRICS, parse

NAMES = ["citation_validity", "citation_coverage", "citations", "invalid_citations", "no_citation"]
NAMES += ["citation_precision", "citation_recall"]
IDS = st.sampled_from(["a", "b", "c", "d", "e"])
DRAWN = st.lists(st.tuples(st.lists(IDS, max_size=6), st.lists(IDS, max_size=4), st.lists(IDS, max_size=3)), max_size=6)


def over(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def plain(cited: list[str], context: list[str], relevant: list[str]) -> list[float]:
    valid = [target for target in cited if target in context]
    good = set(context) & set(relevant)
    return [
        over(len(valid), len(cited)),
        over(len(set(valid)), len(set(context))),
        len(cited),
        len(cited) - len(valid),
        float(not cited),
        over(len(set(valid) & good), len(set(cited))),
        over(len(set(valid) & good), len(good)),
    ]


@given(DRAWN)
def test_every_metric_as_with_sets(drawn: list[tuple[list[str], list[str], list[str]]]) -> None:
    cited, contexts, relevant = ([row[column] for row in drawn] for column in range(3))
    answers = cited_of(*cited, contexts=contexts, relevant=relevant)
    computed = np.array([parse(name).compute(answers) for name in NAMES]).reshape(len(NAMES), -1)
    expected = np.array([plain(*row) for row in drawn], dtype=float).reshape(-1, len(NAMES)).T
    np.testing.assert_array_equal(computed, expected)


def test_an_answer_without_citation() -> None:
    answers = cited_of([], contexts=[["a"]])
    assert np.isnan(parse("citation_validity").compute(answers)).all()
    assert parse("citation_validity(empty=1)").compute(answers).tolist() == [1.0]
    assert parse("citation_validity(empty=0)").compute(answers).tolist() == [0.0]
    assert parse("no_citation").compute(answers).tolist() == [1.0]
    assert parse("citation_coverage").compute(answers).tolist() == [0.0]


def test_an_answer_without_context() -> None:
    answers = cited_of(["a"], [], contexts=[[], []])
    np.testing.assert_array_equal(parse("citation_validity").compute(answers), [0.0, np.nan])
    assert np.isnan(parse("citation_coverage").compute(answers)).all()
    assert parse("invalid_citations").compute(answers).tolist() == [1.0, 0.0]


def test_a_refusal_needs_no_citation() -> None:
    answers = cited_of([], [], contexts=[["a"], ["a"]], abstained=[True, False])
    np.testing.assert_array_equal(parse("no_citation").compute(answers), [np.nan, 1.0])


def test_an_ambiguous_citation_is_not_valid_and_not_invalid() -> None:
    answers = cited_of(["Ab", "AB"], contexts=[["AB", "ab"]])
    assert parse("citation_validity").compute(answers).tolist() == [0.5]
    assert parse("invalid_citations").compute(answers).tolist() == [0.0]


def test_without_judgments_precision_and_recall_are_undefined() -> None:
    answers = cited_of(["a"], contexts=[["a"]])
    assert np.isnan(parse("citation_precision").compute(answers)).all()
    assert np.isnan(parse("citation_recall").compute(answers)).all()


def test_judged_with_nothing_relevant_is_a_precision_of_zero() -> None:
    answers = cited_of(["a"], contexts=[["a"]], relevant=[[]])
    assert parse("citation_precision").compute(answers).tolist() == [0.0]


def test_names_and_declarations() -> None:
    assert parse("citation_faithfulness").metric is METRICS["citation_validity"]
    assert str(parse("citation_faithfulness(empty=1)")) == "citation_validity(empty=1)"
    assert METRICS["invalid_citations"].direction == METRICS["no_citation"].direction == "lower"
    assert METRICS["citations"].direction == "none"
    assert {METRICS[name].takes for name in NAMES} == {"answers"}
    assert {METRICS[name].layer for name in NAMES} == {"generation"}


@pytest.mark.parametrize("name", NAMES)
def test_no_answers(name: str) -> None:
    assert parse(name).compute(cited_of(contexts=[])).tolist() == []
