"""The library's front door: files, Arrow tables or data frames in; scores, comparisons and data frames out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import pyarrow as pa

from ragdash.comparison import Comparison, Terms, companions, default_primary
from ragdash.comparison import compare as compare_scores
from ragdash.evaluation import chosen_specs
from ragdash.evaluation import evaluate as evaluate_tables
from ragdash.inputs import read_inputs
from ragdash.metrics.registry import Spec
from ragdash.problems import refuse
from ragdash.schema import Table, table_of
from ragdash.scores import Scores
from ragdash.settings import Settings
from ragdash.summary import summarise
from ragdash.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

Rows = Union[str, Path, pa.Table, "pd.DataFrame"]
Metrics = str | Sequence[str | Spec] | None


def load(
    runs: Mapping[str, Rows] | Sequence[str | Path] | str | Path = (),
    judgments: Rows | None = None,
    answers: Mapping[str, Rows] | None = None,
    queries: Rows | None = None,
) -> Tables:
    """Checked tables from files, Arrow tables or data frames; a mapping names the systems.

    A file of runs may hold answers, judgments and questions too. Columns are those of `ragdash.schema.KINDS`.
    Raises InputError with every problem found.

    >>> tables = load({"a": pa.table({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]})})
    >>> tables.systems
    ('a',)
    """
    named = dict(runs) if isinstance(runs, Mapping) else {}
    files = [runs] if isinstance(runs, str | Path) else [] if isinstance(runs, Mapping) else list(runs)
    files += [f"{name}={rows}" for name, rows in named.items() if isinstance(rows, str | Path)]
    files += [rows for rows in (queries, *(answers or {}).values()) if isinstance(rows, str | Path)]
    read: Tables = read_inputs(files, [judgments] if isinstance(judgments, str | Path) else [])
    return Tables(
        runs={**read.runs, **_tables("run", named)},
        judgments=_table("judgments", judgments, "judgments") or read.judgments,
        answers={**read.answers, **_tables("answers", answers or {})},
        queries=_table("queries", queries, "queries") or read.queries,
        documents=read.documents,
        scores=read.scores,
    )


def evaluate(
    runs: Mapping[str, Rows] | Sequence[str | Path] | str | Path = (),
    judgments: Rows | None = None,
    *,
    answers: Mapping[str, Rows] | None = None,
    queries: Rows | None = None,
    metrics: Metrics = None,
    settings: Settings | None = None,
) -> Scores:
    """Every metric of every system on every question.

    >>> run = pa.table({"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "score": [2.0, 1.0]})
    >>> judged = pa.table({"query_id": ["q1"], "doc_id": ["d2"], "grade": [1]})
    >>> scores = evaluate({"a": run}, judged, metrics="RR")
    >>> scores.systems["a"].values.tolist()
    [[0.5]]
    """
    return evaluate_tables(load(runs, judgments, answers, queries), metrics, settings)


def compare(
    baseline: Rows,
    candidate: Rows,
    judgments: Rows | None = None,
    *,
    names: tuple[str, str] | None = None,
    queries: Rows | None = None,
    metrics: Metrics = None,
    primary: str | None = None,
    terms: Terms | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Whether the candidate is better than the baseline: paired differences, intervals and a verdict.

    Files name their systems; tables and data frames are called A and B unless `names` says otherwise.
    Raises InputError for anything that cannot be compared.
    """
    settings = settings or Settings()
    both = (baseline, candidate)
    files = names is None and all(isinstance(rows, str | Path) for rows in both)
    given = [str(rows) for rows in both] if files else dict(zip(names or ("A", "B"), both, strict=True))
    tables = load(given, judgments, queries=queries)
    if len(tables.systems) != 2:
        found = f"the input holds {len(tables.systems)} systems ({', '.join(tables.systems)})"
        raise refuse("compare", found, "Give one system each")
    return compare_tables(tables, *tables.systems, metrics=metrics, primary=primary, terms=terms, settings=settings)


def compare_tables(
    tables: Tables,
    baseline: str,
    candidate: str,
    *,
    metrics: Metrics = None,
    primary: str | None = None,
    terms: Terms | None = None,
    settings: Settings | None = None,
) -> Comparison:
    """Compare two of the systems loaded: what the command line and the pages call."""
    settings = settings or Settings()
    asked = chosen_specs(tables, metrics, settings)
    first = chosen_specs(tables, [primary], settings)[0] if primary else default_primary(asked, settings)
    shown = asked if first in asked else (first, *asked)
    scores = evaluate_tables(tables, companions(shown), settings)
    return compare_scores(scores, baseline, candidate, first, shown=shown, terms=terms)


def per_query_frame(scores: Scores) -> pd.DataFrame:
    """One row a system and question: the columns system, query_id and one a metric; undefined values are NaN."""
    import pandas as pd

    frames = []
    for name, one in scores.systems.items():
        frame = pd.DataFrame(one.values.T, columns=[str(spec) for spec in scores.specs])
        frame.insert(0, "query_id", scores.query_ids)
        frame.insert(0, "system", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def summary_frame(scores: Scores, confidence: float = 0.95) -> pd.DataFrame:
    """One row a system and metric: mean, interval, spread, what ties allow, n and missing."""
    import pandas as pd

    rows = [
        {"system": name, "metric": str(spec), **vars(one)}
        for name, by_spec in summarise(scores, confidence).items()
        for spec, one in by_spec.items()
    ]
    return pd.DataFrame(rows)


def _tables(kind: str, given: Mapping[str, Rows]) -> dict[str, Table]:
    checked = {name: _table(kind, rows, name) for name, rows in given.items()}
    return {name: table for name, table in checked.items() if table is not None}


def _table(kind: str, rows: Rows | None, name: str) -> Table | None:
    """A table or data frame checked; None for nothing and for files, which are read elsewhere."""
    if rows is None or isinstance(rows, str | Path):
        return None
    arrow = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(_without_gaps(rows), preserve_index=False)
    return table_of(kind, arrow, name)


def _without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with object columns of mixed ids as text, as Arrow takes no mixture; missing cells stay missing."""
    mixed: dict[str, Any] = {
        name: [None if cell is None or cell is np.nan else str(cell) for cell in frame[name]]
        for name in frame.columns
        if frame[name].dtype == object and any(isinstance(cell, int | np.integer) for cell in frame[name])
    }
    return frame.assign(**mixed)
