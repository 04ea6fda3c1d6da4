"""The Language Server Protocol, 3.17, as far as a server needs it that only knows ``workspace/symbol``. Without I/O.

Invariant: each request is answered, refused or handed on as an ``SymbolSearch``; no message raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from livedex_ipc import __version__
from livedex_ipc.lsp.workspace_symbols import ENCODINGS, Encoding

Message = dict[str, object]
RequestId = int | str

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED, FAILED = -32002, -32800, -32803


class SymbolSearch(NamedTuple):
    """A search that is to be answered."""

    id: RequestId
    query: str


class Cancel(NamedTuple):
    """The client no longer wants the answer of a request."""

    id: RequestId


class End(NamedTuple):
    """The process should end with this exit code."""

    code: int


class Protocol:
    """One client's session."""

    def __init__(self) -> None:
        self._initialized = False
        self._shut_down = False
        self.encoding: Encoding = "utf-16"
        self._everywhere = False  # the client wants no limit
        self.folders: tuple[bytes, ...] = ()  # of the workspace, absolute; searches are limited to them
        self.editor: int | None = None  # the process whose end is the server's; None: only the end of stdin is

    def take(self, message: object) -> Message | SymbolSearch | Cancel | End | None:
        """Return what follows from one message: an answer to send, or something to do; None if nothing does."""
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            is_answer = isinstance(message, dict) and "id" in message and "method" not in message
            return None if is_answer else refusal(None, INVALID_REQUEST, "a message is an object with a method")
        number, params = message.get("id"), message.get("params")
        given: Mapping[str, Any] = params if isinstance(params, dict) else {}
        if "id" not in message:
            return self._notified(message["method"], given)
        if not isinstance(number, int | str) or isinstance(number, bool):
            return refusal(None, INVALID_REQUEST, "an id is a number or a string")
        return self._requested(number, message["method"], given)

    def _notified(self, method: str, params: Mapping[str, Any]) -> Cancel | End | None:
        if method == "exit":
            return End(0 if self._shut_down else 1)
        if method == "workspace/didChangeWorkspaceFolders":
            self._change_folders(params)
        number = params.get("id")
        if method == "$/cancelRequest" and isinstance(number, int | str):
            return Cancel(number)
        return None

    def _change_folders(self, params: Mapping[str, Any]) -> None:
        if self._initialized and not self._everywhere:
            removed = _paths(_at(params, "event", "removed"))
            left = [folder for folder in self.folders if folder not in removed]
            self.folders = tuple(dict.fromkeys([*left, *_paths(_at(params, "event", "added"))]))

    def _requested(self, number: RequestId, method: str, params: Mapping[str, Any]) -> Message | SymbolSearch:
        if self._shut_down:
            return refusal(number, INVALID_REQUEST, "the server was shut down")
        if method == "initialize":
            return self._initialize(number, params)
        if not self._initialized:
            return refusal(number, NOT_INITIALIZED, "send `initialize` first")
        if method == "shutdown":
            self._shut_down = True
            return answer(number, None)
        if method == "workspace/symbol":
            query = params.get("query")
            if not isinstance(query, str):
                return refusal(number, INVALID_PARAMS, "query must be a string")
            return SymbolSearch(number, query)
        return refusal(number, METHOD_NOT_FOUND, f"livedex answers `workspace/symbol`, not {method[:100]!a}")

    def _initialize(self, number: RequestId, params: Mapping[str, Any]) -> Message:
        if self._initialized:
            return refusal(number, INVALID_REQUEST, "the server is initialized")
        self._initialized = True
        offered = _at(params, "capabilities", "general", "positionEncodings")
        if isinstance(offered, list):
            self.encoding = next((each for each in ENCODINGS if each in offered), "utf-16")
        editor = params.get("processId")
        if isinstance(editor, int) and not isinstance(editor, bool) and editor > 0:
            self.editor = editor
        self._everywhere = _at(params, "initializationOptions", "everywhere") is True
        if not self._everywhere:
            self.folders = _folders(params)
        return answer(
            number,
            {
                "capabilities": {
                    "positionEncoding": self.encoding,
                    "workspaceSymbolProvider": True,
                    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
                },
                "serverInfo": {"name": "livedex", "version": __version__},
            },
        )


def answer(number: RequestId, result: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refusal(number: RequestId | None, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def _folders(params: Mapping[str, Any]) -> tuple[bytes, ...]:
    """Return the folders of the workspace, from the newest of the three params that ever named them."""
    listed = params.get("workspaceFolders")
    return _paths(listed if isinstance(listed, list) else [{"uri": params.get("rootUri")}])


def _paths(folders: object) -> tuple[bytes, ...]:
    """Return the paths of a client's folders; none of what is no folder of this machine."""
    listed = folders if isinstance(folders, list) else []
    paths = (_path(each.get("uri")) for each in listed if isinstance(each, dict))
    return tuple(path for path in paths if path is not None)


def _path(uri: object) -> bytes | None:
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
        path = unquote_to_bytes(parts.path)
    except ValueError:  # no URI, or half of a surrogate pair
        return None
    return path if parts.scheme == "file" and path.startswith(b"/") and b"\0" not in path else None


def _at(value: object, *names: str) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
