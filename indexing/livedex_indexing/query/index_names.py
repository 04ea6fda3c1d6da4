"""What the compiler of queries may ask the index about the names that are defined.

Invariant: it only says what there is; the compiler decides what a query means.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol


class Names(Protocol):
    """Names of the index: the words that begin as the last word of a name and follow its other words, the likeliest
    first; the names that have all parts of one; those that one shortens to the
    beginnings of their parts; and those that one likely means: both the likeliest first."""

    def continued(self, typed: str) -> Sequence[str]: ...
    def alike(self, name: str) -> Collection[str]: ...
    def shortened(self, name: str) -> Sequence[str]: ...
    def near(self, name: str) -> Sequence[str]: ...


class NoNames:
    def continued(self, _typed: str) -> Sequence[str]:
        return ()

    def alike(self, _name: str) -> Collection[str]:
        return ()

    def shortened(self, _name: str) -> Sequence[str]:
        return ()

    def near(self, _name: str) -> Sequence[str]:
        return ()
