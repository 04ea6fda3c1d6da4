"""How much of something there is, or is done: files, and their bytes."""

from __future__ import annotations

from typing import NamedTuple


class Amount(NamedTuple):
    """``size``: of the files, in bytes; 0 where only files are counted."""

    files: int
    size: int = 0
