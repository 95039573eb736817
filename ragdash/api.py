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
from ragdash.inputs import Given, Named, by_system, read_inputs
from ragdash.metrics.registry import Spec
from ragdash.problems import InputError, Problem, refuse
from ragdash.schema import Raw, Table, conform
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

    A file of runs may hold answers, judgments and questions too; a table with several systems in its column `system`
    is split into NAME/x and NAME/y. Columns are those of `ragdash.schema.KINDS`.
    Raises InputError with every problem found.

    >>> tables = load({"a": pa.table({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]})})
    >>> tables.systems
    ('a',)
    """
    named = dict(runs) if isinstance(runs, Mapping) else {}
    told = dict(_mapping("answers", answers)) if answers is not None else {}
    files = _files(named, told) if isinstance(runs, Mapping) else [*_listed(runs), *_files({}, told)]
    judged, asked = ([Named(None, rows)] if isinstance(rows, str | Path) else [] for rows in (judgments, queries))
    read: Tables = read_inputs(files, judged, asked)
    problems: list[Problem] = []
    tables = {kind: _by_system(kind, given, problems) for kind, given in (("run", named), ("answers", told))}
    own = {kind: _table(kind, rows, kind, problems) for kind, rows in (("judgments", judgments), ("queries", queries))}
    if problems:
        raise InputError(problems)
    return Tables(
        runs={**read.runs, **tables["run"]},
        judgments=read.judgments if own["judgments"] is None else own["judgments"],
        answers={**read.answers, **tables["answers"]},
        queries=read.queries if own["queries"] is None else own["queries"],
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
    names = ("A", "B") if names is None else names
    if isinstance(names, str) or len(set(names)) != 2 or len(names) != 2:
        raise refuse("names", f"{names!r} is not two different names", "Name the baseline and the candidate")
    given = [rows for rows in both if isinstance(rows, str | Path)] if files else dict(zip(names, both, strict=True))
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


def _listed(runs: Sequence[str | Path] | str | Path) -> list[Given]:
    """Files given without a mapping, as on the command line. Raises InputError for tables, which need a name."""
    listed = [runs] if isinstance(runs, str | Path) else list(runs) if isinstance(runs, Sequence) else None
    wrong = runs if listed is None else next((one for one in listed if not isinstance(one, str | Path)), None)
    if listed is None or wrong is not None:
        raise refuse("runs", f"a {type(wrong).__name__} was given without a name", 'Write {"name": it}')
    return [*listed]


def _mapping(what: str, given: Mapping[str, Rows]) -> Mapping[str, Rows]:
    if not isinstance(given, Mapping):
        raise refuse(what, f"a {type(given).__name__} was given without a name", 'Write {"name": it}')
    return given


def _files(runs: Mapping[str, Rows], answers: Mapping[str, Rows]) -> list[Given]:
    """The files among runs and answers with the names of their systems; a file given as both is read once."""
    both = [(name, rows) for given in (runs, answers) for name, rows in given.items() if isinstance(rows, str | Path)]
    return [Named(name, path) for name, path in dict.fromkeys((name, str(rows)) for name, rows in both)]


def _by_system(kind: str, given: Mapping[str, Rows], problems: list[Problem]) -> dict[str, Table]:
    """The tables and data frames by system; one with several in its column system is split into NAME/x and NAME/y."""
    found: dict[str, Table] = {}
    for name, rows in given.items():
        table = _table(kind, rows, name, problems)
        split = {} if table is None else by_system(table)
        for inner, part in split.items():
            found[f"{name}/{inner}" if len(split) > 1 else name] = part
    return found


def _table(kind: str, rows: Rows | None, name: str, problems: list[Problem]) -> Table | None:
    """A table or data frame checked; None for nothing and for files, which are read elsewhere."""
    if rows is None or isinstance(rows, str | Path):
        return None
    try:
        arrow = _arrow(rows, name)
    except InputError as error:
        problems += error.problems
        return None
    table, faults = conform(Raw(kind, arrow, np.arange(1, arrow.num_rows + 1), unit="row"), name)
    problems += faults
    return table if not faults else None


def _arrow(rows: Rows, name: str) -> pa.Table:
    """Rows in memory as an Arrow table. Raises InputError for what is neither that nor a data frame."""
    if not isinstance(rows, pa.Table) and not hasattr(rows, "iloc"):
        found = f"a {type(rows).__name__} was given"
        raise refuse(name, found, "Give a file, an Arrow table or a data frame with one row a query and document")
    columns = [str(column) for column in (rows.column_names if isinstance(rows, pa.Table) else rows.columns)]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise refuse(name, f"two columns are named {twice!r}", "Rename one of them")
    if isinstance(rows, pa.Table):
        return rows
    try:
        return pa.Table.from_pandas(_without_gaps(rows), preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        first = str(error.args[0]).partition("\n")[0]
        raise refuse(name, f"the data frame is no table ({first})", "Write cells of one sort in each column") from error


def _without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with object columns of mixed ids as text, as Arrow takes no mixture; missing cells stay missing."""
    mixed: dict[str, Any] = {
        name: [None if cell is None or cell is np.nan else str(cell) for cell in frame[name]]
        for name in frame.columns
        if frame[name].dtype == object and any(isinstance(cell, int | np.integer) for cell in frame[name])
    }
    return frame.assign(**mixed)
