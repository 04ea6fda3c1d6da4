"""Hits as a client gets them: read from the live files, cut into snippets, and kept within a text budget."""
