"""Exact and regex search: the lines of the files that match a pattern."""
