"""The Model Context Protocol without a process: a message in, an answer, a call or nothing out; both eras.

A client of the modern era (2026-07-28) names the protocol's version in each request; one of the legacy era begins with
``initialize``. Invariant: nothing is kept between messages but the version that the last ``initialize`` agreed on, and
each request has exactly one answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeGuard

from livedex_ipc import __version__
from livedex_ipc.mcp.agent_guide import instructions
from livedex_ipc.mcp.mcp_tools import Tool
from livedex_ipc.params import nearest, shown

MODERN: Final = ("2026-07-28",)
LEGACY: Final = ("2025-11-25", "2025-06-18", "2024-11-05")  # the newest first
# Servers of 2025-03-26 must take batches. Its clients know the version before it, and not always the one after it.
_INSTEAD: Final = {"2025-03-26": "2024-11-05"}
_WITHOUT_LINKS: Final = "2024-11-05"  # its clients, and those of 2025-03-26, refuse a whole answer that has a link

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION = -32022

_META = "io.modelcontextprotocol/"
_SERVER = {"name": "livedex", "title": "livedex", "version": __version__}
_CACHED = {"ttlMs": 3_600_000, "cacheScope": "private"}  # the tools change with the version only

_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,256}")\s*'
# Only of the message itself: before any member that may contain others, or before the brace that ends it.
_FIRST_ID: Final = re.compile(rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,256}"\s*,){0,2}\s*' + _ID + rb"[,}]")
_LAST_ID: Final = re.compile(rb"[,{]\s*" + _ID + rb"\}\s*\Z")

RequestId = str | int
Message = dict[str, object]


class Call(NamedTuple):
    """A call of a tool, to be run. ``progress_token`` None: no progress is wanted. ``links``: the client knows links to
    files."""

    id: RequestId
    tool: Tool
    arguments: Message
    progress_token: RequestId | None
    modern: bool
    links: bool


class Cancel(NamedTuple):
    """The answer to request ``id`` is no longer wanted."""

    id: RequestId


class _RefusedError(Exception):
    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class Protocol:
    """Answers messages for one set of tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._instructions = instructions(tools)
        self._links = True

    def take(self, line: bytes) -> Message | Call | Cancel | None:
        """Return what a line of a client leads to; None if nothing is to be done."""
        try:
            message = json.loads(line, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return refusal(None, PARSE_ERROR, "not one JSON text in UTF-8 on one line")
        if not isinstance(message, dict):
            return refusal(None, INVALID_REQUEST, "a message is a JSON object; batches are not part of the protocol")
        if "method" not in message and ("result" in message or "error" in message):
            return None  # an answer: this server asks nothing
        if "id" not in message:
            return _cancel(message) if isinstance(message.get("method"), str) else _no_request(None)
        number = message["id"]
        if not is_id(number) or not isinstance(message.get("method"), str) or message.get("jsonrpc") != "2.0":
            return _no_request(number if is_id(number) else None)
        try:
            return self._request(number, message["method"], _params(message))
        except _RefusedError as error:
            return refusal(number, error.code, str(error), error.data)

    def _request(self, number: RequestId, method: str, params: Message) -> Message | Call:
        meta = params.get("_meta", {})
        if not isinstance(meta, dict):
            raise _RefusedError(INVALID_PARAMS, "_meta must be an object")
        modern = _is_modern(meta, method)
        if method == "tools/call":
            return self._call(number, params, meta, modern)
        return answer(number, self._result(method, params), modern=modern)

    def _result(self, method: str, params: Message) -> Message:
        if method == "initialize":
            return self._initialized(params)
        if method == "server/discover":
            versions = [*MODERN, *LEGACY]
            about = {"supportedVersions": versions, "capabilities": {"tools": {}}, "serverInfo": _SERVER}
            return {**about, "instructions": self._instructions, **_CACHED}
        if method == "ping":
            return {}
        if method == "tools/list":
            if params.get("cursor") is not None:
                raise _RefusedError(INVALID_PARAMS, "no such cursor: the tools are on one page")
            return {"tools": [tool.definition() for tool in self._tools.values()], **_CACHED}
        raise _RefusedError(NO_METHOD, f"no method {shown(method)}: this server has tools only")

    def _initialized(self, params: Message) -> Message:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise _RefusedError(INVALID_PARAMS, "initialize needs protocolVersion, a string")
        version = wanted if wanted in LEGACY else _INSTEAD.get(wanted, LEGACY[0])
        self._links = version != _WITHOUT_LINKS
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": _SERVER,
            "instructions": self._instructions,
        }

    def _call(self, number: RequestId, params: Message, meta: Message, modern: bool) -> Call:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str):
            raise _RefusedError(INVALID_PARAMS, "tools/call needs name, a string")
        tool = self._tools.get(name)
        if tool is None:
            like = nearest(name, self._tools)
            hint = f"; did you mean {like}?" if like else f"; there are: {', '.join(self._tools)}"
            raise _RefusedError(INVALID_PARAMS, f"no tool {shown(name)}{hint}")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise _RefusedError(INVALID_PARAMS, "arguments must be an object")
        token = meta.get("progressToken")
        return Call(number, tool, arguments, token if is_id(token) else None, modern, modern or self._links)


def answer(number: RequestId, result: Message, *, modern: bool) -> Message:
    """Return the answer to a request; in the modern era it says that it is complete, and who answers."""
    if modern:
        result = {"resultType": "complete", **result, "_meta": {_META + "serverInfo": _SERVER}}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refusal(number: RequestId | None, code: int, message: str, data: object = None) -> Message:
    """Return an error; ``number`` None: of a message whose id cannot be read."""
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def progress(token: RequestId, done: float, total: float | None, message: str) -> Message:
    """Return the notification of how far a call has come."""
    params = {"progressToken": token, "progress": done, "message": message}
    if total is not None:
        params["total"] = total
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def id_at_an_end(head: bytes, tail: bytes) -> RequestId | None:
    """Return the id of a message by its first and last bytes; None if it is not found there, where clients write it."""
    found = _FIRST_ID.match(head) or _LAST_ID.search(tail)
    try:
        number: RequestId | None = json.loads(found[1]) if found else None
    except ValueError:  # not UTF-8, or a number that begins with 0
        return None
    return number


def is_id(value: object) -> TypeGuard[RequestId]:
    """Return whether a value may be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_modern(meta: Mapping[str, object], method: str) -> bool:
    """Return whether a request is of the modern era. Refuse a version that is unknown."""
    version = meta.get(_META + "protocolVersion")
    if version is None:
        return method == "server/discover"  # legacy clients do not know it
    if version not in MODERN:
        supported = [*MODERN, *LEGACY]
        data = {"supported": supported, "requested": version}
        raise _RefusedError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta.get(_META + "clientCapabilities"), dict):
        raise _RefusedError(INVALID_PARAMS, f"_meta needs {_META}clientCapabilities, an object")
    return True


def _params(message: Message) -> Message:
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise _RefusedError(INVALID_PARAMS, "params must be an object")
    return params


def _cancel(message: Message) -> Cancel | None:
    """Return what a notification leads to; unknown ones are ignored."""
    params = message.get("params")
    if message["method"] != "notifications/cancelled" or not isinstance(params, dict):
        return None
    number = params.get("requestId")
    return Cancel(number) if is_id(number) else None


def _no_request(number: RequestId | None) -> Message:
    return refusal(
        number, INVALID_REQUEST, 'a request has "jsonrpc": "2.0", a method and an id: a string or an integer'
    )


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")
