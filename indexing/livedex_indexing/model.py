"""The values that the rooms of the index exchange: plain data, no behaviour.

Invariant: a value here never changes after its creation, and every path is bytes relative to its root
(``b""`` is the root itself; no leading or trailing slash), because file names are bytes and not text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypedDict, get_args

import msgspec

Kind = Literal["markdown_text", "markdown_code", "markdown_table", "markdown_image", "code", "plain"]
Status = Literal["indexed", "pending", "skipped", "failed"]
EntryKind = Literal["file", "folder", "symlink", "special"]


class Stat(NamedTuple):
    """One entry as the kernel described it. Times are nanoseconds; compare for inequality, never for order.

    ``links``: the number of its names.
    """

    kind: EntryKind
    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    dev: int
    mode: int
    links: int = 1

    @property
    def state(self) -> FileState:
        return FileState(self.size, self.mtime_ns, self.ctime_ns, self.ino)


class FileState(NamedTuple):
    """The attributes that tell one state of a file from another. Not the device: its number changes on a remount.

    All are 0 of a file that could not be described: such files are not names of one file.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int


# The state of an indexed entry: size, mtime_ns, ctime_ns, inode, and 1 if an equal state means nothing to do.
# A plain tuple: a walk compares one for each file.
KnownState = tuple[int, int, int, int, int]


class FileRow(NamedTuple):
    """The row of the index for one path.

    ``content_id`` is None unless ``status`` is ``indexed``. ``indexed_at`` is seconds since the epoch. ``settled`` is
    False while the file's times are so close to its indexing that a later write could have left them unchanged
    (git calls such an entry racily clean): its bytes are hashed again before the row is trusted.
    """

    root_id: int
    path: bytes
    state: FileState
    status: Status
    reason: str | None
    content_id: int | None
    content_hash: bytes | None
    signature: bytes | None
    language: str | None
    indexed_at: float
    settled: bool


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """A piece of one file. Lines are 1-based and inclusive, bytes are half-open offsets into the file on disk.

    ``context`` is the end of the text before the chunk: searchable, not part of the chunk. ``heading`` is the chain
    joined by `` > ``, ``symbol`` the qualified name of the definition; both are None where there is none.
    """

    ordinal: int
    text: str
    context: str
    kind: Kind
    language: str | None
    heading: str | None
    symbol: str | None
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    metadata: dict[str, Any]


class ChunkTerms(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The searchable words of a chunk in addition to its text, joined by spaces.

    ``ids`` are the parts of words in mixed case (``getHTTPResponse`` gives ``get HTTP Response``), ``heads`` the
    headings above and inside, ``symbols`` the names of the definitions around and inside.
    """

    ids: str
    heads: str
    symbols: str


class DocumentText(msgspec.Struct, frozen=True, gc=False):
    """The Markdown, in UTF-8, that a parser made of a document: what the chunks tile and their places count in.

    ``pages``: the offset at which each page begins, in bytes; empty where the format has none.
    """

    parser: str
    text: bytes
    pages: list[int]


class ChunkedContent(msgspec.Struct, frozen=True, gc=False):
    """One file's bytes, decoded and cut. ``chunks`` tile the decoded text; ``terms`` has one entry per chunk.

    ``encoding`` is the name of a Python codec that decodes a slice of the bytes again. ``frontmatter`` is None if
    there is none, and ``frontmatter_fault`` says why a block that looks like one counts as ordinary text.
    ``document`` is None for a file whose own text was cut.
    """

    pipeline: str
    language: str | None
    encoding: str
    lossy: bool
    chunks: list[Chunk]
    terms: list[ChunkTerms]
    frontmatter: dict[str, Any] | None = None
    frontmatter_fault: str | None = None
    fallback: str | None = None
    plugin_fault: str | None = None  # why a plugin's pipeline did not cut it; not stored
    document: DocumentText | None = None


class RootRow(NamedTuple):
    """A watched folder as the index knows it. ``missing_since`` is seconds since the epoch, None while it exists.

    ``planned`` is the fingerprint of the settings that all its contents are known to follow (``plan.fingerprint``).
    """

    id: int
    path: bytes
    dev: int
    ino: int
    missing_since: float | None
    first_indexed: bool
    last_reconciled: float | None
    planned: int = 0


class RootUpdate(TypedDict, total=False):
    """What may change of a ``RootRow``."""

    dev: int
    ino: int
    missing_since: float | None
    first_indexed: bool
    last_reconciled: float | None
    planned: int


KINDS: Final[tuple[Kind, ...]] = get_args(Kind)  # stored as indexes into these tuples: append only
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


class Place(NamedTuple):
    """A file or folder: ``path`` is relative to the root, ``b""`` is all of it."""

    root_id: int
    path: bytes


class StatusCounts(NamedTuple):
    """Files of one root by status."""

    indexed: int = 0
    pending: int = 0
    skipped: int = 0
    failed: int = 0


class Counts(NamedTuple):
    """The size of the index. ``roots`` has an entry for each root with rows; ``chunks`` counts those in use."""

    roots: dict[int, StatusCounts]
    chunks: int


TermName = Literal["path", "ext", "lang", "kind", "meta", "tag"]


@dataclass(frozen=True, slots=True)
class Term:
    """``name:value`` of a query. ``value`` is as written, without quotes (``KEY=VALUE`` or ``KEY`` of ``meta``); an
    excluded term excludes the files that it would admit."""

    name: TermName
    value: str
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One query of an index.

    ``text`` is the words alone, separated by blanks, a prefix with its ``*``: a file contains at least one of them and
    all of ``phrases``. ``unfinished``: the last word is still being typed. ``excluded`` are words, prefixes, or phrases
    in double quotes. ``places`` limit the search, None means everywhere; ``globs`` are relative to each root;
    ``kinds``, ``languages`` and ``root_ids`` admit any of their values, and everything when empty. ``modified_after``
    (inclusive) and ``modified_before`` (exclusive) are nanoseconds since the epoch.
    """

    text: str = ""
    unfinished: bool = False
    excluded: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    places: tuple[Place, ...] | None = None
    root_ids: tuple[int, ...] = ()
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    modified_after: int | None = None
    modified_before: int | None = None

    @property
    def has_text(self) -> bool:
        """Whether more than filters was typed: if that has no word, the query finds nothing, rather than everything."""
        return bool(self.text or self.phrases)
