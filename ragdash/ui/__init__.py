"""Everything that knows Streamlit, with app.py and pages/: they draw what the core computed and compute nothing."""
