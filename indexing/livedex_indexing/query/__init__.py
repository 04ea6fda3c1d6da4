"""The query as typed: parsed, compiled for one index, corrected in its spelling, with its filters and its scope."""
