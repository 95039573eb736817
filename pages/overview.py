"""Overview: is B better than A, by how much, and can that be trusted?"""

import streamlit as st

from ragdash.ui import components, overview, shell

view = shell.guard()
st.title("Overview", anchor=False)
overview.strip(view)
comparison = view.comparison
if comparison is None:
    overview.alone(view)
else:
    overview.verdict(comparison)
    overview.cards(view, comparison)
    left, right = st.columns([3, 2], gap="large")
    with left:
        drawn = overview.forest(comparison)
    with right:
        overview.trust(view, comparison)
        overview.onward(comparison)
    components.picture_table(drawn, "forest")
