"""BEIR: its pieces alone, whole folders, and splits."""

from __future__ import annotations

import pytest

from ragdash.formats.beir import beir_pieces
from ragdash.formats.registry import read
from ragdash.problems import InputError
from ragdash.sources import Source

CORPUS = b'{"_id": "d1", "title": "T", "text": "c", "metadata": {}}\n{"_id": 2, "title": "", "text": "e"}\n'
QUERIES = b'{"_id": "001", "text": "Why?", "metadata": {}}\n'


def kinds(name: str, content: bytes) -> dict[str, list[dict[str, object]]]:
    found = read(Source.from_bytes(name, content))
    assert found.detection.format.name == "beir" and found.problems == ()
    return {kind: table.rows.to_pylist() for kind, table in found.tables.items()}


def test_each_piece_alone() -> None:
    documents = [{"doc_id": "d1", "title": "T", "text": "c"}, {"doc_id": "2", "title": "", "text": "e"}]
    assert kinds("anything.jsonl", CORPUS) == {"documents": documents}
    assert kinds("queries.jsonl", QUERIES) == {"queries": [{"query_id": "001", "query": "Why?"}]}
    assert kinds("corpus.jsonl", QUERIES) == {"documents": [{"doc_id": "001", "title": "", "text": "Why?"}]}
    judged = kinds("dev.tsv", b"query-id\tcorpus-id\tscore\r\n001\t1e5\t2\r\n")
    assert judged == {"judgments": [{"query_id": "001", "doc_id": "1e5", "grade": 2.0}]}


def test_a_fault_in_judgments_names_its_line() -> None:
    found = read(Source.from_bytes("test.tsv", b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\n"))
    assert [str(problem) for problem in found.problems] == [
        "test.tsv, line 3: 2 columns where a line of BEIR judgments has 3 (query-id corpus-id score). "
        "Write all of them, with blanks or tabs between."
    ]


def test_the_split_named_test_is_taken_else_it_is_asked() -> None:
    alone = beir_pieces("s", ["corpus.jsonl.gz", "qrels/train.tsv"])
    assert alone == ("", ["corpus.jsonl.gz", "qrels/train.tsv"], [], None)
    found = beir_pieces("s", ["qrels/dev.tsv", "qrels/test.tsv", "queries.jsonl"])
    assert found is not None and found[:3] == ("", ["queries.jsonl", "qrels/test.tsv"], ["qrels/dev.tsv"])
    assert found.note is not None and found.note.severity == "note"
    assert str(found.note) == (
        "s: of its splits (dev, test) the one named test was taken. "
        "Give the qrels file of another as judgments to take that one."
    )
    assert beir_pieces("s", ["x/queries.jsonl", "x/corpus.jsonl.zst"]) is not None
    for names in (
        ["a.run", "b.tsv"],
        ["queries.jsonl", "a.run"],
        ["corpus.jsonl"],
        ["a/queries.jsonl", "corpus.jsonl"],
    ):
        assert beir_pieces("s", names) is None
    with pytest.raises(InputError) as caught:
        beir_pieces("s", ["qrels/train.tsv", "qrels/dev.tsv.gz"])
    assert str(caught.value) == (
        "s: it has several splits (dev, train) and none is named test. Give the qrels file that is meant."
    )
    with pytest.raises(InputError, match=r"^s: there are several BEIR sets in it \(a, b\)\. Give the one"):
        beir_pieces("s", ["a/qrels/test.tsv", "b/qrels/test.tsv"])
