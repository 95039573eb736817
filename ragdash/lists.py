"""One list at a time, for a notebook: the functions people know, as doors to the same core the pages use."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from ragdash.citing import CitationReport, evaluate_citations
from ragdash.metrics.registry import Value, parse
from ragdash.metrics.retrieval import GAIN
from ragdash.ranking import RankedLists, lists_of
from ragdash.settings import Conventions, Settings

Relevant = Collection[Hashable] | Mapping[Hashable, float]


def precision_at_k(retrieved: Sequence[Hashable], relevant: Relevant, k: int) -> float:
    """Share of the first k retrieved documents that is relevant: hits ÷ k. 0.0 where k is below 1.

    >>> precision_at_k(["d7", "d2", "d9"], {"d2"}, k=2)
    0.5
    """
    return _value("P", retrieved, relevant, k)


def recall_at_k(retrieved: Sequence[Hashable], relevant: Relevant, k: int) -> float:
    """Share of the relevant documents that is among the first k. 0.0 where nothing is relevant or k is below 1.

    >>> recall_at_k(["d7", "d9", "d2"], {"d2"}, k=10), recall_at_k(["d7", "d9", "d2"], {"d2"}, k=2)
    (1.0, 0.0)
    """
    return _value("R", retrieved, relevant, k)


def hit_rate_at_k(retrieved: Sequence[Hashable], relevant: Relevant, k: int) -> float:
    """1.0 if any of the first k retrieved documents is relevant, else 0.0.

    >>> hit_rate_at_k(["d7", "d2"], {"d2"}, k=1)
    0.0
    """
    return _value("Hit", retrieved, relevant, k)


def reciprocal_rank(retrieved: Sequence[Hashable], relevant: Relevant) -> float:
    """1 ÷ the rank of the first relevant document, 0.0 if none was retrieved.

    >>> reciprocal_rank(["d7", "d9", "d2"], {"d2"}) == 1 / 3
    True
    """
    return _value("RR", retrieved, relevant, None)


def average_precision(retrieved: Sequence[Hashable], relevant: Relevant) -> float:
    """Mean over the relevant documents of the precision at their ranks; those not retrieved count 0.

    >>> average_precision(["d2", "d7", "d9"], {"d2", "d9"}) == (1 + 2 / 3) / 2
    True
    """
    return _value("AP", retrieved, relevant, None)


def ndcg_at_k(
    retrieved: Sequence[Hashable], grades: Mapping[Hashable, float], k: int = 10, gain: str = "linear"
) -> float:
    """Worth of the first k, discounted by log2(rank + 1), as a share of the best order of all judged documents.

    `gain` is "linear" (the grade, as trec_eval) or "exp" (2^grade − 1).

    >>> ndcg_at_k(["d7", "d9", "d2"], {"d2": 1}, k=10)
    0.5
    """
    return _value("nDCG", retrieved, grades, k, gain=GAIN.read(gain))


@dataclass(frozen=True)
class QueryResult:
    """One question as one line of ragdash JSONL holds it. Grades win over `relevant_ids`, which count 1 each."""

    query_id: str
    retrieved_ids: Sequence[str] = ()
    relevant_ids: Sequence[str] = ()
    relevance_grades: Mapping[str, float] = field(default_factory=dict)
    query: str = ""
    generated_answer: str | None = None
    context_doc_ids: Sequence[str] = ()

    @property
    def grades(self) -> dict[Hashable, float]:
        """The grade of every judged document."""
        grades: Mapping[str, float] = self.relevance_grades or dict.fromkeys(self.relevant_ids, 1.0)
        return {doc: grade for doc, grade in grades.items()}


@dataclass(frozen=True)
class EvalReport:
    """Means over questions; the citation means run over the questions with an answer, None where there is none."""

    k: int
    n_queries: int
    precision_at_k: float
    recall_at_k: float
    hit_rate_at_k: float
    mrr: float
    mean_average_precision: float
    ndcg_at_k: float
    citation_faithfulness: float | None
    citation_coverage: float | None
    per_query: Mapping[str, Mapping[str, float]]
    citations: Mapping[str, CitationReport]


def evaluate_batch(results: Iterable[QueryResult], k: int = 10, conventions: Conventions = "ragdash") -> EvalReport:
    """Every metric of a batch of questions of one system. `conventions="classic"` takes exponential gain.

    Raises ValueError where a question id stands twice.

    >>> report = evaluate_batch([QueryResult("q1", ["d7", "d9", "d2"], ["d2"])])
    >>> report.ndcg_at_k, report.recall_at_k
    (0.5, 1.0)
    """
    batch = list(results)
    ids = [result.query_id for result in batch]
    if len(set(ids)) != len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ValueError(f"question {twice!r} stands twice in the batch; give each question once")
    gain = str(Settings(conventions=conventions).specs("nDCG")[0].option("gain"))
    per_query = {result.query_id: _measures(result, k, gain) for result in batch}
    means = {name: _mean(values[name] for values in per_query.values()) for name in MEASURES}
    cited = {
        result.query_id: evaluate_citations(result.generated_answer, list(result.context_doc_ids))
        for result in batch
        if result.generated_answer is not None
    }
    return EvalReport(
        k=k,
        n_queries=len(batch),
        **means,
        citation_faithfulness=_mean(one.faithfulness for one in cited.values()) if cited else None,
        citation_coverage=_mean(one.coverage for one in cited.values()) if cited else None,
        per_query=per_query,
        citations=cited,
    )


MEASURES = ("precision_at_k", "recall_at_k", "hit_rate_at_k", "mrr", "mean_average_precision", "ndcg_at_k")


def _measures(result: QueryResult, k: int, gain: str) -> dict[str, float]:
    found, grades = result.retrieved_ids, result.grades
    values = (
        precision_at_k(found, grades, k),
        recall_at_k(found, grades, k),
        hit_rate_at_k(found, grades, k),
        reciprocal_rank(found, grades),
        average_precision(found, grades),
        ndcg_at_k(found, grades, k, gain),
    )
    return dict(zip(MEASURES, values, strict=True))


def _mean(values: Iterable[float]) -> float:
    """Mean of the defined values, 0.0 where there is none."""
    known = [value for value in values if value == value]
    return fmean(known) if known else 0.0


def _value(name: str, retrieved: Sequence[Hashable], relevant: Relevant, k: int | None, **options: Value) -> float:
    """One metric of one list; undefined and cutoffs below 1 are 0.0, as these functions always had it."""
    if k is not None and k < 1:
        return 0.0
    metric = parse(f"{name}@{k}" if k else name).metric
    value = float(metric.function(_one_list(retrieved, relevant).cut(k), **options)[0])
    return value if value == value else 0.0


def _one_list(retrieved: Sequence[Hashable], relevant: Relevant) -> RankedLists:
    """The list with its grades; a document that stands twice keeps its best rank."""
    grades = dict(relevant) if isinstance(relevant, Mapping) else {doc: 1.0 for doc in relevant}
    if not all(math.isfinite(grade) for grade in grades.values()):
        raise ValueError("a grade is NaN or infinite; give finite numbers")
    found = list(dict.fromkeys(retrieved))
    there = set(found)
    return lists_of([grades.get(doc) for doc in found], missed=[[g for doc, g in grades.items() if doc not in there]])
