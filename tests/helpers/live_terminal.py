"""`livedex live` on a terminal of its own: an emulated screen, keys, sizes, and what it printed at the end."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping

import pyte

from helpers.screen import Screen
from helpers.support import LIVEDEX, Home, wait_until


class LiveTerminal(Screen):
    """The program with its terminal as stdin and stderr. `piped`: stdout is a pipe, whose text `end` returns.

    `shell`: a script that runs `"$0" "$@"`, with job control.
    """

    def __init__(
        self,
        home: Home,
        *words: str,
        piped: bool = False,
        size: tuple[int, int] = (24, 100),
        env: Mapping[str, str] = {},
        shell: str = "",
    ) -> None:
        self.raw = b""
        self.master, self._slave = pty.openpty()
        self._screen = pyte.Screen(size[1], size[0])
        self._stream = pyte.ByteStream(self._screen)
        self._set_size(size)
        environment = {name: value for name, value in home.env.items() if name not in ("COLUMNS", "LINES")}
        environment.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **env})
        self.process = subprocess.Popen(
            [*(["sh", "-m", "-c", shell] if shell else []), str(LIVEDEX), "live", *words],
            env=environment,
            stdin=self._slave,
            stdout=subprocess.PIPE if piped else self._slave,
            stderr=self._slave,
            preexec_fn=self._own_terminal,  # noqa: PLW1509  no other thread forks here
        )
        os.close(self._slave)

    def _own_terminal(self) -> None:
        os.setsid()
        fcntl.ioctl(self._slave, termios.TIOCSCTTY, 0)

    def _set_size(self, size: tuple[int, int]) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def resize(self, rows: int, columns: int) -> None:
        self._screen.resize(rows, columns)
        self._set_size((rows, columns))

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def rows(self) -> list[str]:
        self._read()
        return [row.rstrip() for row in self._screen.display]

    def _read(self) -> None:
        while select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the last writer is gone
                return
            if not data:
                return
            self.raw += data
            self._stream.feed(data)

    def end(self) -> tuple[int, str]:
        """Return the exit code, and what a piped stdout got."""

        def ended() -> bool:
            self._read()
            return self.process.poll() is not None

        wait_until(ended, what="the end of `livedex live`")
        self._read()  # what it wrote last, between the last look and its end
        printed = ""
        if self.process.stdout is not None:
            printed = self.process.stdout.read().decode()
        return self.process.returncode, printed

    def close(self) -> None:
        """End the program if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self.master)
