"""Each method of the daemon, as a method of ``Client``: its keyword arguments are the params.

Invariant: made from the table of methods by ``helpers.method_call_source``; a test compares the two. Every argument is
checked by the daemon, which names a wrong one and the nearest known one.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.exchange_results import (
        CheckResult,
        ClaimResult,
        CompleteResult,
        ExchangeStatsResult,
        InspectResult,
        NotifyResult,
        PublishResult,
        ReadResult,
        RenewResult,
        RequestResult,
        WaitResult,
    )
    from livedex_ipc.file_results import (
        ChunkFields,
        DeleteResult,
        ExplainResult,
        FileFields,
        FileFindResult,
        FileListResult,
        FoundFileFields,
        MatchesResult,
        MatchingFile,
        RetrieveResult,
    )
    from livedex_ipc.knowledge_results import (
        AddedResult,
        DeletedResult,
        EntryListResult,
        FoundEntriesResult,
        HotResult,
        KnowledgeStatsResult,
    )
    from livedex_ipc.wire_results import (
        AuditResult,
        Empty,
        HitFields,
        IndexRunResult,
        PluginsResult,
        RestartResult,
        RootsResult,
        SearchResult,
        ServerInfo,
        StatusResult,
        SubscribeResult,
        SyncResult,
    )


class MethodCalls:
    """Every method of the protocol, with the type of its result. ``timeout_s``: seconds; None waits for ever."""

    def call(self, method: str, params: Any = None, *, timeout_s: float | None = None) -> Any:
        """Call any method by its name."""
        raise NotImplementedError

    def server_info(self, *, timeout_s: float | None = None) -> ServerInfo:
        """Who answers, and what it can do."""
        result: ServerInfo = self.call("server/info", timeout_s=timeout_s)
        return result

    def server_ping(self, *, timeout_s: float | None = None) -> Empty:
        """Answers at once."""
        result: Empty = self.call("server/ping", timeout_s=timeout_s)
        return result

    def server_reload(self, *, timeout_s: float | None = None) -> Empty:
        """Reads the configuration again; a broken one is refused with its faults."""
        result: Empty = self.call("server/reload", timeout_s=timeout_s)
        return result

    def server_shutdown(self, *, timeout_s: float | None = None) -> Empty:
        """Ends the daemon."""
        result: Empty = self.call("server/shutdown", timeout_s=timeout_s)
        return result

    def server_restart(self, *, timeout_s: float | None = None) -> RestartResult:
        """Ends the daemon once it is idle, so that the next client starts the version that is installed."""
        result: RestartResult = self.call("server/restart", timeout_s=timeout_s)
        return result

    def search(self, *, timeout_s: float | None = None, **params: object) -> SearchResult[HitFields]:
        """Ranked hits."""
        result: SearchResult[HitFields] = self.call("search", params, timeout_s=timeout_s)
        return result

    def search_files(self, *, timeout_s: float | None = None, **params: object) -> MatchesResult[MatchingFile]:
        """The files that have a line which matches: all of them, page by page."""
        result: MatchesResult[MatchingFile] = self.call("search/files", params, timeout_s=timeout_s)
        return result

    def search_subscribe(self, *, timeout_s: float | None = None, **params: object) -> SubscribeResult[HitFields]:
        """A standing query: its hits now, then `search/changed` notifications of its changes."""
        result: SubscribeResult[HitFields] = self.call("search/subscribe", params, timeout_s=timeout_s)
        return result

    def search_unsubscribe(self, *, timeout_s: float | None = None, **params: object) -> Empty:
        """Ends a standing query of this connection."""
        result: Empty = self.call("search/unsubscribe", params, timeout_s=timeout_s)
        return result

    def sync(self, *, timeout_s: float | None = None, **params: object) -> SyncResult:
        """Returns once the index reflects every write that came before it."""
        result: SyncResult = self.call("sync", params, timeout_s=timeout_s)
        return result

    def status(self, *, timeout_s: float | None = None) -> StatusResult:
        """What is indexed, pending and failing, and how fresh it is."""
        result: StatusResult = self.call("status", timeout_s=timeout_s)
        return result

    def roots_list(self, *, timeout_s: float | None = None) -> RootsResult:
        """The watched folders."""
        result: RootsResult = self.call("roots/list", timeout_s=timeout_s)
        return result

    def roots_add(self, *, timeout_s: float | None = None, **params: object) -> RootsResult:
        """Watches a folder from now on; the configuration file keeps its comments."""
        result: RootsResult = self.call("roots/add", params, timeout_s=timeout_s)
        return result

    def roots_remove(self, *, timeout_s: float | None = None, **params: object) -> RootsResult:
        """Stops watching a folder; its files leave the answers."""
        result: RootsResult = self.call("roots/remove", params, timeout_s=timeout_s)
        return result

    def index_run(self, *, timeout_s: float | None = None, **params: object) -> IndexRunResult:
        """Compares the paths, or all roots, with the index now and applies what differs."""
        result: IndexRunResult = self.call("index/run", params, timeout_s=timeout_s)
        return result

    def index_audit(self, *, timeout_s: float | None = None, **params: object) -> AuditResult:
        """Reads every file and reports where the index differs from the disk."""
        result: AuditResult = self.call("index/audit", params, timeout_s=timeout_s)
        return result

    def files_list(self, *, timeout_s: float | None = None, **params: object) -> FileListResult[FileFields]:
        """Indexed, pending, skipped and failed files, by path."""
        result: FileListResult[FileFields] = self.call("files/list", params, timeout_s=timeout_s)
        return result

    def files_find(self, *, timeout_s: float | None = None, **params: object) -> FileFindResult[FoundFileFields]:
        """Indexed and skipped files by pieces of their paths, as a picker needs them."""
        result: FileFindResult[FoundFileFields] = self.call("files/find", params, timeout_s=timeout_s)
        return result

    def files_explain(self, *, timeout_s: float | None = None, **params: object) -> ExplainResult:
        """Why a path is or is not in the index."""
        result: ExplainResult = self.call("files/explain", params, timeout_s=timeout_s)
        return result

    def files_retrieve(self, *, timeout_s: float | None = None, **params: object) -> RetrieveResult[ChunkFields]:
        """All chunks of one file, or those that touch some lines."""
        result: RetrieveResult[ChunkFields] = self.call("files/retrieve", params, timeout_s=timeout_s)
        return result

    def files_delete(self, *, timeout_s: float | None = None, **params: object) -> DeleteResult:
        """Forgets the files there now, each until its content or path changes."""
        result: DeleteResult = self.call("files/delete", params, timeout_s=timeout_s)
        return result

    def plugins_list(self, *, timeout_s: float | None = None) -> PluginsResult:
        """What plugins there are, and which are loaded; first what livedex provides itself."""
        result: PluginsResult = self.call("plugins/list", timeout_s=timeout_s)
        return result

    def exchange_publish(self, *, timeout_s: float | None = None, **params: object) -> PublishResult:
        """Adds a message to a topic; when it is answered, the message survives a power loss."""
        result: PublishResult = self.call("exchange/publish", params, timeout_s=timeout_s)
        return result

    def exchange_read(self, *, timeout_s: float | None = None, **params: object) -> ReadResult:
        """Messages in the order of the log."""
        result: ReadResult = self.call("exchange/read", params, timeout_s=timeout_s)
        return result

    def exchange_claim(self, *, timeout_s: float | None = None, **params: object) -> ClaimResult:
        """Gives the oldest message that waits in a topic to one worker, until its lease ends."""
        result: ClaimResult = self.call("exchange/claim", params, timeout_s=timeout_s)
        return result

    def exchange_renew(self, *, timeout_s: float | None = None, **params: object) -> RenewResult:
        """Begins the lease of a claim again; 0 seconds give the message back."""
        result: RenewResult = self.call("exchange/renew", params, timeout_s=timeout_s)
        return result

    def exchange_complete(self, *, timeout_s: float | None = None, **params: object) -> CompleteResult:
        """Ends a claim and publishes its follow-up, both or neither."""
        result: CompleteResult = self.call("exchange/complete", params, timeout_s=timeout_s)
        return result

    def exchange_wait(self, *, timeout_s: float | None = None, **params: object) -> WaitResult:
        """Returns once a topic has a message to claim, or a message came after `after_id`."""
        result: WaitResult = self.call("exchange/wait", params, timeout_s=timeout_s)
        return result

    def exchange_check(self, *, timeout_s: float | None = None, **params: object) -> CheckResult:
        """What became of a conversation's first message."""
        result: CheckResult = self.call("exchange/check", params, timeout_s=timeout_s)
        return result

    def exchange_request(self, *, timeout_s: float | None = None, **params: object) -> RequestResult:
        """Publishes a message and waits for the first reply to it."""
        result: RequestResult = self.call("exchange/request", params, timeout_s=timeout_s)
        return result

    def exchange_notify(self, *, timeout_s: float | None = None) -> NotifyResult:
        """The tracked conversations that are finished, each once."""
        result: NotifyResult = self.call("exchange/notify", timeout_s=timeout_s)
        return result

    def exchange_inspect(self, *, timeout_s: float | None = None, **params: object) -> InspectResult:
        """Messages with their claims, as they are stored."""
        result: InspectResult = self.call("exchange/inspect", params, timeout_s=timeout_s)
        return result

    def exchange_stats(self, *, timeout_s: float | None = None) -> ExchangeStatsResult:
        """How many messages each topic has."""
        result: ExchangeStatsResult = self.call("exchange/stats", timeout_s=timeout_s)
        return result

    def knowledge_add(self, *, timeout_s: float | None = None, **params: object) -> AddedResult:
        """Remembers a text; when it is answered, the entry survives a power loss."""
        result: AddedResult = self.call("knowledge/add", params, timeout_s=timeout_s)
        return result

    def knowledge_finding(self, *, timeout_s: float | None = None, **params: object) -> AddedResult:
        """Remembers what an agent found out."""
        result: AddedResult = self.call("knowledge/finding", params, timeout_s=timeout_s)
        return result

    def knowledge_search(self, *, timeout_s: float | None = None, **params: object) -> FoundEntriesResult:
        """The entries that match a query, best first."""
        result: FoundEntriesResult = self.call("knowledge/search", params, timeout_s=timeout_s)
        return result

    def knowledge_list(self, *, timeout_s: float | None = None, **params: object) -> EntryListResult:
        """Entries in the order in which they were added."""
        result: EntryListResult = self.call("knowledge/list", params, timeout_s=timeout_s)
        return result

    def knowledge_hot(self, *, timeout_s: float | None = None, **params: object) -> HotResult:
        """The entries used last and most, as one text."""
        result: HotResult = self.call("knowledge/hot", params, timeout_s=timeout_s)
        return result

    def knowledge_delete(self, *, timeout_s: float | None = None, **params: object) -> DeletedResult:
        """Deletes one entry."""
        result: DeletedResult = self.call("knowledge/delete", params, timeout_s=timeout_s)
        return result

    def knowledge_stats(self, *, timeout_s: float | None = None) -> KnowledgeStatsResult:
        """How many entries each domain has."""
        result: KnowledgeStatsResult = self.call("knowledge/stats", timeout_s=timeout_s)
        return result
