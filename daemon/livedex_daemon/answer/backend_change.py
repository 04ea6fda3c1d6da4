"""Carries out ``index --backend NAME``: fills the new backend, then names it in the configuration.

Invariant: until the new one is complete the former one answers, and a backend that cannot be filled changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from livedex_daemon.answer.progress_value import progress_value
from livedex_daemon.backend.backend_switch import BUILT_IN, BackendSwitch
from livedex_daemon.backend.mirror import Mirror
from livedex_daemon.config import config_edit
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_ipc.amount import Amount
from livedex_ipc.errors import Unavailable
from livedex_ipc.server.rpc_server import Call

_LOOK_EVERY_S: Final = 0.1


class BackendChange:
    def __init__(self, switch: BackendSwitch, reload: Callable[[], Awaitable[None]], config_path: str) -> None:
        self._switch = switch
        self._reload = reload
        self._config_path = config_path

    async def to(self, call: Call, name: str) -> None:
        """Switch to a backend. Raises Unavailable, with the reason, if it cannot be filled."""
        await self._reload()  # a file that is refused is no base for an edit
        if name not in (BUILT_IN, self._switch.name):
            await self._fill(call, self._switch.begin(name))
        path = self._config_path
        await in_daemon_thread(lambda: config_edit.set_text(path, "index", "backend", name), "backend")
        await self._reload()

    async def _fill(self, call: Call, mirror: Mirror) -> None:
        try:
            while not mirror.ready:
                if mirror.fault is not None:
                    message = f"the backend {mirror.name!r} cannot be filled: {mirror.fault}; nothing was changed"
                    raise Unavailable(message, {"backend": mirror.name})
                done = Amount(mirror.sent)
                call.progress(progress_value("report", done, Amount(mirror.sent + mirror.behind)))
                await asyncio.sleep(_LOOK_EVERY_S)
        except BaseException:
            self._switch.give_up(mirror)
            raise
