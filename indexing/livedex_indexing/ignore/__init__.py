"""The rules that choose the files to index: git's ignore rules, livedex's own and the built-in ones."""
