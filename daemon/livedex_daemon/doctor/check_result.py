"""What one check of `livedex doctor` found.

Invariant: whatever is not ``ok`` says what to do about it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Check(NamedTuple):
    """``warning``: livedex works, less well than it could. ``failed``: something does not work."""

    name: str
    state: Literal["ok", "warning", "failed"]
    message: str
    fix: str | None


def ok(name: str, message: str) -> Check:
    return Check(name, "ok", message, None)


def warning(name: str, message: str, fix: str) -> Check:
    return Check(name, "warning", message, fix)


def failed(name: str, message: str, fix: str) -> Check:
    return Check(name, "failed", message, fix)
