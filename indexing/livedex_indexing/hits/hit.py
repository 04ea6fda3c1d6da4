"""One hit of an answer: the value that the library returns and that the daemon writes to the wire.

Invariant: the fields are those of ``methods.HIT``; an optional field is None here if it does not apply, and is then
left out of the JSON.
"""

from __future__ import annotations

from typing import Any

import msgspec

from livedex_indexing.model import Kind
from livedex_indexing.path_text import from_b64
from livedex_indexing.query.highlight import Span


class ScorePart(msgspec.Struct, frozen=True):
    """One part of a score."""

    name: str
    value: float


class Ranks(msgspec.Struct, frozen=True):
    """The places of a file in the order by words and in that by meaning, from 1 on; None: not found so."""

    keyword: int | None
    semantic: int | None


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The explanation of a score: the sum of ``parts`` is ``total``. ``ranks``: if two orders were put together."""

    total: float
    parts: list[ScorePart]
    ranks: Ranks | None = None


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place that answers a query.

    ``path`` is absolute, ``relative_path`` relative to ``root``; all three are text, with replacement characters where
    the bytes are not UTF-8. ``path_b64`` then holds the bytes of the path in base64, otherwise None. Lines and columns
    are 1-based, ``end_line`` is inclusive; bytes are half-open offsets into the file. ``highlights`` are half-open
    offsets into ``snippet`` in code points. ``line``, ``column`` (in bytes of UTF-8) and ``text`` are those of the
    place of the query as it was typed, else of the first match, else of the snippet's start. ``content_hash`` is the
    hex BLAKE2b-128 of the file's bytes, ``modified_at`` an RFC 3339 time.

    ``also_at`` (at most 20 absolute paths) and ``also_at_total`` are None if no other file has the same content.
    ``also_at_b64`` has the ``path_b64`` of each path in ``also_at``; it is None if all of them are UTF-8.
    ``matches`` is None if hits are not grouped by file, ``context_before`` and ``context_after`` if no lines around
    the snippet were requested, ``context_cut`` if none of these lines was cut, ``explain`` if it was not requested.
    """

    path: str
    root: str
    relative_path: str
    path_b64: str | None = None
    kind: Kind
    language: str | None
    heading: str | None
    symbol: str | None
    start_line: int
    end_line: int
    start_column: int
    start_byte: int
    end_byte: int
    snippet: str
    snippet_line: int
    snippet_byte: int
    highlights: list[Span]
    line: int
    column: int
    text: str
    metadata: dict[str, Any]
    context_before: str | None = None
    context_after: str | None = None
    context_cut: bool | None = None
    score: float
    content_hash: str
    modified_at: str
    also_at: list[str] | None = None
    also_at_b64: list[str | None] | None = None
    also_at_total: int | None = None
    matches: int | None = None
    explain: Explanation | None = None

    @property
    def path_bytes(self) -> bytes:
        """Return the absolute path as the file system knows it."""
        return self.path.encode() if self.path_b64 is None else from_b64(self.path_b64)

    @property
    def text_chars(self) -> int:
        """Return the length of the snippet and of the lines around it, in characters."""
        return len(self.snippet) + len(self.context_before or "") + len(self.context_after or "")
