"""One daemon for all tests of a worker that leave it as it was but for their roots: a start costs half a second.

Invariant: a test that begins finds a running, healthy daemon without roots; one that is not so is ended, not reused.
"""

from __future__ import annotations

from contextlib import ExitStack

from helpers.daemon_health import healthy_to_the_end
from helpers.support import Daemon, Home, temporary_home, wait_ready
from livedex_ipc.errors import LivedexError


class SharedDaemon:
    """Starts the daemon at the first use."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._daemon: Daemon | None = None

    @property
    def daemon(self) -> Daemon:
        if self._daemon is None:
            home = self._stack.enter_context(temporary_home())
            self._daemon = Daemon(home).start()
        return self._daemon

    @property
    def home(self) -> Home:
        return self.daemon.home

    def reset(self) -> None:
        """Remove all roots after a test. End a daemon that cannot do it; the next test gets another one."""
        try:
            with self.daemon.client() as client:
                for root in client.call("roots/list")["roots"]:
                    client.call("roots/remove", {"path": root["path"]})
                wait_ready(client)
        except (LivedexError, OSError, AssertionError):
            self.end()
            raise

    def end(self) -> None:
        """Stop the daemon. A failure if it is not healthy or has logged a traceback."""
        with self._stack:
            daemon, self._daemon = self._daemon, None
            if daemon is not None and daemon.running():
                with healthy_to_the_end(daemon):
                    daemon.stop()
