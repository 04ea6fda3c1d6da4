"""Answer again when roots were added or removed while an answer was being made.

Invariant: an answer that says ``fresh: true`` was made with one table of roots from the first look to the last. A file
may pass from one root to another: its old root no longer serves it, and its new root was not waited for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from livedex_daemon.watch.root_table import Roots
from livedex_ipc.errors import NotFound, OutsideRoots
from livedex_ipc.server.rpc_server import Call, Handler

_READS = ("search", "search/files", "files/list", "files/find", "files/explain", "files/retrieve")
_TRIES = 5


def answered_by_one_table(methods: Mapping[str, Handler], roots: Roots) -> dict[str, Handler]:
    """Return the methods; those that read files are answered again while the roots change."""
    return {name: _guarded(handler, roots) if name in _READS else handler for name, handler in methods.items()}


def _guarded(handler: Handler, roots: Roots) -> Handler:
    @functools.wraps(handler)
    async def answer(call: Call, params: object) -> object:
        for _ in range(_TRIES):
            table = roots.table
            try:
                result = await handler(call, params)
            except (NotFound, OutsideRoots):
                if roots.table is table:
                    raise
                continue
            if roots.table is table or not (isinstance(result, dict) and result["fresh"]):
                return result
        result = await handler(call, params)
        if isinstance(result, dict) and result["fresh"]:
            result["fresh"] = False
            result.setdefault("reason", "recovering")  # in the answer of `why` it is the path's
        return result

    return answer
