"""The keys that edit the prompt: each makes (text, cursor) of (text, cursor).

Invariant: the cursor stays inside the text, and the text has only printable characters and a bounded length.
"""

from __future__ import annotations

from collections.abc import Callable

MOST_CHARACTERS = 1000
Edit = Callable[[str, int], tuple[str, int]]


def insert(text: str, cursor: int, typed: str) -> tuple[str, int]:
    """Insert what was typed or pasted; of it only what can be printed."""
    free = MOST_CHARACTERS - len(text)
    added = "".join(character if character.isprintable() else " " for character in typed)[: max(free, 0)]
    return text[:cursor] + added + text[cursor:], cursor + len(added)


def _backspace(text: str, cursor: int) -> tuple[str, int]:
    before = max(cursor - 1, 0)
    return text[:before] + text[cursor:], before


def _delete(text: str, cursor: int) -> tuple[str, int]:
    return text[:cursor] + text[cursor + 1 :], cursor


def _delete_word(text: str, cursor: int) -> tuple[str, int]:
    head = text[:cursor].rstrip(" ")
    start = head.rfind(" ") + 1
    return text[:start] + text[cursor:], start


EDITING: dict[str, Edit] = {
    "left": lambda text, cursor: (text, max(cursor - 1, 0)),
    "right": lambda text, cursor: (text, min(cursor + 1, len(text))),
    "home": lambda text, _cursor: (text, 0),
    "ctrl-a": lambda text, _cursor: (text, 0),
    "end": lambda text, _cursor: (text, len(text)),
    "ctrl-e": lambda text, _cursor: (text, len(text)),
    "backspace": _backspace,
    "delete": _delete,
    "ctrl-d": _delete,
    "ctrl-w": _delete_word,
    "ctrl-u": lambda text, cursor: (text[cursor:], 0),
    "ctrl-k": lambda text, cursor: (text[:cursor], cursor),
}
