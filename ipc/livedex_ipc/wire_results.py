"""The types of what the daemon sends: the result of each method, and the params of its notifications.

Invariant: the fields are those of the method table. Nothing is loaded or checked at run time: the daemon builds these
objects, and a client trusts the daemon of its own version. ``F``: a hit, a file or a chunk. The daemon has a struct of
the library there, which is encoded when it leaves; a client has the decoded fields.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from livedex_ipc.memory_entry import MemoryFound

F = TypeVar("F")

ServerState = Literal["starting", "indexing", "ready", "degraded"]
Reason = Literal[
    "deadline", "indexing", "recovering", "rebuilding", "polling", "paused", "store", "unsettled", "unreadable"
]


class Empty(TypedDict):
    """The result of a method that has nothing to say, and the params of one that asks for nothing."""


class PathFields(TypedDict):
    """``path_b64``: the path's bytes in base64, only where they are not UTF-8."""

    path: str
    path_b64: NotRequired[str]


class AnswerWarning(TypedDict):
    code: str
    message: str
    remedy: str


class ErrorObject(TypedDict):
    """The error of a JSON-RPC answer. ``data``: details for programs."""

    code: int
    message: str
    data: NotRequired[dict[str, Any]]


class Refusal(TypedDict):
    """Among the results of several calls, the entry of one that failed."""

    error: ErrorObject


class FreshFields(TypedDict):
    """``reason``: why the answer is not fresh; absent if it is, or if freshness was not requested."""

    fresh: bool
    reason: NotRequired[Reason]


class ScorePart(TypedDict):
    name: str
    value: float


class Ranks(TypedDict):
    """The places of a file in the order by words and in that by meaning; None: not found so."""

    keyword: int | None
    semantic: int | None


class ScoreExplanation(TypedDict):
    total: float
    parts: list[ScorePart]
    ranks: NotRequired[Ranks]


class HitFields(PathFields):
    """A hit on the wire; its fields are explained at ``livedex_indexing.Hit``."""

    root: str
    relative_path: str
    kind: str
    language: str | None
    heading: str | None
    symbol: str | None
    start_line: int
    end_line: int
    start_column: int
    start_byte: int
    end_byte: int
    score: float
    snippet: str
    snippet_line: int
    snippet_byte: int
    highlights: list[tuple[int, int]]
    line: int
    column: int
    text: str
    content_hash: str
    modified_at: str
    metadata: dict[str, Any]
    matches: NotRequired[int]
    also_at: NotRequired[list[str]]
    also_at_b64: NotRequired[list[str | None]]
    also_at_total: NotRequired[int]
    context_before: NotRequired[str]
    context_after: NotRequired[str]
    context_cut: NotRequired[bool]
    explain: NotRequired[ScoreExplanation]


class RemovedHit(PathFields):
    """The place of a hit that a standing query has no longer."""

    root: str
    relative_path: str
    kind: str
    start_line: int
    end_line: int
    content_hash: str


class DidYouMean(TypedDict):
    """The query with its misspelt words corrected; ``applied``: the hits are those of the corrected query."""

    query: str
    applied: bool


class TotalFields(TypedDict):
    hits: int
    files: int


class DocumentsPending(TypedDict):
    """What an answer has while documents are being converted."""

    documents_pending: NotRequired[int]


class SearchExtras(DocumentsPending, MemoryFound):
    """What the result of a search has only if it applies."""

    facets: NotRequired[dict[str, dict[str, int]]]
    total: NotRequired[TotalFields]
    omitted: NotRequired[int]
    did_you_mean: NotRequired[DidYouMean]
    vectors_pending: NotRequired[int]
    next_cursor: NotRequired[str]


class SearchResult(FreshFields, SearchExtras, Generic[F]):
    hits: list[F]
    generation: int
    pending: int
    mode: str
    took_ms: float
    next_offset: int | None
    warnings: list[AnswerWarning]


class SubscribeResult(FreshFields, Generic[F]):
    subscription: int
    hits: list[F]
    generation: int
    pending: int
    warnings: list[AnswerWarning]


class SearchChanged(TypedDict, Generic[F]):
    """The params of ``search/changed``. ``fresh``: all that the first answer lacked was sent; otherwise absent."""

    subscription: int
    added: list[F]
    removed: list[RemovedHit]
    generation: int
    fresh: NotRequired[bool]


class ProgressValue(TypedDict):
    """``total`` is an estimate that may grow; ``path`` is None before the first file."""

    kind: Literal["begin", "report", "end"]
    message: str
    percentage: int
    done: int
    total: int
    done_bytes: int
    total_bytes: int
    path: str | None


class Progress(TypedDict):
    """The params of ``$/progress``."""

    token: str | int
    value: ProgressValue


class Capabilities(TypedDict):
    barrier: Literal["exact", "best_effort"]


class ServerInfo(TypedDict):
    name: str
    version: str
    protocol: int
    pid: int
    config_path: str
    capabilities: Capabilities


class RestartResult(TypedDict):
    ending: bool


class RootFields(PathFields):
    state: str
    watching: str
    files: int
    pending: int
    overflows: int
    last_reconciled: str | None


class RootsResult(TypedDict):
    roots: list[RootFields]


class WorkCounters(TypedDict):
    """Counters since the daemon's start."""

    files_read: int
    bytes_done: int
    files_chunked: int
    files_parsed: int
    chunks_embedded: int


class LatencyFigures(TypedDict):
    """From event to commit; None without a sample."""

    p50_ms: float | None
    p99_ms: float | None
    samples: int


class GatewayFields(TypedDict):
    """A host that texts are sent to, and how much since the start."""

    host: str
    bytes_sent: int


class StatusResult(TypedDict):
    state: ServerState
    version: str
    pid: int
    uptime_s: float
    generation: int
    pending: int
    pending_bytes: int
    files: int
    chunks: int
    skipped: int
    failed: int
    db_path: str
    db_bytes: int
    backend: str
    embedder: str | None
    vectors_pending: int
    documents_pending: int
    gateways: list[GatewayFields]
    work: WorkCounters
    roots: list[RootFields]
    freshness: LatencyFigures
    warnings: list[AnswerWarning]


class SyncResult(TypedDict):
    synced: bool
    pending: int
    generation: int
    waited_ms: float


class FailedFile(PathFields):
    stage: str
    message: str


class IndexRunResult(TypedDict):
    scanned: int
    indexed: int
    unchanged: int
    skipped: int
    removed: int
    failed: list[FailedFile]
    documents_pending: int
    took_ms: float


class DifferenceFields(PathFields):
    what: str


class AuditResult(TypedDict):
    checked: int
    differences: list[DifferenceFields]
    repaired: int


class ProvidedPart(TypedDict):
    """What a plugin registered: ``kind`` is ``backend``, ``knowledge_store``, ``embedder``, ``parser`` or
    ``pipeline``."""

    kind: str
    name: str


class PluginFields(TypedDict):
    """One plugin. ``source`` is its file, its entry point, or ``built-in``; ``reason`` why it is not loaded."""

    name: str
    source: str
    state: Literal["loaded", "refused", "failed"]
    provides: list[ProvidedPart]
    reason: NotRequired[str]


class PluginsResult(TypedDict):
    plugins: list[PluginFields]
