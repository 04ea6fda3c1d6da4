"""When an idle worker looks for a message, and that no daemon keeps it from that."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.worker_host import wake_ups
from livedex_daemon.worker_host.wake_ups import WAIT_S, WakeUps, refuse_stranger
from livedex_ipc import __version__
from livedex_ipc.errors import TimedOut


class HangingDaemon:
    """Answers one request of the first connection, then none. ``waited_s``: how long it was waited for, each time."""

    def __init__(self) -> None:
        self.answers = 1
        self.waited_s: list[float] = []
        self.hangs = threading.Event()

    def __enter__(self) -> HangingDaemon:
        return self

    def __exit__(self, *_exc: object) -> None:
        pass

    def close(self) -> None:
        pass

    def who(self, timeout_s: float) -> dict[str, Any]:
        return self._answer(timeout_s)

    def call(self, _method: str, params: dict[str, Any], *, timeout_s: float) -> dict[str, Any]:
        return self._answer(timeout_s - params["timeout_ms"] / 1000)

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        self.answers -= 1
        if self.answers < 0:
            self.waited_s.append(timeout_s)
            self.hangs.set()
            raise TimedOut("the daemon did not answer")
        return {"version": __version__}


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> HangingDaemon:
    made = HangingDaemon()
    monkeypatch.setattr(wake_ups, "connect", lambda **_words: made)
    return made


@pytest.mark.parametrize("answers", [0, 1])
def test_a_worker_does_not_wait_long_for_a_daemon_that_hangs(
    daemon: HangingDaemon, tmp_path: Path, answers: int
) -> None:
    daemon.answers = answers
    exchange, stopping = Exchange(str(tmp_path / "exchange.db"), ExchangeConfig()), threading.Event()
    waits = WakeUps("work", stopping)

    def stop() -> None:
        daemon.hangs.wait(20)
        stopping.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    waits.wait(exchange)
    stopper.join()
    exchange.close()
    daemon.answers = answers
    refuse_stranger("work")
    assert len(daemon.waited_s) >= 2
    assert max(daemon.waited_s) < WAIT_S / 2
