"""Backends that come with livedex as extras: each ranks in an engine of its own."""
