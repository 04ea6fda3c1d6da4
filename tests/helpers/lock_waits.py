"""Many who use one precious database through its thread, while another process has it locked."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import closing

import apsw
import pytest

from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseBusy

WAITING = 20


def looks_while_locked(path: str, write: Callable[[], Awaitable[object]], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often the thread looked for the lock until each of `WAITING` writes had failed."""
    monkeypatch.setattr(precious_database, "BUSY_S", 0.4)
    looks, uniform = 0, random.uniform

    def counted(least: float, most: float) -> float:
        nonlocal looks
        looks += 1
        return uniform(least, most)

    monkeypatch.setattr(random, "uniform", counted)

    async def history() -> None:
        await write()
        with closing(apsw.Connection(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            found = await asyncio.gather(*(write() for _ in range(WAITING)), return_exceptions=True)
            assert {type(each) for each in found} == {DatabaseBusy}

    asyncio.run(history())
    return looks
