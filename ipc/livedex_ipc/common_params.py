"""Params and fields that many methods have in common, each written once.

Invariant: a param of one name means the same in every method.
"""

from __future__ import annotations

from livedex_ipc.constants import FRESH_TIMEOUT_MS
from livedex_ipc.method_types import Field
from livedex_ipc.params import MAX_INTEGER, Param, path_params

MAX_WAIT_MS = 24 * 60 * 60 * 1000

LIMIT_DOC = "how many at most"
OFFSET = Param("offset", "integer", "how many to leave out first", default=0, minimum=0, maximum=MAX_INTEGER)
FRESH = (
    Param("fresh", "boolean", "wait until every earlier write is reflected", default=True),
    Param(
        "timeout_ms",
        "integer",
        "milliseconds to wait and to work at most",
        default=FRESH_TIMEOUT_MS,
        minimum=0,
        maximum=MAX_WAIT_MS,
    ),
)
STATE = (
    Field("fresh", "boolean", "every write before the request is reflected"),
    Field("reason", "string", "why not fresh", optional=True),
)
SCOPES = path_params("paths", "more of them: any", many=True)
SCOPE = path_params("path", "absolute path of a file or folder: only what lies in it")

SUPERSEDES = Param(
    "supersedes", "string", "ends this connection's running search with the same key", minimum=1, maximum=200
)
