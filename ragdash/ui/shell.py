"""The frame around every page: the list of pages, the address, the sidebar, and the guard of deep links.

Streamlit runs a file of pages/ by itself, without app.py, when it is the first address that anybody opens on a fresh
server. So every page calls `guard()` first, which then runs the shell in its place.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ragdash.bundle import bundled
from ragdash.problems import InputError, Problem
from ragdash.ui import components, loading, sidebar, state
from ragdash.ui.view import View, resolve

NOW = "ragdash_now"
STYLE = Path(__file__).with_name("style.css")
SCREENS = (
    ("overview", "Overview", ":material/balance:"),
    ("queries", "Queries", ":material/manage_search:"),
    ("citations", "Citations", ":material/format_quote:"),
    ("significance", "Significance", ":material/query_stats:"),
    ("data", "Data", ":material/upload_file:"),
)


def main() -> None:
    """Run the app: what app.py does."""
    pages = {name: _page(name, title) for name, title, _ in SCREENS}
    page = st.navigation(list(pages.values()), position="hidden")
    name = next((name for name, one in pages.items() if one.url_path == page.url_path), SCREENS[0][0])
    st.set_page_config(page_title=f"{page.title} · ragdash", page_icon="⚖️", layout="wide")
    st.html(STYLE)
    link_faults = state.read(name)
    try:
        _draw(page, name, link_faults)
    finally:
        st.session_state.pop(NOW, None)
    state.write(name)


def guard() -> View:
    """First line of every page: what is on the screen. Opened past the shell, a page is left and the shell runs."""
    if NOW not in st.session_state:
        main()
        st.stop()
    view: View = st.session_state[NOW]
    return view


def _page(name: str, title: str) -> st.Page:
    """A page, without its icon: as an icon of the browser's tab Streamlit would fetch it from a foreign host."""
    file = bundled("app.py").parent / "pages" / f"{name}.py"
    return st.Page(file, title=title, url_path=name, default=name == SCREENS[0][0])


def _draw(page: st.Page, name: str, link_faults: list[Problem]) -> None:
    with st.sidebar:
        sidebar.menu(SCREENS)
    data_set = loading.active()
    if data_set is None:
        components.unknown_data(state.state().files, loading.back_to_sample)
        data_set = loading.sample()
        if name != "data":
            return
    view = resolve(data_set, state.state())
    components.problem_list([*link_faults, *view.faults], "Not everything in this link fits")
    try:
        with st.sidebar:
            sidebar.controls(view)
        st.session_state[NOW] = view
        page.run()
    except InputError as error:
        components.problem_list(error.problems, "This cannot be shown with these settings")
