"""Answer the methods of standing queries: start one with its first answer, and end it.

Invariant: no change after the first answer is missed, and no change is reported before it. A client whose first answer
was not fresh is told when it is.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import Final

import apsw

from livedex_daemon.answer.fresh_reads import FreshReads, scope_of
from livedex_daemon.answer.freshness import fresh_fields
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.subscriptions.notifier import ChangeNotifier, FirstAnswer
from livedex_daemon.subscriptions.subscription import Subscription
from livedex_daemon.watch.backlog import Scope
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.search.standing_query import standing_query
from livedex_ipc.errors import LivedexError
from livedex_ipc.request_params import SubscribeParams, UnsubscribeParams
from livedex_ipc.server.rpc_server import Call, Handler
from livedex_ipc.wire_results import Empty, SubscribeResult

log = logging.getLogger(__name__)

WAIT_S: Final = 1.0  # for what the first answer lacks, at a time: a wait looks about twenty times a second
LOOK_S: Final = 0.2  # before the next look at what cannot be waited for; doubled each time …
LOOK_MAX_S: Final = 4.0  # … up to this


class SubscriptionMethods:
    def __init__(self, reads: FreshReads, notifier: ChangeNotifier, health: Health) -> None:
        self._reads = reads
        self._notifier = notifier
        self._health = health
        self._tasks: set[asyncio.Task[None]] = set()

    def table(self) -> dict[str, Handler]:
        return {"search/subscribe": self.subscribe, "search/unsubscribe": self.unsubscribe}

    async def subscribe(self, call: Call, params: SubscribeParams) -> SubscribeResult[Hit]:
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        timing = Timing.of(call, params)
        return await timing.within(self._subscribe(call, timing, params))

    async def _subscribe(self, call: Call, timing: Timing, params: SubscribeParams) -> SubscribeResult[Hit]:
        request, paths = await self._reads.request(params)
        roots = self._reads.root_paths()
        query = standing_query(request, paths, [roots[root_id] for root_id in request.root_ids])
        style = Style(params["max_snippet_chars"], params["context_lines"], False, query.group_by_file)
        notifier = self._notifier
        subscription = notifier.subscribe(call, query, style)

        async def read() -> tuple[FirstAnswer, Stale]:
            ends = timing.query_ends()
            first = await self._reads.reading(
                lambda handle, ended: notifier.first(
                    subscription, handle, params["limit"], deadline=ends, cancelled=ended.is_set
                ),
                timing,
            )
            return first, first.stale

        try:
            first, state = await self._reads.settled(read, timing, scope_of(request))
        except BaseException:
            notifier.drop(subscription)
            raise
        call.when_answered(partial(notifier.open, subscription))
        if timing.fresh and not state.fresh:
            task = asyncio.get_running_loop().create_task(self._report_when_fresh(subscription, scope_of(request)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return {
            "subscription": subscription.id,
            "hits": first.hits,
            "generation": first.generation,
            "pending": state.pending,
            "warnings": self._health.warnings(),
            **fresh_fields(state),
        }

    async def _report_when_fresh(self, subscription: Subscription, scope: Scope) -> None:
        pause = LOOK_S
        while not subscription.closed:
            began = time.monotonic()
            timing = Timing(subscription.call.connection, began, began + WAIT_S, fresh=True)
            try:
                state = await self._reads.freshen(timing, scope)
            except (LivedexError, apsw.Error) as error:  # it may pass
                log.debug("freshness_unknown", extra={"error": type(error).__name__})
            else:
                if state.fresh:  # the notifier knows of each commit before a wait for it ends
                    self._notifier.mark_fresh(subscription)
                    return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LOOK_MAX_S)

    async def unsubscribe(self, call: Call, params: UnsubscribeParams) -> Empty:
        notifier = self._notifier
        notifier.drop(notifier.find(call, params["subscription"]))
        return {}
