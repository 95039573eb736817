"""The table of questions: exact in Parquet, inert in a spreadsheet, and the words for how answers cite."""

import csv
import dataclasses
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdash.api import compare_tables
from ragdash.citation_status import STATUSES, count_citations, pieces, statuses
from ragdash.cited import cited_of
from ragdash.citing import cite
from ragdash.exporting import per_query_csv, per_query_parquet, per_query_table
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.spreadsheet import FORMULA, neutral
from ragdash.tables import Tables

HOSTILE = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]


def run(rank_of):
    rows = [(q, d, float(-r)) for q, docs in rank_of.items() for r, d in enumerate(docs)]
    return table_of(
        "run",
        pa.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))),
        "r",
    )


def answers(rows):
    names = ("query_id", "answer", "context_ids")
    return table_of("answers", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), "answers")


@pytest.fixture
def tables():
    judged = {"query_id": ["q1", "=1+1", "q3"], "doc_id": ["d1"] * 3, "grade": [1, 1, 1]}
    asked = {"query_id": ["=1+1", "q1"], "query": ["@evil", 'two\nlines, "quoted"'], "slice": [["-a", "b"], []]}
    return Tables(
        {"=A": run({"q1": ["d1"], "=1+1": ["x", "d1"]}), "B": run({"q1": ["x", "d1"], "=1+1": ["d1"], "q3": ["d1"]})},
        table_of("judgments", pa.table(judged), "j"),
        {"B": answers([("q1", "T [doc_id d9].", ["d1"]), ("q8", "T [doc_id d1].", ["d1"])])},
        table_of("queries", pa.table(asked), "q"),
    )


@pytest.fixture
def comparison(tables):
    return compare_tables(tables, "=A", "B", metrics="RR nDCG@10 citation_validity")


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_could_be_a_formula_is_not_one(text):
    assert neutral(text) == f"'{text}" and not neutral(text).startswith(FORMULA)


@pytest.mark.parametrize(
    ("cell", "shown"), [(-0.5, -0.5), (0.0, 0.0), (float("nan"), ""), (None, ""), ("q-1", "q-1"), ("", "")]
)
def test_numbers_stay_numbers_and_nothing_is_empty(cell, shown):
    assert neutral(cell) == shown and type(neutral(cell)) is type(shown)


def test_a_row_a_question_with_both_values_and_their_difference(tables, comparison):
    table = per_query_table(comparison, tables)
    assert table.column_names == [
        "query_id", "query", "slices",
        "RR (=A)", "RR (B)", "RR difference", "nDCG@10 (=A)", "nDCG@10 (B)", "nDCG@10 difference",
        "citation_validity (=A)", "citation_validity (B)", "citation_validity difference", "citation status (B)",
    ]  # fmt: skip
    rows = {row["query_id"]: row for row in table.to_pylist()}
    assert list(rows) == ["=1+1", "q1", "q3", "q8"] == comparison.scores.query_ids.tolist()
    assert (rows["q1"]["RR (=A)"], rows["q1"]["RR (B)"], rows["q1"]["RR difference"]) == (1.0, 0.5, -0.5)
    assert (rows["q3"]["RR (=A)"], rows["q3"]["query"], rows["q3"]["slices"]) == (0.0, "", None)
    assert [row["citation status (B)"] for row in rows.values()] == ["no answer", "invalid", "no answer", "valid"]
    assert table.schema.metadata == {b"ragdash": b"0.1.0", b"baseline": b"=A", b"candidate": b"B"}


def test_parquet_is_exact(tables, comparison):
    again = pq.read_table(io.BytesIO(per_query_parquet(comparison, tables)))
    for spec in comparison.metrics:
        for system in ("=A", "B"):
            mine = again.column(f"{spec} ({system})").to_numpy()
            assert mine.tobytes() == comparison.scores.of(system, spec).tobytes()
        assert again.column(f"{spec} difference").to_numpy().tobytes() == comparison.metrics[spec].differences.tobytes()


