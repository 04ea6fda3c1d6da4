"""The result of one check of ``livedex doctor``.

Invariant: every result other than ``ok`` has a fix.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Check(NamedTuple):
    """``warning``: livedex works, but not as well as it could. ``failed``: something does not work."""

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
