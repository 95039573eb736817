"""Speed and memory beside the peers, in one run, as ratios: `make bench`. Nothing here fails for being slow.

Peers that are not installed are left out; `TREC_EVAL=path` adds the C program.
"""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

METRICS = "nDCG@10 nDCG@5 nDCG AP AP@100 RR P@5 P@10 R@10 R@100 Hit@5 Judged@10"
TREC = ["ndcg_cut.5,10", "ndcg", "map", "map_cut.100", "recip_rank", "P.5,10", "recall.10,100", "success.5"]
PYTREC = """
import sys, pytrec_eval
with open(sys.argv[1]) as run, open(sys.argv[2]) as judgments:
    run, judgments = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(judgments)
measures = {"ndcg_cut.5,10", "ndcg", "map", "map_cut.100", "recip_rank", "P.5,10", "recall.10,100", "success.5"}
pytrec_eval.RelevanceEvaluator(judgments, measures).evaluate(run)
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
run, judgments = Run.from_file(sys.argv[1], kind="trec"), Qrels.from_file(sys.argv[2], kind="trec")
evaluate(judgments, run, ["ndcg@5", "ndcg@10", "ndcg", "map", "map@100", "mrr", "precision@5", "precision@10",
         "recall@10", "recall@100", "hit_rate@5"], make_comparable=True)
"""
ARROW = """
import sys
from pyarrow import csv
names = ["query_id", "iteration", "doc_id", "rank", "score", "system"]
csv.read_csv(sys.argv[1], csv.ReadOptions(column_names=names), csv.ParseOptions(delimiter=" ", quote_char=False))
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A TREC run of 2,000,000 rows (2,000 queries × 1,000) and 200,000 judgments, half of them retrieved."""
    folder, rng = tmp_path_factory.mktemp("collection"), np.random.default_rng(7)
    run, judgments = folder / "big.run", folder / "big.qrels"
    with run.open("w") as rows, judgments.open("w") as grades:
        for query in range(100_000, 102_000):
            docs = rng.choice(8_800_000, 1050, replace=False)
            scores = np.round(np.sort(rng.random(1000) * 30)[::-1], 4)
            rows.writelines(
                f"{query} Q0 {d} {r} {s:.6f} big\n" for r, (d, s) in enumerate(zip(docs, scores, strict=False), 1)
            )
            judged = np.concatenate([rng.choice(docs[:1000], 50, replace=False), docs[1000:]])
            grades.writelines(f"{query} 0 {d} {g}\n" for d, g in zip(judged, rng.integers(0, 4, 100), strict=True))
    return run, judgments


def timed(command, repeats=3):
    """Best wall seconds and peak memory in bytes of a whole process; None where the peer is not there."""
    best, peak = float("inf"), 0
    for _ in range(repeats):
        before = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return None
        best, peak = min(best, time.perf_counter() - before), max(peak, usage.ru_maxrss * 1024)
    return best, peak


def report(title, rows):
    print(f"\n{title}")
    for name, text in rows:
        print(f"  {name:34} {text}")


@pytest.mark.bench
def test_scoring_two_million_rows(collection, capsys):
    run, judgments = map(str, collection)
    ours = [
        sys.executable,
        "-m",
        "ragdash",
        "score",
        run,
        "-j",
        judgments,
        "-m",
        METRICS,
        "-q",
        "--format",
        "trec_eval",
    ]
    peers = {
        "pytrec_eval-terrier": [sys.executable, "-c", PYTREC, run, judgments],
        "ranx": [sys.executable, "-c", RANX, run, judgments],
        "a bare Arrow parse of the run": [sys.executable, "-c", ARROW, run],
    }
    if os.environ.get("TREC_EVAL") and shutil.which(os.environ["TREC_EVAL"]):
        measures = [word for name in TREC for word in ("-m", name)]
        peers["C trec_eval -q"] = [os.environ["TREC_EVAL"], "-q", "-c", *measures, judgments, run]
    seconds, peak = timed(ours)
    size = sum(path.stat().st_size for path in collection)
    rows = [("ragdash", f"{seconds:.2f} s, peak memory {peak / size:.1f} × the files' bytes (budget 8, aim 5)")]
    for name, command in peers.items():
        found = timed(command, 1 if name == "ranx" else 3)
        rows.append(
            (name, "not installed" if found is None else f"{found[0]:.2f} s: ragdash takes {seconds / found[0]:.2f} ×")
        )
    with capsys.disabled():
        report(
            "TREC run of 2,000,000 rows → 12 metrics a query, whole process (budget 0.75 × trec_eval and pytrec_eval)",
            rows,
        )
    assert peak > 0


@pytest.mark.bench
def test_bootstrap_of_10_000_queries_and_20_metrics(capsys):
    from scipy import stats

    from ragdash.stats.bootstrap import bootstrap_limits, resample_means

    rng = np.random.default_rng(3)
    differences = np.where(rng.random((10_000, 20)) < 0.6, 0, rng.normal(0.01, 0.3, (10_000, 20)).clip(-1, 1))

    def clock(work):
        before = time.perf_counter()
        work()
        return time.perf_counter() - before

    exact = clock(lambda: [bootstrap_limits(column) for column in differences.T])
    seeded = clock(lambda: resample_means(differences, 10_000, seed=1))
    options = {"n_resamples": 10_000, "method": "percentile", "vectorized": True, "batch": 400}
    peer = clock(lambda: [stats.bootstrap((column,), np.mean, **options) for column in differences.T])
    with capsys.disabled():
        report(
            "10,000 resamples of 10,000 queries × 20 metrics",
            [
                ("scipy.stats.bootstrap", f"{peer:.1f} s"),
                ("exact limits by FFT", f"{exact:.2f} s: 1/{peer / exact:.0f} (budget 1/20)"),
                ("seeded resampling", f"{seeded:.2f} s: 1/{peer / seeded:.0f} (budget 1/8)"),
            ],
        )
    assert min(exact, seeded) > 0


@pytest.mark.bench
def test_start_of_the_command_line(capsys):
    ours, _ = timed([sys.executable, "-m", "ragdash", "metrics"], 7)
    numpy, _ = timed([sys.executable, "-c", "import numpy"], 7)
    with capsys.disabled():
        budget = 2 * numpy + 0.2
        report("ragdash metrics", [("whole process", f"{ours:.2f} s; 2 × import numpy + 0.2 s is {budget:.2f} s")])
    assert Path(sys.executable).exists() and resource.RUSAGE_CHILDREN
