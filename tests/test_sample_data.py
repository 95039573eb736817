"""The sample that the app opens with: whole, readable, reproducible, and with the findings it was made for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdash.comparison import Comparison, compare
from ragdash.evaluation import evaluate
from ragdash.inputs import Inputs, read_inputs

SAMPLE = Path(__file__).resolve().parent.parent / "sample_data"
SYSTEMS = ("bm25", "hybrid")
MADE = (
    "documents.jsonl",
    "queries.jsonl",
    "judgments.qrels",
    "bm25.jsonl",
    "hybrid.jsonl",
    "trec/bm25.run",
    "trec/hybrid.run",
)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


def grades() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in (SAMPLE / "judgments.qrels").read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, grade = line.split()
        found.setdefault(query_id, {})[doc_id] = int(grade)
    return found


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    others = [str(SAMPLE / "queries.jsonl"), str(SAMPLE / "documents.jsonl")]
    runs = [str(SAMPLE / f"{system}.jsonl") for system in SYSTEMS]
    return read_inputs(runs, [str(SAMPLE / "judgments.qrels")], others)


@pytest.fixture(scope="module")
def comparison(inputs: Inputs) -> Comparison:
    scores = evaluate(inputs, "nDCG@10,Judged@10,citations,invalid_citations,citation_validity,no_citation,abstention")
    return compare(scores, *SYSTEMS, scores.specs[0])


def difference(comparison: Comparison, metric: str) -> Any:
    return next(one for spec, one in comparison.metrics.items() if str(spec) == metric)


# --- the files ---------------------------------------------------------------------------------------------------


def test_every_file_is_read_without_a_problem(inputs: Inputs) -> None:
    assert inputs.problems == ()
    assert tuple(inputs.systems) == SYSTEMS
    assert {report.name: report.rows.get("run") for report in inputs.files if "run" in report.rows} == {
        f"{system}.jsonl": sum(len(row["retrieved_ids"]) for row in rows(f"{system}.jsonl")) for system in SYSTEMS
    }


def test_the_trec_files_hold_the_same_ranked_lists(inputs: Inputs) -> None:
    given = [str(SAMPLE / "trec" / f"{system}.run") for system in SYSTEMS]
    others = [str(SAMPLE / "queries.jsonl")]
    uploaded = read_inputs(given, [str(SAMPLE / "judgments.qrels")], others)
    assert uploaded.problems == ()
    ours, theirs = evaluate(inputs, "nDCG@10,AP"), evaluate(uploaded, "nDCG@10,AP")
    for system in SYSTEMS:
        assert np.array_equal(ours.systems[system].values, theirs.systems[system].values, equal_nan=True)


def test_the_sample_is_small() -> None:
    assert sum((SAMPLE / name).stat().st_size for name in MADE) < 1_500_000
    assert all((SAMPLE / "trec" / f"{system}.run").stat().st_size < 400_000 for system in SYSTEMS)


def test_there_are_so_many_of_each() -> None:
    queries = rows("queries.jsonl")
    assert len(rows("documents.jsonl")) == 280
    assert [query["query_id"] for query in queries] == [f"q{number:03d}" for number in range(1, 301)]
    assert Counter(kind for query in queries for kind in query["slice"]) == {
        "lookup": 74,
        "paraphrase": 78,
        "multi-hop": 34,
        "conflict": 32,
        "identifier": 38,
        "unanswerable": 44,
    }
    assert all(query["answerable"] == (query["slice"] != ["unanswerable"]) for query in queries)


def test_what_can_be_answered_has_a_passage_that_answers_it_fully_and_the_rest_has_none() -> None:
    judged = grades()
    for query in rows("queries.jsonl"):
        best = max(judged[query["query_id"]].values())
        assert best == (3 if query["answerable"] else 0), query
        assert query["reference"]


def test_judgments_name_passages_hold_all_grades_and_leave_some_unjudged() -> None:
    judged = grades()
    documents = {row["doc_id"] for row in rows("documents.jsonl")}
    assert {doc_id for one in judged.values() for doc_id in one} <= documents
    assert {grade for one in judged.values() for grade in one.values()} == {0, 1, 2, 3}
    for system in SYSTEMS:
        top = [(row["query_id"], doc_id) for row in rows(f"{system}.jsonl") for doc_id in row["retrieved_ids"][:10]]
        assert 0.9 < sum(doc_id in judged[query_id] for query_id, doc_id in top) / len(top) < 0.95


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_systems_lines_are_as_a_pipeline_writes_them(system: str) -> None:
    documents = {row["doc_id"] for row in rows("documents.jsonl")}
    for row in rows(f"{system}.jsonl"):
        assert set(row["retrieved_ids"]) <= documents
        assert row["scores"] == sorted(row["scores"], reverse=True)
        assert len(row["scores"]) == len(row["retrieved_ids"]) == len(set(row["retrieved_ids"])) <= 20
        assert row["context_doc_ids"] == row["retrieved_ids"][:5]
        assert row["generated_answer"]
        assert row["latency_ms"] > 0 < row["cost_usd"]


def test_every_number_comes_out_again_byte_for_byte(tmp_path: Path) -> None:
    command = [sys.executable, "-B", str(SAMPLE / "build.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert written == sorted(MADE)
    assert [name for name in MADE if (tmp_path / name).read_bytes() != (SAMPLE / name).read_bytes()] == []


# --- the findings ------------------------------------------------------------------------------------------------


def test_hybrid_is_better_in_direction_but_its_size_is_not_settled(comparison: Comparison) -> None:
    overall = difference(comparison, "nDCG@10")
    assert (round(overall.baseline, 4), round(overall.candidate, 4)) == (0.6807, 0.7169)
    assert 0 < overall.interval.low < comparison.terms.margin < overall.difference
    assert (overall.interval.wins, overall.interval.ties, overall.interval.losses) == (83, 125, 48)
    assert comparison.badge == "hybrid is better, size unclear"


def by_slice(comparison: Comparison) -> dict[str, tuple[int, float, float, int, int]]:
    """For each slice: answerable questions, means of nDCG@10 of both systems, better, worse."""
    scores = comparison.scores
    both = [scores.systems[system].values[0] for system in SYSTEMS]
    place = {query_id: number for number, query_id in enumerate(scores.query_ids.tolist())}
    found = {}
    for kind in ("lookup", "paraphrase", "multi-hop", "conflict", "identifier"):
        part = [place[row["query_id"]] for row in rows("queries.jsonl") if kind in row["slice"]]
        baseline, candidate = (one[part] for one in both)
        better, worse = (candidate - baseline > 1e-12).sum(), (baseline - candidate > 1e-12).sum()
        found[kind] = (len(part), round(baseline.mean(), 3), round(candidate.mean(), 3), int(better), int(worse))
    return found


def test_paraphrases_are_won_and_identifiers_are_lost(comparison: Comparison) -> None:
    assert by_slice(comparison) == {
        "lookup": (74, 0.910, 0.893, 18, 13),
        "paraphrase": (78, 0.230, 0.423, 43, 5),
        "multi-hop": (34, 0.704, 0.703, 9, 10),
        "conflict": (32, 0.887, 0.917, 12, 6),
        "identifier": (38, 0.966, 0.822, 1, 14),
    }


def test_invalid_citations_rose(comparison: Comparison) -> None:
    counted = {}
    for system in SYSTEMS:
        cited = [
            (doc_id, row["context_doc_ids"])
            for row in rows(f"{system}.jsonl")
            for doc_id in re.findall(r"\[doc_id ([a-z]+-\d+(?:-\d+)?)\]", row["generated_answer"])
        ]
        counted[system] = (sum(doc_id not in context for doc_id, context in cited), len(cited))
    assert counted == {"bm25": (4, 304), "hybrid": (24, 391)}
    for metric, place in (("invalid_citations", 0), ("citations", 1)):
        one = difference(comparison, metric)
        assert (one.baseline * 300, one.candidate * 300) == pytest.approx(
            (counted["bm25"][place], counted["hybrid"][place])
        )
    assert difference(comparison, "invalid_citations").interval.low > 0
    assert difference(comparison, "citation_validity").interval.high < 0


def test_some_answers_cite_nothing_and_some_decline(comparison: Comparison) -> None:
    bare, declined = difference(comparison, "no_citation"), difference(comparison, "abstention")
    assert 0 < bare.baseline < bare.candidate < 0.1
    assert 0.7 < declined.baseline < declined.candidate < 1


def test_hybrid_takes_a_code_for_another_that_looks_like_it() -> None:
    asked = next(row["query_id"] for row in rows("queries.jsonl") if row["query"] == "How do I get rid of E-4144?")
    bm25, hybrid = (next(r for r in rows(f"{s}.jsonl") if r["query_id"] == asked) for s in SYSTEMS)
    assert bm25["retrieved_ids"][0] == "error-4144"
    assert "error-4144" in hybrid["retrieved_ids"][1:]
    assert hybrid["generated_answer"] == "E-4144 means cell spread above limit [doc_id error-4441]."


def test_the_readme_says_the_same(comparison: Comparison) -> None:
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert comparison.sentence.split(" The gain")[0] in readme
    assert "24 of 391 citations" in readme
    assert "4 of 304" in readme
    for kind, (count, baseline, candidate, better, worse) in by_slice(comparison).items():
        assert f"| {kind} | {count} | {baseline:.3f} | {candidate:.3f} | {better} | {worse} |" in readme
