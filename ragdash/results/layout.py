"""How a result file is laid out: a zip with a head in JSON and its tables in Parquet. Written once, read once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from ragdash.funnel import CITED, CONTEXT, EXISTS
from ragdash.losses import BEST_ORDER
from ragdash.metrics.registry import METRICS, Direction, Metric, Spec, brought_in

FORMAT, VERSION = "ragdash result", 1
HEAD, SCORES, TIES = "result.json", "scores.parquet", "ties.parquet"
LINE, FILE = "line", "file"  # where each row of a table stood, as columns beside its own
KINDS_BY_SYSTEM = {"runs": "run", "answers": "answers", "scores": "scores"}
KINDS_ALONE = ("judgments", "queries", "documents")
UNLISTED: dict[str, Metric] = {one.name: one for one in (EXISTS, CONTEXT, CITED, BEST_ORDER)}


def member(kind: str, number: int | None = None) -> str:
    """What a table is called in the archive; systems by number, since their names may hold anything.

    >>> member("judgments"), member("run", 1)
    ('tables/judgments.parquet', 'tables/run-1.parquet')
    """
    return f"tables/{kind}.parquet" if number is None else f"tables/{kind}-{number}.parquet"


def spec_record(spec: Spec) -> dict[str, Any]:
    """A metric with its cutoff and options as plain values, one that came with the files included.

    >>> from ragdash.metrics.registry import parse
    >>> spec_record(parse("P(rel=2)@5"))
    {'metric': 'P', 'k': 5, 'options': [['rel', 2.0]]}
    """
    record = {"metric": spec.metric.name, "k": spec.k, "options": [list(pair) for pair in spec.options]}
    return record | {"direction": spec.metric.direction} if spec.metric.takes == "scores" else record


def spec_of(record: Any) -> Spec:
    """The metric that a record was made of. Raises ValueError, or InputError for a metric that there is not."""
    name, k, options = record["metric"], record["k"], tuple((key, value) for key, value in record["options"])
    if not (k is None or (isinstance(k, int) and k > 0)):
        raise ValueError(f"the cutoff is {k!r:.80}")
    if not all(isinstance(key, str) and isinstance(value, str | float | int | None) for key, value in options):
        raise ValueError(f"the options are {options!r:.80}")
    if "direction" not in record:
        return Spec(UNLISTED.get(name) or METRICS[name], k, options)
    if record["direction"] not in get_args(Direction):
        raise ValueError(f"the direction is {record['direction']!r:.80}")
    return Spec(replace(brought_in(str(name)).metric, direction=record["direction"]))
