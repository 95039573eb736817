"""Metrics of citations: does the answer cite honestly, and what it was given?

Each takes all answers of a system and gives one value an answer. NaN means undefined, such as the validity of an answer
that cites nothing; means leave those answers out and say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragdash.metrics.registry import Floats, Option, metric, ratio

if TYPE_CHECKING:  # naming the metrics must not load pyarrow
    from ragdash.cited import CitedAnswers

EMPTY = Option(
    "empty", None, "What an answer without any citation counts: None leaves it out; 0 and 1 are older conventions.",
    choices=(None, 0, 1),
)  # fmt: skip
CONTEXT = ("context_ids",)


@metric(
    "citation_validity", label="Citation validity", layer="generation", takes="answers", needs=CONTEXT,
    options=(EMPTY,),
    aliases=("citation_faithfulness",),
)  # fmt: skip
def citation_validity(answers: CitedAnswers, empty: float | None = None) -> Floats:
    """Share of an answer's citations that name a document it was given: valid citations ÷ all citations.

    Every citation counts as often as it stands there. One that names nothing in the context is invalid, one that names
    two documents is not valid either. An answer without any citation is undefined and left out, with its own share in
    no_citation; `empty=1` and `empty=0` count it as 1 or 0, as older tools do. An answer without context that cites
    something scores 0. Some tools call this citation faithfulness; it says nothing about whether the text is supported.

    >>> from ragdash.cited import cited_of
    >>> answers = cited_of(["3", "7", "99"], [], ["1"], contexts=[["1", "3", "5", "7", "10"], ["1"], []])
    >>> citation_validity(answers).round(4).tolist(), citation_validity(answers, empty=1).round(4).tolist()
    ([0.6667, nan, 0.0], [0.6667, 1.0, 0.0])
    """
    share = ratio(answers.citations(answers.valid), answers.citations())
    return share if empty is None else np.where(answers.citations() == 0, float(empty), share)


@metric("citation_coverage", label="Citation coverage", layer="generation", takes="answers", needs=CONTEXT)
def citation_coverage(answers: CitedAnswers) -> Floats:
    """Share of the documents an answer was given that it cites: distinct cited ÷ distinct context documents.

    A document cited often counts once, and so does one that stands in the context twice. Undefined without context.

    >>> from ragdash.cited import cited_of
    >>> answers = cited_of(["3", "7", "3", "99"], ["1"], contexts=[["1", "3", "5", "7", "10"], []])
    >>> citation_coverage(answers).tolist()
    [0.4, nan]
    """
    return ratio(answers.documents(answers.cited()), answers.documents())


@metric(
    "citations", label="Citations", layer="generation", takes="answers", direction="none", span=None,
)  # fmt: skip
def citations(answers: CitedAnswers) -> Floats:
    """How many citations an answer has, valid or not, each as often as it stands there.

    >>> from ragdash.cited import cited_of
    >>> citations(cited_of(["d1", "d1", "d9"], [], contexts=[["d1"], ["d1"]])).tolist()
    [3.0, 0.0]
    """
    return answers.citations()


@metric(
    "invalid_citations", label="Invalid citations", layer="generation", takes="answers", needs=CONTEXT,
    direction="lower", span=None,
)  # fmt: skip
def invalid_citations(answers: CitedAnswers) -> Floats:
    """How many citations of an answer name nothing in its context, each as often as it stands there.

    >>> from ragdash.cited import cited_of
    >>> invalid_citations(cited_of(["d1", "d9", "d9"], [], contexts=[["d1"], ["d1"]])).tolist()
    [2.0, 0.0]
    """
    return answers.citations(answers.invalid)


@metric(
    "no_citation", label="Answers without citation", layer="generation", takes="answers", direction="lower",
)  # fmt: skip
def no_citation(answers: CitedAnswers) -> Floats:
    """1 if an answer has no citation at all, else 0; its mean is the share of answers without citation.

    Answers that decline to answer need no citation: they are left out.

    >>> from ragdash.cited import cited_of
    >>> answers = cited_of(["d9"], [], [], contexts=[["d1"], ["d1"], ["d1"]], abstained=[False, False, True])
    >>> no_citation(answers).tolist()
    [0.0, 1.0, nan]
    """
    return np.where(answers.abstained, np.nan, answers.citations() == 0)


@metric("citation_precision", label="Cited and relevant", layer="generation", takes="answers", needs=CONTEXT)
def citation_precision(answers: CitedAnswers) -> Floats:
    """Share of what an answer cites that judgments call relevant: distinct cited relevant ÷ distinct cited.

    What is cited is the distinct documents of valid citations and the distinct targets of invalid ones, so an invented
    citation costs. Relevant is a grade above 0; a document nobody judged is not relevant. Undefined where nothing is
    cited, and for a question without judgments.

    >>> from ragdash.cited import cited_of
    >>> answers = cited_of(["d1", "d1", "d2", "d9"], [], contexts=[["d1", "d2"], ["d1"]], relevant=[["d1"], ["d1"]])
    >>> citation_precision(answers).round(4).tolist()
    [0.3333, nan]
    """
    if answers.judged is None or answers.relevant is None:
        return np.full(len(answers), np.nan)
    cited = answers.cited()
    invented = np.bincount(answers.answer[answers.first_invalid()], minlength=len(answers))
    share = ratio(answers.documents(cited & answers.relevant), answers.documents(cited) + invented)
    return np.where(answers.judged, share, np.nan)


@metric("citation_recall", label="Relevant and cited", layer="generation", takes="answers", needs=CONTEXT)
def citation_recall(answers: CitedAnswers) -> Floats:
    """Share of the relevant documents an answer was given that it cites: relevant cited ÷ relevant in the context.

    Relevant is a grade above 0. Undefined where the context holds no relevant document or nothing is judged.

    >>> from ragdash.cited import cited_of
    >>> answers = cited_of(["d1", "d9"], ["d1"], contexts=[["d1", "d2"], ["d1"]], relevant=[["d1", "d2", "d3"], []])
    >>> citation_recall(answers).tolist()
    [0.5, nan]
    """
    if answers.relevant is None:
        return np.full(len(answers), np.nan)
    return ratio(answers.documents(answers.cited() & answers.relevant), answers.documents(answers.relevant))
