"""Which files belong to the index: git's ignore rules, livedex's own, and the built-in ones."""
