"""The parts of the Data page: drop zones, what became of the files, what each file is, and how the systems pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ragdash.inputs import FileReport
from ragdash.limits import FILE_BYTES, MEGABYTE
from ragdash.problems import Problem
from ragdash.spreadsheet import neutral
from ragdash.ui import components, loading
from ragdash.ui.state import state, to_params
from ragdash.ui.view import View


def finding(view: View) -> None:
    """What is on the screen now."""
    inputs = view.data_set.inputs
    parts = [
        f"{len(inputs.systems)} system{'s' if len(inputs.systems) != 1 else ''} ({', '.join(inputs.systems)})",
        f"{len(view.scores.query_ids):,} questions",
        f"{len(inputs.judgments):,} judgments" if inputs.judgments is not None else "no judgments",
    ]
    whose = "Your files are loaded" if view.data_set.digest else "The sample is loaded"
    components.lead(f"{whose}: {', '.join(parts)}.", "data")


def drop_zones() -> None:
    """Three places to drop files; each is read by what is in it."""
    most = max(FILE_BYTES.value // MEGABYTE, 1)
    for column, (zone, (label, meaning)) in zip(st.columns(3), loading.ZONES.items(), strict=True):
        key = f"drop_{zone}_{st.session_state.get(loading.ROUND, 0)}"
        with column, st.container(key=f"zone_{zone}"):
            st.file_uploader(
                label, accept_multiple_files=True, key=key, help=meaning, max_upload_size=most,
                on_change=loading.take(zone, key),
            )  # fmt: skip
            kept = loading.dropped()[zone]
            if kept and not st.session_state[key]:
                st.text(f"Kept: {', '.join(one.name for one in kept)} (new files take their place)")
    st.caption(
        "TREC runs and qrels, ragdash JSONL, CSV, TSV, Parquet, a BEIR zip; also packed with gzip or zstd. "
        "Files stay on this server."
    )


def changed() -> None:
    """Other data are on the screen now: to the Overview where there is a verdict (to the Citations where there are
    answers and nothing else), else the page anew."""
    result = loading.outcome()
    if result is not None and result.waiting:
        st.rerun()
    answers_alone = (
        result is not None and result.inputs is not None and not (result.inputs.runs or result.inputs.scores)
    )
    page = "citations" if answers_alone else "overview"
    st.switch_page(f"pages/{page}.py", query_params=to_params(state(), on_queries=False))


def outcome() -> None:
    """What became of the files dropped last: errors in full, or the next step."""
    result = loading.outcome()
    if result is None:
        return
    if result.failed:
        components.problem_list(result.problems, "Nothing was changed: these files cannot be used as they are")
        return
    if result.waiting:
        st.info(f"Read without errors. {result.waiting}", icon=":material/info:")
        if result.inputs is not None and not result.shown:
            _file_table(result.inputs.files, "waiting_files")


def files(view: View) -> None:
    """Every file on the screen: what it was read as, why, and what it held; and what was set aside."""
    inputs = view.data_set.inputs
    components.heading("Files")
    _file_table(inputs.files, "files")
    problems = _notes(view)
    if not problems:
        return
    count = sum(one.count for one in problems if one.severity == "set aside")
    title = f"{len(problems)} thing{'s' if len(problems) > 1 else ''} to know" + (
        f", {count:,} rows set aside" if count else ""
    )
    with st.expander(title, key="notes"):
        rows = pd.DataFrame([one.as_record() for one in problems])[["severity", "where", "found", "mend", "count"]]
        components.numbers(rows, "What was found in the files", "notes_table")
        st.download_button(
            "Download as CSV", neutral_csv(rows), "ragdash-notes.csv", "text/csv", on_click="ignore", key="notes_csv"
        )


def _notes(view: View) -> list[Problem]:
    """Everything said about the files and about scoring them, once."""
    found = [*view.data_set.inputs.problems, *view.scores.problems]
    return list({str(one): one for one in found}.values())


def neutral_csv(rows: pd.DataFrame) -> bytes:
    """CSV in which no cell can start a formula in a spreadsheet; numbers stay numbers.

    >>> neutral_csv(pd.DataFrame({"id": ["=1+1", "q1"], "value": [-1, 2]})).decode("utf-8-sig").splitlines()
    ['id,value', "'=1+1,-1", 'q1,2']
    """
    safe = rows.apply(lambda column: column.map(neutral)).rename(columns=neutral)
    return bytes(safe.to_csv(index=False).encode("utf-8-sig"))


def _file_table(reports: Sequence[FileReport], key: str) -> None:
    rows = [
        {
            "file": one.name,
            "read as": one.format,
            "because": one.reason,
            "rows": ", ".join(f"{count:,} {kind}" for kind, count in one.rows.items()),
            "system": ", ".join(one.systems) or "–",
            "digest": one.digest[:12],
        }
        for one in reports
    ]
    components.numbers(pd.DataFrame(rows), "Files and what they were read as", key)


def pairing(view: View) -> None:
    """How many questions both systems have, and how many fall out and why."""
    if not view.b:
        return
    rows = _pairing_rows(view)
    components.heading("Pairing", explained="A difference is taken question by question, so both systems need it.")
    with st.container(horizontal=True, key="pairing"):
        for label, count, explanation in rows:
            st.metric(label, f"{count:,}", help=explanation, width=150)


def _pairing_rows(view: View) -> list[tuple[str, int, str]]:
    """Counts of questions by what the two systems have of them, on the metric chosen."""
    scores, row = view.scores, view.scores.index(view.primary)
    counted = np.isfinite(scores.of(view.a, view.primary)) | np.isfinite(scores.of(view.b, view.primary))
    absent_a, absent_b = (scores.systems[name].absent[row] for name in view.systems)
    extra = {name for system in view.systems for name in scores.systems[system].extra}
    both = counted & ~absent_a & ~absent_b
    return [
        ("in both", int(both.sum()), "Both systems have a value: these are compared question by question."),
        (
            "only A",
            int((counted & ~absent_a & absent_b).sum()),
            "Missing in B: counted 0 for B, or left out (Settings).",
        ),
        (
            "only B",
            int((counted & absent_a & ~absent_b).sum()),
            "Missing in A: counted 0 for A, or left out (Settings).",
        ),
        ("in neither", int((counted & absent_a & absent_b).sum()), "Judged, but neither system has them."),
        ("without judgments", len(extra), "In a run, but nobody judged them: no retrieval score."),
        ("no value", int((~counted).sum()), "Marked unanswerable, or the metric is undefined for them."),
    ]


def onward(view: View) -> None:
    """The way to the verdict, and back to the sample."""
    with st.container(horizontal=True, key="onward", vertical_alignment="center"):
        label = "Go to the verdict" if view.b else "Go to the overview"
        params = to_params(state(), on_queries=False)
        st.page_link("pages/overview.py", label=label, icon=":material/arrow_forward:", query_params=params)
        if view.data_set.digest or any(loading.dropped().values()):
            st.button("Back to the sample", key="back_to_sample", on_click=loading.back_to_sample, type="tertiary")
