"""Answers the methods of standing queries: takes one in with its first answer, and ends it.

Invariant: from the first answer on no change is missed, and none is told before it.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from livedex_daemon.answer.fresh_reads import Answering, scope_of
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.standing_query import standing_query
from livedex_ipc.server.rpc_server import Call, Handler

if TYPE_CHECKING:
    from livedex_daemon.app import App


class Subscribing:
    def __init__(self, app: App, answering: Answering) -> None:
        self._app = app
        self._answering = answering

    def table(self) -> dict[str, Handler]:
        return {"search/subscribe": self.subscribe, "search/unsubscribe": self.unsubscribe}

    async def subscribe(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        request, path = self._answering.request(params)
        served = self._answering.served()
        query = standing_query(request, path, [served[root_id] for root_id in request.root_ids])
        style = Style(params["max_snippet_chars"], params["context_lines"], False, query.one_each)
        state = await self._answering.freshen(params, scope_of(request), began)
        standing = self._app.standing
        subscription = standing.admit(call, query, style)
        ended = threading.Event()
        try:
            first = await self._answering.reading(
                lambda side: standing.first(subscription, side, params["limit"], ended.is_set), ended
            )
        except BaseException:
            standing.drop(subscription)
            raise
        call.when_answered(partial(standing.open, subscription))
        result = {
            "subscription": subscription.id,
            "hits": first.hits,
            "generation": first.generation,
            "pending": state.pending,
            "warnings": self._app.health.warnings(),
            "fresh": state.fresh,
        }
        return result if state.reason is None else {**result, "reason": state.reason}

    async def unsubscribe(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        standing = self._app.standing
        standing.drop(standing.named(call, params["subscription"]))
        return {}
