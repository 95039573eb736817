"""Makes the sample comparison from the handbook's source: `python sample_data/build.py [FOLDER]`.

Everything is decided by the text of the source and one seed, so that the files come out the same, byte for byte.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from answering import Generator, answer
from retrieval import Scores, best, bm25, dense, fuse
from source import Passage, Question, chance, read

HERE = Path(__file__).resolve().parent
LISTED, POOLED, SURE = 20, 10, 4
UNJUDGED = 0.15  # of the pooled passages below rank 4
A = Generator("bm25", 5, 0.25, 0.2, 0.45, 0.1, 0.035, 0.03, 0.04, 0.3, 0.6, 0.6, 9.0)
B = Generator("hybrid", 5, 0.5, 0.35, 0.75, 0.3, 0.075, 0.05, 0.03, 0.3, 0.7, 0.6, 9.5)

Lists = list[list[tuple[str, float]]]


def main(folder: Path) -> None:
    """Read the source, run both retrievers, judge, answer, write."""
    passages, questions = read(HERE / "handbook")
    runs = retrieve(passages, questions)
    write(folder / "documents.jsonl", [{"doc_id": p.doc_id, "title": p.title, "text": p.text} for p in passages])
    write(folder / "queries.jsonl", [described(question) for question in questions])
    grades = judge(passages, questions, runs)
    rows = [f"{q} 0 {doc_id} {grade}\n" for q, graded in grades.items() for doc_id, grade in sorted(graded.items())]
    save(folder / "judgments.qrels", rows)
    for generator in (A, B):
        lists = runs[generator.name]
        write(folder / f"{generator.name}.jsonl", answered(passages, questions, lists, generator))
        save(folder / "trec" / f"{generator.name}.run", trec(questions, lists, generator.name))


def retrieve(passages: list[Passage], questions: list[Question]) -> dict[str, Lists]:
    """Both runs over the same passages, titles included."""
    documents = [f"{passage.title}\n{passage.text}" for passage in passages]
    queries = [question.query for question in questions]
    ids = [passage.doc_id for passage in passages]
    sparse: Scores = bm25(documents, queries)
    fused = fuse(sparse, dense(documents, queries))
    return {A.name: best(sparse, ids, LISTED), B.name: best(fused, ids, LISTED)}


def judge(passages: list[Passage], questions: list[Question], runs: dict[str, Lists]) -> dict[str, dict[str, int]]:
    """Grades of the passages that answer, and of the first ten of both runs but for a few below rank four."""
    topics = {passage.doc_id: passage.topic for passage in passages}
    judged = {}
    for number, question in enumerate(questions):
        graded = dict(question.grades)
        for lists in runs.values():
            for place, (doc_id, _) in enumerate(lists[number][:POOLED]):
                if place < SURE or chance("judged", question.query, doc_id) >= UNJUDGED:
                    graded.setdefault(doc_id, int(bool(question.topic) and topics[doc_id] == question.topic))
        judged[question.query_id] = graded
    return judged


def described(question: Question) -> dict[str, object]:
    """A question as a line of queries.jsonl."""
    return {
        "query_id": question.query_id,
        "query": question.query,
        "reference": question.reference,
        "answerable": question.answerable,
        "slice": question.kinds,
    }


def answered(
    passages: list[Passage], questions: list[Question], lists: Lists, generator: Generator
) -> list[dict[str, object]]:
    """One system's lines: its list, its answer, what it took."""
    named = {passage.doc_id: passage for passage in passages}
    lines = []
    for question, listed in zip(questions, lists, strict=True):
        context = [named[doc_id] for doc_id, _ in listed[: generator.context]]
        text = answer(question, context, generator, list(named))
        read_tokens = 180 + sum(len(passage.text) for passage in context) // 4
        written = len(text) // 4
        wait = 140 + 260 * chance("wait", generator.name, question.query) ** 3
        lines.append(
            {
                "query_id": question.query_id,
                "retrieved_ids": [doc_id for doc_id, _ in listed],
                "scores": [score for _, score in listed],
                "generated_answer": text,
                "context_doc_ids": [passage.doc_id for passage in context],
                "latency_ms": round(wait + generator.pace * written),
                "cost_usd": round((read_tokens + 4 * written) * generator.million / 1e6, 6),
            }
        )
    return lines


def trec(questions: list[Question], lists: Lists, name: str) -> list[str]:
    """A run in the six columns of TREC."""
    return [
        f"{question.query_id} Q0 {doc_id} {place} {score} {name}\n"
        for question, listed in zip(questions, lists, strict=True)
        for place, (doc_id, score) in enumerate(listed, 1)
    ]


def write(path: Path, rows: list[dict[str, object]]) -> None:
    """Rows as lines of JSON."""
    save(path, [json.dumps(row, ensure_ascii=False) + "\n" for row in rows])


def save(path: Path, lines: list[str]) -> None:
    """A text file with the line ends of Unix everywhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
