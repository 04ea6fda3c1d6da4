"""What a chunk process may cost: its time and the size of its answers, by the size of a file.

Invariant: both sides use the same limits. The child keeps to them by itself; the daemon enforces them on a child that
does not.
"""

from __future__ import annotations

TIME_S = 20.0  # for one file; add the next figure for each MiB
TIME_S_PER_MIB = 5.0
_CONSTANT_BYTES = 1 << 20
_TIMES = 256  # as large as its file an answer may be: one short line below long headings costs up to 140 times its size
_MOST_BYTES = 512 << 20


def time_limit(size: int) -> float:
    """Return the seconds within which a file of ``size`` bytes must be cut."""
    return TIME_S + TIME_S_PER_MIB * size / (1 << 20)


def pipeline_time(size: int) -> float:
    """Return the seconds that a plugin's pipeline gets for a text of this size; the built-in one needs the rest."""
    return time_limit(size) / 2


def most_bytes(size: int) -> int:
    """Return how long the answer for a file of ``size`` bytes may be, in bytes."""
    return min(_CONSTANT_BYTES + _TIMES * size, _MOST_BYTES)
