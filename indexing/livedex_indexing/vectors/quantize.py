"""Turns a vector into one signed byte for each number, and back into what a distance needs.

Invariant: the direction is kept to 1/127 of the largest number, whatever the length; cosines need no more.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final

_MOST: Final = 127


def to_bytes(vector: Sequence[float]) -> bytes:
    """Return a vector of finite numbers, not all zero, as signed bytes, the largest of which is ±127."""
    scale = _MOST / max(map(abs, vector))
    return array("b", [round(value * scale) for value in vector]).tobytes()


def from_bytes(data: bytes) -> list[int]:
    """Return the numbers that `to_bytes` stored: a vector of the same direction."""
    return array("b", data).tolist()
