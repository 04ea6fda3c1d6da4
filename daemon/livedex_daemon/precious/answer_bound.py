"""Bounds the size of an answer that is made of entries of a precious file.

Invariant: an answer has an entry if there is one, however large, so that who asks for the next ones comes to an end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

MOST_BYTES: Final = 4 << 20  # of one answer; one entry may be larger

_Entry = TypeVar("_Entry")


def first_ones(entries: Iterable[_Entry], size_of: Callable[[_Entry], int]) -> list[_Entry]:
    """Return the first entries that have at most ``MOST_BYTES`` together, or the first one. None after them is read,
    but for the next one."""
    found: list[_Entry] = []
    size = 0
    for entry in entries:
        size += size_of(entry)
        if found and size > MOST_BYTES:
            break
        found.append(entry)
    return found
