"""The types of the params that a handler gets: checked, each with its default or None if it was not sent.

Invariant: the fields are the params of the method table, which checks them; nothing is loaded or checked here.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from livedex_ipc.memory_entry import JsonObject
from livedex_ipc.wire_results import Empty

Kind = Literal["markdown_text", "markdown_code", "markdown_table", "markdown_image", "code", "plain"]
Facet = Literal["languages", "kinds", "roots"]
Token = str | int | None

NoParams = Empty


class FreshParams(TypedDict):
    """How long a read may wait for the newest changes."""

    fresh: bool
    timeout_ms: int


class PathParams(TypedDict):
    """One path; ``path_bytes`` reads it."""

    path: str | None
    path_b64: str | None


class PathsParams(TypedDict):
    """Many paths; ``paths_bytes`` reads them."""

    paths: list[str] | None
    paths_b64: list[str] | None


class FilterParams(PathParams, PathsParams, FreshParams):
    """A query with its filters."""

    query: str
    limit: int
    globs: list[str]
    languages: list[str]
    kinds: list[Kind]
    roots: list[str]
    roots_b64: list[str]
    modified_after: str | None
    modified_before: str | None
    supersedes: str | None


class MatchingFilesParams(FilterParams):
    mode: Literal["exact", "regex"]
    sort: Literal["path", "modified"]
    letter_case: Literal["smart", "ignore", "sensitive"]
    whole_words: bool
    count: bool
    cursor: str | None


class QueryParams(FilterParams):
    """What a search and a standing query have in common."""

    group: Literal["chunk", "file"]
    context_lines: int
    max_snippet_chars: int


class SearchParams(QueryParams):
    typing: bool
    offset: int
    mode: Literal["auto", "keyword", "semantic", "hybrid", "exact", "regex"]
    sort: Literal["relevance", "modified", "path"]
    letter_case: Literal["smart", "ignore", "sensitive"]
    whole_words: bool
    cursor: str | None
    max_chars: int | None
    facets: list[Facet]
    total: bool
    explain: bool
    knowledge: bool
    domains: list[str]


class SubscribeParams(QueryParams):
    mode: Literal["auto", "keyword"]


class UnsubscribeParams(TypedDict):
    subscription: int


class SyncParams(TypedDict):
    timeout_ms: int


class RootsAddParams(PathParams):
    ignore: list[str]


class IndexRunParams(PathsParams):
    force: bool
    backend: str | None
    progress_token: Token


class AuditParams(PathsParams):
    repair: bool
    progress_token: Token


class FileListParams(PathParams, PathsParams, FreshParams):
    root: str | None
    root_b64: str | None
    glob: str | None
    status: Literal["indexed", "pending", "skipped", "failed"] | None
    limit: int
    offset: int


class FileFindParams(FreshParams):
    query: str
    sort: Literal["relevance", "modified", "path"]
    limit: int
    offset: int
    supersedes: str | None


class ExplainParams(PathParams, FreshParams):
    pass


class RetrieveParams(PathParams, FreshParams):
    start_line: int | None
    end_line: int | None


class ExchangePublishParams(TypedDict):
    topic: str
    body: str
    parent_id: int | None
    conversation_id: str | None
    producer: str | None
    metadata: JsonObject | None
    idempotency_key: str | None


class ExchangeRequestParams(ExchangePublishParams):
    success_topic: str | None
    failure_topic: str | None
    timeout_ms: int


class ExchangeReadParams(TypedDict):
    topic: str | None
    conversation_id: str | None
    after_id: int
    limit: int


class ExchangeClaimParams(TypedDict):
    topic: str
    worker_group: str | None
    worker_instance_id: str | None
    lease_s: int


class ExchangeRenewParams(TypedDict):
    claim_id: int
    token: str
    lease_s: int


class FollowUp(TypedDict):
    """The message that a completion publishes."""

    topic: str
    body: str
    metadata: NotRequired[JsonObject | None]


class ExchangeCompleteParams(TypedDict):
    claim_id: int
    token: str
    status: Literal["completed", "failed", "timed_out"]
    follow_up: FollowUp | None


class ExchangeWaitParams(TypedDict):
    topic: str | None
    conversation_id: str | None
    after_id: int | None
    timeout_ms: int


class ExchangeCheckParams(TypedDict):
    conversation_id: str


class ExchangeInspectParams(TypedDict):
    id: int | None
    conversation_id: str | None
    topic: str | None


class KnowledgeAddParams(TypedDict):
    content: str
    domain: str
    heading: str | None
    source: str | None
    metadata: JsonObject | None


class KnowledgeFindingParams(TypedDict):
    content: str
    source: str | None
    confidence: str | None
    domain: str
    metadata: JsonObject | None


class KnowledgeSearchParams(TypedDict):
    query: str
    k: int
    domain: str | None
    mode: Literal["auto", "keyword", "semantic", "hybrid"]


class KnowledgeListParams(TypedDict):
    domain: str | None
    kind: Literal["chunk", "finding"] | None
    limit: int
    offset: int


class KnowledgeHotParams(TypedDict):
    max_chars: int


class KnowledgeDeleteParams(TypedDict):
    id: int
