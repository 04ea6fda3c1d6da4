"""The thread of agent memory keeps nobody waiting for what others have waited for already."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.lock_waits import looks_while_locked
from livedex_daemon.answer.knowledge_answers import KnowledgeThread
from livedex_daemon.config import settings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.knowledge.agent_memory import AgentMemory, NewEntry
from livedex_daemon.plugin_host.plugin_host import PluginHost


def add(memory: AgentMemory) -> tuple[int, bool]:
    return memory.add(NewEntry("text"))


async def loaded() -> None:
    """No plugin is to be loaded."""


def test_who_waits_for_others_has_waited_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many who add at the same time, the last one waits for a lock as long as the first one."""
    path = str(tmp_path / "knowledge.db")
    thread = KnowledgeThread(path, CurrentConfig(settings.parse("", path="config.toml")), PluginHost({}), loaded)
    looks = looks_while_locked(path, lambda: thread.run(add), monkeypatch)
    thread.close()
    assert looks < 10 * 20
