"""Names the keys that curses reports.

Invariant: what has no name here is no key: None.
"""

from __future__ import annotations

import curses

from livedex_ipc.cli.live.live_state import Key, Mouse

_CODES = {
    curses.KEY_UP: "up",
    curses.KEY_DOWN: "down",
    curses.KEY_LEFT: "left",
    curses.KEY_RIGHT: "right",
    curses.KEY_HOME: "home",
    curses.KEY_END: "end",
    curses.KEY_PPAGE: "page-up",
    curses.KEY_NPAGE: "page-down",
    curses.KEY_BACKSPACE: "backspace",
    curses.KEY_DC: "delete",
    curses.KEY_ENTER: "enter",
    curses.KEY_SR: "shift-up",
    curses.KEY_SF: "shift-down",
}
_CONTROLS = {"\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace", "\x1b": "escape"}
_WHEEL_DOWN = getattr(curses, "BUTTON5_PRESSED", 1 << 21)  # Python 3.11 has no name for it where curses is older


def key(code: str | int, then: str | int | None = None) -> Key | None:
    """Return the key of a character or a code of curses. ``then``: what came in the same moment after an escape."""
    if isinstance(code, int):
        name = _CODES.get(code)
        return Key(name) if name else None
    if code == "\x1b" and isinstance(then, str) and then.isprintable():
        return Key(f"alt-{then.lower()}")
    if code in _CONTROLS:
        return Key(_CONTROLS[code])
    if len(code) == 1 and code < "\x20":
        return Key(f"ctrl-{chr(ord(code) + 96)}")
    return Key("text", code) if code.isprintable() else None


def mouse(row: int, column: int, buttons: int) -> Mouse | None:
    """Return what the mouse did, from the state of its buttons."""
    if buttons & curses.BUTTON4_PRESSED:
        return Mouse("up", row, column)
    if buttons & _WHEEL_DOWN:
        return Mouse("down", row, column)
    if buttons & curses.BUTTON1_DOUBLE_CLICKED:
        return Mouse("double", row, column)
    if buttons & (curses.BUTTON1_CLICKED | curses.BUTTON1_PRESSED):
        return Mouse("click", row, column)
    return None
