"""Answer ``search/files``: the files that have a line which matches, for lists of paths such as ``livedex search -Fl``.

Invariant: it has the files of which ``search`` in the same mode has lines, and is as fresh.
"""

from __future__ import annotations

import threading
import time

from livedex_daemon.answer.fresh_reads import FreshReads, scope_of
from livedex_daemon.answer.freshness import FreshState, fresh_fields
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.index_file.index_readers import ReadHandle
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.lines.matching_files import MatchingFile
from livedex_indexing.search.line_answer import FilesAnswer
from livedex_ipc.file_results import MatchesResult
from livedex_ipc.request_params import MatchingFilesParams
from livedex_ipc.server.rpc_server import Call, Handler


class MatchingFilesMethod:
    """The method ``search/files``."""

    def __init__(self, reads: FreshReads, health: Health) -> None:
        self._reads = reads
        self._health = health

    def table(self) -> dict[str, Handler]:
        return {"search/files": self.files}

    async def files(self, call: Call, params: MatchingFilesParams) -> MatchesResult[MatchingFile]:
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        timing, before = Timing.of(call, params), self._health.root_warnings()
        found, state = await timing.within(self._found(timing, params))
        return {
            "files": found.files,
            "next_cursor": found.next_cursor,
            "generation": found.generation,
            "pending": state.pending,
            "took_ms": round((time.monotonic() - timing.began) * 1000, 3),
            "warnings": [*self._health.warnings(found.failed, before), *found.warnings],
            **fresh_fields(state),
        }

    async def _found(self, timing: Timing, params: MatchingFilesParams) -> tuple[FilesAnswer, FreshState]:
        request, _ = await self._reads.request(params)
        roots = self._reads.root_paths()

        async def read() -> tuple[FilesAnswer, Stale]:
            ends = timing.query_ends()

            def act(handle: ReadHandle, ended: threading.Event) -> FilesAnswer:
                count, is_ended = params["count"], ended.is_set
                return handle.searcher.matching_files(request, roots, count=count, deadline=ends, cancelled=is_ended)

            found = await self._reads.reading(act, timing)
            return found, found.stale

        return await self._reads.settled(read, timing, scope_of(request))
