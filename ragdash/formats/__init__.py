"""One file a format: how it is recognised, read and, where it makes sense, written."""
