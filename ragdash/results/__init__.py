"""The result file: one comparison in one file, with everything that drawing it again needs."""
