"""Citations: does each answer cite what it was given, and what do A and B cite differently?"""

import streamlit as st

from ragdash.ui import citations, queries, query_view, shell, styles

view = shell.guard()
st.title("Citations", anchor=False)
found = citations.looked_at(view)
if found is not None:
    reading = st.container()  # at the top where the style does not fit, else at the end
    citations.cards(view, found)
    queries.order_picker(view)
    citations.table(view, found)
    query_id = queries.opened(found)
    queries.steps(found, query_id)
    query_view.show(view, query_id, first="answers")
    citations.invalid_references(view, found)
    left, right = st.columns(2, gap="large")
    with left:
        citations.transitions(found)
    with right:
        citations.positions(found)
    with reading if found.measured is None else st.container():
        styles.panel(view, found)
