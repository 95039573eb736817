"""The command line: the JSON it promises, its exit codes, its messages, and trec_eval's layout."""

import csv
import io
import json
import math
import subprocess
import sys

import pytest

from ragdash.cli.entry import main

RUN_A = "q1 Q0 d1 1 3.0 alpha\nq1 Q0 d2 2 2.0 alpha\nq2 Q0 d3 1 1.0 alpha\nq2 Q0 d4 2 1.0 alpha\n"
RUN_B = "q1 Q0 d2 1 3.0 beta\nq1 Q0 d1 2 2.0 beta\n"
JUDGMENTS = "q1 0 d2 2\nq1 0 d1 0\nq2 0 d3 1\n"


@pytest.fixture
def files(write):
    return [str(write(name, text)) for name, text in (("a.run", RUN_A), ("b.run", RUN_B), ("j.qrels", JUDGMENTS))]


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_score_json_has_the_promised_shape(capsys, files):
    a, b, judgments = files
    status, out, err = run(
        capsys, "score", a, b, "--judgments", judgments, "--format", "json", "--per-query", "-m", "RR ndcg_cut_10"
    )
    result = json.loads(out)
    assert status == 0 and result["schema"] == 1
    assert list(result["systems"]) == ["a", "b"]
    assert list(result["systems"]["a"]) == ["RR", "nDCG@10"]
    assert set(result["systems"]["a"]["RR"]) == {
        "mean", "median", "p10", "p90", "ci_low", "ci_high", "ties_low", "ties_high", "n", "missing",
    }  # fmt: skip
    assert result["per_query"]["a"] == {
        "q1": {"RR": 0.5, "nDCG@10": 1 / math.log2(3)},
        "q2": {"RR": 0.5, "nDCG@10": 1 / math.log2(3)},
    }
    assert result["per_query"]["b"] == {"q1": {"RR": 1.0, "nDCG@10": 1.0}, "q2": {"RR": 0.0, "nDCG@10": 0.0}}
    assert result["ties"] == {"a": {"q2": {"RR": [0.5, 1.0], "nDCG@10": [1 / math.log2(3), 1.0]}}, "b": {}}
    assert result["systems"]["a"]["RR"]["ties_low"] == 0.5 and result["systems"]["a"]["RR"]["ties_high"] == 0.75
    assert (result["systems"]["b"]["RR"]["n"], result["systems"]["b"]["RR"]["missing"]) == (2, 1)
    assert "b (b.run): judged queries missing from this run: 1 of 2; they count 0." in err
    assert [problem["severity"] for problem in result["problems"]] == ["note"]


def test_undefined_numbers_are_null(capsys, files):
    _, out, _ = run(capsys, "score", files[1], "-j", files[2], "--format", "json", "--per-query", "-m", "Judged@5")
    result = json.loads(out)
    assert result["per_query"]["b"] == {"q1": {"Judged@5": 1.0}}
    single = result["systems"]["b"]["Judged@5"]
    assert single["n"] == 1 and single["ci_low"] is None and single["mean"] == 1.0


def test_compare_json_has_the_promised_shape(capsys, files):
    a, b, judgments = files
    status, out, _ = run(capsys, "compare", a, b, "-j", judgments, "--format", "json")
    result = json.loads(out)
    assert status == 0 and (result["baseline"], result["candidate"], result["primary"]) == ("a", "b", "nDCG@10")
    one = result["metrics"]["nDCG@10"]
    assert set(one) == {
        "baseline", "candidate", "difference", "low", "high", "p", "n", "changed", "wins", "ties", "losses", "method",
        "bootstrap_low", "bootstrap_high", "verdict", "layer", "direction", "warnings", "missing_baseline",
        "missing_candidate", "n_common", "difference_common",
    }  # fmt: skip
    assert one["difference"] == one["candidate"] - one["baseline"] and one["p"] is None and one["verdict"] == "too_few"
    assert (one["missing_baseline"], one["missing_candidate"], one["n_common"]) == (0, 1, 1)
    assert one["difference_common"] == 1 - 1 / math.log2(3)
    assert {"margin", "confidence", "missing", "ties"} <= set(result["settings"]) and result["schema"] == 1
    assert result["sentence"].startswith("There is too little to tell b from a on nDCG@10:")


def test_one_question_has_no_interval(capsys, write):
    run_file, judgments = str(write("x.run", "q Q0 d 1 1 t\n")), str(write("j.txt", "q 0 d 1\n"))
    other = str(write("y.run", "q Q0 e 1 1 t\n"))
    _, out, _ = run(capsys, "compare", run_file, other, "-j", judgments, "-m", "RR", "--format", "json")
    one = json.loads(out)["metrics"]["RR"]
    assert (one["n"], one["difference"], one["method"], one["low"], one["high"], one["p"]) == (
        1,
        -1.0,
        None,
        None,
        None,
        None,
    )


