"""The index on disk: one SQLite file with files, contents, chunks and postings, and its upkeep."""