def test_csv_is_inert_reads_back_and_opens_as_utf_8(tables, comparison):
    content = per_query_csv(comparison, tables)
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert rows[1][:3] == ["'=1+1", "'@evil", "'-a; b"] and rows[2][:3] == ["q1", 'two\nlines, "quoted"', ""]
    head = rows[0]
    values = np.array([float(row[head.index("nDCG@10 (B)")] or "nan") for row in rows[1:]])
    expected = next(comparison.scores.of("B", spec) for spec in comparison.metrics if str(spec) == "nDCG@10")
    assert values.tobytes() == expected.tobytes(), "numbers are written in full"
    numeric = set(range(3, len(head) - 1))
    texts = [cell for row in rows for at, cell in enumerate(row) if at not in numeric or row is head]
    assert not any(text.startswith(FORMULA) for text in texts)


def test_a_score_from_the_files_under_one_of_our_names_keeps_its_own_columns(tables):
    rows = table_of("scores", pa.table({"query_id": ["q1"], "metric": ["RR"], "value": [0.25]}), "s")
    both = Tables(tables.runs, tables.judgments, scores={"=A": rows, "B": rows})
    comparison = compare_tables(both, "=A", "B", metrics=["RR"])
    assert [str(spec) for spec in comparison.metrics] == ["RR"]
    everything = compare_tables(both, "=A", "B", metrics=None)
    assert len(set(per_query_table(everything, both).column_names)) == len(
        per_query_table(everything, both).column_names
    )


# --- how answers cite ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Tides [doc_id d1] and [doc_id d9].", "invalid"),
        ("Tides [doc_id d1].", "valid"),
        ("Tides.", "no citation"),
        ("I don't know.", "declined"),
        ("", "declined"),
    ],
)
def test_each_answer_has_one_word(text, status):
    assert statuses(answers([("q1", text, ["d1"])]), np.array(["q1"]), Settings()) == [status]


def test_of_several_answers_the_worst_is_told():
    rows = answers(
        [("q1", "T [doc_id d1].", ["d1"]), ("q1", "T [doc_id d9].", ["d1"]), ("q1", "T.", ["d1"]), ("q2", "T.", ["d1"])]
    )
    assert statuses(rows, np.array(["q2", "q1", "q0"]), Settings()) == ["no citation", "invalid", "no answer"]
    assert set(STATUSES) >= {"no citation", "invalid", "no answer"}


def test_counts_agree_with_one_another():
    counts = count_citations(
        cited_of(["a", "z", "z"], ["y"], [], contexts=[["a"], ["a"], ["a"]], abstained=[False, False, True])
    )
    assert (counts.answers, counts.declined, counts.without) == (3, 1, 0)
    assert counts.citations == counts.valid + counts.invalid + counts.ambiguous == 4
    assert counts.invalid_targets == (("z", 2), ("y", 1))


@pytest.mark.parametrize(
    "text",
    ["", "no marker", "[1]", "a [1][2] b [9]", "é [1, 9] «» [2-3]", "\u202e[1]\u202c 👍🏽 [1]", "code `[1]` [2]"],
)
def test_the_pieces_of_an_answer_are_the_answer(text):
    cited = cite(answers([("q1", text, ["x", "y", "z"])]))
    cut = pieces(cited, 0)
    assert "".join(piece.text for piece in cut) == text
    assert len([piece for piece in cut if piece.state]) == len(
        {*zip(cited.start.tolist(), cited.end.tolist(), strict=True)}
    )


def test_a_marker_that_names_several_has_the_worst_state():
    one = cited_of(["x", "9"], contexts=[["x", "y"]])
    together = dataclasses.replace(one, start=np.array([4, 4]), end=np.array([10, 10]))
    assert [(piece.text, piece.state, piece.document) for piece in pieces(one, 0)] == [
        ("Text", "", ""), ("[x]", "valid", "x"), ("[9]", "invalid", ""),
    ]  # fmt: skip
    assert [(piece.text, piece.state) for piece in pieces(together, 0)] == [("Text", ""), ("[x][9]", "invalid")]
