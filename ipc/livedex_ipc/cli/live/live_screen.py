"""The terminal of the UI, by curses: paints pictures and reads keys. The only module that draws.

Invariant: however it ends, the terminal is as it was before; the choice goes to stdout, the picture to the terminal.
"""

from __future__ import annotations

import contextlib
import curses
import fcntl
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import unpack
from types import FrameType
from typing import TYPE_CHECKING

from livedex_ipc.cli.live.live_state import Key, Mouse
from livedex_ipc.cli.live.pasted_text import ALONE_S, INTERRUPT, PastedText
from livedex_ipc.cli.live.terminal_keys import key, mouse
from livedex_ipc.cli.streams import DUMB
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.cli.live.live_view import Picture, Row

STOP = "\x1a"  # Ctrl-Z
_REMEDY = "use `livedex search QUERY`"
_COLOURS = {
    "path": curses.COLOR_MAGENTA,
    "line": curses.COLOR_GREEN,
    "match": curses.COLOR_RED,
    "bad": curses.COLOR_YELLOW,
}
_ESCAPE_MS = 25
_PASTE_ON, _PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"  # after _PASTED comes pasted text
_PASTED = "200~"


Handler = Callable[[int, FrameType | None], object] | int | None


class Gone(Exception):
    """The terminal was closed, or the process was told to end."""


