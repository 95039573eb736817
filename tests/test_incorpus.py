"""Is it in the corpus? Each answer by a small case, the search against a loop, and the sample as evidence."""

import re
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdash.incorpus import FOUND_FROM, Whereabouts, search_corpus
from ragdash.inputs import read_inputs
from ragdash.problems import InputError
from ragdash.schema import table_of
from ragdash.tables import Tables

NAMES = {
    "run": ("query_id", "doc_id", "score"),
    "judgments": ("query_id", "doc_id", "grade"),
    "queries": ("query_id", "reference"),
    "documents": ("doc_id", "title", "text"),
}


def table(kind, rows):
    return table_of(kind, pa.table(dict(zip(NAMES[kind], map(list, zip(*rows, strict=True)), strict=True))), kind)


DOCUMENTS = [
    ("d1", "Charging", "The battery charges to 80 percent at night."),
    ("d2", "Cables", "Connect the grey cable before the red one."),
    ("d3", None, "Call the support line on weekdays."),
]


def found(reference, run=(("q1", "d3", 1.0),), judged=(("q1", "d3", 0),), documents=DOCUMENTS):
    tables = Tables(
        {"s": table("run", run)},
        table("judgments", judged),
        queries=table("queries", [("q1", reference)]),
        documents=table("documents", documents),
    )
    return search_corpus(tables, "s", ["q1"])[0]


def test_indexed_but_not_retrieved():
    one = found("Battery charges to 80 percent.")
    assert (one.where, one.doc_id, one.share) == (Whereabouts.NOT_RETRIEVED, "d1", 1.0)
    assert one.rank is None and one.grade is None


def test_retrieved_but_labelled_otherwise():
    run = [("q1", "d2", 2.0), ("q1", "d1", 1.0)]
    unjudged = found("Battery charges to 80 percent.", run)
    assert (unjudged.where, unjudged.rank, unjudged.grade) == (Whereabouts.LABELLED_OTHERWISE, 2, None)
    irrelevant = found("Battery charges to 80 percent.", run, [("q1", "d1", 0), ("q1", "d2", 1)])
    assert (irrelevant.where, irrelevant.grade) == (Whereabouts.LABELLED_OTHERWISE, 0.0)
    relevant = found("Battery charges to 80 percent.", run, [("q1", "d1", 2)])
    assert (relevant.where, relevant.rank) == (Whereabouts.RETRIEVED, 2)


def test_not_in_the_documents_unless_a_relevant_one_is():
    one = found("The warranty lasts eleven years, grey or red.")
    assert (one.where, one.doc_id, one.share) == (Whereabouts.NOT_INDEXED, "d2", pytest.approx(2 / 6))
    assert found("The warranty lasts eleven years.", judged=[("q1", "d2", 1)]).where is Whereabouts.NOT_RETRIEVED
    assert found("The warranty lasts eleven years.", judged=[("q1", "d9", 1)]).where is Whereabouts.NOT_INDEXED


def test_the_threshold_is_met_exactly():
    words = ["battery", "charges", "80", "percent", "night", "charging", "zebra"]
    assert FOUND_FROM == 0.7
    assert found(" ".join([*words, "lion"])).share == pytest.approx(6 / 8)
    assert found(" ".join([*words, "lion", "bear"])).where is Whereabouts.NOT_INDEXED  # 6 of 9
    assert found(" ".join(["battery charges 80 percent night support"])).where is Whereabouts.NOT_RETRIEVED


@pytest.mark.parametrize(
    ("reference", "where"),
    [
        ("Yes, at night.", Whereabouts.TOO_SHORT),
        ("The of and to", Whereabouts.TOO_SHORT),
        ("  ", Whereabouts.NO_REFERENCE),
        (None, Whereabouts.NO_REFERENCE),
    ],
)
def test_what_cannot_be_looked_for_is_said(reference, where):
    one = found(reference)
    assert one.where is where and one.doc_id is None


def test_case_plurals_titles_and_other_scripts():
    assert found("CHARGING batterys charge nights").share == 1.0
    documents = [("d1", "Über", "Ёлка стоит в углу"), ("d2", "x", "y")]
    one = found("über ёлка СТОИТ углу", documents=documents)
    assert (one.doc_id, one.share) == ("d1", 1.0)


def test_words_in_a_fifth_of_the_passages_say_nothing():
    documents = [(f"d{n}", "", "hearth stove kettle" if n < 20 else "other things here") for n in range(80)]
    documents += [("rare", "", "hearth ember spark ash")]
    one = found("hearth stove kettle ember spark ash", documents=documents)
    assert (one.doc_id, one.share) == ("rare", 1.0)


def test_of_equal_passages_a_retrieved_one():
    documents = [(name, "", "Battery charges to 80 percent at night.") for name in ("d1", "d2", "d4")]
    assert found("Battery charges 80 percent", [("q1", "d2", 1.0)], documents=documents).doc_id == "d2"


def test_what_is_missing_is_said():
    asked, held = table("queries", [("q1", "x")]), table("documents", DOCUMENTS)
    bare = table_of("queries", pa.table({"query_id": ["q1"]}), "queries")
    for tables, message in [
        (Tables(queries=asked), "in the corpus?: no documents are loaded. Add the corpus, with doc_id and text."),
        (
            Tables(queries=bare, documents=held),
            "in the corpus?: no reference answers are loaded. Add questions with a column reference.",
        ),
    ]:
        with pytest.raises(InputError) as caught:
            search_corpus(tables, "s", ["q1"])
        assert str(caught.value) == message


TEXT = st.lists(st.sampled_from([f"{letter}{letter}x" for letter in "bcdefg"]), max_size=7).map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=40), st.lists(TEXT, min_size=1, max_size=12))
def test_the_share_is_that_of_a_loop_over_all_passages(references, passages):
    ids = [f"q{number}" for number in range(len(references))]
    tables = Tables(
        queries=table("queries", list(zip(ids, references, strict=True))),
        documents=table("documents", [(f"d{number}", "", text) for number, text in enumerate(passages)]),
    )
    for one, reference in zip(search_corpus(tables, "none", ids), references, strict=True):
        wanted = set(re.findall(r"\w+", reference))
        if len(wanted) < 3:
            assert one.where in (Whereabouts.TOO_SHORT, Whereabouts.NO_REFERENCE)
            continue
        best = max(len(wanted & set(re.findall(r"\w+", text))) for text in passages)
        assert one.share == pytest.approx(best / len(wanted))
        assert best == len(wanted & set(passages[int(one.doc_id[1:])].split()))


def test_on_the_sample_answers_are_found_and_what_the_handbook_lacks_is_not(root):
    names = ("queries.jsonl", "documents.jsonl")
    tables = read_inputs((), (), [root / "sample_data" / name for name in names])
    rows = tables.queries.rows.to_pylist()
    searches = search_corpus(tables, "none", [row["query_id"] for row in rows])
    counts = Counter((row["answerable"], one.where) for row, one in zip(rows, searches, strict=True))
    long_enough = 256 - counts[True, Whereabouts.TOO_SHORT]
    assert counts[True, Whereabouts.NOT_RETRIEVED] / long_enough > 0.85
    assert counts[False, Whereabouts.NOT_RETRIEVED] == 0