def test_the_layout_of_trec_eval(capsys, files):
    _, out, _ = run(capsys, "score", files[0], "-j", files[2], "--format", "trec_eval", "-q", "-m", "AP P@5 nDCG@10")
    assert out.splitlines() == [
        "map                   \tq1\t0.5000",
        "P_5                   \tq1\t0.2000",
        "ndcg_cut_10           \tq1\t0.6309",
        "map                   \tq2\t0.5000",
        "P_5                   \tq2\t0.2000",
        "ndcg_cut_10           \tq2\t0.6309",
        "runid                 \tall\ta",
        "num_q                 \tall\t2",
        "map                   \tall\t0.5000",
        "P_5                   \tall\t0.2000",
        "ndcg_cut_10           \tall\t0.6309",
    ]


def test_csv_is_safe_for_spreadsheets(capsys, write):
    run_file = str(write("r.run", "=cmd Q0 d1 1 1 t\n-2 Q0 d1 1 1 t\n"))
    judgments = str(write("j.qrels", "=cmd 0 d1 1\n-2 0 d1 1\n"))
    _, out, _ = run(capsys, "score", run_file, "-j", judgments, "--format", "csv", "-q", "-m", "RR")
    assert list(csv.reader(io.StringIO(out))) == [
        ["system", "query_id", "RR"],
        ["r", "'-2", "1.0"],
        ["r", "'=cmd", "1.0"],
    ]
    _, out, _ = run(capsys, "score", run_file, "-j", judgments, "--format", "csv", "-m", "RR")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["system"], row["metric"], row["mean"], row["n"]) for row in rows] == [("r", "RR", "1.0", "2")]


def test_tables_for_reading(capsys, files):
    _, out, _ = run(capsys, "score", *files[:2], "-j", files[2], "-m", "RR", "-q")
    head, values = (line.split("  ") for line in out.splitlines()[1:3])
    cells = dict(zip(filter(None, map(str.strip, head)), filter(None, map(str.strip, values)), strict=True))
    assert cells["ties"] == "0.5000 to 0.7500" and cells["n"] == "2" and cells["mean"] == "0.5000"
    assert out.splitlines()[4:7] == ["query      RR", "q1     0.5000", "q2     0.5000"]
    _, out, _ = run(capsys, "compare", *files[:2], "-j", files[2], "-m", "RR")
    assert out.splitlines()[0] == "Too few queries to tell" and "A a · B b" in out


def test_names_can_be_given_and_tags_name_several_systems(capsys, write, files):
    _, out, _ = run(capsys, "score", f"old={files[0]}", "-j", files[2], "--format", "json")
    assert list(json.loads(out)["systems"]) == ["old"]
    both = str(write("both.run", RUN_A + RUN_B))
    _, out, _ = run(capsys, "score", both, "-j", files[2], "--format", "json")
    assert list(json.loads(out)["systems"]) == ["alpha", "beta"]


def test_stdin_is_read(files):
    command = [sys.executable, "-m", "ragdash", "score", "-", "-j", files[2], "-m", "RR", "--format", "trec_eval"]
    done = subprocess.run(command, input=RUN_A.encode(), capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[-1] == "recip_rank            \tall\t0.5000"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "{a}"], "ragdash: judgments: none were given, and there are no answers. Add a file of judgments."),
        (
            ["score", "{a}", "-j", "{j}", "-m", "nDCGG@10"],
            "ragdash: metric: there is no metric 'nDCGG'. Did you mean nDCG?",
        ),
        (
            ["score", "{a}", "-j", "{j}", "-m", "nDCG@0"],
            "ragdash: metric: the cutoff of 'nDCG@0' is 0. Write a whole number of 1 or more, such as @10.",
        ),
        (
            ["compare", "{a}", "{b}", "-j", "{j}", "--confidence", "95"],
            "ragdash: confidence: it is 95.0. Give a share from 0.5 to 0.9999, such as 0.95.",
        ),
        (["metrics", "nDCGG"], "ragdash: metric: there is no metric 'nDCGG'. Did you mean nDCG?"),
        (["formats", "trec"], "ragdash: format: there is no 'trec'. Did you mean trec_run or trec_qrels?"),
        (
            ["score", "{a}", "-j", "{j}", "-m", " , "],
            "ragdash: metrics: none is named. Name at least one, such as nDCG@10, or leave the metrics out.",
        ),
        (
            ["score", "{a}", "-j", "{j}", "--style", "foot"],
            "ragdash: citation style: there is no 'foot'. Did you mean footnote?",
        ),
    ],
)
def test_bad_input_is_two_and_says_what_to_do(capsys, files, arguments, message):
    a, b, judgments = files
    status, out, err = run(capsys, *(word.format(a=a, b=b, j=judgments) for word in arguments))
    assert (status, out, err.strip()) == (2, "", message)


def test_problems_are_json_where_json_was_asked_for(capsys, files):
    status, out, _ = run(capsys, "score", files[0], "--format", "json")
    assert status == 2
    assert json.loads(out)["problems"] == [
        {
            "severity": "error",
            "where": "judgments",
            "found": "none were given, and there are no answers",
            "mend": "Add a file of judgments",
            "count": 1,
        }
    ]


def test_wrong_usage_is_two(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["score", "--format", "yaml"])
    assert caught.value.code == 2 and "usage: ragdash score" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["metrics", "formats", "styles"])
