"""The types of what the daemon sends about files: the results of ``files/…`` and ``search/files``.

Invariant: as for ``wire_results``.
"""

from __future__ import annotations

from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from livedex_ipc.wire_results import AnswerWarning, FreshFields, PathFields

F = TypeVar("F")


class MatchingFile(PathFields):
    """A file with a line that matches; ``matches``: how many, if they were counted."""

    matches: NotRequired[int]


class MatchesResult(FreshFields, Generic[F]):
    files: list[F]
    generation: int
    pending: int
    took_ms: float
    next_cursor: str | None
    warnings: list[AnswerWarning]


class FileFields(PathFields):
    """A file of a list; its fields are explained at ``livedex_indexing.search.listing.FileRecord``."""

    status: str
    size: int
    chunks: int
    language: str | None
    content_hash: str | None
    indexed_at: str
    reason: NotRequired[str]


class FileListResult(FreshFields, Generic[F]):
    files: list[F]
    total: int
    warnings: list[AnswerWarning]


class FoundFileFields(PathFields):
    """A file found by its path; its fields are explained at ``livedex_indexing.search.path_finder.FoundFile``."""

    root: str
    relative_path: str
    status: str


class FileFindResult(FreshFields, Generic[F]):
    files: list[F]
    total: int
    warnings: list[AnswerWarning]


class RuleFields(TypedDict):
    file: str
    line: int
    pattern: str


class PathExplanation(PathFields):
    """Why a path is or is not in the index."""

    status: str
    reason: str | None
    rule: RuleFields | None


class ExplainResult(PathExplanation):
    fresh: bool


class ChunkFields(TypedDict):
    """A chunk of a file; its fields are explained at ``livedex_indexing.model.Chunk``."""

    ordinal: int
    text: str
    context: str
    kind: str
    language: str | None
    heading: str | None
    symbol: str | None
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    metadata: dict[str, Any]


class RetrieveResult(PathFields, FreshFields, Generic[F]):
    content_hash: str
    chunks: list[F]


class DeleteResult(TypedDict):
    deleted: int
