"""The loss split: how much of what nDCG lacks was never retrieved, and how much is only ranked too low.

The second part is what a perfect reranker of the retrieved list could gain; the first no reranker can mend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragdash.metrics.registry import Metric, Option, Spec
from ragdash.metrics.retrieval import GAIN, JUDGED_ONLY, ndcg
from ragdash.problems import refuse
from ragdash.ranking import Flags, Floats, RankedLists, ideal_order
from ragdash.registry import explanation_of
from ragdash.scores import Scores

DEPTH = "depth"


def best_order(lists: RankedLists, gain: str = "linear", depth: float | None = None) -> Floats:
    """nDCG of the best order of everything retrieved: what a perfect reranker of the whole list would reach.

    `lists` come uncut, (lists,) out; only the first `depth` of the best order count.

    >>> from ragdash.ranking import lists_of
    >>> best_order(lists_of([None, None, 1], [None], missed=[[], [1]]), depth=1).tolist()
    [1.0, 0.0]
    """
    list_of, rank, grade = ideal_order(lists.list_of, lists.grade)
    sorted_lists = RankedLists(
        list_of, rank, grade, rank, np.ones_like(rank),
        lists.ideal_list, lists.ideal_rank, lists.ideal_grade, lists.retrieved, lists.present,
    )  # fmt: skip
    return ndcg(sorted_lists.cut(None if depth is None else int(depth)), gain)


BEST_ORDER = Metric(
    name="nDCG_of_the_best_order",
    label="nDCG of the best order",
    explanation=explanation_of(best_order),
    function=best_order,
    layer="retrieval",
    direction="higher",
    takes="lists",
    options=(Option(DEPTH, None, "How many of the best order count; without it all."), GAIN, JUDGED_ONLY),
)


def loss_specs(spec: Spec) -> tuple[Spec, Spec]:
    """The metrics `loss_splits` reads from the scores: nDCG itself, and nDCG of the best order at the same cutoff.

    Raises InputError for another metric than nDCG: only its loss is additive.

    >>> from ragdash.metrics.registry import parse
    >>> [str(one) for one in loss_specs(parse("nDCG@10"))]
    ['nDCG@10', 'nDCG_of_the_best_order(depth=10)']
    """
    if spec.metric.name != "nDCG":
        raise refuse("loss split", f"{spec} is not nDCG", "Choose nDCG as the metric, such as nDCG@10")
    return spec, Spec(BEST_ORDER, None, spec.options).having(DEPTH, spec.k)


@dataclass(frozen=True)
class Loss:
    """Means over `n` questions: nDCG + not_retrieved + ranked_too_low = 1. NaN where n is 0."""

    n: int
    ndcg: float
    not_retrieved: float
    ranked_too_low: float


@dataclass(frozen=True, eq=False)
class LossSplit:
    """One system's 1 − nDCG@k a question, in two parts, each from 0 to 1; NaN where nDCG is undefined, (queries,).

    `not_retrieved` is 1 − the nDCG@k of the best order of everything in the whole list; `ranked_too_low` the rest. A
    question without a relevant document that counts 0 is wholly not retrieved.
    """

    query_ids: NDArray[np.str_]
    ndcg: Floats
    not_retrieved: Floats
    ranked_too_low: Floats

    @property
    def perfect_reranker(self) -> float:
        """What a perfect reranker of the retrieved lists could gain in mean nDCG@k: the mean of the second part."""
        return self.mean().ranked_too_low

    def mean(self, among: Flags | None = None) -> Loss:
        """The means over the counted questions, or those in a mask (queries,), such as a slice."""
        counted = ~np.isnan(self.ndcg) if among is None else ~np.isnan(self.ndcg) & among
        n = int(counted.sum())
        parts = (self.ndcg, self.not_retrieved, self.ranked_too_low)
        means = [float(part[counted].mean()) if n else float("nan") for part in parts]
        return Loss(n, *means)

    def by_slice(self, slices: dict[str, Flags]) -> dict[str, Loss]:
        """The means of each slice; `slices` are masks (queries,) by name, as `ragdash.slices.slices_of` gives them."""
        return {name: self.mean(mask) for name, mask in slices.items()}


def loss_splits(scores: Scores, spec: Spec) -> dict[str, LossSplit]:
    """The loss split of every system; `scores` hold `loss_specs(spec)`, so its questions are those of nDCG.

    >>> import pyarrow as pa
    >>> from ragdash.evaluation import evaluate
    >>> from ragdash.metrics.registry import parse
    >>> from ragdash.schema import table_of
    >>> from ragdash.tables import Tables
    >>> rows = pa.table({"query_id": ["q1"] * 2, "doc_id": ["x", "d1"], "score": [2.0, 1.0]})
    >>> judged = pa.table({"query_id": ["q1"] * 2, "doc_id": ["d1", "d2"], "grade": [1, 1]})
    >>> tables = Tables({"a": table_of("run", rows, "a.run")}, table_of("judgments", judged, "qrels"))
    >>> scores = evaluate(tables, loss_specs(parse("nDCG@10")))
    >>> split = loss_splits(scores, parse("nDCG@10"))["a"].mean()
    >>> round(split.ndcg, 3), round(split.not_retrieved, 3), round(split.ranked_too_low, 3)
    (0.387, 0.387, 0.226)
    """
    plain, best = loss_specs(spec)
    return {name: _split(scores, scores.of(name, plain), scores.of(name, best)) for name in scores.systems}


def _split(scores: Scores, reached: Floats, best: Floats) -> LossSplit:
    return LossSplit(scores.query_ids, reached, np.maximum(1 - best, 0.0), np.maximum(best - reached, 0.0))
