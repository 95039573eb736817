"""The numbers of trec_eval 9.0.8 and 10.0 on real runs, question by question, through the command line.

The stored outputs are printed to four digits, so agreement is to half a unit of the fourth. The rules they prove are
proved by small examples of our own in tests/metrics/test_retrieval.py and tests/test_matching.py.
"""

import gzip
import json
import re

import numpy as np
import pytest

from ragdash.cli.entry import main

PRINTED = 0.5000001e-4
IN_SCOPE = re.compile(r"(map|recip_rank|ndcg|(P|recall|ndcg_cut|map_cut|success)_\d+)$")
DL19 = ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "SPLADE_P_P_ENSEMBLE_DISTIL")
PUBLISHED = dict(zip(DL19, (0.5058, 0.5216, 0.7210, 0.7035, 0.7308), strict=True))
ROBUST = ("rutcor03100", "uic0301", "humR03dc", "NLPR03vb10")


def score(capsys, run, judgments, *options):
    """What `ragdash score --format json --per-query` prints, for the one system in the file."""
    capsys.readouterr()
    arguments = ["score", f"run={run}", "--judgments", str(judgments), "--format", "json", "--per-query", *options]
    assert main(arguments) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result["systems"]) == ["run"]
    return result["systems"]["run"], result["per_query"]["run"]


def expected_of(path):
    """measure → question → value of a stored trec_eval -q output."""
    found = {}
    for line in path.read_text().splitlines():
        measure, query, value = line.split()[:3]
        if IN_SCOPE.match(measure):
            found.setdefault(measure, {})[query] = float(value)
    return found


def canonical(measure, rel=None):
    from ragdash.metrics.registry import parse

    spec = parse(measure)
    return spec if rel is None else spec.having("rel", float(rel))


def check(capsys, run, judgments, stored, rel=None, absent_count=True):
    """Every stored value, each question and the mean, equals ours. Returns how many were compared."""
    expected = expected_of(stored)
    names = {measure: str(canonical(measure, rel)) for measure in expected}
    summary, per_query = score(capsys, run, judgments, "--metrics", " ".join(names.values()))
    compared = 0
    for measure, by_query in expected.items():
        mean = by_query.pop("all")
        for query, value in by_query.items():
            assert per_query[query][names[measure]] == pytest.approx(value, abs=PRINTED), (measure, query)
        ours = summary[names[measure]]["mean"]
        if not absent_count:
            ours *= summary[names[measure]]["n"] / (summary[names[measure]]["n"] - summary[names[measure]]["missing"])
        assert ours == pytest.approx(mean, abs=PRINTED), measure
        compared += len(by_query) + 1
    return compared


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", DL19)
def test_dl19(capsys, shared, name, level):
    folder = shared / "data/engine"
    run = folder / f"dl_passage/run.dl19.{name}.top100.txt"
    stored = folder / f"expected/te908.dl19.{name}.l{level}.txt"
    judgments = folder / "dl_passage/qrels.dl19-passage.txt"
    assert check(capsys, run, judgments, stored, rel=None if level == 1 else 2) > 500


@pytest.mark.parametrize("name", DL19)
def test_dl19_has_the_published_ndcg(capsys, shared, name):
    folder = shared / "data/engine/dl_passage"
    run, judgments = folder / f"run.dl19.{name}.top100.txt", folder / "qrels.dl19-passage.txt"
    summary, _ = score(capsys, run, judgments, "--metrics", "nDCG@10")
    assert round(summary["nDCG@10"]["mean"], 4) == PUBLISHED[name] and summary["nDCG@10"]["n"] == 43


@pytest.mark.parametrize("name", ROBUST)
def test_robust_2003_ties_included(capsys, shared, name):
    folder = shared / "data/engine"
    run, stored = folder / f"trectools/input.{name}.gz", folder / f"expected/te908.robust03.{name}.txt"
    assert check(capsys, run, folder / "trectools/robust03_cs_qrels.txt.gz", stored) > 1500


