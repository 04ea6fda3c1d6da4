"""Audits that several clients request at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from livedex_daemon.answer import audit
from livedex_daemon.answer.audit import Audits


class SlowAudit:
    """Counts how many of its kind run at the same time."""

    running = 0
    most = 0

    def __init__(self, *_: object) -> None: ...

    async def check(self, *_: object, whole: bool) -> None:
        SlowAudit.running += 1
        SlowAudit.most = max(SlowAudit.most, SlowAudit.running)
        await asyncio.sleep(0)
        SlowAudit.running -= 1

    def end(self) -> None: ...

    def close(self) -> None: ...


def test_one_runs_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each audit reads every file, with its own child process."""
    monkeypatch.setattr(audit, "Audit", SlowAudit)
    sources: Any = None

    async def ask_often() -> None:
        audits = Audits(sources)
        await asyncio.gather(*(audits.run([], print, whole=True, repair=False) for _ in range(8)))

    asyncio.run(ask_often())
    assert SlowAudit.most == 1
