"""Columns to kinds, the same from JSONL, CSV, TSV and Parquet; and the exact message for every bad cell."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.formats.registry import Loaded, read
from ragdash.problems import InputError
from ragdash.sources import Source

ROWS: list[dict[str, Any]] = [
    {
        "system": "a b",
        "query_id": "001",
        "query": "Why,\nthough?",
        "retrieved_ids": ["d 1", "null"],
        "scores": [2.5, 1],
        "relevance_grades": {"d 1": 0.5, "1e5": -2},
        "generated_answer": 'He said "so" [1]',
        "context_doc_ids": ["d 1"],
        "slices": ["x", "y"],
        "answerable": True,
        "faithfulness": 0.5,
    },
    {
        "system": "a b",
        "query_id": "1e5",
        "query": "And?",
        "retrieved_ids": [],
        "scores": [],
        "relevance_grades": {"d9": 3},
        "generated_answer": "",
        "context_doc_ids": [],
        "slices": ["y"],
        "answerable": False,
        "faithfulness": 1,
    },
]


def as_jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: cell if isinstance(cell, str) else json.dumps(cell) for name, cell in row.items()})
    return stream.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]], grades: str = "map") -> bytes:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kind = pa.map_(pa.string(), pa.float64())
    judged = [list(cell.items()) for cell in columns.pop("relevance_grades")]
    table = pa.table(columns)
    if grades == "map":
        table = table.append_column("relevance_grades", pa.array(judged, kind))
    else:
        docs = dict.fromkeys(doc for pairs in judged for doc, _ in pairs)
        fields = pa.struct([(doc, pa.float64()) for doc in docs])
        table = table.append_column("relevance_grades", pa.array([dict(pairs) for pairs in judged], fields))
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


def loaded(content: bytes | str, name: str = "x") -> Loaded:
    return read(Source.from_bytes(name, content.encode() if isinstance(content, str) else content))


def rows(found: Loaded) -> dict[str, list[dict[str, Any]]]:
    return {kind: table.rows.to_pylist() for kind, table in found.tables.items()}


def messages(content: bytes | str, name: str = "x.jsonl") -> list[str]:
    return [str(problem) for problem in loaded(content, name).problems]


def test_one_row_a_query_gives_every_kind() -> None:
    found = loaded(as_jsonl(ROWS))
    system, first, second = {"system": "a b"}, {"query_id": "001"}, {"query_id": "1e5"}
    assert found.problems == ()
    assert rows(found) == {
        "run": [system | first | {"doc_id": "d 1", "score": 2.5}, system | first | {"doc_id": "null", "score": 1.0}],
        "judgments": [
            first | {"doc_id": "d 1", "grade": 0.5},
            first | {"doc_id": "1e5", "grade": -2.0},
            second | {"doc_id": "d9", "grade": 3.0},
        ],
        "answers": [
            system | first | {"answer": 'He said "so" [1]', "context_ids": ["d 1"]},
            system | second | {"answer": "", "context_ids": []},
        ],
        "queries": [
            first | {"query": "Why,\nthough?", "answerable": True, "slice": ["x", "y"]},
            second | {"query": "And?", "answerable": False, "slice": ["y"]},
        ],
        "scores": [
            system | first | {"metric": "faithfulness", "value": 0.5},
            system | second | {"metric": "faithfulness", "value": 1.0},
        ],
    }
    assert found.tables["judgments"].lines.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "content",
    [as_csv(ROWS), as_csv(ROWS, "\t"), as_csv(ROWS, ";"), as_parquet(ROWS), as_parquet(ROWS, "struct")],
    ids=["csv", "tsv", "semicolons", "parquet map", "parquet struct"],
)
def test_delimited_and_parquet_give_the_same_tables(content: bytes) -> None:
    found = loaded(content)
    assert found.problems == ()
    assert rows(found) == rows(loaded(as_jsonl(ROWS)))


def test_quoted_newlines_keep_line_numbers() -> None:
    found = loaded('query_id,doc_id,grade\n\nq1,"a\nb",1\n"q\n2",c,2\n\nq3,d,x\n', "j.csv")
    assert found.tables["judgments"].lines.tolist() == [3, 5, 8]
    assert [str(problem) for problem in found.problems] == [
        "j.csv, line 8: grade is 'x', which is not a number. Write a number in every row."
    ]


CELL = st.text('ab,";\n\t 01é', max_size=6)
ID = CELL.filter(lambda cell: cell.strip(" \t") != "")


@given(st.lists(st.tuples(ID, ID), min_size=1, max_size=6), st.sampled_from(",\t;"))
def test_any_text_survives_csv(pairs: list[tuple[str, str]], delimiter: str) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([["query_id", "doc_id", "score"], *([query, doc, 1] for query, doc in pairs)])
    found = loaded(stream.getvalue())
    assert found.problems == ()
    table = found.tables["run"]
    assert list(zip(table.column("query_id").to_pylist(), table.column("doc_id").to_pylist(), strict=True)) == [
        (query.strip(" \t"), doc.strip(" \t")) for query, doc in pairs
    ]


def test_marks_inside_unquoted_cells_are_text() -> None:
    found = loaded('query_id\tdoc_id\tscore\nq1\t5" disk\t2\nq1\t6"\t1\n')
    assert found.tables["run"].column("doc_id").to_pylist() == ['5" disk', '6"']


def test_ids_are_never_guessed() -> None:
    ids = ["001", "1e5", "null", "NA", "nan", "true", "1.0", " x "]
    content = "query_id,doc_id,grade\n" + "".join(f"{one},{one},1\n" for one in ids)
    assert loaded(content).tables["judgments"].column("query_id").to_pylist() == [*ids[:-1], "x"]
    lines = "".join(json.dumps({"query_id": one, "doc_id": one, "grade": 1}) + "\n" for one in [*ids, 7])
    assert loaded(lines).tables["judgments"].column("doc_id").to_pylist() == [*ids, "7"]


def test_grades_of_a_half_and_below_zero() -> None:
    found = loaded("query_id,doc_id,grade\nq1,d1,0.5\nq1,d2,-2\n")
    assert found.problems == ()
    assert found.tables["judgments"].column("grade").to_pylist() == [0.5, -2.0]


def test_rows_with_score_and_grade_hold_a_run_and_judgments_and_each_question_once() -> None:
    found = loaded("query_id,query,doc_id,score,grade\nq1,Why?,d1,2,1\nq1,Why?,d2,1,\n")
    assert rows(found) == {
        "run": [{"query_id": "q1", "doc_id": "d1", "score": 2.0}, {"query_id": "q1", "doc_id": "d2", "score": 1.0}],
        "judgments": [{"query_id": "q1", "doc_id": "d1", "grade": 1.0}],
        "queries": [{"query_id": "q1", "query": "Why?"}],
    }


def test_relevant_ids_are_grade_one_and_grades_win_over_them() -> None:
    found = loaded('{"query_id": "q1", "relevant_ids": ["a", "b"], "relevance_grades": {"b": 3}}\n')
    assert [row["grade"] for row in rows(found)["judgments"]] == [1.0, 3.0]


def test_scores_of_other_tools() -> None:
    lines = '{"query_id": "1", "ragas/faithfulness": 0.5, "ok": true, "note": "x", "timestamp": 9}\n{"query_id": "2"}\n'
    assert rows(loaded(lines))["scores"] == [
        {"query_id": "1", "metric": "ragas/faithfulness", "value": 0.5},
        {"query_id": "1", "metric": "ok", "value": 1.0},
    ]
    assert [row["value"] for row in rows(loaded("query_id,metric,value\nq,m,0.5\n"))["scores"]] == [0.5]


FAULTS = {
    '{"query_id": "q1", "retrieved_ids": ["d1", "d2"], "scores": [1]}': (
        "2 retrieved_ids and 1 scores. Write one score for each retrieved id."
    ),
    '{"query_id": "q1", "retrieved_ids": "d1; d2"}': (
        'retrieved_ids is \'d1; d2\', which is not a list. Write a list such as ["d1", "d2"].'
    ),
    '{"query_id": "q1", "retrieved_ids": [1e5]}': (
        "retrieved_ids is '[100000.0]', with 100000.0 in it, a number with a fraction or exponent, so the id as "
        'written is lost. Write a list such as ["d1", "d2"].'
    ),
    '{"query_id": "q1", "retrieved_ids": ["d1"], "scores": [NaN]}': (
        "score is nan, which has no place in an order. Write a finite number in every row."
    ),
    '{"query_id": "q1", "relevance_grades": ["d1"]}': (
        "relevance_grades is '[\"d1\"]', which is not an object of grades by document. "
        'Write an object such as {"d1": 2, "d2": 0}.'
    ),
    '{"query_id": 1.5, "answer": "a"}': (
        "query_id is '1.5', a number with a fraction or exponent, so the id as written is lost. Write ids as text."
    ),
    '{"query_id": "q1", "answer": ["a"]}': "answer is '[\"a\"]', which is not text. Write text.",
    '{"query_id": "q1", "answer": "a", "abstained": "maybe"}': (
        "abstained is 'maybe', neither true nor false. Write true or false."
    ),
    '{"query_id": "q1", "x": ' + "[" * 65 + "]" * 65 + "}": (
        "the JSON is nested deeper than 64 levels. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_JSON_DEPTH."
    ),
    '{"query_id": "q1"': (
        "broken JSON (Expecting ',' delimiter at character 18). "
        'Write one JSON object a line, such as {"query_id": "q1", "retrieved_ids": ["d1"]}.'
    ),
    "[1]": "'[1]' is not a JSON object. "
    'Write one JSON object a line, such as {"query_id": "q1", "retrieved_ids": ["d1"]}.',
}


@pytest.mark.parametrize("line", FAULTS, ids=lambda line: line[:50])
def test_a_fault_names_its_line(line: str) -> None:
    good = '{"query_id": "q0", "retrieved_ids": ["d1"], "scores": [1], "answer": "a", "relevance_grades": {"d1": 1}}'
    assert messages(f"{good}\n{line}\n") == [f"x.jsonl, line 2: {FAULTS[line]}"]


def test_a_json_bomb_is_refused_at_once() -> None:
    assert messages('{"query_id": "q1", "x": ' + "[" * 1_000_000) == [
        "x.jsonl, line 1: the JSON is nested deeper than 64 levels. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_JSON_DEPTH."
    ]


def test_brackets_in_text_are_no_depth() -> None:
    assert loaded(json.dumps({"query_id": "q", "answer": "[" * 500 + '\\"[{'}) + "\n").problems == ()


def test_a_query_twice_for_one_system_names_both_lines() -> None:
    line = '{"system": "a", "query_id": "q1", "retrieved_ids": ["d1"]}\n'
    other = line.replace('"a"', '"b"')
    assert messages(line + other + line) == [
        "x.jsonl, line 3: query 'q1' of system 'a' stands here again, first in line 1. "
        "Keep one row for each query and system, or say that they are repetitions (--repeats mean)."
    ]
    lists = 'query_id,retrieved_ids\nq1,"[""d""]"\nq1,"[""d""]"\n'
    assert messages(lists, "x.csv") == [
        "x.csv, line 3: query 'q1' stands here again, first in line 2. "
        "Keep one row for each query and system, or say that they are repetitions (--repeats mean)."
    ]


def test_a_list_and_an_answer_of_one_query_in_two_rows_are_no_repetition() -> None:
    rows = '{"query_id": "q1", "retrieved_ids": ["d1"]}\n{"query_id": "q1", "answer": "a", "context_ids": ["d1"]}\n'
    assert messages(rows) == []
    assert len(messages(rows + rows)) == 2


def test_a_repeat_column_is_taken_as_given() -> None:
    rows = 'query_id,repeat,retrieved_ids\nq1,a,"[""d1""]"\nq1,b,"[""d2""]"\n'
    assert messages(rows, "x.csv") == []
    assert loaded(rows, "x.csv").tables["run"].column("repeat").to_pylist() == ["a", "b"]


def test_csv_faults() -> None:
    assert messages("query_id,doc_id,score\nq1,d1,1\nq1,d2\nq1,d3,x\n", "x.csv") == [
        "x.csv, line 4: score is 'x', which is not a number. Write a number in every row.",
        "x.csv, line 3: 2 columns where the header has 3. "
        "Write a cell for every column; quote cells with the delimiter.",
    ]
    with pytest.raises(InputError) as twice:
        loaded("query_id,doc_id,doc_id\nq1,d1,1\n", "x.csv")
    assert str(twice.value) == "x.csv, line 1: two columns are named 'doc_id'. Rename one of them."
    with pytest.raises(InputError) as opened:
        loaded('query_id,doc_id,score\nq1,"d1,1\nq1,d2,2\n', "x.csv")
    assert str(opened.value) == (
        "x.csv, line 2: a quotation mark opens here and is not closed. "
        'Close it, and write "" for a quotation mark inside a cell.'
    )
    assert messages("query_id,doc_id\n", "x.csv") == [
        "x.csv: no rows were found. A line looks like a header with query_id, then rows."
    ]


def test_parquet_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def parquet(**columns: Any) -> bytes:
        stream = io.BytesIO()
        pyarrow.parquet.write_table(pa.table(columns), stream)
        return stream.getvalue()

    assert messages(parquet(name=["a"]), "x.parquet") == [
        "x.parquet: there is no column query_id; found name. Add the column query_id."
    ]
    assert messages(parquet(query_id=[1.5], doc_id=["d"]), "x.parquet") == [
        "x.parquet, row 1: query_id 1.5 is a number with a fraction or exponent, so the id as written is lost. "
        "Write ids as text."
    ]
    content = parquet(query_id=[1, 2], doc_id=["d", "e"])
    assert rows(loaded(content))["run"][1] == {"query_id": "2", "doc_id": "e"}
    with pytest.raises(InputError, match=r"^x: the Parquet file cannot be read \(.+\)\. Write it again\.$"):
        loaded(content[:-4])
    monkeypatch.setenv("RAGDASH_MAX_ROWS", "1")
    with pytest.raises(InputError, match=r"^x: it has 2 rows, more than 1\. Split it, or .+ RAGDASH_MAX_ROWS\.$"):
        loaded(content)


def test_blanks_around_ids_in_csv_are_left_out() -> None:
    found = loaded("query_id, doc_id ,score,system\nq1, d1 , 2,\ta \n\u00e9 , d 2,1,a\n", "a.csv")
    assert found.problems == ()
    assert rows(found)["run"] == [
        {"system": "a", "query_id": "q1", "doc_id": "d1", "score": 2.0},
        {"system": "a", "query_id": "\u00e9", "doc_id": "d 2", "score": 1.0},
    ]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"query_id": "q1", "score": 1, "doc_id": "d", "score": 2}', "score"),
        ('{"query_id" : "q1", "relevance_grades": {"d1": 1, "d1": 2}}', "d1"),
        ('{"query_id": "q1", "more": [{"a": 1, "b": [{"c": 1, "c": 2}]}]}', "c"),
    ],
)
def test_a_key_that_stands_twice_is_a_fault(line: str, key: str) -> None:
    assert messages('{"query_id": "q0", "doc_id": "d"}\n' + line) == [
        f"x.jsonl, line 2: the key {key!r} stands twice in one object. "
        "Write each key once in an object, and characters as themselves or as a whole pair."
    ]


def test_what_only_looks_like_a_key_twice_is_none() -> None:
    line = {"query_id": "q1", "query": 'say "a": "a" :', "retrieved_ids": ["d1"], "more": [{"a": 1}, {"a": {"b": {}}}]}
    assert messages(json.dumps(line) + "\n") == []


def test_half_of_a_surrogate_pair_is_a_fault() -> None:
    lines = '{"query_id": "\\ud83d\\ude00", "doc_id": "d"}\n{"query_id": "\\uD800", "doc_id": "d"}\n'
    assert messages(lines) == [
        "x.jsonl, line 2: \\ud800 is a character that is no valid text. "
        "Write each key once in an object, and characters as themselves or as a whole pair."
    ]
    assert loaded(lines.splitlines()[0]).tables["run"].column("query_id").to_pylist() == ["\U0001f600"]
    assert messages('query_id,retrieved_ids\nq1,"[""\\udc00""]"\n', "x.csv") == [
        "x.csv, line 2: retrieved_ids is '[\"\\\\udc00\"]', where \\udc00 is a character that is no valid text. "
        'Write a list such as ["d1", "d2"].'
    ]


def test_missing_scores_are_said_once_a_line() -> None:
    first = '{"query_id": "q1", "retrieved_ids": ["a", "b"], "scores": [2, 1]}\n'
    assert messages(first + '{"query_id": "q2", "retrieved_ids": ["a", "b"]}\n') == [
        "x.jsonl, line 2: scores is missing here and given elsewhere. Write scores in every row or in none."
    ]
    assert messages(first + '{"query_id": "q2", "retrieved_ids": ["a", "b"], "scores": "x"}\n') == [
        "x.jsonl, line 2: scores is 'x', which is not a list. Write a list such as [2.5, 1.25]."
    ]


def test_a_column_is_a_score_where_it_has_only_numbers_in_the_whole_file() -> None:
    pad = "x" * 100_000
    lines = [{"query_id": f"q{n}", "answer": pad, "lucky": n, "cost": n, "late": ""} for n in range(100)]
    lines[-1] |= {"lucky": "n/a", "late": 0.5}
    found = loaded(as_jsonl(lines))
    assert found.problems == ()
    table = found.tables["scores"]
    assert table.column("metric").to_pylist() == ["cost"] * 100 + ["late"]
    assert table.lines.tolist() == [*range(1, 101), 100]


@pytest.mark.parametrize(
    ("content", "line"), [("query_id,doc_id\rq1,d1\r", 1), ("query_id,doc_id\r\nq1,d1\r\nq1,d2\rq1,d3\r\n", 3)]
)
def test_carriage_returns_that_end_lines_of_csv_alone_are_refused(content: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        loaded(content, "a.csv")
    assert str(caught.value) == (
        f"a.csv, line {line}: a carriage return ends a line alone. Save the file with line ends LF or CRLF."
    )
    assert loaded('query_id,doc_id\nq1,"d\r1"\n').tables["run"].column("doc_id").to_pylist() == ["d\r1"]