@pytest.mark.parametrize(
    ("run", "judgments", "stored", "rel"),
    [
        ("results.test", "qrels.test", "out.test.aq", None),
        ("results.test", "qrels.test.with-comments", "out.test", None),
        ("results.trunc", "qrels.test", "out.test.aqc", None),
        ("results.test", "qrels.rel_level", "out.test.aql", 2),
        ("results.comment.test.gz", "qrels.comment.test", "out.comment.test", None),
    ],
)
def test_the_suite_of_trec_eval(capsys, shared, run, judgments, stored, rel):
    folder = shared / "data/engine/trec_eval"
    assert check(capsys, folder / run, folder / judgments, folder / stored, rel) >= 11


def test_the_suite_of_trec_eval_counts_its_questions(capsys, shared):
    folder = shared / "data/engine/trec_eval"
    summary, _ = score(capsys, folder / "results.trunc", folder / "qrels.test", "--metrics", "AP")
    assert (summary["AP"]["n"], summary["AP"]["missing"]) == (3, 1)


def test_exponential_gain_on_graded_judgments(capsys, shared):
    """Against the definition written out, list by list, on a real graded collection."""
    folder = shared / "data/engine/dl_passage"
    run, judgments = folder / f"run.dl19.{DL19[4]}.top100.txt", folder / "qrels.dl19-passage.txt"
    _, per_query = score(capsys, run, judgments, "--metrics", "nDCG(gain=exp)@10 nDCG@10")
    grades, lists = {}, {}
    for query, _, doc, grade in map(str.split, judgments.read_text().splitlines()):
        grades.setdefault(query, {})[doc] = int(grade)
    for query, _, doc, _, value, _ in map(str.split, run.read_text().splitlines()):
        lists.setdefault(query, []).append((np.float32(value), doc))

    def worth(sequence, gain):
        return sum(gain(grade) / np.log2(rank + 1) for rank, grade in enumerate(sequence[:10], 1))

    for query, judged in grades.items():
        found = [judged.get(doc, 0) for _, doc in sorted(lists[query], reverse=True)]
        ideal = sorted(judged.values(), reverse=True)
        for name, gain in (("nDCG(gain=exp)@10", lambda g: 2.0**g - 1), ("nDCG@10", float)):
            assert per_query[query][name] == pytest.approx(worth(found, gain) / worth(ideal, gain), abs=1e-12)


def test_all_ten_pairs_of_dl19(capsys, shared):
    folder = shared / "data/engine"
    pairs = json.loads((folder / "expected/paired_reference.ndcg10.json").read_text())["dl19"]["pairs"]
    assert len(pairs) == 10
    for pair in pairs:
        files = [f"{name}={folder}/dl_passage/run.dl19.{name}.top100.txt" for name in (pair["a"], pair["b"])]
        judgments = str(folder / "dl_passage/qrels.dl19-passage.txt")
        capsys.readouterr()
        arguments = ["compare", *files, "-j", judgments, "-m", "nDCG@10", "--ci", "t", "--format", "json"]
        assert main(arguments) == 0
        found = json.loads(capsys.readouterr().out)["metrics"]["nDCG@10"]
        assert found["method"] == "t" and found["n"] == pair["n"]
        assert (found["wins"], found["ties"], found["losses"]) == (pair["win"], pair["tie"], pair["loss"])
        names = ("baseline", "candidate", "difference", "low", "high")
        stored = (pair["mean_a"], pair["mean_b"], pair["delta"], *pair["t_ci95"])
        assert [found[name] for name in names] == pytest.approx(stored, abs=1e-6)
        assert found["p"] == pytest.approx(pair["p_ttest"], rel=1e-4)


def test_gzip_makes_no_difference(capsys, shared, tmp_path):
    folder = shared / "data/engine/dl_passage"
    run, judgments = folder / f"run.dl19.{DL19[0]}.top100.txt", folder / "qrels.dl19-passage.txt"
    packed = tmp_path / "packed.run.gz"
    packed.write_bytes(gzip.compress(run.read_bytes()))
    plain = score(capsys, run, judgments, "--metrics", "nDCG@10 AP")
    assert score(capsys, packed, judgments, "--metrics", "nDCG@10 AP") == plain
