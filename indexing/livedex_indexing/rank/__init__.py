"""Ranking: candidates from the full-text index, their features and scores, and the ordered results."""
