"""The exchange's thread keeps why its file cannot be used, and nothing of the call that found it out."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from helpers.support import wait_until
from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.config import settings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.precious.precious_database import DatabaseDamaged


class Body:
    """Stands for a message, which may be large."""


def test_a_fault_keeps_nothing_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    path.write_bytes(b"not a database" * 100)
    thread = ExchangeThread(str(path), CurrentConfig(settings.parse("", path="config.toml")))

    def publish() -> weakref.ref[Body]:
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

    seen = publish()
    assert isinstance(thread.fault, DatabaseDamaged) and str(path) in thread.fault.message
    wait_until(is_gone, what="the call to be forgotten")
    thread.close()
