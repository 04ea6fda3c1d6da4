"""Searches agent memory for a search of files that asks for it.

Invariant: a store that fails or is slow costs a warning and a part of the time, never the hits.
"""

from __future__ import annotations

import asyncio
from typing import Final

from livedex_daemon.answer.knowledge_answers import KnowledgeThread
from livedex_daemon.answer.memory_request import MemoryRequest, searched
from livedex_daemon.answer.request_timing import Timing
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.search.meaning import EMBED_S, Semantics
from livedex_ipc.constants import LINE_MODES
from livedex_ipc.errors import Unavailable
from livedex_ipc.memory_entry import MemoryFound
from livedex_ipc.request_params import SearchParams
from livedex_ipc.wire_results import AnswerWarning

MOST_ENTRIES: Final = 20  # of at most 256 KiB each
_SHARE: Final = 0.25  # of the time that a search has
_REMEDY: Final = "`livedex knowledge stats` tries it again"


class MemorySearch:
    """For the event loop's thread."""

    def __init__(self, memory: KnowledgeThread, semantics: Semantics) -> None:
        self._memory = memory
        self._semantics = semantics

    async def found(self, params: SearchParams, timing: Timing) -> tuple[MemoryFound, list[AnswerWarning]]:
        """Return the entries, on the first page of an answer that is to have some, and what went wrong."""
        query, domains, limit = params["query"], tuple(params["domains"]) or None, min(params["limit"], MOST_ENTRIES)
        if not (params["knowledge"] or domains):
            return {}, []
        if params["offset"]:
            return {"knowledge": []}, []
        seconds = (timing.due - timing.began) * _SHARE
        remedy, mode = _REMEDY, "keyword" if params["mode"] in LINE_MODES else params["mode"]
        wanted, patience = MemoryRequest(query, limit, domains, mode), min(EMBED_S, seconds / 2)
        search = self._memory.run(lambda store: searched(store, wanted, self._semantics, patience))
        try:
            found = await asyncio.wait_for(search, seconds)
            return {"knowledge": found.entries}, [*found.warnings]
        except TimeoutError:
            reason = f"agent memory did not answer within {seconds:.1f} s"
        except Unavailable as fault:
            reason, remedy = str(fault), str((fault.data or {}).get("remedy", _REMEDY))
        return {"knowledge": []}, [warning("knowledge_unavailable", reason, remedy)]
