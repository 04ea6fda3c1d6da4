"""Matching and ranking: rows from the full-text index, their features, their scores and their order."""
