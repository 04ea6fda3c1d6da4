"""Answers the requests that passed the gate: files of the page, calls of the daemon, and streams of changes.

Invariant: what the daemon answers is sent as JSON, its errors too, and never as anything that a browser shows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from livedex_ipc.errors import InternalError, InvalidParams, LivedexError
from livedex_ipc.framing import parse
from livedex_ipc.web.change_stream import MOST_SEARCHES, change_lines
from livedex_ipc.web.daemon_calls import DaemonCalls
from livedex_ipc.web.http_connection import Response
from livedex_ipc.web.page_files import page_files
from livedex_ipc.web.request_gate import API, Refused, Request

_JSON = "application/json"
_LINES = "application/x-ndjson"


class PageAnswers:
    """``calls``: of the daemon."""

    def __init__(self, calls: DaemonCalls) -> None:
        self._calls = calls
        self._files = page_files()

    async def answer(self, request: Request, body: bytes) -> Response:
        """Return the response to a request. Raises Refused."""
        if not request.target.startswith(API):
            return self._file(request.target)
        method = request.target.removeprefix(API)
        try:
            params = _object(body)
            if method == "changes":
                return Response(200, _LINES, change_lines(self._calls.connect, _searches(params)))
            answer = {"result": await self._calls.call(method, params)}
        except LivedexError as error:
            answer = {"error": error.to_wire()}
        except Exception as error:  # a bug: the page is told, and the next request is answered
            print(f"livedex web: {type(error).__name__}: {error}", file=sys.stderr)
            answer = {"error": InternalError(f"a fault of livedex itself: {type(error).__name__}").to_wire()}
        return Response(200, _JSON, json.dumps(answer, separators=(",", ":")).encode())

    def _file(self, target: str) -> Response:
        found = self._files.get(target.partition("?")[0])
        if found is None:
            raise Refused(404, "there is no such file")
        return Response(200, found.content_type, found.body)


def _object(body: bytes) -> Mapping[str, object]:
    params = parse(body)
    if not isinstance(params, dict):
        raise InvalidParams("the body of a call is an object")
    return params


def _searches(params: Mapping[str, object]) -> list[Mapping[str, object]]:
    searches = params.get("searches")
    if not isinstance(searches, list) or not all(isinstance(each, dict) for each in searches):
        raise InvalidParams("searches must be a list of objects", {"field": "searches"})
    if not 1 <= len(searches) <= MOST_SEARCHES:
        raise InvalidParams(f"searches must have 1 to {MOST_SEARCHES} entries", {"field": "searches"})
    return searches
