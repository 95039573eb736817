"""Data: what is loaded, can it be trusted, and how to bring one's own."""

import streamlit as st

from ragdash.ui import loaded, loading, shell

view = shell.guard()
st.title("Data", anchor=False)
if loading.read_dropped():
    loaded.changed()
loaded.finding(view)
loaded.drop_zones()
loaded.outcome()
loaded.files(view)
loaded.pairing(view)
loaded.onward(view)
