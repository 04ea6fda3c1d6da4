"""Searching as a whole: words or lines, standing queries, and lists of files and chunks."""