def test_the_registries_are_listed_and_explained(capsys, command):
    status, out, _ = run(capsys, command)
    names = [line.split()[0] for line in out.splitlines()]
    assert status == 0 and len(names) == len(set(names)) > 3
    _, explained, _ = run(capsys, command, names[0])
    assert explained.startswith(f"{names[0]}: ")
    _, listed, _ = run(capsys, command, "--format", "json")
    assert [entry["name"] for entry in json.loads(listed)] == names


def test_a_question_judged_but_absent_stands_as_zero_and_skip_leaves_it_out(capsys, files):
    _, out, _ = run(
        capsys, "score", *files[:2], "-j", files[2], "-m", "RR", "--missing", "skip", "--format", "json", "-q"
    )
    result = json.loads(out)
    assert list(result["per_query"]["a"]) == list(result["per_query"]["b"]) == ["q1"]


def test_repetitions_in_a_file_are_refused_or_averaged(capsys, write):
    rows = [
        {"query_id": "q1", "retrieved_ids": ["d1", "d2"], "answer": "[doc_id d1]", "context_ids": ["d1"]},
        {"query_id": "q1", "retrieved_ids": ["d2", "d1"], "answer": "[doc_id zz]", "context_ids": ["d1"]},
    ]
    path = str(write("twice.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    judgments = str(write("j.qrels", "q1 0 d2 1\n"))
    status, _, err = run(capsys, "score", path, "-j", judgments)
    assert status == 2 and err.strip() == (
        "ragdash: twice.jsonl, line 2: query 'q1' stands here again, first in line 1. "
        "Keep one row for each query and system, or say that they are repetitions (--repeats mean)."
    )
    arguments = [
        "score",
        path,
        "-j",
        judgments,
        "--repeats",
        "mean",
        "-m",
        "RR citation_validity",
        "--format",
        "json",
        "-q",
    ]
    status, out, _ = run(capsys, *arguments)
    assert status == 0 and json.loads(out)["per_query"]["twice"] == {"q1": {"RR": 0.75, "citation_validity": 0.5}}


def test_a_metric_is_explained_by_any_of_its_names(capsys):
    for name in ("nDCG", "ndcg_cut_10", "nDCG(gain=exp)@5"):
        _, out, _ = run(capsys, "metrics", name)
        assert out.startswith("nDCG: nDCG\n")


def test_a_field_named_like_a_metric_does_not_replace_it(capsys, write):
    rows = [{"query_id": "q1", "retrieved_ids": ["d2"], "AP": 0.25}]
    path = str(write("x.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    judgments = str(write("j.qrels", "q1 0 d2 1\n"))
    _, out, _ = run(capsys, "score", path, "-j", judgments, "--format", "json", "-q")
    values = json.loads(out)["per_query"]["x"]["q1"]
    assert values["AP"] == 1.0 and values["brought/AP"] == 0.25
    _, out, _ = run(capsys, "score", path, "-j", judgments, "--format", "json", "-q", "-m", "AP,brought/AP")
    assert json.loads(out)["per_query"]["x"]["q1"] == {"AP": 1.0, "brought/AP": 0.25}


def test_the_first_file_is_the_baseline_whatever_it_holds(capsys, write):
    answer = {"query_id": "q1", "answer": "[doc_id d]", "context_ids": ["d"]}
    first = str(write("first.jsonl", json.dumps(answer) + "\n"))
    second = str(write("second.jsonl", json.dumps(answer | {"retrieved_ids": ["d"]}) + "\n"))
    _, out, _ = run(capsys, "compare", first, second, "--format", "json")
    result = json.loads(out)
    assert (result["baseline"], result["candidate"]) == ("first", "second")


def test_undefined_metrics_have_no_line_in_the_layout_of_trec_eval(capsys, write):
    answers = str(write("a.jsonl", '{"query_id": "q1", "answer": "none", "context_ids": ["d"]}\n'))
    _, out, _ = run(capsys, "score", answers, "-m", "citation_validity no_citation", "--format", "trec_eval", "-q")
    lines = ["no_citation           \tq1\t1.0000", "runid                 \tall\ta", "num_q                 \tall\t1"]
    assert out.splitlines() == [*lines, "no_citation           \tall\t1.0000"]


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("ragdash 0.")


def test_an_interrupt_and_a_full_disk_end_without_a_trace(capsys, files, monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    def full(_):
        raise OSError(28, "No space left on device")

    for action, status, said in (
        (stop, 130, "stopped"),
        (full, 2, "output: No space left on device. Check the place."),
    ):
        monkeypatch.setattr("ragdash.cli.score.run", action)
        assert run(capsys, "score", files[0], "-j", files[2]) == (status, "", f"ragdash: {said}\n")


def test_the_classic_conventions(capsys, files):
    _, out, _ = run(
        capsys, "score", files[0], "-j", files[2], "-m", "nDCG@10", "--conventions", "classic", "--format", "json"
    )
    assert list(json.loads(out)["systems"]["a"]) == ["nDCG(gain=exp)@10"]
