"""The state and its address: what a link says comes back, what it cannot mean is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ragdash.ui import state as module
from ragdash.ui.state import CHOICES, ViewState, from_params, to_params

STATES = some.builds(
    ViewState,
    files=some.from_regex(r"[0-9a-f]{16}|", fullmatch=True),
    a=some.text(max_size=9),
    b=some.text(max_size=9),
    metric=some.sampled_from(["nDCG@10", "AP", "P(rel=2)@5"]),
    margin=some.sampled_from([0.0, 0.01, 0.025]),
    confidence=some.sampled_from([0.9, 0.95, 0.99]),
    missing=some.sampled_from(CHOICES["missing"]),
    no_relevant=some.sampled_from(CHOICES["no_relevant"]),
    ties=some.sampled_from(CHOICES["ties"]),
    gain=some.sampled_from(CHOICES["gain"]),
    style=some.sampled_from(CHOICES["style"]),
    pattern=some.sampled_from(["", r"\[Doc ([0-9]+)\]", "<a&b=(.)>"]),
    by=some.sampled_from(CHOICES["by"]),
    q=some.text(max_size=9),
)


@given(STATES)
def test_a_link_gives_back_the_state_it_was_made_from(state: ViewState) -> None:
    assert from_params(to_params(state)) == (state, [])


def test_a_link_holds_only_what_is_not_the_default() -> None:
    assert to_params(ViewState()) == {}
    assert to_params(ViewState(q="q1", by="a", gain="exp"), on_queries=False) == {"gain": "exp"}


def test_what_a_link_cannot_mean_keeps_its_default_and_is_reported() -> None:
    state, problems = from_params({"margin": "x", "confidence": "7", "gain": "log", "by": "a", "foreign": "1"})
    assert state == ViewState(by="a")
    assert [str(problem) for problem in problems] == [
        "link: margin is 'x'. Give a number from 0 to 1.",
        "link: confidence is '7'. Give a number from 0.5 to 0.999.",
        "link: gain is 'log'. Known are: linear, exp.",
    ]


class Address(dict):  # type: ignore[type-arg]
    """Stands in for the address bar."""

    def from_dict(self, wanted: dict[str, str]) -> None:
        self.clear()
        self.update(wanted)


def test_runs_stopped_by_the_next_click_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    address = Address(q="t28")
    monkeypatch.setattr(module.st, "session_state", {})
    monkeypatch.setattr(module.st, "query_params", address)
    module.read("queries")
    assert module.state().q == "t28"
    module.change(q="t29")  # a click, while the first run had not come to its end
    module.read("queries")
    module.read("queries")  # nor had the second
    assert module.state().q == "t29"
    module.write("queries")
    assert address == {"q": "t29"}
    address.from_dict({"q": "t30"})  # a link, or Back
    module.read("queries")
    assert module.state().q == "t30"
