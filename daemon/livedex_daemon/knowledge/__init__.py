"""Agent memory: what agents asked to remember, in one SQLite file, found again by its words."""
