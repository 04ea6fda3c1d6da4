"""Talks to the livedex daemon: a thin client and the server's side. Importing it loads the standard library only."""

__version__ = "0.1.0"
