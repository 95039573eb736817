"""Reproduce this number: the command, read back by a shell's rules and run, prints the number it was made for."""

import hashlib
import json
import shlex

import pyarrow as pa
import pytest

from ragdash.api import compare_tables
from ragdash.cli.entry import main
from ragdash.comparison import Terms
from ragdash.evaluation import evaluate
from ragdash.inputs import Inputs, read_inputs
from ragdash.metrics.registry import parse_all
from ragdash.problems import InputError
from ragdash.reproduce import compare_command, score_command
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.sources import Source

SAMPLE = ("bm25.jsonl", "hybrid.jsonl", "judgments.qrels", "queries.jsonl", "documents.jsonl")


def command_of(inputs, comparison):
    return compare_command(
        inputs,
        comparison.baseline,
        comparison.candidate,
        metrics=tuple(comparison.metrics),
        primary=comparison.primary,
        settings=comparison.scores.settings,
        terms=comparison.terms,
    )


def printed_by(command, folder, monkeypatch, capsys):
    words = shlex.split(command, comments=True)
    assert words[0] == "ragdash"
    monkeypatch.chdir(folder)
    assert main([*words[1:], "--format=json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("metrics", "primary", "settings", "terms"),
    [
        (None, None, Settings(), Terms()),
        ("nDCG@10 RR@10", "RR@10", Settings(), Terms(margin=0.02, confidence=0.9, method="bootstrap")),
        ("nDCG@10 nDCG(gain=linear)@10", None, Settings(conventions="classic"), Terms()),
        (None, "nDCG@10", Settings(gain="exp", empty=1.0, missing="skip", no_relevant="skip"), Terms()),
        (
            "citation_validity P(rel=2)@5",
            "citation_validity",
            Settings(
                pattern=r"-{0}\[doc_id ([\w-]+|it's #\$1)\]", ties="given", strict=True, repeats="mean", style="doc_id"
            ),
            Terms(),
        ),
    ],
)
def test_the_command_prints_the_number(root, monkeypatch, capsys, metrics, primary, settings, terms):
    folder = root / "sample_data"
    inputs = read_inputs((), (), [folder / name for name in SAMPLE])
    comparison = compare_tables(
        inputs, "bm25", "hybrid", metrics=metrics, primary=primary, settings=settings, terms=terms
    )
    record = printed_by(command_of(inputs, comparison), folder, monkeypatch, capsys)
    assert record["sentence"] == comparison.sentence and record["primary"] == str(comparison.primary)
    for spec, one in comparison.metrics.items():
        printed = record["metrics"][str(spec)]
        assert printed["candidate"] == pytest.approx(one.candidate, abs=0)
        assert printed["low"] == pytest.approx(one.interval.low, abs=0)


def test_only_what_is_not_the_default_is_said_and_the_digests_stand_above(root):
    folder = root / "sample_data"
    inputs = read_inputs((), (), [folder / name for name in SAMPLE])
    lines = command_of(inputs, compare_tables(inputs, "bm25", "hybrid")).splitlines()
    assert lines[-1] == (
        "ragdash compare bm25.jsonl hybrid.jsonl --judgments=judgments.qrels "
        "--also=queries.jsonl --also=documents.jsonl"
    )
    assert lines[:-1] == [f"# sha256 {hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}" for n in SAMPLE]


RUN = "q1 Q0 d1 1 2.5 {0}\nq1 Q0 d2 2 1.5 {0}\nq2 Q0 d1 1 1.5 {0}\n"
QRELS = "q1 0 d2 1\nq2 0 d1 1\n"


def test_names_that_a_shell_or_a_parser_would_misread(write, monkeypatch, capsys):
    names = {"my run; rm -rf $HOME.trec": "it's", "-b=[1].trec": "-b=[1]", "-q'rels\n.txt": ""}
    texts = [RUN.format("x"), RUN.format("y").replace("2.5", "0.5"), QRELS]
    paths = [write(name, text) for name, text in zip(names, texts, strict=True)]
    sources = [Source.from_path(path) for path in paths]
    inputs = read_inputs((), (), sources, names={name: system for name, system in names.items() if system})
    comparison = compare_tables(inputs, *inputs.systems, metrics="RR")
    command = command_of(inputs, comparison)
    assert command.splitlines()[2].endswith("  -q'rels?.txt")
    record = printed_by(command, paths[0].parent, monkeypatch, capsys)
    assert (record["baseline"], record["candidate"]) == inputs.systems == ("it's", "-b=[1]")
    assert record["metrics"]["RR"]["difference"] == comparison.metrics[comparison.primary].difference == 0.25


def test_a_system_of_several_files_and_systems_that_have_no_part(write, monkeypatch, capsys):
    answers = """query_id\tanswer\tcontext_ids\nq1\tYes [doc_id d1].\t["d1"]\nq2\tYes.\t["d1"]\n"""
    made = [("a.run", RUN), ("b.run", RUN), ("c.run", RUN), ("a.tsv", answers), ("b.tsv", answers), ("qrels", QRELS)]
    paths = [write(name, text) for name, text in made]
    inputs = read_inputs((), (), [Source.from_path(path) for path in paths])
    comparison = compare_tables(inputs, "a", "b", metrics="RR no_citation")
    command = command_of(inputs, comparison).splitlines()[-1]
    assert command == (
        "ragdash compare a.run b.run --also=a.tsv --also=b.tsv --judgments=qrels --metrics='RR no_citation'"
    )
    record = printed_by(command, paths[0].parent, monkeypatch, capsys)
    assert record["metrics"]["no_citation"]["baseline"] == 0.5


def test_score_prints_every_system(write, monkeypatch, capsys):
    paths = [write("x.run", RUN), write("y.run", RUN), write("qrels", QRELS)]
    inputs = read_inputs((), (), [Source.from_path(path) for path in paths], names={"y.run": "new one"})
    specs = parse_all("RR P@1")
    command = score_command(inputs, metrics=specs, settings=Settings(missing="skip"))
    assert command.splitlines()[-1] == (
        "ragdash score x.run 'new one=y.run' --judgments=qrels --metrics='RR P@1' --missing=skip"
    )
    record = printed_by(command, paths[0].parent, monkeypatch, capsys)
    scores = evaluate(inputs, specs)
    assert record["systems"]["new one"]["RR"]["mean"] == scores.of("new one", specs[0]).mean()


def test_what_no_command_line_can_give_is_said(write):
    specs = parse_all("RR")
    both = write("both.run", RUN.format("a") + RUN.format("b"))
    one_file = read_inputs((), (), [Source.from_path(both), Source.from_path(write("qrels", QRELS))])
    rows = pa.table({"query_id": ["q1"], "doc_id": ["d1"]})
    in_memory = Inputs(runs={name: table_of("run", rows, name) for name in "ab"})
    odd = read_inputs((), (), [Source.from_path(both)], names={})
    renamed = read_inputs((), (), [Source.from_path(write("c.run", RUN))], names={"c.run": "k1=2"})
    for inputs, pair, message in [
        (
            one_file,
            ("a", "b"),
            "reproduce: a stands in one file with other systems, and compare takes one system a file. "
            "Split the file by its column system, or by its tag.",
        ),
        (in_memory, ("a", "b"), "reproduce: a was not read from a file. Load its file."),
        (odd, ("zz", "b"), "reproduce: zz was not read from a file. Load its file."),
        (
            renamed,
            ("k1=2", "k1=2"),
            "reproduce: the system 'k1=2' has = in its name. Give it another name on the Data page.",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            compare_command(inputs, *pair, metrics=specs, primary=specs[0])
        assert str(caught.value) == message