class Screen:
    """The terminal in raw mode. ``wake``: the descriptor to wait for: a resize or another thread wrote to it."""

    descriptor = 0  # of the keys

    def __init__(self, colour: bool) -> None:
        self._colour = colour
        self._window: curses.window | None = None
        self._paste = PastedText()
        self._styles: dict[str, int] = {}
        self.wake, self.wake_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self.wake_end, False)

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the UI. Raises Unavailable if there is no terminal for it."""
        with _on_terminal(), _signals(self.wake_end):
            self._start()
            try:
                _send(_PASTE_ON)
                yield
            finally:
                _send(_PASTE_OFF)
                curses.endwin()

    def _start(self) -> None:
        try:
            curses.setupterm(fd=1)
            if not curses.tigetstr("cup"):
                raise curses.error("it cannot move its cursor")
            window = curses.initscr()
        except curses.error as error:
            name = os.environ.get("TERM")
            raise Unavailable(f"`livedex live` cannot draw on the terminal {name!r}: {_REMEDY}") from error
        curses.raw()
        curses.noecho()
        curses.nonl()
        window.keypad(True)
        window.nodelay(True)
        curses.set_escdelay(_ESCAPE_MS)
        curses.mouseinterval(0)
        curses.mousemask(curses.ALL_MOUSE_EVENTS)
        self._styles = _styles(self._colour)
        self._window = window
        self.resize()

    def size(self) -> tuple[int, int]:
        """Return rows and columns."""
        return curses.LINES, curses.COLS

    def resize(self) -> tuple[int, int]:
        """Learn the size of the terminal; return rows and columns."""
        rows, columns, _, _ = unpack("HHHH", fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8)))
        if rows and columns and (rows, columns) != (curses.LINES, curses.COLS):
            curses.resizeterm(rows, columns)
        return self.size()

    def woken(self) -> None:
        """Read what was written to ``wake``. Raises Gone after a signal to end.

        After a resize all is drawn: a terminal that was small for a moment has lost what curses believes to be there.
        """
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.wake, 4096)
            if data and {signal.SIGTERM, signal.SIGHUP} & set(data):
                raise Gone
            if signal.SIGWINCH in data and self._window is not None:
                self._window.clearok(True)
            if signal.SIGTSTP in data:
                with self._left():
                    signal.raise_signal(signal.SIGTSTP)

    def paint(self, picture: Picture) -> None:
        """Show a picture. curses sends only what has changed."""
        window = self._window
        assert window is not None
        window.erase()
        for index, row in enumerate(picture.rows):
            self._paint_row(window, index, row)
        with contextlib.suppress(curses.error):
            window.move(*picture.cursor)
        window.refresh()

    def _paint_row(self, window: curses.window, index: int, row: Row) -> None:
        # After the last cell of the last row curses cannot move its cursor, and says so once the text is there.
        with contextlib.suppress(curses.error):
            window.move(index, 0)
            for span in row:
                text = span.text.encode(window.encoding, "replace").decode(window.encoding, "replace")
                window.addstr(text, self._styles.get(span.style, 0))

    def keys(self) -> Iterator[Key | Mouse]:
        """Yield the keys that were pressed. Raises Gone if the terminal was closed."""
        window = self._window
        assert window is not None
        while (code := _next(window)) is not None:
            if self._paste.is_open(time.monotonic()):
                if (pasted := self._pasted(window, code)) is not None:
                    yield pasted
                continue
            if code == curses.KEY_MOUSE:
                with contextlib.suppress(curses.error):
                    _, column, row, _, buttons = curses.getmouse()
                    if (event := mouse(row, column, buttons)) is not None:
                        yield event
                continue
            then = _next(window) if code == "\x1b" else None
            if then == "[":
                if _sequence(window) == _PASTED:
                    self._paste.begin(time.monotonic())
            elif code == STOP:
                os.kill(0, signal.SIGTSTP)  # all of the pipeline, as a terminal does that is not raw; see ``woken``
            elif (pressed := key(code, then)) is not None:
                yield pressed
        if not os.isatty(0):
            raise Gone

    def _pasted(self, window: curses.window, code: str | int | None) -> Key | None:
        """Return the pasted text that has come, from ``code`` on; or Ctrl-C, if that came alone."""
        paste = self._paste
        if code is not None and paste.may_be_typed(code, time.monotonic()):
            select.select([0], [], [], ALONE_S)
            if (then := _next(window)) is None:
                paste.end()
                return key(INTERRUPT)
            paste.add(code, time.monotonic())
            code = then
        while code is not None:
            paste.add(code, now := time.monotonic())
            code = _next(window) if paste.is_open(now) else None
        text = paste.take()
        return Key("text", text) if text else None

    def run(self, command: Sequence[str]) -> int:
        """Give the terminal to a program until it ends; return its exit code. Raises OSError if it cannot start."""
        import subprocess

        with self._left():
            return subprocess.run(command, check=False).returncode

    @contextlib.contextmanager
    def _left(self) -> Iterator[None]:
        """Leave the terminal to others. A Ctrl-C is theirs; a stop, as by Ctrl-Z in an editor, stops this process too.

        Without our handler curses would stop us: it then takes the terminal from the editor that goes on.
        """
        _send(_PASTE_OFF)
        curses.endwin()
        try:
            with _handled({signal.SIGINT: lambda *_: None, signal.SIGTSTP: signal.SIG_DFL}):
                yield
        finally:
            _send(_PASTE_ON)
            assert self._window is not None
            self._window.refresh()
            self.resize()


def _next(window: curses.window) -> str | int | None:
    try:
        return window.get_wch()
    except curses.error:
        return None


def _sequence(window: curses.window) -> str:
    """Return the rest of a sequence of keys that curses does not know."""
    read = ""
    while isinstance(code := _next(window), str):
        read += code
        if "@" <= code <= "~":
            break
    return read


def _send(sequence: bytes) -> None:
    with contextlib.suppress(OSError):  # the terminal was closed
        os.write(1, sequence)


def _styles(colour: bool) -> dict[str, int]:
    styles = {"strong": curses.A_BOLD, "dim": curses.A_DIM, "match": curses.A_BOLD, "chosen": curses.A_REVERSE}
    if colour and curses.has_colors():
        curses.start_color()
        curses.use_default_colors()
        for number, (name, code) in enumerate(_COLOURS.items(), 1):
            curses.init_pair(number, code, -1)
            styles[name] = styles.get(name, 0) | curses.color_pair(number)
    return styles


@contextlib.contextmanager
def _on_terminal() -> Iterator[None]:
    """Have stdin and stdout be the terminal. Raises Unavailable if there is none, or it is dumb."""
    name = os.environ.get("TERM", "")
    if name in DUMB:
        raise Unavailable(f"`livedex live` needs a terminal that can draw, and TERM is {name!r}: {_REMEDY}")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Unavailable(f"`livedex live` needs a terminal, and there is none: {_REMEDY}") from error
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    try:
        os.dup2(terminal, 0)
        os.dup2(terminal, 1)
        yield
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(terminal)


@contextlib.contextmanager
def _signals(wake: int) -> Iterator[None]:
    """Have signals write to ``wake``: a resize, a stop, and those that end the process."""

    def noticed(_number: int, _frame: FrameType | None) -> None:
        """The number is written to ``wake``."""

    numbers = (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)
    former = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        with _handled(dict.fromkeys(numbers, noticed)):
            yield
    finally:
        signal.set_wakeup_fd(former)


@contextlib.contextmanager
def _handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
