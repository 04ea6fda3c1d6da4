"""The data that livedex and a plugin hand each other: plain and frozen.

Invariant: a plugin needs nothing else of livedex. Paths are absolute text; a file whose path is not UTF-8 is given to
no plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

JsonFields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one file. Lines are 1-based and inclusive, bytes are half-open offsets into the file.

    ``context`` is the end of the text before the chunk, ``heading`` the chain joined by `` > ``, ``symbol`` the
    qualified name of the definition; the last two are None where there is none. ``vector_key`` names the chunk's
    vector: the same for every chunk with the same heading, symbol and text.
    """

    ordinal: int
    text: str
    context: str = ""
    kind: str = "plain"
    language: str | None = None
    heading: str | None = None
    symbol: str | None = None
    start_line: int = 1
    end_line: int = 1
    start_byte: int = 0
    end_byte: int = 0
    metadata: JsonFields = field(default_factory=dict)
    vector_key: str = ""


@dataclass(frozen=True, slots=True)
class VectorModel:
    """What vectors were made by: only those of the same ``name`` can be compared. All have ``dimensions`` numbers."""

    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Document:
    """One whole file with its chunks, in order. ``size`` is in bytes, ``modified_at`` in seconds since the epoch,
    ``content_hash`` the hex BLAKE2b-128 of the file's bytes, ``metadata`` its frontmatter."""

    path: str
    root: str
    content_hash: str
    size: int
    modified_at: float
    language: str | None
    chunks: tuple[Chunk, ...]
    metadata: JsonFields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """``name:value`` of a query, as ``ext:py``; an excluded term excludes the files that it would admit."""

    name: str
    value: str
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One query. ``text`` is the words alone: a file contains at least one of them and all of ``phrases``.

    ``path`` is a folder or file that limits the search, None means everywhere; ``globs`` are relative to each root;
    ``languages``, ``kinds`` and ``roots`` admit any of their values, and everything when empty. ``modified_after``
    (inclusive) and ``modified_before`` (exclusive) are seconds since the epoch. ``group`` is ``chunk`` or ``file``.
    """

    text: str = ""
    excluded: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    terms: tuple[QueryTerm, ...] = ()
    limit: int = 10
    offset: int = 0
    path: str | None = None
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    modified_after: float | None = None
    modified_before: float | None = None
    group: str = "chunk"


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matches. ``ordinal`` may be None: then the lines are given. A higher ``score`` is better."""

    path: str
    ordinal: int | None
    score: float
    start_line: int | None = None
    end_line: int | None = None
    explain: JsonFields | None = None


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file as a backend keeps it. ``status`` is ``indexed`` unless ``reason`` says why it is not."""

    path: str
    status: str
    size: int
    chunks: int
    language: str | None = None
    content_hash: str | None = None
    indexed_at: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: half-open character offsets. ``kind`` is a kind of chunk, None: that of the file."""

    start: int
    end: int
    kind: str | None = None
    metadata: JsonFields = field(default_factory=dict)
