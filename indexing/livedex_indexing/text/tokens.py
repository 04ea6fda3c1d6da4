"""Where in a text a word may be: the few places that are worth the tokenizer's time.

Invariant: no word of the index's tokenizer reaches over the end of a run, because every ASCII sign and blank parts
words; so a run read alone gives the words it has inside its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

ByteToken = tuple[int, int, str]  # a word: start and end in bytes, and as the index has it
Tokenizer = Callable[[bytes], list[ByteToken]]

_RUN: Final = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_WIDE: Final = re.compile(rb"[\x80-\xff]")
_BEGINNING: Final = 4  # letters that are looked for
_SHAPE: Final = bytes(code if code >= 0x80 or chr(code).isalnum() else 0x20 for code in range(256))


class Runs:
    """The words of texts, run by run. What a run holds is kept: the words that are looked for come again and again."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[bytes, list[ByteToken]] = {}

    def of(self, run: bytes) -> list[ByteToken]:
        """The words of one run."""
        found = self._known.get(run)
        if found is None:
            found = self._known[run] = self._tokenizer(run)
        return found

    def tokens(self, data: bytes, start: int = 0) -> Iterator[ByteToken]:
        """The words of a text one by one, from a place between two runs on."""
        for match in _RUN.finditer(data, start):
            at = match.start()
            for begin, end, token in self.of(match[0]):
                yield at + begin, at + end, token


def candidates(data: bytes, beginnings: Iterable[bytes]) -> list[tuple[int, int]]:
    """The runs of a text that hold one of the beginnings (ASCII in lower case, or any bytes beyond it), and all with a
    character beyond ASCII, since folding may bring anything out of those. In order."""
    low, shape = data.lower(), data.translate(_SHAPE)
    found: set[tuple[int, int]] = set()
    for beginning in beginnings:
        at = low.find(beginning)
        while at >= 0:
            end = shape.find(b" ", at)
            end = len(data) if end < 0 else end
            found.add((shape.rfind(b" ", 0, at) + 1, end))
            at = low.find(beginning, end)
    wide = None if data.isascii() else _WIDE.search(data)
    while wide is not None:
        end = shape.find(b" ", wide.end())
        end = len(data) if end < 0 else end
        found.add((shape.rfind(b" ", 0, wide.start()) + 1, end))
        wide = _WIDE.search(data, end)
    return sorted(found)


def followed(data: bytes, runs: Sequence[tuple[int, int]], beginning: bytes) -> Sequence[tuple[int, int]]:
    """The runs of a text behind which another begins so; all where one may have several words."""
    if not data.isascii():
        return runs
    low = data.lower()
    return [run for run in runs if (after := _RUN.search(low, run[1])) and after[0].startswith(beginning)]


def beginning_of(stem: str) -> bytes:
    """What every word with that stem begins with: a stem keeps the beginning of its word, of a short one all but an e,
    i or l at its end, which may stand for another letter (`size` of `sizing`; 345,832 words of Linux)."""
    kept = stem[:_BEGINNING]
    is_changed = 1 < len(stem) <= _BEGINNING and stem[-1] in "eil"
    return (kept[:-1] if is_changed else kept).encode("utf-8", "replace")


def in_code_points(data: bytes, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in UTF-8 bytes, sorted and disjoint, as places in its characters."""
    placed = []
    chars = at = 0
    for start, end in spans:
        first = chars + len(data[at:start].decode("utf-8", "replace"))
        chars, at = first + len(data[start:end].decode("utf-8", "replace")), end
        placed.append((first, chars))
    return placed
