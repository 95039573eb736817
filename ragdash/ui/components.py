"""The building blocks that pages are put together from. Text of users goes through st.text, table cells or `inert`."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import pandas as pd
import streamlit as st

from ragdash.charts.overview import favours
from ragdash.charts.registry import Picture
from ragdash.charts.theme import CONFIG, A, B, Mark, readers, title
from ragdash.comparison import Difference
from ragdash.metrics.registry import Spec
from ragdash.problems import Problem
from ragdash.summary import Summary
from ragdash.verdict import percent

MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>:$&@])")
MOST_ROWS = 15
LAYERS = {
    "retrieval": ("Retrieval", "Did we find the evidence, at the right ranks?"),
    "generation": ("Generation", "Did the answer use the evidence, and cite it?"),
    "end to end": ("End to end", "Scores that came with the files."),
}


def inert(text: str) -> str:
    """Text that Markdown shows as it is: every sign that could mean something is escaped.

    >>> inert("![x](http://a.b)")
    '\\\\!\\\\[x\\\\]\\\\(http\\\\://a\\\\.b\\\\)'
    """
    return MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def lead(text: str, key: str) -> None:
    """The sentence a page starts with."""
    with st.container(key=f"lead_{key}"):
        st.text(text, width="stretch")


def heading(text: str, question: str = "", explained: str | None = None) -> None:
    """A section's name, the question it answers, and its explanation on the mark beside it."""
    st.markdown(f"##### {text}" + (f" &ensp;:gray[{question}]" if question else ""), help=explained, anchors=False)


def problem_list(problems: Sequence[Problem], title: str) -> None:
    """Problems in full: where, what was found, what to do."""
    if not problems:
        return
    box = st.error if any(one.severity == "error" for one in problems) else st.info
    box(title, icon=":material/error:" if box is st.error else ":material/info:")
    with st.container(border=True, key=f"problems_{abs(hash(title))}"):
        for one in problems:
            st.text(str(one), width="stretch")


def unknown_data(digest: str, open_sample: Callable[[], None]) -> None:
    """A link to files that this server does not have."""
    st.title("This link needs other data", anchor=False)
    st.text(f"It was made for the files with the digest {digest}, which this server does not have (any more).")
    st.markdown("Load the same files on the **Data** page and open the link again, or look at the sample.")
    with st.container(horizontal=True):
        st.page_link("pages/data.py", label="Load files", icon=":material/upload_file:", query_params={"data": digest})
        st.button(
            "Open the sample", key="open_sample", on_click=open_sample, icon=":material/balance:", type="tertiary"
        )


def verdict(badge: str, sentence: str, answers: str, decision: str, side: str) -> None:
    """The finding of the whole comparison, above everything else; `side` ("a", "b" or "") gives its edge a colour."""
    with st.container(border=True, key=f"verdict_{side}" if side else "verdict"):
        with st.container(key="badge"):
            st.text(badge)
        with st.container(key="lead_verdict"):
            st.text(sentence, width="stretch")
        for key, text in (("answers", answers), ("decision", decision)):
            if text:
                with st.container(key=key):
                    st.text(text, width="stretch")


def cards(layer: str, differences: Sequence[Difference], questions: int, level: float, across: int = 3) -> None:
    """The metrics of one layer, A beside B with their difference."""
    with _layer(layer, across):
        for one in differences:
            value, change = readers(one.spec.metric.span is not None)
            said = {"b": ("good", "▲ B better"), "a": ("bad", "▼ B worse"), "": ("open", _open(one))}[favours(one)]
            spread = f"{percent(level)}: {change(one.ends[0])} to {change(one.ends[1])}"
            rows = [
                (_big(change(one.difference)), f'<span class="tag {said[0]}">{said[1]}</span>'),
                (_small(spread), _small(_of(one.interval.n, questions))),
                (_side(A, value(one.baseline)) + _side(B, value(one.candidate)), ""),
            ]
            _card(one.spec, rows)


def single_cards(
    layer: str, summaries: Sequence[tuple[Spec, Summary]], questions: int, level: float, across: int = 3
) -> None:
    """The metrics of one layer where there is one system."""
    with _layer(layer, across):
        for spec, one in summaries:
            value, _ = readers(spec.metric.span is not None)
            spread = f"{percent(level)}: {value(one.ci_low)} to {value(one.ci_high)}"
            middle = f"median {value(one.median)}"
            _card(spec, [(_big(value(one.mean)), _small(middle)), (_small(spread), _small(_of(one.n, questions)))])


@contextmanager
def _layer(layer: str, across: int) -> Iterator[None]:
    name, question = LAYERS[layer]
    heading(name, question)
    with st.grid(across, min_column_width=250 if across <= 3 else 220, key=f"cards_{layer.replace(' ', '_')}"):
        yield


def _card(spec: Spec, rows: Iterable[tuple[str, str]]) -> None:
    with st.container(border=True, key=f"card_{_slug(spec)}", width="stretch"):
        st.markdown(f"**{inert(title(str(spec), spec.metric.label))}**", help=explained(spec))
        body = "".join(f'<div class="row"><span>{left}</span>{right}</div>' for left, right in rows)
        st.html(f'<div class="card">{body}</div>')


def _big(text: str) -> str:
    return f'<span class="delta">{html.escape(text)}</span>'


def _small(text: str) -> str:
    return f'<span class="small">{html.escape(text)}</span>'


def _side(mark: Mark, value: str) -> str:
    sign = f'<span class="{mark.letter.lower()}">{mark.sign}</span>'
    return f'<span class="side">{sign} {mark.letter} <b>{html.escape(value)}</b></span>'


def _open(one: Difference) -> str:
    if one.spec.metric.direction == "none":
        return "direction not declared"
    return "unchanged" if one.interval.changed == 0 else "not settled"


def _of(n: int, questions: int) -> str:
    return f"{n:,} questions" if n == questions else f"{n:,} of {questions:,} questions"


def _slug(spec: Spec) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", str(spec))


def explained(spec: Spec) -> str:
    """A metric's meaning for the mark beside its name."""
    best = {"higher": "Higher is better.", "lower": "Lower is better.", "none": "No direction is declared."}
    return inert(f"{spec.metric.label}: {spec.metric.meaning} {best[spec.metric.direction]}")


def picture(drawn: Picture, name: str, explanation: str, key: str) -> None:
    """A chart with its explanation on the mark, its words for those who do not see it, and how to read it."""
    heading(name, explained=inert(explanation))
    st.plotly_chart(drawn.figure, key=key, config=CONFIG, alt=drawn.alt)
    st.caption(drawn.legend)


def picture_table(drawn: Picture, key: str) -> None:
    """The numbers of a chart, folded."""
    with st.expander("The same numbers as a table"):
        numbers(drawn.rows, drawn.alt, f"{key}_table")


def numbers(rows: pd.DataFrame, alt: str, key: str) -> None:
    """A table for reading, as high as its rows up to a point."""
    with st.container(key=key):
        st.dataframe(rows, hide_index=True, height="content" if len(rows) <= MOST_ROWS else 36 * MOST_ROWS, alt=alt)


def bullets(lines: Iterable[str]) -> None:
    """Sentences under one another, text of users included."""
    for line in lines:
        st.text(f"•  {line[:1].upper()}{line[1:]}", width="stretch")
