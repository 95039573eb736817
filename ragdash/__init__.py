"""ragdash: did the new retriever really get better, for whom, why, and does the answer still cite honestly?

The public names are loaded when they are first used, so that `import ragdash` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "ragdash.api": ("compare", "evaluate", "load", "per_query_frame", "summary_frame"),
    "ragdash.citing": ("CITATION_PATTERNS", "CitationReport", "evaluate_citations", "evaluate_with_pattern"),
    "ragdash.comparison": ("Comparison", "Terms"),
    "ragdash.lists": (
        "EvalReport",
        "QueryResult",
        "average_precision",
        "evaluate_batch",
        "hit_rate_at_k",
        "ndcg_at_k",
        "precision_at_k",
        "recall_at_k",
        "reciprocal_rank",
    ),
    "ragdash.problems": ("InputError", "Problem"),
    "ragdash.scores": ("Scores",),
    "ragdash.settings": ("Settings",),
    "ragdash.stats.bootstrap": ("bootstrap_ci",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = sorted([*_MODULE_OF, "__version__"])

if TYPE_CHECKING:
    from ragdash.api import compare, evaluate, load, per_query_frame, summary_frame
    from ragdash.citing import CITATION_PATTERNS, CitationReport, evaluate_citations, evaluate_with_pattern
    from ragdash.comparison import Comparison, Terms
    from ragdash.lists import (
        EvalReport,
        QueryResult,
        average_precision,
        evaluate_batch,
        hit_rate_at_k,
        ndcg_at_k,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
    )
    from ragdash.problems import InputError, Problem
    from ragdash.scores import Scores
    from ragdash.settings import Settings
    from ragdash.stats.bootstrap import bootstrap_ci


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ragdash' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
