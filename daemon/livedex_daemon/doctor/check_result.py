"""The result of one check of ``livedex doctor``.

Invariant: every result other than ``ok`` has a fix.
"""

from __future__ import annotations

from typing import Literal, TypedDict


class Check(TypedDict):
    """``warning``: livedex works, but not as well as it could. ``failed``: something does not work."""

    name: str
    state: Literal["ok", "warning", "failed"]
    message: str
    fix: str | None


class Report(TypedDict):
    """``ok``: no check failed."""

    ok: bool
    checks: list[Check]


def ok(name: str, message: str) -> Check:
    return {"name": name, "state": "ok", "message": message, "fix": None}


def warning(name: str, message: str, fix: str) -> Check:
    return {"name": name, "state": "warning", "message": message, "fix": fix}


def failed(name: str, message: str, fix: str) -> Check:
    return {"name": name, "state": "failed", "message": message, "fix": fix}
