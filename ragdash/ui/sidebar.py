"""The sidebar: what applies to every page. Pages, the two systems, the metric, the settings, and what is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ragdash.ui import components
from ragdash.ui.state import BOUNDS, CHOICES, DEFAULT, WITH_QUESTION, change, held, state, to_params
from ragdash.ui.view import View, metric_names

SETTINGS = ("margin", "confidence", "gain", "missing", "no_relevant", "ties")
WORDS = {
    "margin": ("Margin that matters", "Smaller differences do not matter to you. Fix it before you look."),
    "confidence": ("Confidence", "How often such an interval holds the true mean difference, when it is used again."),
    "gain": ("Gain of a grade", "What a grade is worth in nDCG: the grade itself, or 2^grade − 1."),
    "missing": ("Judged question a run lacks", "A crash must not win: it counts 0, unless you leave it out."),
    "no_relevant": ("Question with nothing relevant", "It counts 0, as in every evaluator, or is left out."),
    "ties": ("Equal scores ordered by", "trec_eval orders equal scores by document id, downward."),
    "style": ("Citation style", "What the answers are read for; chosen on the Citations page."),
    "pattern": ("Citation pattern", "Your own pattern in place of a style; chosen on the Citations page."),
}
CHOICE_WORDS = {
    ("gain", "linear"): "linear, as trec_eval",
    ("gain", "exp"): "exponential, 2^grade − 1",
    ("missing", "zero"): "counts 0",
    ("missing", "skip"): "leaves both systems",
    ("no_relevant", "zero"): "counts 0",
    ("no_relevant", "skip"): "is left out",
    ("ties", "doc_id"): "document id, as trec_eval",
    ("ties", "rank"): "rank column",
    ("ties", "given"): "order in the file",
}


def menu(screens: Sequence[tuple[str, str, str]]) -> None:
    """The pages. Their links carry the state, so that a page opens with what was chosen on another."""
    with st.container(key="menu", gap="xxsmall"):
        for name, title, icon in screens:
            params = to_params(state(), on_queries=name in WITH_QUESTION)
            st.page_link(f"pages/{name}.py", label=title, icon=icon, query_params=params, width="stretch")


def controls(view: View) -> None:
    """The choices that every page follows."""
    systems = view.data_set.inputs.systems
    with st.container(key="systems"):
        if view.b:
            st.selectbox("A · baseline", systems, help="What you have today.", **_system("a", view))
            others = [name for name in systems if name != view.a]
            st.selectbox("B · candidate", others, help="What you would change to.", **_system("b", view))
            st.button("Swap A and B", icon=":material/swap_vert:", on_click=_swap(view), key="swap", type="tertiary")
        else:
            st.caption("One system")
            st.text(view.a)
    _metric(view)
    _settings(view)
    st.caption(_loaded(view))


def _system(name: str, view: View) -> dict[str, Any]:
    """A picker of A or of B; where both would be the same, they change places."""
    arguments = held(name, getattr(view, name))

    def take() -> None:
        chosen = st.session_state[arguments["key"]]
        if name == "b":
            change(a=view.a, b=chosen)
        else:
            change(a=chosen, b=view.a if chosen == view.b else view.b)

    return arguments | {"on_change": take}


def _swap(view: View) -> Callable[[], None]:
    return lambda: change(a=view.b, b=view.a)


def _metric(view: View) -> None:
    """The metric everything is about; one that is not in the list can be typed."""
    names = metric_names(view.data_set)
    st.selectbox(
        "Metric",
        names if view.metric in names else [*names, view.metric],
        accept_new_options=True,
        help=f"{components.explained(view.primary)} The verdict is about this metric. Others can be typed: nDCG@5.",
        **held("metric", view.metric),
    )


def _settings(view: View) -> None:
    """The way to the settings, and a chip for each that is not at its default; a click on it puts the default back."""
    if st.button("Settings", icon=":material/tune:", key="settings", width="stretch"):
        _dialog(view.b != "")
    with st.container(horizontal=True, key="chips", gap="xsmall"):
        for name in state().changed((*SETTINGS, "style", "pattern")):
            value = getattr(state(), name)
            said = f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")
            if name == "pattern":
                said = components.inert(value if len(value) <= 30 else f"{value[:29]}…")
            st.button(
                f"{name.replace('_', ' ')} = {said}", icon=":material/close:", key=f"chip_{name}", on_click=change,
                help=f"{WORDS[name][0]}. A click puts the default back.", kwargs={name: getattr(DEFAULT, name)},
            )  # fmt: skip


@st.dialog("Settings", on_dismiss="rerun")
def _dialog(paired: bool) -> None:
    st.caption("They are part of the link. What is not at its default stands in the sidebar.")
    for name in SETTINGS:
        label, explanation = WORDS[name]
        if name in CHOICES:
            words = {value: CHOICE_WORDS[name, value] for value in CHOICES[name]}
            st.selectbox(label, CHOICES[name], format_func=words.__getitem__, help=explanation, **held(name))
        elif name != "margin" or paired:
            low, high = BOUNDS[name]
            step = 0.005 if name == "margin" else 0.01
            st.number_input(label, low, high, step=step, format="%.3f", help=explanation, **held(name))
    if st.button("Done", type="primary", key="settings_done"):
        st.rerun()


def _loaded(view: View) -> str:
    """How much is loaded, and whose it is."""
    count = len(view.scores.query_ids)
    whose = "your files" if view.data_set.digest else "sample data"
    return f"{count:,} question{'' if count == 1 else 's'} · {whose}"
