"""Standing queries: which clients follow which query, what changed, and what each was sent."""
