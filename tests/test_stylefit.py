"""Whether the style fits: match rates, brackets left unread, and the alarm that nothing silent may replace."""

import pyarrow as pa
import pytest

from ragdash.citing import cite
from ragdash.schema import table_of
from ragdash.settings import Settings
from ragdash.stylefit import misfit, read_for, style_fits, unread


def answers(*texts, context=("d1", "d2")):
    rows = {"query_id": [f"q{number}" for number in range(len(texts))], "answer": list(texts)}
    if context is not None:
        rows["context_ids"] = [list(context)] * len(texts)
    return table_of("answers", pa.table(rows), "answers.jsonl")


def test_rates_leave_refusals_out_and_the_best_style_stands_first():
    table = answers("Tides [doc_id d1] [doc_id d9].", "I do not know.", "Moon [1] [doc_id d2].", "Sun.")
    found = {one.name: one for one in style_fits(cite(table))}
    assert next(iter(found)) == "doc_id"
    assert (found["doc_id"].answers, found["doc_id"].of) == (2, 3)
    assert (found["doc_id"].citations, found["doc_id"].valid) == (3, 2)
    assert found["bracket_number"].label == "[1]" and found["bracket_number"].answers == 1
    assert found["footnote"].citations == 0


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("[Doc 3], [Doc 14]", [("[Doc #]", 2)]),
        ("【3†source】", [("【#†source】", 1)]),
        ("a <cite>3</cite>", [("<cite>", 1)]),
        ("see [^1] and (ref 7)", [("(ref #)", 1), ("[^#]", 1)]),
        ("[1] and [doc_id d1]", []),
        ("in [0, 1] or [0.5, 0.9] or [-1, 1]", []),
        ("[the moon](http://moon) [sic] [he]", []),
        ("[3](http://moon)", []),
    ],
)
def test_brackets_left_unread(text, shapes):
    assert [(one.shape, one.count) for one in unread(cite(answers(text)))] == shapes


def test_brackets_left_unread_over_several_answers():
    found = unread(cite(answers("x", "[Doc 1] [Doc 2]", "[1]", "[Doc 1]", "[p 4]")))
    assert [(one.shape, one.count, one.answers, one.examples) for one in found] == [
        ("[Doc #]", 3, 2, ("[Doc 1]", "[Doc 2]")),
        ("[p #]", 1, 1, ("[p 4]",)),
    ]
    assert len(unread(cite(answers("[Doc 1] [p 4]")), most=1)) == 1


def test_a_style_that_fits_no_answer_names_the_one_that_does():
    table, settings = answers("Tides [doc_id d1].", "Moon [doc_id d2]."), Settings(style="footnote")
    problem = misfit("b", cite(table, "footnote"), settings, cite(table))
    assert problem is not None and problem.severity == "error"
    assert "no citation was found in any of its 2 answers, read for [fn:1]; its validity is undefined" in problem.found
    assert problem.mend == "[doc_id X] is in 2 of 2 answers: choose that style"


def test_a_pattern_that_fits_no_answer_names_the_brackets():
    problem = misfit("b", cite(answers("[Doc 1]"), pattern="<(.+?)>"), Settings(pattern="<(.+?)>"))
    assert problem is not None
    assert "read for the pattern '<(.+?)>'" in problem.found
    assert problem.mend == "Brackets such as [Doc 1] stand in 1 of them: try a pattern"


def test_citations_that_never_name_a_context_document_are_an_alarm():
    problem = misfit("b", cite(answers("Tides [doc_id p7].")), Settings())
    assert problem is not None
    assert "none of its 1 citations names a document of its context" in problem.found
    assert "answers cite 'p7', contexts hold 'd1'" in problem.found


def test_answers_without_context_are_an_alarm():
    problem = misfit("b", cite(answers("Tides [doc_id p7].", context=None)), Settings())
    assert problem is not None and "come without context" in problem.found


def test_what_fits_and_what_only_declines_are_no_alarm():
    assert misfit("b", cite(answers("Tides [1].")), Settings()) is None
    assert misfit("b", cite(answers("I do not know.", "")), Settings()) is None


def test_a_long_pattern_is_cut_in_words():
    assert len(read_for(Settings(pattern="(a)" * 100))) < 100
