"""Significance: how sure is the difference, on what does it hang, and what can this set see at all?"""

import streamlit as st

from ragdash.ui import shell, significance

view = shell.guard()
st.title("Significance", anchor=False)
found = significance.looked_at(view)
if found is not None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        significance.picture(found, "distribution")
    with right:
        significance.leaning(found)
        significance.seeing(found)
    left, right = st.columns(2, gap="large")
    with left:
        significance.picture(found, "forest")
    with right:
        significance.by_slice(found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        significance.sorted_differences(found)
    with right:
        significance.picture(found, "scatter")
    significance.tests(found)
