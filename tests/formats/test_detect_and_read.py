"""Detection with reasons, and what `read` does for all formats: messages, limits, forced formats, progress."""

from __future__ import annotations

import pytest

from ragdash.formats.registry import MOST_PROBLEMS, detect, read
from ragdash.problems import InputError
from ragdash.sources import Source

FORMATS_KNOWN = (
    'Known are: ragdash JSONL (one JSON object a line with "query_id"); '
    "TREC run (query Q0 document rank score tag); BEIR (a folder or zip with corpus.jsonl, queries.jsonl and "
    "qrels/SPLIT.tsv, or one of them); CSV or TSV (a header with query_id, then rows); "
    "Parquet (a table with the column query_id); TREC judgments (query iteration document grade)"
)


def refusal(content: bytes, name: str = "run.txt") -> str:
    with pytest.raises(InputError) as caught:
        read(Source.from_bytes(name, content))
    return str(caught.value)


def known(text: str) -> set[str]:
    """The formats listed, in whatever order the modules were imported."""
    return set(text.removeprefix("Known are: ").rstrip(".").split("; "))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("q1 d1 0.5", "run.txt: the first line, 'q1 d1 0.5', has 3 columns and fits no format. "),
        ("q1 Q0 d1 1 0.5", "run.txt: the first line, 'q1 Q0 d1 1 0.5', has 5 columns and fits no format. "),
        ("hello", "run.txt: the first line, 'hello', has 1 column and fits no format. "),
    ],
)
def test_three_columns_instead_of_six_and_other_unknown_lines(line: str, found: str) -> None:
    text = refusal(f"{line}\n".encode() * 3)
    assert text.startswith(found)
    assert known(text.removeprefix(found)) == known(FORMATS_KNOWN)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "x: the file is empty. Choose a file with rows."),
        (b" \n\n", "x: the file has blank lines only. Choose a file with rows."),
        (b"\x89PNG\r\n\x1a\n\0", "x: this is a PNG picture, which cannot be read. Choose a text or Parquet file."),
        (b"BZh91AY", "x: this is packed with bzip2, which cannot be read. Pack it with gzip or zstd instead."),
        (
            b"\x01\x02\0\x03",
            "x: a NUL byte at byte 3, so this is a binary file, not text. "
            "Choose a text or Parquet file; text must be UTF-8, or UTF-16 with its mark.",
        ),
    ],
)
def test_files_that_are_no_tables(content: bytes, text: str) -> None:
    assert refusal(content, "x") == text


@pytest.mark.parametrize(
    ("content", "format", "reason"),
    [
        (b"q1\tQ0\td1\t1\t2.5\tx\n", "trec_run", "the first line has six columns and the fifth is a number"),
        (b"# made by hand\nq1 Q0 d1 1 2 x\n", "trec_run", "the first line has six columns and the fifth is a number"),
        (b"q1 0 d1 1\n", "trec_qrels", "the first line has four columns and the fourth is a number"),
        (b"qid\tdocid\trating\n1\t2\t3\n", "delimited", "the first line is a header with qid and docid between tabs"),
        (
            b"query_id;answer\n1;2\n",
            "delimited",
            "the first line is a header with query_id and answer between semicolons",
        ),
        (
            b'{"_id": "1", "text": "' + b"x" * 500_000 + b'"}\n',
            "beir",
            "the first line is a JSON object with _id and text",
        ),
        (b'{"qid": 1, "answer": ""}', "ragdash_jsonl", "the first line is a JSON object with qid"),
        (
            b"q1 d1 x\nq1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\n",
            "trec_run",
            "most of the first lines have six columns and the fifth is a number",
        ),
    ],
)
def test_detection_gives_a_reason(content: bytes, format: str, reason: str) -> None:
    found = detect(Source.from_bytes("upload", content))
    assert (found.format.name, found.reason) == (format, reason)


def test_a_forced_format_says_what_is_wrong_in_each_line() -> None:
    found = read(Source.from_bytes("run.txt", b"q1 d1 0.5\n\nq1 d2 0.4\n"), "trec_run")
    assert [str(problem) for problem in found.problems] == [
        f"run.txt, line {line}: 3 columns where a TREC run has 6 (query Q0 document rank score tag). "
        "Write all of them, with blanks or tabs between."
        for line in (1, 3)
    ]


def test_an_unknown_format_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"^format: there is no 'trec_runs'\. Did you mean trec_run"):
        read(Source.from_bytes("x", b"q1 Q0 d1 1 2 x\n"), "trec_runs")


def test_reading_stops_after_many_faults() -> None:
    pad = b"x" * 100_000
    line = b'{"query_id": "a", "doc_id": "b", "score": "x", "grade": "y", "note": "' + pad + b'"}\n'
    found = read(Source.from_bytes("y.jsonl", line * 200))
    assert len(found.problems) <= MOST_PROBLEMS + 12
    assert str(found.problems[-1]) == "y.jsonl: reading stopped here, there may be more. Mend these first."


def test_rows_are_limited_and_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(b"q1 Q0 d%d 1 2 x\n" % n for n in range(400_000))
    seen: list[int] = []
    read(Source.from_bytes("run.txt", content), progress=lambda source: seen.append(source.consumed))
    assert len(seen) > 1
    assert seen == sorted(seen) and seen[-1] == len(content)
    monkeypatch.setenv("RAGDASH_MAX_ROWS", "300000")
    assert refusal(content) == (
        "run.txt: the file has more than 300,000 rows. "
        "Split it, or raise the limit with the environment variable RAGDASH_MAX_ROWS."
    )


def test_scores_in_some_batches_only_are_an_error_and_ranks_are_left_out() -> None:
    pad = b', "note": "' + b"x" * 100_000 + b'"}\n'
    both = b"".join(b'{"query_id": "q", "doc_id": "d%d", "score": 1, "rank": 1' % n + pad for n in range(42))
    found = read(Source.from_bytes("x.jsonl", both + both.replace(b', "score": 1', b"")[: 42 * 100_050]))
    assert any("score is" in str(problem) for problem in found.problems)
    later = b"".join(b'{"query_id": "q", "doc_id": "d%d", "score": 1' % n + pad for n in range(84))
    found = read(Source.from_bytes("x.jsonl", both + later))
    assert found.problems == () or "rank is empty" in str(found.problems[0])


@pytest.mark.parametrize("content", [b"[1, 2]", b' [\n{"query_id": "q1"}\n]\n'])
def test_a_json_array_is_called_one(content: bytes) -> None:
    assert refusal(content, "a.json") == (
        "a.json: this is a JSON array, and one JSON object a line is wanted. "
        "Write each entry as a line of its own, for instance with jq -c '.[]'."
    )
