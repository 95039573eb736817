"""The tipping point: what it says comes true when the documents are judged, and not one document earlier."""

from time import process_time

import numpy as np
import pyarrow as pa
import pytest

from ragdash.api import compare_tables
from ragdash.inputs import read_inputs
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.tables import Tables
from ragdash.tipping import side_of, tipping_point, with_judgments

METRICS = ["nDCG@10", "nDCG(gain=exp)@5", "P@5", "R@10", "RR@10", "AP", "Hit@3", "P(rel=2)@5", "RR(rel=0)@5"]


def table(kind, rows):
    third = {"run": "score", "judgments": "grade"}[kind]
    columns = dict(zip(("query_id", "doc_id", third), map(list, zip(*rows, strict=True)), strict=True))
    return table_of(kind, pa.table(columns), kind)


def random_tables(seed, questions=60, documents=40, depth=15, judged=12, lead=0.0, grades=(0, 1, 1, 2)):
    """Two runs over the same documents, part of them judged; `lead` puts good documents up in the candidate's."""
    rng = np.random.default_rng(seed)
    runs, rows = {"a": [], "b": []}, []
    for question in [f"q{number:03}" for number in range(questions)]:
        known = {f"d{doc}": int(rng.choice(grades)) for doc in rng.choice(documents, judged, replace=False)}
        rows += [(question, doc, grade) for doc, grade in known.items()]
        for name, lift in (("a", 0.0), ("b", lead)):
            listed = [f"d{doc}" for doc in rng.choice(documents, depth, replace=False)]
            runs[name] += [(question, doc, rng.random() + lift * known.get(doc, 0)) for doc in listed]
    return Tables({name: table("run", run) for name, run in runs.items()}, table("judgments", rows))


def verdict_with(tables, metric, documents, grade, settings=None):
    graded = {(one.query_id, one.doc_id): grade for one in documents}
    more = compare_tables(with_judgments(tables, graded), "a", "b", primary=metric, metrics=[metric], settings=settings)
    return more.metrics[more.primary].verdict


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("seed", "lead"), [(1, 0.0), (2, 0.5), (3, -0.5)])
def test_judging_the_documents_changes_the_verdict_and_one_fewer_does_not(metric, seed, lead):
    tables = random_tables(seed, lead=lead)
    comparison = compare_tables(tables, "a", "b", primary=metric, metrics=[metric])
    tipping = tipping_point(tables, comparison)
    before = comparison.metrics[comparison.primary].verdict
    assert tipping.before == before and tipping.system == ("a" if side_of(before) == "candidate" else "b")
    count = len(tipping.documents) if tipping.count is None else tipping.count
    reached = verdict_with(tables, metric, tipping.documents[:count], tipping.grade)
    if tipping.count is None:
        assert side_of(reached) == side_of(before)
    else:
        assert reached == tipping.after and side_of(reached) != side_of(before)
        assert side_of(verdict_with(tables, metric, tipping.documents[: count - 1], tipping.grade)) == side_of(before)


def test_there_are_tipping_points_among_those_cases():
    found = []
    for seed, lead in [(1, 0.0), (2, 0.5), (3, -0.5)]:
        tables = random_tables(seed, lead=lead)
        found.append(tipping_point(tables, compare_tables(tables, "a", "b")).count)
    assert all(count and count > 1 for count in found)


def test_the_effects_add_up_to_the_difference_and_the_largest_come_first():
    tables = random_tables(4)
    comparison = compare_tables(tables, "a", "b")
    tipping = tipping_point(tables, comparison)
    graded = {(one.query_id, one.doc_id): tipping.grade for one in tipping.documents}
    after = compare_tables(with_judgments(tables, graded), "a", "b").metrics[comparison.primary].difference
    moved = after - comparison.metrics[comparison.primary].difference
    effects = [one.effect for one in tipping.documents]
    assert sum(effects) == pytest.approx(moved) and min(effects) > 0
    first = {}
    for one in tipping.documents:
        first.setdefault(one.query_id, one.effect)
    assert list(first.values()) == sorted(first.values(), reverse=True)


RUN_A = [("q1", "x", 3.0), ("q1", "u", 2.0), ("q1", "r", 1.0)]
RUN_B = [("q1", "r", 3.0), ("q1", "x", 2.0), ("q1", "v", 1.0)]


def spread(rows, copies=30):
    return [(f"{row[0]}-{copy:02}", *row[1:]) for copy in range(copies) for row in rows]


def test_ranks_in_both_lists_and_only_documents_that_matter():
    runs = {"a": table("run", spread(RUN_A)), "b": table("run", spread(RUN_B))}
    tables = Tables(runs, table("judgments", spread([("q1", "r", 2)])))
    comparison = compare_tables(tables, "a", "b", primary="RR@10")
    tipping = tipping_point(tables, comparison)
    assert comparison.metrics[comparison.primary].verdict == "candidate_better"
    assert (tipping.system, tipping.depth, tipping.grade, tipping.unjudged) == ("a", 10, 2.0, 60)
    documents = {one.doc_id: (one.rank_baseline, one.rank_candidate) for one in tipping.documents}
    assert documents == {"x": (1, 2)}  # u at rank 2 adds nothing to RR once x at rank 1 is relevant
    assert tipping.documents[0].effect == pytest.approx(-(2 / 3) / 30)
    assert tipping.after == "too_few" and str(tipping) == (  # 4 of 30 questions changed
        "If the first 26 of the 60 unjudged documents in a's top 10 were relevant (grade 2), "
        "the verdict would be: Too few queries to tell."
    )


