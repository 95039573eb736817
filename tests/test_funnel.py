"""The evidence funnel: each stage by hand, what tables cannot say, and a property against a loop over the tables."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.evaluation import evaluate
from ragdash.funnel import BREAKS, Break, funnel_specs, funnels
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.tables import Tables

NAMES = {
    "run": ("query_id", "doc_id", "score"),
    "judgments": ("query_id", "doc_id", "grade"),
    "answers": ("query_id", "answer", "context_ids"),
    "scores": ("query_id", "metric", "value"),
    "queries": ("query_id", "answerable"),
}


def table(kind, rows, extra=()):
    names = (*NAMES[kind], *extra)
    return table_of(kind, pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), kind)


def funnel_of(tables, k=2, right=None, settings=None):
    return funnels(evaluate(tables, funnel_specs(tables, k, right), settings), tables, k, right)["s"]


RUN = table(
    "run",
    [
        *[("q2", "x", 1.0), ("q3", "x", 3.0), ("q3", "y", 2.0), ("q3", "a", 1.0)],
        *[(query, "a", 1.0) for query in ("q1", "q4", "q5", "q6", "q7", "q8")],
    ],
)
JUDGED = table("judgments", [("q1", "a", 0), *[(f"q{number}", "a", 1) for number in range(2, 10)]])
ANSWERS = table(
    "answers",
    [
        *[("q4", "Yes [doc_id x].", ["x"]), ("q5", "Yes [doc_id x].", ["a", "x"]), ("q6", "Yes [doc_id a].", ["a"])],
        *[("q7", "No [doc_id a].", ["a"]), ("q2", "Yes [doc_id a].", ["a"])],
    ],
)
RIGHT = table("scores", [("q6", "right", 1.0), ("q7", "right", 0.2), ("q2", "right", 1.0)])


def test_every_question_has_its_first_broken_stage():
    tables = Tables({"s": RUN}, JUDGED, {"s": ANSWERS}, scores={"s": RIGHT})
    funnel = funnel_of(tables, right="right")
    assert funnel.query_ids.tolist() == [f"q{number}" for number in range(1, 10)]
    assert funnel.broken() == [
        *[Break.NOTHING_RELEVANT, Break.NOT_RETRIEVED, Break.RANKED_TOO_LOW, Break.NOT_IN_CONTEXT, Break.NOT_CITED],
        *[Break.NOTHING, Break.WRONG, Break.NOT_IN_CONTEXT, Break.NOT_RETRIEVED],
    ]
    assert funnel.stages == (
        *("relevant exists", "retrieved", "in the top 2"),
        *("in the context", "cited", "answer right"),
    )
    assert funnel.counts() == (8, 6, 5, 3, 2, 1) and len(funnel) == 9
    assert funnel.query_ids[funnel.at(Break.NOT_IN_CONTEXT)].tolist() == ["q4", "q8"]
    assert funnel.counts(np.arange(9) < 4) == (3, 2, 1, 0, 0, 0)
    assert funnel.lost(np.arange(9) < 2) == dict.fromkeys(BREAKS[:6], 0) | {
        Break.NOTHING_RELEVANT: 1,
        Break.NOT_RETRIEVED: 1,
        Break.NOTHING: 0,
    }


def test_stages_that_the_tables_cannot_say_are_left_out():
    assert funnel_of(Tables({"s": RUN}, JUDGED)).counts() == (8, 6, 5)
    answers = table("answers", [("q6", "Yes [doc_id a].", ["a"])])
    assert len(funnel_of(Tables({"s": RUN}, JUDGED, {"s": answers})).stages) == 5
    bare = table_of("answers", pa.table({"query_id": ["q6"], "answer": ["Yes."]}), "answers")
    assert len(funnel_of(Tables({"s": RUN}, JUDGED, {"s": bare})).stages) == 3
    tables = Tables({"s": RUN, "other": RUN}, JUDGED, {"other": ANSWERS}, scores={"other": RIGHT})
    both = funnels(evaluate(tables, funnel_specs(tables, 2, "right")), tables, 2, "right")
    assert [len(both[name].stages) for name in ("s", "other")] == [3, 6]


def test_the_questions_are_those_of_the_retrieval_metrics():
    queries = table("queries", [("q2", False)])
    unanswerable = funnel_of(Tables({"s": RUN}, JUDGED, queries=queries))
    assert unanswerable.broken()[1] is Break.NOT_COUNTED and len(unanswerable) == 8
    no_relevant = funnel_of(Tables({"s": RUN}, JUDGED), settings=Settings(no_relevant="skip"))
    assert no_relevant.broken()[0] is Break.NOT_COUNTED
    missing = funnel_of(Tables({"s": RUN}, JUDGED), settings=Settings(missing="skip"))
    assert missing.broken()[8] is Break.NOT_COUNTED


def test_repetitions_count_by_their_majority():
    rows = [("q1", "a", 2.0, "1"), ("q1", "x", 2.0, "2"), ("q1", "x", 2.0, "3")]
    tables = Tables({"s": table("run", rows, ("repeat",))}, table("judgments", [("q1", "a", 1)]))
    assert funnel_of(tables).broken() == [Break.NOT_RETRIEVED]


@pytest.mark.parametrize(
    ("tables", "right", "message"),
    [
        (Tables(answers={"s": ANSWERS}), None, "funnel: it needs a run and judgments. Add them."),
        (
            Tables({"s": RUN}, JUDGED, {"s": ANSWERS}, scores={"s": RIGHT}),
            "rigth",
            "funnel: there is no score 'rigth'. Did you mean right?",
        ),
    ],
)
def test_what_is_missing_is_said(tables, right, message):
    with pytest.raises(InputError) as caught:
        funnel_specs(tables, 10, right)
    assert str(caught.value) == message


QUESTIONS, DOCUMENTS = ("q1", "q2", "q3"), "abcd"
PAIRS = st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(DOCUMENTS))
TARGETS = st.lists(st.sampled_from(DOCUMENTS), max_size=3, unique=True)


@given(
    st.dictionaries(PAIRS, st.floats(0, 1, width=32), min_size=1),
    st.dictionaries(PAIRS, st.integers(-1, 2)),
    st.dictionaries(st.sampled_from(QUESTIONS), st.tuples(TARGETS, TARGETS), min_size=1),
    st.integers(1, 3),
)
def test_counts_never_rise_and_agree_with_a_loop_over_the_tables(run, grades, answers, k):
    grades = {(question, "z"): 0 for question in QUESTIONS} | grades
    written = [
        (question, "Yes" + "".join(f" [doc_id {target}]" for target in cited) + ".", context)
        for question, (cited, context) in answers.items()
    ]
    rows = {"query_id": [w[0] for w in written], "answer": [w[1] for w in written]}
    contexts = pa.array([w[2] for w in written], pa.list_(pa.string()))
    tables = Tables(
        {"s": table("run", [(*pair, score) for pair, score in run.items()])},
        table("judgments", [(*pair, grade) for pair, grade in grades.items()]),
        {"s": table_of("answers", pa.table(rows | {"context_ids": contexts}), "answers")},
    )
    funnel = funnel_of(tables, k)
    expected = []
    for question in QUESTIONS:
        relevant = {doc for (q, doc), grade in grades.items() if q == question and grade > 0}
        ranked = sorted(((np.float32(s), d) for (q, d), s in run.items() if q == question), reverse=True)
        listed = [doc for _, doc in ranked]
        cited, context = answers.get(question, ((), ()))
        stages = [relevant, relevant & set(listed), relevant & set(listed[:k]), relevant & set(context)]
        stages.append(relevant & set(context) & set(cited))
        expected.append(next((end for end, left in zip(BREAKS, stages, strict=False) if not left), Break.NOTHING))
    assert funnel.broken() == expected
    assert {end: count for end, count in funnel.lost().items() if count} == Counter(expected)
    counts = funnel.counts()
    assert list(counts) == sorted(counts, reverse=True) and sum(funnel.lost().values()) == len(funnel) == 3
