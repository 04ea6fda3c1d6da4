"""The exchange's thread keeps why its file cannot be used, and nothing of the call that found it out."""

from __future__ import annotations

import asyncio
import gc
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from helpers.exchange_file import checked
from helpers.lock_waits import looks_while_locked
from helpers.support import wait_until
from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.config import settings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseBusy, DatabaseDamaged, DatabaseUnusable
from livedex_daemon.process import tick


class Body:
    """Stands for a message, which may be large."""


def opened(path: Path) -> ExchangeThread:
    return ExchangeThread(str(path), CurrentConfig(settings.parse("", path="config.toml")))


def publish(exchange: Exchange) -> Any:
    return exchange.publish(checked("publish", topic="a", body=""))


def test_a_fault_keeps_nothing_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    path.write_bytes(b"not a database" * 100)
    thread = opened(path)

    def call() -> weakref.ref[Body]:
        body = Body()
        seen = weakref.ref(body)

        def action(_exchange: Exchange) -> Body:
            return body

        with pytest.raises(DatabaseDamaged, match=r"exchange\.db"):
            asyncio.run(thread.run(action))
        return seen

    def is_gone() -> bool:
        gc.collect()
        return seen() is None

    seen = call()
    assert isinstance(thread.fault, DatabaseDamaged) and str(path) in thread.fault.message
    wait_until(is_gone, what="the call to be forgotten")
    thread.close()


def test_a_fault_of_writing_stays_until_writing_is_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precious_database, "BUSY_S", 0.05)
    monkeypatch.setattr(tick, "EVERY_S", 0.05)
    thread = opened(tmp_path / "exchange.db")

    async def history() -> None:
        await thread.run(publish)
        checking = asyncio.create_task(thread.keep_checking())
        with closing(apsw.Connection(str(tmp_path / "exchange.db"))) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(DatabaseBusy):
                await thread.run(publish)
            for _ in range(5):
                await tick.tick()
                await thread.run(Exchange.stats)
                assert isinstance(thread.fault, DatabaseBusy)
            other.execute("COMMIT")
        async with asyncio.timeout(30):
            while thread.fault is not None:
                await tick.tick()
        checking.cancel()

    asyncio.run(history())
    thread.close()


def test_damage_that_not_every_look_touches_stays_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick, "EVERY_S", 0.05)
    thread = opened(tmp_path / "exchange.db")

    async def history() -> None:
        await thread.run(publish)
        checking = asyncio.create_task(thread.keep_checking())
        with closing(apsw.Connection(str(tmp_path / "exchange.db"))) as other:
            other.execute("UPDATE messages SET metadata = '{'")
        with pytest.raises(DatabaseDamaged):
            await thread.run(lambda exchange: exchange.read(checked("read", topic="a")))
        for _ in range(5):
            await tick.tick()
            await thread.run(Exchange.stats)
        assert isinstance(thread.fault, DatabaseDamaged)
        checking.cancel()

    asyncio.run(history())
    thread.close()


def test_a_folder_that_cannot_be_entered_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though nobody calls, and until it can be entered again."""
    monkeypatch.setattr(tick, "EVERY_S", 0.05)
    folder, aside = tmp_path / "data", tmp_path / "aside"
    folder.mkdir()
    thread = opened(folder / "exchange.db")

    async def history() -> None:
        await thread.run(publish)
        checking = asyncio.create_task(thread.keep_checking())
        async with asyncio.timeout(30):
            folder.rename(aside)
            folder.symlink_to(folder)
            while thread.fault is None:
                await tick.tick()
            for _ in range(5):
                await tick.tick()
                assert isinstance(thread.fault, DatabaseUnusable)
            folder.unlink()
            aside.rename(folder)
            while thread.fault is not None:
                await tick.tick()
        checking.cancel()
        assert len((await thread.run(lambda exchange: exchange.read(checked("read", topic="a"))))["messages"]) == 1

    asyncio.run(history())
    thread.close()


def test_a_link_that_leads_nowhere_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick, "EVERY_S", 0.05)
    thread = opened(tmp_path / "exchange.db")

    async def history() -> None:
        checking = asyncio.create_task(thread.keep_checking())
        (tmp_path / "exchange.db").symlink_to("nowhere")
        with pytest.raises(DatabaseUnusable):
            await thread.run(publish)
        for _ in range(5):
            await tick.tick()
            assert isinstance(thread.fault, DatabaseUnusable)
        checking.cancel()

    asyncio.run(history())
    thread.close()


def test_who_waits_for_others_has_waited_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many who publish at the same time, the last one waits for a lock as long as the first one."""
    thread = opened(tmp_path / "exchange.db")
    looks = looks_while_locked(str(tmp_path / "exchange.db"), lambda: thread.run(publish), monkeypatch)
    thread.close()
    assert looks < 10 * 20
