"""The thread of agent memory keeps nobody waiting for what others have waited for already."""

from __future__ import annotations

import asyncio
import random
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from livedex_daemon.answer.knowledge_answers import KnowledgeThread
from livedex_daemon.config import settings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.knowledge.agent_memory import AgentMemory, NewEntry
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseBusy


def add(memory: AgentMemory) -> tuple[int, bool]:
    return memory.add(NewEntry("text"))


def test_who_waits_for_others_has_waited_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many who add at the same time, the last one waits for a lock as long as the first one."""
    monkeypatch.setattr(precious_database, "BUSY_S", 0.4)
    looks, uniform = 0, random.uniform

    def counted(least: float, most: float) -> float:
        nonlocal looks
        looks += 1
        return uniform(least, most)

    monkeypatch.setattr(random, "uniform", counted)
    path = str(tmp_path / "knowledge.db")
    thread = KnowledgeThread(path, CurrentConfig(settings.parse("", path="config.toml")), PluginHost({}))

    async def history() -> None:
        await thread.run(add)
        with closing(apsw.Connection(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            found = await asyncio.gather(*(thread.run(add) for _ in range(20)), return_exceptions=True)
            assert {type(each) for each in found} == {DatabaseBusy}

    asyncio.run(history())
    thread.close()
    assert looks < 10 * 20
