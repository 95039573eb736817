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


LINES = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"


def refusal(call, *given, **more):
    with pytest.raises(ragdash.InputError) as caught:
        call(*given, **more)
    return str(caught.value)


@pytest.mark.parametrize("name", ["k=1", "bm25 (k1=0.9)", "", "a b", "[x]*"])
def test_a_system_may_have_any_name(write, name):
    path = write("x.run", LINES)
    assert ragdash.load({name: str(path)}).systems == ragdash.load({name: path}).systems == (name,)


def test_answers_in_a_file_have_the_name_given(write):
    path = write("file.jsonl", '{"query_id": "q1", "answer": "x", "retrieved_ids": ["d1"]}\n')
    assert list(ragdash.load(answers={"a": str(path)}).answers) == ["a"]
    both = ragdash.load({"a": path}, answers={"a": str(path)})
    assert list(both.runs) == list(both.answers) == ["a"]


def test_judgments_without_rows_are_still_judgments():
    empty = pa.table({"query_id": pa.array([], pa.string()), "doc_id": pa.array([], pa.string()), "grade": []})
    for judged in (empty, empty.to_pandas()):
        judgments = ragdash.load({"a": pa.table(RUN)}, judged).judgments
        assert judgments is not None and len(judgments) == 0


def test_what_is_no_table_is_refused_with_what_to_give():
    frame = pd.DataFrame(RUN)
    one_row = "Give a file, an Arrow table or a data frame with one row a query and document."
    assert refusal(ragdash.load, frame) == 'runs: a DataFrame was given without a name. Write {"name": it}.'
    assert refusal(ragdash.load, [pa.table(RUN)]) == 'runs: a Table was given without a name. Write {"name": it}.'
    assert refusal(ragdash.load, answers=frame) == (
        'answers: a DataFrame was given without a name. Write {"name": it}.'
    )
    assert refusal(ragdash.load, {"a": {"q1": {"d1": 1.0}}}) == f"a: a dict was given. {one_row}"
    assert refusal(ragdash.load, {"a": frame}, [("q1", "d1", 1)]) == f"judgments: a list was given. {one_row}"
    twice = pd.DataFrame([["q1", "d1", 1.0, 2.0]], columns=["query_id", "doc_id", "score", "score"])
    arrow = pa.table([["q1"], ["d1"], ["d2"]], names=["query_id", "doc_id", "doc_id"])
    assert refusal(ragdash.load, {"a": twice, "b": arrow}) == (
        "a: two columns are named 'score'. Rename one of them.\nb: two columns are named 'doc_id'. Rename one of them."
    )
    mixed = pd.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", ["d2"]], "score": [1.0, 2.0]})
    message = refusal(ragdash.load, {"a": mixed})
    assert message.startswith("a: the data frame is no table (")
    assert message.endswith("). Write cells of one sort in each column.")


@pytest.mark.parametrize(
    ("names", "shown"), [(("a", "b", "c"), "('a', 'b', 'c')"), (("a", "a"), "('a', 'a')"), ("ab", "'ab'")]
)
def test_names_are_two(names, shown):
    message = refusal(ragdash.compare, pa.table(RUN), pa.table(OTHER), pa.table(JUDGED), names=names)
    assert message == f"names: {shown} is not two different names. Name the baseline and the candidate."


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame])
def test_a_table_with_several_systems_is_split(make):
    several = ragdash.load({"a": make(RUN | {"system": ["x", "x", "y"]}), "b": make(RUN | {"system": ["x"] * 3})})
    assert {name: len(table) for name, table in several.runs.items()} == {"a/x": 2, "a/y": 1, "b": 3}


def test_faults_of_all_tables_are_told_together():
    bad = RUN | {"score": [2.0, float("nan"), 1.0]}
    assert refusal(ragdash.load, {"a": pa.table(bad)}, pa.table({"query_id": ["q1"]})).splitlines() == [
        "a, row 2: score is nan, which has no place in an order. Write a finite number in every row.",
        "judgments: judgments need a column doc_id; found query_id. Add the column doc_id.",
        "judgments: judgments need a column grade; found query_id. Add the column grade.",
    ]
