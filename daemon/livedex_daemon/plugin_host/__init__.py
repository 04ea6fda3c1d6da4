"""Plugins in the daemon: one registry of what they and livedex provide, and what became of each."""
