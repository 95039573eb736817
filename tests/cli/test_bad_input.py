"""Every kind of bad input, through the command line: which file and line, what was found, what to do; never a trace."""

import gzip

import pytest

from ragdash.cli.entry import main

RUN = "q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d1 1 1.0 t\n"
JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n"
ANSWERS = '{"query_id": "q1", "answer": "See [1].", "context_ids": ["d1"]}\n'


def said(capsys, folder, monkeypatch, files, command):
    """Exit code, stdout and the lines on stderr of one command in a folder with these files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.chdir(folder)
    capsys.readouterr()
    status = main(command.split())
    captured = capsys.readouterr()
    return status, captured.out, [line.removeprefix("ragdash: ") for line in captured.err.splitlines()]


BAD = {
    "empty file": ({"a.run": ""}, "score a.run -j j", "a.run: the file is empty. Choose a file with rows."),
    "binary file": (
        {"a.run": b"\x00\x01\x02" * 50},
        "score a.run -j j",
        "a.run: a NUL byte at byte 1, so this is a binary file, not text. "
        "Choose a text or Parquet file; text must be UTF-8, or UTF-16 with its mark.",
    ),
    "judgments without run": (
        {},
        "score j",
        "j: this file holds judgments only (TREC judgments), but was given as a run. "
        "Give it as judgments (--judgments), and a run here.",
    ),
    "run as judgments": (
        {"b.run": RUN},
        "score a.run -j b.run",
        "b.run: this file was given as judgments, but holds none (TREC run: run). "
        "Give judgments: query, document and grade in every row.",
    ),
    "no query in common": (
        {"a.run": "q1 Q0 d1 1 1 t\n", "b.run": "q2 Q0 d1 1 1 t\n"},
        "compare a.run b.run -j j",
        "comparison: a and b have no query in common (q1 and q2). "
        "Check that both runs answer the same questions under the same ids.",
    ),
    "no query judged": (
        {"a.run": "x9 Q0 d1 1 1 t\n"},
        "score a.run -j j",
        "a.run: no query of this run has judgments (run: x9 …; judgments: q1, q2 …). "
        "Check that both files use the same query ids.",
    ),
    "duplicate document": (
        {"a.run": "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n"},
        "score a.run -j j --strict",
        "a.run, line 2: document 'd1' stands again in the list of query 'q1'. "
        "List each document once, or leave out strict.",
    ),
    "conflicting judgments": (
        {"j": "q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 2\n"},
        "score a.run -j j",
        "j, line 3: query 'q1' and document 'd1' have the grades 1 and 2 (the first in j, line 1). "
        "Keep one of the two judgments.",
    ),
    "NaN score": (
        {"a.run": "q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 NaN t\n"},
        "score a.run -j j",
        "a.run, line 2: score is nan, which has no place in an order. Write a finite number in every row.",
    ),
    "infinite score": (
        {"a.run": "q1 Q0 d1 1 -inf t\n"},
        "score a.run -j j",
        "a.run, line 1: score is -inf, which has no place in an order. Write a finite number in every row.",
    ),
    "a word for a score": (
        {"a.run": "q1 Q0 d1 1 2.0 t\nq2 Q0 d1 1 high t\n"},
        "score a.run -j j",
        "a.run, line 2: score is 'high', which is not a number. Write a number in every row.",
    ),
    "three columns instead of six": (
        {"a.run": "q1 Q0 d1 1 2.0 t\nq2 d1 1.0\n"},
        "score a.run -j j",
        "a.run, line 2: 3 columns where a TREC run has 6 (query Q0 document rank score tag). "
        "Write all of them, with blanks or tabs between.",
    ),
    "truncated gzip": (
        {"a.run.gz": gzip.compress(RUN.encode() * 50)[:60]},
        "score a.run.gz -j j",
        "a.run.gz: the packed file ends too early. Copy or download it again.",
    ),
    "cutoff 0": (
        {},
        "score a.run -j j -m nDCG@0",
        "metric: the cutoff of 'nDCG@0' is 0. Write a whole number of 1 or more, such as @10.",
    ),
    "unknown metric": (
        {},
        "score a.run -j j -m nDGC@10",
        "metric: there is no metric 'nDGC'. Did you mean nDCG?",
    ),
    "missing file": (
        {},
        "score nowhere.run -j j",
        "nowhere.run: there is no such file. Check the spelling; files are sought from FOLDER.",
    ),
    "a question twice": (
        {"a.jsonl": ANSWERS + ANSWERS},
        "score a.jsonl",
        "a.jsonl, line 2: query 'q1' stands here again, first in line 1. "
        "Keep one row for each query and system, or say that they are repetitions (--repeats mean).",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_in_one_message_and_exit_code_two(case, capsys, tmp_path, monkeypatch):
    files, command, message = BAD[case]
    status, out, lines = said(capsys, tmp_path, monkeypatch, {"a.run": RUN, "j": JUDGMENTS} | files, command)
    assert (status, out, lines) == (2, "", [message.replace("FOLDER", str(tmp_path))])


PATTERNS = {
    "(unclosed": "'(unclosed' is no regular expression: missing ) at position 9. Mend it there.",
    "no group": "'no group' has no group, so nothing says which part names the document. "
    r"Put round brackets around that part, such as \[([0-9]+)\].",
    "(a)(b)": "'(a)(b)' has 2 groups, where one is needed. "
    "Keep round brackets around the part that names the document, write (?:…) for the others.",
    "(x*)": "'(x*)' also matches nothing at all, so it would find a citation between any two characters. "
    "Write + in place of *, and at least one character that must be there.",
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_broken_pattern_is_answered(pattern, capsys, write):
    path = str(write("a.jsonl", ANSWERS))
    assert main(["score", path, "--pattern", pattern]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"ragdash: citation pattern: {PATTERNS[pattern]}\n")


SAME = {
    "BOM": b"\xef\xbb\xbf" + RUN.encode(),
    "CRLF": RUN.replace("\n", "\r\n").encode(),
    "UTF-16": RUN.encode("utf-16"),
    "UTF-16 big endian": b"\xfe\xff" + RUN.encode("utf-16-be"),
    "no last newline": RUN.rstrip("\n").encode(),
    "tabs and blanks mixed": RUN.replace(" Q0 ", "\tQ0   ").encode(),
    "comments and blank lines": ("# made by hand\n\n" + RUN).encode(),
    "gzip": gzip.compress(RUN.encode()),
}


@pytest.mark.parametrize("case", SAME)
def test_what_is_only_written_otherwise_gives_the_same_numbers(case, capsys, tmp_path, monkeypatch):
    files = {"a.run": RUN, "other/a.run": SAME[case], "j": JUDGMENTS}
    plain = said(capsys, tmp_path, monkeypatch, files, "score x=a.run -j j --format json --per-query")
    other = said(capsys, tmp_path, monkeypatch, files, "score x=other/a.run -j j --format json --per-query")
    assert plain[0] == 0 and plain == other


def test_ids_stay_text(capsys, tmp_path, monkeypatch):
    files = {
        "r.csv": "query_id,doc_id,score\n001,null,2\n1e5,NA,1\n",
        "r.run": "001 Q0 null 1 2 t\n1e5 Q0 NA 1 1 t\n",
        "r.jsonl": '{"query_id": "001", "retrieved_ids": ["null"]}\n{"query_id": "1e5", "retrieved_ids": ["NA"]}\n',
        "j": "001 0 null 1\n1e5 0 NA 1\n1 0 null 1\n",
    }
    for name in ("r.csv", "r.run", "r.jsonl"):
        status, out, _ = said(capsys, tmp_path, monkeypatch, files, f"score {name} -j j -m RR --format csv -q")
        assert status == 0 and out.splitlines()[1:] == ["r,001,1.0", "r,1,0.0", "r,1e5,1.0"]


def test_ids_with_blanks_grades_of_a_half_and_below_zero(capsys, tmp_path, monkeypatch):
    row = '{"query_id": "a b", "retrieved_ids": ["d 1", "d 2"], "relevance_grades": {"d 1": -2, "d 2": 0.5}}\n'
    command = "score x.jsonl -m RR,nDCG@5,Judged@5 --format csv -q"
    status, out, _ = said(capsys, tmp_path, monkeypatch, {"x.jsonl": row}, command)
    assert status == 0 and out.splitlines()[1].startswith("x,a b,0.5,0.6309297535714575,1.0")


def test_two_files_of_the_same_name_are_told_apart(capsys, tmp_path, monkeypatch):
    files = {"one/r.run": RUN, "two/r.run": RUN, "j": JUDGMENTS}
    command = "score one/r.run two/r.run one/r.run -j j -m RR --format csv"
    status, out, lines = said(capsys, tmp_path, monkeypatch, files, command)
    assert status == 0
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["one/r", "two/r", "one/r-2"]
    assert len(lines) == 1 and "one/r-2" in lines[0]
