"""TREC files: the fast way, the tidied way and the tolerant way give the same rows as a plain splitter."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.formats import words
from ragdash.formats.registry import Loaded, read
from ragdash.formats.trec_run import write
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.sources import Source

WORD = st.text("abc019\"'#,.;é\\-", min_size=1, max_size=6).filter(lambda word: not word.startswith("#"))
SCORE = st.sampled_from(["1", "-2.5", "1e5", "+3", "0.1", "7.0", "1E-7"])
RANK = st.sampled_from(["1", "2", "0", "-1"])
ROW = st.tuples(WORD, WORD, WORD, RANK, SCORE, WORD)
GAP = st.sampled_from([" ", "\t", "  ", " \t", "\t\t "])
OTHER = st.sampled_from(["", " ", "\t", "# a comment", "  # one more", "#x y z 1 2 t"])


def loaded(text: str, format: str = "trec_run") -> Loaded:
    return read(Source.from_bytes("run.txt", text.encode()), format)


def rows(found: Loaded, kind: str = "run") -> list[tuple[object, ...]]:
    table = found.tables[kind]
    names = [name for name in ("query_id", "doc_id", "score", "system", "grade") if name in table]
    return list(zip(*(table.column(name).to_pylist() for name in names), table.lines.tolist(), strict=True))


def expected(text: str) -> list[tuple[object, ...]]:
    """An independent splitter, a line at a time."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.replace("\t", " ").replace("\r", " ").split(" ")
        cells = [cell for cell in cells if cell]
        if cells and not cells[0].startswith("#"):
            found.append((cells[0], cells[2], float(cells[4]), cells[5], number))
    return found


