"""Processes talking: all that a thin client needs. Importing it pulls in the standard library only."""

__version__ = "0.1.0"
