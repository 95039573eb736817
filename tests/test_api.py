"""The library's door: files, Arrow tables and data frames give the same numbers, and every public name is there."""

import ast
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import ragdash

RUN = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d3"], "score": [2.0, 1.0, 1.0]}
OTHER = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d2", "d1", "d3"], "score": [2.0, 1.0, 1.0]}
JUDGED = {"query_id": ["q1", "q2"], "doc_id": ["d2", "d3"], "grade": [1, 1]}


def test_every_public_name_is_there_and_typed():
    for name in ragdash.__all__:
        assert getattr(ragdash, name) is not None
    tree = ast.parse(Path(ragdash.__file__).read_text(encoding="utf-8"))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(ragdash.__all__) - {"__version__"} <= typed
    with pytest.raises(AttributeError):
        ragdash.nothing_of_the_kind  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, ragdash; print([m for m in ('numpy', 'pyarrow', 'pandas', 'streamlit') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame])
def test_tables_and_frames(make):
    scores = ragdash.evaluate({"a": make(RUN), "b": make(OTHER)}, make(JUDGED), metrics="RR")
    frame = ragdash.per_query_frame(scores)
    assert frame.to_dict("list") == {
        "system": ["a", "a", "b", "b"],
        "query_id": ["q1", "q2", "q1", "q2"],
        "RR": [0.5, 1.0, 1.0, 1.0],
    }
    means = ragdash.summary_frame(scores)
    assert means["mean"].tolist() == [0.75, 1.0] and means["n"].tolist() == [2, 2]
    comparison = ragdash.compare(make(RUN), make(OTHER), make(JUDGED), names=("old", "new"), metrics="RR")
    assert (comparison.baseline, comparison.candidate) == ("old", "new")
    assert comparison.metrics[comparison.primary].difference == 0.25


def test_files_name_their_systems(write):
    lines = {name: zip(*columns.values(), strict=True) for name, columns in (("old", RUN), ("new", OTHER))}
    paths = [write(f"{n}.run", "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)) for n, rows in lines.items()]
    judgments = write("qrels.txt", "q1 0 d2 1\nq2 0 d3 1\n")
    comparison = ragdash.compare(*paths, judgments, metrics="RR")
    assert (comparison.baseline, comparison.candidate) == ("old", "new")
    scores = ragdash.evaluate({"x": str(paths[0]), "y": pa.table(OTHER)}, str(judgments), metrics="RR")
    assert sorted(scores.systems) == ["x", "y"]


def test_whole_numbers_mixed_with_text_are_ids_and_gaps_are_said():
    frame = pd.DataFrame({"query_id": [1, "q2"], "doc_id": ["d2", "d3"], "score": [1.0, 1.0]})
    judged = pd.DataFrame({"query_id": ["1", "q2"], "doc_id": ["d2", "d3"], "grade": [1, 1]})
    assert ragdash.per_query_frame(ragdash.evaluate({"a": frame}, judged, metrics="RR"))["query_id"].tolist() == [
        "1",
        "q2",
    ]
    with pytest.raises(ragdash.InputError) as caught:
        ragdash.load({"a": pd.DataFrame({"query_id": ["q", None], "doc_id": ["d", "e"]})})
    assert str(caught.value) == "a, row 2: query_id is empty. Give every row an id."


def test_one_system_or_three_cannot_be_compared(write):
    both = write("both.run", "q1 Q0 d1 1 1 t\nq1 Q0 d1 1 1 u\n")
    with pytest.raises(ragdash.InputError) as caught:
        ragdash.compare(both, both, write("qrels.txt", "q1 0 d1 1\n"))
    assert "systems" in str(caught.value) and str(caught.value).endswith("Give one system each.")
