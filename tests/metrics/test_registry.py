"""Metric names: what is typed, what it means, how it prints; every wrong name is answered with its exact message."""

import pytest

from ragdash.metrics.registry import METRICS, parse, parse_all
from ragdash.problems import InputError
from ragdash.settings import Settings


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("nDCG", "nDCG"),
        ("nDCG(gain=linear)@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp)@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("map", "AP"),
        ("MAP@100", "AP@100"),
        ("map_cut_100", "AP@100"),
        ("mrr", "RR"),
        ("MRR@10", "RR@10"),
        ("recip_rank", "RR"),
        ("P_5", "P@5"),
        ("precision@10", "P@10"),
        ("recall_10", "R@10"),
        ("recall@100", "R@100"),
        ("success@5", "Hit@5"),
        ("Success@5", "Hit@5"),
        ("success_10", "Hit@10"),
        ("hit_rate@3", "Hit@3"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("P(rel=0.5)@5", "P(rel=0.5)@5"),
        ("AP(rel=2,judged_only=True)", "AP(judged_only=True,rel=2)"),
        ("AP(judged_only=False)", "AP"),
        ("Judged@10", "Judged@10"),
        ("citation_faithfulness", "citation_validity"),
        ("citation_validity(empty=1)", "citation_validity(empty=1)"),
    ],
)
def test_a_name_in_any_notation_has_one_canonical_form(typed, canonical):
    assert str(parse(typed)) == canonical
    assert str(parse(canonical)) == canonical


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("nDCGG@10", "metric: there is no metric 'nDCGG'. Did you mean nDCG?"),
        ("nDCG@0", "metric: the cutoff of 'nDCG@0' is 0. Write a whole number of 1 or more, such as @10."),
        ("R@-3", "metric: the cutoff of 'R@-3' is -3. Write a whole number of 1 or more, such as @10."),
        ("R@2.5", "metric: the cutoff of 'R@2.5' is 2.5. Write a whole number of 1 or more, such as @10."),
        (
            "nDCG@" + "9" * 30,
            f"metric: the cutoff of 'nDCG@{'9' * 30}' is {'9' * 19}…. Write a whole number of 1 or more, such as @10.",
        ),
        ("AP(rel=2,rel=3)", "metric: 'AP(rel=2,rel=3)' sets rel twice. Set it once."),
        ("P", "metric: 'P' has no cutoff. Write P@10, for the first ten."),
        ("citations@5", "metric: citations takes no cutoff, found @5. Write citations."),
        ("nDCG(gain=log)@10", "metric option gain: there is no 'log'. Known are: linear, exp."),
        ("nDCG(gian=exp)@10", "metric: 'nDCG(gian=exp)@10' has an unknown option 'gian=exp'. Did you mean gain?"),
        ("P(rel=high)@5", "metric option rel: 'high' is not a number. Write a number, such as 2."),
        ("P(rel=nan)@5", "metric option rel: 'nan' is not a number. Write a number, such as 2."),
        ("AP(judged_only=maybe)", "metric option judged_only: 'maybe' is neither True nor False. Write True or False."),
        ("", "metric: '' cannot be read. Write a name such as nDCG@10 or P(rel=2)@5."),
        ("nDCG@10; rm", "metric: 'nDCG@10; rm' cannot be read. Write a name such as nDCG@10 or P(rel=2)@5."),
    ],
)
def test_a_wrong_name_is_answered_with_what_to_write(typed, message):
    with pytest.raises(InputError) as caught:
        parse(typed)
    assert str(caught.value) == message


def test_all_wrong_names_are_told_at_once_and_repeats_are_dropped():
    with pytest.raises(InputError) as caught:
        parse_all("nDCGG@10 AP foo@3")
    assert len(caught.value.problems) == 2
    assert [str(spec) for spec in parse_all("AP map nDCG@10 ndcg_cut_10")] == ["AP", "nDCG@10"]


def test_the_classic_conventions_name_what_they_change():
    names = Settings(conventions="classic").specs("nDCG@10 nDCG(gain=linear)@5 citation_validity AP")
    assert [str(spec) for spec in names] == ["nDCG(gain=exp)@10", "nDCG@5", "citation_validity(empty=1)", "AP"]


def test_every_metric_says_what_users_need_to_know():
    for entry in METRICS:
        assert entry.meaning.endswith(".") and ">>>" in entry.explanation, entry.name
        assert entry.layer in ("retrieval", "generation") and entry.direction in ("higher", "lower", "none")
