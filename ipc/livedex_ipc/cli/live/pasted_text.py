"""Collects pasted text, which a terminal puts between two sequences, as it arrives.

Invariant: a paste whose end was lost does not lock the user in: it ends once nothing came for ``SILENCE_S``, and at a
Ctrl-C that comes alone. A paste that arrives slowly, or contains the character of Ctrl-C, is not ended by that.
"""

from __future__ import annotations

from typing import Final

INTERRUPT: Final = "\x03"
SILENCE_S: Final = 2.0
ALONE_S: Final = 0.05  # nothing comes for so long before and after a key that a person presses

_END: Final = "\x1b[201~"


class PastedText:
    """The paste that is under way, if any. ``now``: monotonic seconds."""

    def __init__(self) -> None:
        self._open = False
        self._text = ""
        self._last = 0.0  # when something came

    def begin(self, now: float) -> None:
        """Note the sequence that begins a paste."""
        self._open, self._text, self._last = True, "", now

    def is_open(self, now: float) -> bool:
        """Return whether what comes now is pasted text."""
        if self._open and now - self._last > SILENCE_S:
            self.end()
        return self._open

    def may_be_typed(self, code: str | int, now: float) -> bool:
        """Return whether this is a Ctrl-C before which nothing came."""
        return code == INTERRUPT and now - self._last >= ALONE_S

    def add(self, code: str | int, now: float) -> None:
        """Add a character; a code of curses is dropped."""
        self._last = now
        self._text += code if isinstance(code, str) else ""
        if self._text.endswith(_END):
            self._open = False

    def end(self) -> None:
        """End the paste. What was not taken is dropped: the beginning of an end."""
        self._open, self._text = False, ""

    def take(self) -> str:
        """Return what came, except for what may be the beginning of the end."""
        text = self._text
        partial = 0 if not self._open else next((n for n in range(len(_END) - 1, 0, -1) if text.endswith(_END[:n])), 0)
        self._text = text[len(text) - partial :]
        return text[: len(text) - partial].removesuffix(_END)
