"""Runs one tool: checks its arguments, asks the daemon, and makes the answer.

Invariant: whatever the arguments are and whatever happens to the daemon, the outcome is an answer; what the model can
put right is an answer with ``isError`` that names the argument and the remedy.
"""

from __future__ import annotations

import os
import threading
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from livedex_ipc.chunk_lines import within_lines
from livedex_ipc.client import Client, connect_known
from livedex_ipc.errors import InvalidParams, LivedexError, OutsideRoots, Unavailable
from livedex_ipc.mcp.answer_budget import Answer, as_text, shortened
from livedex_ipc.mcp.mcp_tools import Tool
from livedex_ipc.methods import METHODS
from livedex_ipc.params import check

OnProgress = Callable[[float, float | None, str], None]

_ANSWER_S = 70.0  # a search works for at most 60 s
_LONG_S = 24 * 3600.0  # a run over everything
_LINKS = 10  # links to files in one answer
_IDLE = 4  # connections kept
_ERROR_CHARS = 2_000  # of a message, which may repeat an argument


class CancelledCall(Exception):
    """The agent no longer wants the answer."""


class Connections:
    """Connections to the daemon, kept between calls. Use it from any thread."""

    def __init__(self) -> None:
        self._idle: list[Client] = []
        self._lock = threading.Lock()

    def take(self, *, fresh: bool = False) -> Client:
        """Return a connection; ``fresh``: a new one. The daemon is started if none runs. Raise LivedexError."""
        with self._lock:
            if fresh:
                self._idle.clear()
            elif self._idle:
                return self._idle.pop()
        return connect_known()

    def put_back(self, client: Client) -> None:
        """Keep a connection on which nothing is under way."""
        with self._lock:
            if len(self._idle) < _IDLE:
                self._idle.append(client)
                return
        client.close()


class ToolCall:
    """One call of a tool. ``run`` is for one thread, ``cancel`` for any other."""

    def __init__(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        connections: Connections,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._connections = connections
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """End the call; a search ends in the daemon too, a run of `index` goes on there."""
        with self._lock:
            self._cancelled = True
            if self._client is not None:
                self._client.interrupt()

    def run(self, *, links: bool) -> Answer:
        """Return the result of ``tools/call``, with links to files if the client knows them. Raise CancelledCall."""
        try:
            params = self._params()
            result = self._result(params)
            if self._tool.method == "files/retrieve":
                result = within_lines(result, params)
            answer = shortened(self._tool, self._arguments, result)
            text = {"type": "text", "text": as_text(answer)}
            content = [text, *file_links(answer.get("hits"))] if links else [text]
            return {"content": content, "structuredContent": answer, "isError": False}
        except LivedexError as error:
            if self._cancelled:
                raise CancelledCall from error
            return failure(_advice(error))

    def _params(self) -> dict[str, object]:
        """Return the method's params. Raise InvalidParams."""
        method = METHODS[self._tool.method]
        known = {name: method.params[name] for name in self._tool.params}
        given = {
            name: _meant(known[name].type, value) if name in known else value for name, value in self._arguments.items()
        }
        check(self._tool.name, known, given)
        return {**self._tool.defaults, **given}

    def _result(self, params: Mapping[str, object]) -> Any:
        """Call the method. Try once more if the connection is lost: the daemon may have been restarted.

        What would then be done twice is not tried again.
        """
        try:
            return self._call(params, self._connections.take())
        except Unavailable as error:
            once = self._tool.changes == "more" and "idempotency_key" not in params
            if once or not isinstance(error.__cause__, OSError) or self._cancelled:
                raise
        return self._call(params, self._connections.take(fresh=True))

    def _call(self, params: Mapping[str, object], client: Client) -> Any:
        with self._lock:
            if self._cancelled:
                self._connections.put_back(client)
                raise CancelledCall
            self._client = client
        follow = "progress_token" in METHODS[self._tool.method].params
        try:
            result = client.call(
                self._tool.method,
                params,
                timeout_s=_LONG_S if follow else _ANSWER_S,
                on_progress=self._progress if follow and self._on_progress is not None else None,
            )
        except LivedexError:
            client.close()
            raise
        finally:
            with self._lock:
                self._client = None
        self._connections.put_back(client)
        return result

    def _progress(self, value: Mapping[str, Any]) -> None:
        if self._on_progress is not None:
            self._on_progress(value["done"], value["total"], value["message"])


def failure(message: str) -> Answer:
    """Return the result of a call that the model may put right."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def file_links(hits: object) -> list[dict[str, str]]:
    """Return links to the files of the first hits, each file once."""
    if not isinstance(hits, list):
        return []
    files = {_uri(hit): os.path.basename(hit["path"]) for hit in hits}
    return [{"type": "resource_link", "uri": uri, "name": name} for uri, name in list(files.items())[:_LINKS]]


def _uri(hit: Mapping[str, str]) -> str:
    path = hit["path"].encode("utf-8", "replace") if "path_b64" not in hit else a2b_base64(hit["path_b64"])
    return "file://" + quote(path)


def working_folder() -> str:
    """Return the folder of relative paths: the host's project, else where this process runs."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()


def _meant(kind: str, value: object) -> object:
    """Return a path, or each of a list of paths, as an absolute one; 5.0 as 5, which are one integer to JSON Schema."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "path" and isinstance(value, str):
        return _absolute(value)
    if kind == "paths" and isinstance(value, list):
        return [_absolute(path) if isinstance(path, str) else path for path in value]
    return value


def _absolute(path: str) -> str:
    if not path or "\0" in path:
        return path  # refused by the check
    try:
        return os.path.normpath(os.path.join(working_folder(), os.path.expanduser(path)))
    except OSError as error:
        raise InvalidParams(f"{path} is relative, and the working folder is gone: give an absolute path") from error


def _advice(error: LivedexError) -> str:
    """Return an error in words that help a model."""
    remedy = ""
    if isinstance(error, OutsideRoots):
        remedy = "; `status` names the indexed folders; the user adds one with `livedex roots add FOLDER`"
    elif isinstance(error.data, dict) and isinstance(error.data.get("remedy"), str):
        remedy = f"; {error.data['remedy']}"
    message = error.message if len(error.message) <= _ERROR_CHARS else error.message[:_ERROR_CHARS] + "…"
    return message + remedy
