"""Metrics of ranked lists: did the retriever find the evidence, at the right ranks?

Each takes all lists of a system, already cut at k, and gives one value a list. NaN means undefined: no relevant
document to find (or nothing retrieved, for Judged); evaluation decides what that counts as.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragdash.metrics.registry import Option, metric, ratio
from ragdash.problems import refuse
from ragdash.ranking import Floats, RankedLists, lists_of  # noqa: F401  lists_of is for the examples

GAIN = Option("gain", "linear", "linear: the grade itself; exp: 2^grade - 1.", choices=("linear", "exp"))
REL = Option("rel", None, "The lowest grade that counts as relevant; without it any grade above 0.")
JUDGED_ONLY = Option("judged_only", False, "Remove documents nobody judged before ranks are counted.")


LARGEST_EXPONENT = 1000


def gains(grade: Floats, gain: str) -> Floats:
    """What a document of this grade is worth: never below 0. Raises InputError where 2^grade is no number any more."""
    positive = np.maximum(grade, 0.0)
    if gain == "linear":
        return positive
    if positive.max(initial=0.0) > LARGEST_EXPONENT:
        found = f"the grade {positive.max():g} is too large for 2^grade − 1"
        raise refuse("judgments", found, "Use gain=linear, or grades of a smaller scale")
    return np.asarray(np.exp2(positive) - 1.0)


@metric(
    "nDCG", label="nDCG", layer="retrieval", takes="lists", cutoff="optional", options=(GAIN, JUDGED_ONLY),
    aliases=("ndcg_cut",), trec_name="ndcg",
)  # fmt: skip
def ndcg(lists: RankedLists, gain: str = "linear") -> Floats:
    """How much of the best possible ranking's worth this ranking has, documents further down counting less.

    Sum of gain ÷ log2(rank + 1) over the top k, divided by the same sum for the ideal order of all judged documents.
    Grades below 0 are worth 0. Linear gain as trec_eval, BEIR and MTEB; `gain=exp` as in Burges et al. (2005).
    Järvelin and Kekäläinen (2002).

    >>> ndcg(lists_of([None, None, 1]).cut(10)).tolist()
    [0.5]
    >>> ndcg(lists_of([3, 0, 1], missed=[[2]]).cut(2)).round(4).tolist()
    [0.7039]
    """
    worth = lists.total(gains(lists.grade, gain) / np.log2(lists.rank + 1))
    seen = lists.ideal_rank <= (lists.k or np.iinfo(np.int64).max)
    best = lists.ideal_total(np.where(seen, gains(lists.ideal_grade, gain) / np.log2(lists.ideal_rank + 1), 0.0))
    return ratio(worth, best)


@metric(
    "R", label="Recall", layer="retrieval", takes="lists", cutoff="optional", options=(REL, JUDGED_ONLY),
    aliases=("recall", "set_recall"), trec_name="recall",
)  # fmt: skip
def recall(lists: RankedLists, rel: float | None = None) -> Floats:
    """Share of all relevant documents that are in the top k: hits in the top k ÷ all relevant.

    >>> recall(lists_of([None, None, 1]).cut(10)).tolist(), recall(lists_of([None, None, 1]).cut(2)).tolist()
    ([1.0], [0.0])
    """
    return ratio(lists.total(lists.hit(rel)), lists.relevant(rel))


@metric(
    "RR", label="Reciprocal rank", layer="retrieval", takes="lists", cutoff="optional", options=(REL, JUDGED_ONLY),
    aliases=("mrr", "recip_rank", "reciprocal_rank"), trec_name="recip_rank",
)  # fmt: skip
def reciprocal_rank(lists: RankedLists, rel: float | None = None) -> Floats:
    """1 ÷ the rank of the first relevant document within k, 0 if there is none. Its mean is the MRR.

    >>> reciprocal_rank(lists_of([None, None, 1], [None], missed=[[], [1]])).round(4).tolist()
    [0.3333, 0.0]
    """
    hit = lists.hit(rel)
    first = hit & (lists.hits_so_far(hit) == 1)
    return defined(lists, rel, lists.total(np.where(first, 1.0 / lists.rank, 0.0)))


@metric(
    "AP", label="Average precision", layer="retrieval", takes="lists", cutoff="optional", options=(REL, JUDGED_ONLY),
    aliases=("map", "average_precision"), trec_name="map",
)  # fmt: skip
def average_precision(lists: RankedLists, rel: float | None = None) -> Floats:
    """Mean over all relevant documents of the precision at their ranks; those not found within k count 0.

    Its mean is the MAP. With a cutoff it is trec_eval's map_cut: the sum is still divided by all relevant documents.

    >>> average_precision(lists_of([1, 0, 1], [0, 1, 0])).round(4).tolist()
    [0.8333, 0.5]
    """
    hit = lists.hit(rel)
    precision_here = lists.hits_so_far(hit) / lists.rank
    return ratio(lists.total(np.where(hit, precision_here, 0.0)), lists.relevant(rel))


@metric(
    "P", label="Precision", layer="retrieval", takes="lists", cutoff="required", options=(REL, JUDGED_ONLY),
    aliases=("precision",), trec_name="P",
)  # fmt: skip
def precision(lists: RankedLists, rel: float | None = None) -> Floats:
    """Share of the top k that is relevant: hits ÷ k, also where fewer than k documents were retrieved.

    >>> precision(lists_of([1, 0, 1]).cut(2)).tolist(), precision(lists_of([1]).cut(10)).tolist()
    ([0.5], [0.1])
    """
    return defined(lists, rel, lists.total(lists.hit(rel)) / float(lists.k or 1))


@metric(
    "Hit", label="Hit rate", layer="retrieval", takes="lists", cutoff="optional", options=(REL, JUDGED_ONLY),
    aliases=("success", "hit_rate"), trec_name="success",
)  # fmt: skip
def hit_rate(lists: RankedLists, rel: float | None = None) -> Floats:
    """1 if at least one relevant document is in the top k, else 0. trec_eval calls it success.

    >>> hit_rate(lists_of([0, 1], [0, 0, 1]).cut(2), rel=1.0).tolist()
    [1.0, 0.0]
    """
    return defined(lists, rel, (lists.total(lists.hit(rel)) > 0).astype(float))


@metric("Judged", label="Judged share", layer="retrieval", takes="lists", cutoff="optional", absent=float("nan"))
def judged(lists: RankedLists) -> Floats:
    """Share of the top k that somebody judged: how far the other numbers can be trusted.

    Judged documents in the top k ÷ min(k, retrieved); undefined for an empty list. A document nobody judged counts as
    not relevant, so a system that finds new documents is scored too low where this share is low.

    >>> judged(lists_of([1, None, 0, None]).cut(2)).tolist()
    [0.5]
    """
    shown = np.minimum(lists.retrieved, lists.k) if lists.k else lists.retrieved
    return ratio(np.bincount(lists.list_of, minlength=len(lists)).astype(float), shown.astype(float))


def defined(lists: RankedLists, rel: float | None, values: NDArray[np.float64]) -> Floats:
    """The values, NaN where the question has no relevant document at all."""
    return np.where(lists.relevant(rel) > 0, values, np.nan)
