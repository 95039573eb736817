"""Queries: which questions got worse, and what did each system retrieve for them?"""

import streamlit as st

from ragdash.ui import queries, query_view, shell

view = shell.guard()
st.title("Queries", anchor=False)
found = queries.ordered(view)
queries.finding(view, found)
if len(found):
    queries.order_picker(view)
    queries.table(view, found)
    query_id = queries.opened(found)
    queries.steps(found, query_id)
    query_view.show(view, query_id)
