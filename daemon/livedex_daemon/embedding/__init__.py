"""Vectors of the index: made behind it on a thread of their own, and given to searches."""
