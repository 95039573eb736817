"""What two systems cite: counts against sets made by hand, names in the order given, the worst first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragdash.citation_status import STATUSES
from ragdash.citationdiff import (
    answer_rows,
    by_position,
    citation_diff,
    question_diff,
    what_differs,
)
from ragdash.cited import cited_of

DOCS = st.sampled_from(["d1", "d2", "d3", "d4", "D1"])
ANSWER = st.tuples(st.lists(st.sampled_from(["d1", "d2", "d3", "d9", "x"]), max_size=4), st.lists(DOCS, max_size=4))


def system(answers):
    return cited_of(*(targets for targets, _ in answers), contexts=[context for _, context in answers])


def by_hand(targets, context):
    """Valid documents, invalid citations and uncited documents of one answer, by plain sets and the rules in words."""
    folded = {}
    for doc in dict.fromkeys(context):
        folded.setdefault(doc.casefold(), []).append(doc)
    valid, invalid = set(), 0
    for target in targets:
        if target in context:
            valid.add(target)
        elif len(folded.get(target.casefold(), ())) == 1:
            valid.add(folded[target.casefold()][0])
        elif target.casefold() not in folded:
            invalid += 1
    return valid, invalid, set(context) - valid


@given(st.lists(st.tuples(ANSWER, ANSWER), min_size=1, max_size=4))
def test_counts_and_names_are_those_of_plain_sets(pairs):
    cited = [system([pair[number] for pair in pairs]) for number in (0, 1)]
    found = citation_diff(cited)
    assert found.query_ids.tolist() == [f"q{number}" for number in range(1, len(pairs) + 1)]
    for row, (first, second) in enumerate(pairs):
        (valid_a, invalid_a, uncited_a), (valid_b, invalid_b, uncited_b) = by_hand(*first), by_hand(*second)
        assert found.both[row] == len(valid_a & valid_b)
        assert [only[row] for only in found.only] == [len(valid_a - valid_b), len(valid_b - valid_a)]
        assert [side.invalid[row] for side in found.sides] == [invalid_a, invalid_b]
        assert [side.uncited[row] for side in found.sides] == [len(uncited_a), len(uncited_b)]
        named = question_diff(cited, f"q{row + 1}")
        assert set(named.both) == valid_a & valid_b
        assert [set(docs) for docs in named.only] == [valid_a - valid_b, valid_b - valid_a]
        assert [set(docs) for docs in named.uncited] == [uncited_a, uncited_b]
        assert set(named.ignored) == uncited_a & uncited_b


def test_a_question_that_one_system_lacks_has_no_answer_there():
    a = cited_of(["d1"], ["d1"], contexts=[["d1"], ["d1"]])
    b = cited_of(["d1"], contexts=[["d1"]])
    found = citation_diff([a, b])
    assert STATUSES[found.sides[1].status[1]] == "no answer"
    assert [only.tolist() for only in found.only] == [[0, 1], [0, 0]]
    assert len(answer_rows(b, "q2")) == 0
    assert question_diff([a, b], "q2").only == (("d1",), ())


def test_one_system_cites_all_of_its_own_and_shares_nothing():
    one = cited_of(["d2", "d9"], contexts=[["d1", "d2"]])
    found = question_diff([one], "q1")
    assert (found.both, found.only, found.invalid, found.ignored) == ((), (("d2",),), (("d9",),), ("d1",))
    assert what_differs(found, ["a"]) == "a cites d9, which its context does not hold. It cites d2."


def test_transitions_count_every_question_once():
    a = cited_of(["d1"], ["d9"], [], contexts=[["d1"]] * 3)
    b = cited_of(["d9"], ["d9"], ["d1"], contexts=[["d1"]] * 3)
    counts = citation_diff([a, b]).transitions()
    at = {name: number for number, name in enumerate(STATUSES)}
    assert counts.sum() == 3
    assert counts[at["valid"], at["invalid"]] == counts[at["invalid"], at["invalid"]] == 1
    assert counts[at["no citation"], at["valid"]] == 1


def test_the_worst_comes_first_and_a_refusal_is_not_bad_for_what_it_leaves_uncited():
    context = ["d1", "d2", "d3"]
    answers = (["d1"], [], [], ["d8", "d9"], ["d9"])
    b = cited_of(*answers, contexts=[context] * 5, abstained=[False, True, False, False, False])
    a = cited_of(*([["d8", "d9"]] + [["d1"]] * 4), contexts=[context] * 5)
    found = citation_diff([a, b])
    assert (found.query_ids[found.worst_first("b")]).tolist() == ["q4", "q5", "q3", "q1", "q2"]
    assert found.query_ids[found.worst_first("a")][0] == "q1"
    assert found.query_ids[found.worst_first("diff")].tolist()[:2] == ["q4", "q5"]
    assert found.query_ids[found.worst_first("diff")][-1] == "q1"


def test_what_differs_in_words():
    a = cited_of(["d1"], [], contexts=[["d1", "d2"], ["d1"]])
    b = cited_of(["d2"], [], contexts=[["d1", "d2"], ["d1"]])
    names = ["bm25", "hybrid"]
    assert what_differs(question_diff([a, b], "q1"), names) == "Only bm25 cites d1; only hybrid cites d2."
    assert what_differs(question_diff([a, b], "q2"), names) == "Neither cites a document of its context."


def test_positions_count_distinct_documents_in_the_order_given():
    one = cited_of(["d3"], ["d2", "d2"], contexts=[["d1", "d1", "d3"], ["d1", "d2"]])
    found = by_position(one)
    assert (found.given.tolist(), found.cited.tolist()) == ([2, 2], [0, 2])
    assert by_position(one, most=1).given.tolist() == [2]
    assert np.sum(by_position(cited_of([], contexts=[[]])).given) == 0
