"""Answer ``files/find``: files by pieces of their paths, for pickers that ask with every key.

Invariant: an answer marked ``fresh`` has every file that was there before the request.
"""

from __future__ import annotations

import threading

from livedex_daemon.answer.fresh_reads import FreshReads
from livedex_daemon.answer.freshness import fresh_fields
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.index_file.index_readers import ReadHandle
from livedex_indexing.search.path_finder import FoundFile, FoundFiles
from livedex_ipc.file_results import FileFindResult
from livedex_ipc.request_params import FileFindParams
from livedex_ipc.server.rpc_server import Call, Handler


class FileSearch:
    """The method ``files/find``."""

    def __init__(self, reads: FreshReads, health: Health) -> None:
        self._reads = reads
        self._health = health

    def table(self) -> dict[str, Handler]:
        return {"files/find": self.find}

    async def find(self, call: Call, params: FileFindParams) -> FileFindResult[FoundFile]:
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        timing = Timing.of(call, params)
        return await timing.within(self._found(timing, params))

    async def _found(self, timing: Timing, params: FileFindParams) -> FileFindResult[FoundFile]:
        before = self._health.root_warnings()
        roots, ends = self._reads.root_paths(), timing.query_ends()

        def read(handle: ReadHandle, ended: threading.Event) -> FoundFiles:
            with handle.readers.connection(deadline=ends, cancelled=ended.is_set) as reader:
                return handle.paths.find(
                    reader,
                    params["query"],
                    roots,
                    limit=params["limit"],
                    offset=params["offset"],
                    sort=params["sort"],
                )

        found, state = await self._reads.fresh(lambda: self._reads.reading(read, timing), timing, None)
        warnings = self._health.warnings(before=before)
        return {"files": found.files, "total": found.total, "warnings": warnings, **fresh_fields(state)}