@given(st.data(), st.lists(ROW, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_rows_are_the_same_whatever_mix_of_blanks(
    data: st.DataObject, table: list[tuple[str, ...]], end: str, last: bool
) -> None:
    lines = []
    for row in table:
        gaps = [data.draw(GAP) for _ in range(5)]
        edge = data.draw(st.sampled_from(["", " ", "\t"]))
        lines.append(edge + "".join(word + gap for word, gap in zip(row, [*gaps, edge], strict=True)))
        lines += data.draw(st.lists(OTHER, max_size=1))
    text = end.join(lines) + (end if last else "")
    found = loaded(text)
    regular = loaded("".join(" ".join(row) + "\n" for row in table))
    assert found.problems == ()
    assert rows(found) == expected(text)
    assert [row[:-1] for row in rows(found)] == [row[:-1] for row in rows(regular)]
    assert found.tables["run"].rows.column_names == regular.tables["run"].rows.column_names


@given(st.lists(ROW, min_size=1, max_size=8))
def test_the_tolerant_splitter_agrees_with_arrow(table: list[tuple[str, ...]]) -> None:
    text = "".join(" ".join(row) + "\n" for row in table)
    fast = rows(loaded(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_regular", lambda block, layout: None)
        assert rows(loaded(text)) == fast == expected(text)


def test_regular_files_take_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the tolerant splitter was used")

    monkeypatch.setattr(words, "_tolerant", refused)
    for text in ("q1 Q0 d1 1 2 x\n", "q1\tQ0\td1\t1\t2\tx\r\n", "q1  Q0 d1 1 2 x\n\n", "q1 Q0 d1 1.5 2 x"):
        assert rows(loaded(text)) == [("q1", "d1", 2.0, "x", 1)]


def test_ids_stay_as_written() -> None:
    text = '001 Q0 1e5 1 2 x\nnull Q0 NaN 2 1 x\nNA Q0 "" 3 0 x\ntrue Q0 "a 4 -1 x\n'
    assert [row[:2] for row in rows(loaded(text))] == [("001", "1e5"), ("null", "NaN"), ("NA", '""'), ("true", '"a')]


def test_words_after_the_tag_are_ignored_and_the_tag_may_be_any_word() -> None:
    found = loaded("q1 Q0 d1 1 2 tag more junk\nq1 Q0 d2 2 1 tag\n")
    assert rows(found) == [("q1", "d1", 2.0, "tag", 1), ("q1", "d2", 1.0, "tag", 2)]
    assert [(problem.severity, problem.count, str(problem)) for problem in found.problems] == [
        (
            "note",
            1,
            "run.txt, line 1: more than the 6 columns of a TREC run stand here; what follows them was left out. "
            "Check that no two lines were joined.",
        )
    ]
    (several,) = loaded("# x\n" + "q1 Q0 d1 1 2 tag more\n" * 3).problems
    assert several.count == 3 and str(several) == (
        "run.txt, line 2: more than the 6 columns of a TREC run stand here and in 2 more lines; "
        "what follows them was left out. Check that no two lines were joined."
    )


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_may_end_in_a_carriage_return_alone(end: str) -> None:
    lines = ["q1 Q0 d1 1 2 x", "q1  Q0\td2 2 1 x", "# y", "q2 Q0 d1 1 3 x"]
    for text in (end.join(lines), end.join(lines) + end):
        found = read(Source.from_bytes("run.txt", text.encode()))
        assert found.problems == ()
        assert rows(found) == [("q1", "d1", 2.0, "x", 1), ("q1", "d2", 1.0, "x", 2), ("q2", "d1", 3.0, "x", 4)]
    judged = read(Source.from_bytes("q.txt", f"q1 0 d1 1{end}q1 0 d2 0{end}".encode()))
    assert rows(judged, "judgments") == [("q1", "d1", 1.0, 1), ("q1", "d2", 0.0, 2)]


def test_carriage_returns_here_and_there_keep_the_numbers_of_lines() -> None:
    text = "q1 Q0 a 1 2 x\rq1 Q0 b 1 2 x\n" + "q1 Q0 c 1 2 x\n" * 400_000 + "q1 Q0 d 1 x\n"
    assert str(loaded(text).problems[0]).startswith("run.txt, line 400003: 5 columns where")


def test_a_rank_that_is_no_whole_number_is_ignored() -> None:
    found = loaded("q1 Q0 d1 first 2 x\nq1 Q0 d2 1.5 1 x\n")
    assert found.problems == () and "rank" not in found.tables["run"]
    mixed = "".join(f"q Q0 d{n} {n} 1 x\n" for n in range(300_000)) + "q Q0 e - 1 x\n"
    found = loaded(mixed)
    assert found.problems == () and "rank" not in found.tables["run"] and len(found.tables["run"]) == 300_001
    assert loaded("q1 Q0 d1 7 2 x\n").tables["run"].column("rank").to_pylist() == [7.0]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("q1 Q0 d3 3 9.5", "5 columns where a TREC run has 6 (query Q0 document rank score tag). "
         "Write all of them, with blanks or tabs between."),
        ("q1 Q0 d3 3 nan x", "score is nan, which has no place in an order. Write a finite number in every row."),
        ("q1 Q0 d3 3 -Inf x", "score is -Inf, which has no place in an order. Write a finite number in every row."),
        ("q1 Q0 d3 3 abc x", "score is 'abc', which is not a number. Write a number in every row."),
    ],
)  # fmt: skip
def test_a_fault_names_its_line(line: str, text: str) -> None:
    found = loaded(f"q1 Q0 d1 1 2 x\n# comment\n{line}\n")
    assert [str(problem) for problem in found.problems] == [f"run.txt, line 3: {text}"]


def test_many_faults_are_counted() -> None:
    found = loaded("q1 Q0 d1 1 2 x\n" + "q1 d2\n" * 8)
    assert len(found.problems) == 6
    assert str(found.problems[-1]) == "run.txt: 3 more lines have the same fault (columns). Mend them all."


def test_judgments_keep_fractions_and_negative_grades() -> None:
    found = loaded("q1 0.5 d1 0.5\nq1  0 d2 -2\n", "trec_qrels")
    assert rows(found, "judgments") == [("q1", "d1", 0.5, 1), ("q1", "d2", -2.0, 2)]


def test_lines_are_numbered_across_blocks() -> None:
    text = "".join(f"q{n} Q0 d{n} 1 {n} x\n" for n in range(400_000)) + "\n# x\nlast\tQ0  d 1 1 x"
    found = loaded(text)
    lines = found.tables["run"].lines
    assert lines[:-1].tolist() == list(range(1, 400_001)) and lines[-1] == 400_003


def test_a_run_is_written_with_exact_scores() -> None:
    scores = [0.1 + 0.2, 1e-300, -5.0, 123456789.123456789]
    run = table_of("run", words.pa.table({"query_id": ["a"] * 3 + ["b"], "doc_id": list("wxyz"), "score": scores}), "t")
    text = b"".join(write({"run": run})).decode()
    assert text.splitlines()[0] == "a Q0 w 1 0.30000000000000004 ragdash"
    assert loaded(text).tables["run"].column("score").to_pylist() == scores
    spaced = table_of("run", words.pa.table({"query_id": ["a", "a"], "doc_id": ["w", "x y"]}), "runs['t']")
    with pytest.raises(InputError) as caught:
        list(write({"run": spaced}))
    assert str(caught.value) == (
        "runs['t'], row 2: doc_id 'x y' is not one word, which this format needs. Export as ragdash JSONL instead."
    )


def test_the_shared_runs_are_read_whole(shared: Path) -> None:
    engine = shared / "data" / "engine"
    for path in [
        *engine.glob("dl_passage/run.*"),
        *engine.glob("trectools/input.*.gz"),
        *engine.glob("trec_eval/r*s.*"),
    ]:
        packed = path.read_bytes()
        text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
        found = read(Source.from_path(path))
        assert all(problem.severity == "note" for problem in found.problems), path
        assert rows(found) == expected(text), path