def test_positive_only_judgments_have_a_tipping_point():
    tables = random_tables(5, lead=0.6, grades=(1, 1, 1))
    comparison = compare_tables(tables, "a", "b")
    assert comparison.scores.positive_only and tipping_point(tables, comparison).count


def test_where_all_is_judged_or_nothing_helps_it_says_so():
    judged = spread([("q1", "r", 1), ("q1", "x", 0), ("q1", "u", 0)])
    runs = {"a": table("run", spread(RUN_A)), "b": table("run", spread(RUN_B))}
    tables = Tables(runs, table("judgments", judged))
    full = tipping_point(tables, compare_tables(tables, "a", "b"))
    assert str(full) == "a's top 10 is fully judged: no unjudged document can change the verdict."
    tables = Tables(runs, table("judgments", spread([("q1", "r", 1), ("q1", "x", 0)])))
    stands = tipping_point(tables, compare_tables(tables, "a", "b", primary="RR@10"))
    assert (
        stands.count is None
        and stands.after is None
        and str(stands)
        == ("The verdict stands even if every one of the 30 unjudged documents in a's top 10 were relevant (grade 1).")
    )


def test_settings_and_questions_that_are_not_counted_are_kept():
    tables = random_tables(6, lead=0.5)
    rows = np.flatnonzero(np.array(tables.runs["b"].column("query_id").to_pylist()) > "q003")
    tables = Tables({**tables.runs, "b": tables.runs["b"].take(rows)}, tables.judgments)
    for settings in (Settings(), Settings(missing="skip", ties="given")):
        comparison = compare_tables(tables, "a", "b", settings=settings)
        tipping = tipping_point(tables, comparison)
        counted = {one.query_id for one in tipping.documents}
        assert (min(counted) < "q004") == (settings.missing == "zero")
        first = tipping.documents[: tipping.count]
        assert verdict_with(tables, "nDCG@10", first, tipping.grade, settings) == tipping.after


@pytest.mark.parametrize("metric", ["Judged@10", "nDCG(judged_only=True)@10"])
def test_metrics_in_which_unjudged_documents_have_no_part_have_none(metric):
    tables = random_tables(7)
    assert tipping_point(tables, compare_tables(tables, "a", "b", primary=metric)) is None


def test_repeated_runs_are_refused():
    tables = random_tables(8)
    rows = tables.runs["a"].rows.append_column("repeat", pa.array(["1"] * len(tables.runs["a"])))
    tables = Tables({**tables.runs, "a": table_of("run", rows, "a.run")}, tables.judgments)
    with pytest.raises(InputError) as caught:
        tipping_point(tables, compare_tables(tables, "a", "b"))
    assert str(caught.value) == (
        "tipping point: the run holds repetitions, and the tipping point is about one list a question. "
        "Load one repetition."
    )


def test_grades_are_added_and_replaced_and_the_given_tables_stay():
    tables = random_tables(9, questions=2)
    graded = {("q000", "new"): 3.0, ("q001", tables.judgments.column("doc_id")[12].as_py()): 0.5}
    more = with_judgments(tables, graded)
    assert len(more.judgments) == len(tables.judgments) + 1 == 25
    rows = more.judgments.rows.to_pylist()
    assert {(row["query_id"], row["doc_id"]): row["grade"] for row in rows}.items() >= graded.items()
    assert with_judgments(tables, {}) is tables and more.runs is tables.runs
    assert with_judgments(Tables(), graded).judgments.column("grade").to_pylist() == [3.0, 0.5]


@pytest.mark.slow
def test_a_thousand_questions_take_well_under_a_second():
    tables = random_tables(10, questions=1000, documents=400, depth=100, judged=60)
    comparison = compare_tables(tables, "a", "b")
    started = process_time()
    tipping_point(tables, comparison)
    assert process_time() - started < 1.0  # of the processor: the wall clock is others' too


def test_a_real_comparison_tips_where_it_says(shared):
    folder = shared / "data" / "engine" / "dl_passage"
    runs = {"a": "run.dl19.D_BERT_KD_TASB.top100.txt", "b": "run.dl19.SPLADE_P_P_ENSEMBLE_DISTIL.top100.txt"}
    given = [f"{name}={folder / file}" for name, file in runs.items()]
    tables = read_inputs(given, [folder / "qrels.dl19-passage.txt"])
    tipping = tipping_point(tables, compare_tables(tables, "a", "b", metrics=["nDCG@10"]))
    assert (tipping.before, tipping.unjudged, tipping.grade) == ("not_settled", 32, 2.0)
    assert tipping.count and tipping.after == "candidate_better_size_unclear"
    needed = tipping.documents[: tipping.count]
    assert verdict_with(tables, "nDCG@10", needed, tipping.grade) == tipping.after
    assert verdict_with(tables, "nDCG@10", needed[:-1], tipping.grade) == "not_settled"
