"""Whether an answer declines to answer, by the phrase list, and the metrics of that."""

import numpy as np
import pyarrow as pa
import pytest

from ragdash.cited import cited_of
from ragdash.metrics.answer import declines
from ragdash.metrics.registry import parse

DECLINE = [
    "I don't know.",
    "I don’t know the answer to that.",
    "I'm sorry, but I cannot answer this from the documents.",
    "I was unable to find relevant information.",
    "Unfortunately the question cannot be answered.",
    "There is not enough information in the passages.",
    "No relevant information was found.",
    "The provided context does not mention tides.",
    "The passages don't say.",
    "Based on the given documents, I COULD NOT FIND anything.",
]
ANSWER = [
    "",
    "Tides follow the moon [1].",
    "You will not know the tide without a table.",
    "The sailors do not know the harbour; ask the pilot.",
    "Information on tides is printed in the almanac.",
    "The law provides that sources are named.",
    "x" * 300 + " I don't know.",
]


@pytest.mark.parametrize("text", DECLINE)
def test_words_that_decline(text: str) -> None:
    assert declines(pa.array([text])).tolist() == [True]


@pytest.mark.parametrize("text", ANSWER)
def test_words_that_answer(text: str) -> None:
    assert declines(pa.array([text])).tolist() == [False]


def test_no_answers() -> None:
    assert declines(pa.array([], pa.string())).tolist() == []


def test_abstention_asks_only_of_unanswerable_questions() -> None:
    facts = {"abstained": [True, False, True, False], "answerable": [False, False, True, True]}
    answers = cited_of([], [], [], [], contexts=[[]] * 4, **facts)
    np.testing.assert_array_equal(parse("abstention").compute(answers), [1.0, 0.0, np.nan, np.nan])
    assert parse("answered").compute(answers).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_abstention_is_undefined_where_nothing_says_what_can_be_answered() -> None:
    assert np.isnan(parse("abstention").compute(cited_of([], contexts=[[]]))).all()
