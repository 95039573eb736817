"""Metrics of the answer as such, and the words by which an answer declines to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragdash.metrics.registry import Floats, metric

if TYPE_CHECKING:  # naming the metrics must not load pyarrow
    import pyarrow as pa

    from ragdash.cited import CitedAnswers

ABSTENTION_VERSION = 1
OPENING = 200  # code points of an answer in which it must decline; later such words belong to the answer itself
PHRASES = (
    r"\bi (do not|don'?t|cannot|can'?t) know\b",
    r"\bi (cannot|can'?t|could not|couldn'?t|am unable to|am not able to|was unable to) (answer|determine|find)\b",
    r"\b(unable|not able) to (answer|provide an answer|find (an answer|any|enough|relevant))\b",
    r"\b(question|this|it) (cannot|can'?t|can not|could not) be (answered|determined)\b",
    r"\b(there is|there'?s|i have|i found|found) (no|not enough|insufficient) (relevant |sufficient )?information\b",
    r"^\W*(no|not enough|insufficient) (relevant |sufficient )?(information|answer|evidence)\b",
    r"\b(context|documents?|passages?|sources?|text|information)( provided| given)? "
    r"(does not|doesn'?t|do not|don'?t|did not|didn'?t) (contain|mention|provide|include|say|specify|address|answer)\b",
)


def declines(texts: pa.Array) -> NDArray[np.bool_]:
    """Which answers begin with words that decline to answer, (answers,): a fixed list of English phrases.

    The list is versioned by ABSTENTION_VERSION and looks at the first 200 characters, without regard to case.

    >>> import pyarrow as pa
    >>> declines(pa.array(["I don’t know.", "Tides follow the moon [1]."])).tolist()
    [True, False]
    """
    import pyarrow.compute as pc  # here, since naming the metrics must not load it

    opening = pc.replace_substring(pc.utf8_slice_codeunits(texts, 0, OPENING), "’", "'")
    found = pc.match_substring_regex(opening, "|".join(PHRASES), ignore_case=True)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


@metric("answered", label="Answered", layer="generation", takes="answers", direction="none")
def answered(answers: CitedAnswers) -> Floats:
    """1 if the question got an answer, 0 if the system declined; its mean is the share of questions answered.

    Declined is what the column `abstained` says; without it an empty answer, or one that begins with words that decline
    and has no valid citation. Neither direction is better by itself: see abstention.

    >>> from ragdash.cited import cited_of
    >>> answered(cited_of(["d1"], [], contexts=[["d1"], ["d1"]], abstained=[False, True])).tolist()
    [1.0, 0.0]
    """
    return (~answers.abstained).astype(float)


@metric("abstention", label="Declined where it should", layer="generation", takes="answers")
def abstention(answers: CitedAnswers) -> Floats:
    """For a question that the corpus cannot answer: 1 if the system declined, 0 if it answered all the same.

    Undefined for questions that can be answered; `answerable` of the queries says which are not.

    >>> from ragdash.cited import cited_of
    >>> made = {"contexts": [["d1"]] * 3, "abstained": [True, False, True], "answerable": [False, False, True]}
    >>> abstention(cited_of([], ["d1"], [], **made)).tolist()
    [1.0, 0.0, nan]
    """
    if answers.answerable is None:
        return np.full(len(answers), np.nan)
    return np.where(answers.answerable, np.nan, answers.abstained)
