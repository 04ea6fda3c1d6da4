"""Serves an editor on stdin and stdout: reads messages on the main thread, searches on another, writes answers whole.

Invariant: nothing but messages is written to stdout; each request is answered; the process ends with its client and
does nothing while no message comes. A daemon that restarts is connected to again.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import sys
import threading
from binascii import b2a_base64
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from livedex_ipc.client import Client, connect_known
from livedex_ipc.errors import LivedexError, OutsideRoots, ParseError, Unavailable
from livedex_ipc.framing import Decoder, FrameError, encode, parse
from livedex_ipc.limits import Limits
from livedex_ipc.lsp.editor_process import when_ended
from livedex_ipc.lsp.lsp_protocol import (
    CANCELLED,
    FAILED,
    INVALID_REQUEST,
    PARSE_ERROR,
    Cancel,
    End,
    Message,
    Protocol,
    RequestId,
    SymbolSearch,
    answer,
    refusal,
)
from livedex_ipc.lsp.workspace_symbols import symbols
from livedex_ipc.params import MAX_ITEMS
from livedex_ipc.thread_start import start_thread

MOST_SYMBOLS = 100
MAX_WAITING = 1000
ANSWER_S = 10.0
READ_BYTES = 64 * 1024


def serve(stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> int:
    """Answer the client on stdin until it ends; without stdin or stdout there is none. Return the exit code."""
    given, taken = stdin or getattr(sys.stdin, "buffer", None), stdout or getattr(sys.stdout, "buffer", None)
    return 1 if given is None or taken is None else Server(given, taken).run()


class _Decided(NamedTuple):
    """Which folders of a workspace are indexed, as long as it and the roots of the index stay the same."""

    folders: tuple[bytes, ...]
    roots: Sequence[object]
    indexed: tuple[bytes, ...]


class Server:
    """One client's server."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._protocol = Protocol()
        self._stdin, self._stdout = stdin, stdout
        self._decoder = Decoder(Limits())
        self._write_lock = threading.Lock()
        self._state = threading.Condition()
        self._waiting: deque[SymbolSearch] = deque()
        self._running: RequestId | None = None
        self._cancelled = False  # the running one
        self._client: Client | None = None
        self._decided: _Decided | None = None

    def run(self) -> int:
        """Read until the client says ``exit`` (0 after ``shutdown``, else 1) or closes its end (1).

        Raise Unavailable without a thread to search on.
        """
        start_thread(self._work, "search")
        descriptor = self._stdin.fileno()
        while data := os.read(descriptor, READ_BYTES):
            for frame in self._decoder.feed(data):
                if isinstance(frame, FrameError):
                    self._write(refusal(None, frame.error.code, frame.error.message))
                    return 1
                end = self._take(frame.body)
                if end is not None:
                    return end.code
        return 1

    def _take(self, body: bytes) -> End | None:
        try:
            message = parse(body)
        except ParseError as error:
            self._write(refusal(None, PARSE_ERROR, error.message))
            return None
        taken = self._protocol.take(message)
        if isinstance(taken, End):
            return taken
        if isinstance(taken, SymbolSearch):
            self._queue(taken)
        elif isinstance(taken, Cancel):
            self._cancel(taken.id)
        elif taken is not None:
            self._write(taken)
            self._follow_editor()
        return None

    def _follow_editor(self) -> None:
        """End with the editor's process, also if another one keeps the end of our stdin open."""
        editor, self._protocol.editor = self._protocol.editor, None
        if editor is not None:
            when_ended(editor, lambda: os._exit(1))

    def _queue(self, wanted: SymbolSearch) -> None:
        with self._state:
            is_full = len(self._waiting) >= MAX_WAITING
            if not is_full:
                self._waiting.append(wanted)
                self._state.notify()
        if is_full:
            self._write(refusal(wanted.id, INVALID_REQUEST, "too many requests wait: read the answers first"))

    def _cancel(self, number: RequestId) -> None:
        with self._state:
            waiting = next((wanted for wanted in self._waiting if wanted.id == number), None)
            if waiting is not None:
                self._waiting.remove(waiting)
            elif self._running == number:
                self._cancelled = True
                if self._client is not None:
                    self._client.interrupt()
        if waiting is not None:
            self._write(refusal(number, CANCELLED, "cancelled"))

    def _work(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: bool(self._waiting))
                wanted = self._waiting.popleft()
                self._running, self._cancelled = wanted.id, False
            reply = self._reply(wanted)
            with self._state:
                self._running = None
            self._write(reply)

    def _reply(self, wanted: SymbolSearch) -> Message:
        try:
            return answer(wanted.id, self._symbols(wanted.query))
        except LivedexError as error:
            if self._cancelled:
                return refusal(wanted.id, CANCELLED, "cancelled")
            return refusal(wanted.id, FAILED, error.message)
        except Exception as error:  # a bug: the editor is told, and the next request is answered
            print(f"livedex lsp: {type(error).__name__}: {error}", file=sys.stderr)
            return refusal(wanted.id, FAILED, f"a fault of livedex itself: {type(error).__name__}")

    def _symbols(self, query: str) -> list[dict[str, object]]:
        """Search as the user types; in the indexed folders of the workspace, else everywhere. Raise LivedexError."""
        folders = _topmost(self._protocol.folders)
        try:
            return self._search(query, self._known(folders))
        except OutsideRoots:
            roots = self._roots()
            self._decided = _Decided(folders, roots, self._indexed(folders))
            return self._search(query, self._decided.indexed)

    def _known(self, folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Return those of the folders that are indexed, if an earlier search has found out; else all of them."""
        known = self._decided
        if known is None or known.folders != folders or known.roots != self._roots():
            return folders
        return known.indexed

    def _roots(self) -> list[object]:
        return [(root["path"], root.get("path_b64")) for root in self._call("roots/list", {})["roots"]]

    def _search(self, query: str, folders: tuple[bytes, ...]) -> list[dict[str, object]]:
        """``folders``: none for all. Raise OutsideRoots if one of them is not indexed."""
        found = [
            self._call("search", {"query": query, "limit": MOST_SYMBOLS, "typing": True, **_paths(some)})["hits"]
            for some in _shares(folders)
        ]
        best_first = heapq.merge(*found, key=lambda hit: -hit["score"])
        return symbols(list(itertools.islice(best_first, MOST_SYMBOLS)), self._protocol.encoding)

    def _indexed(self, folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Return those of the folders that are indexed: where not all of them are, each half is tried by itself."""
        try:
            for some in _shares(folders):
                self._call("files/list", {**_paths(some), "limit": 1, "fresh": False})
        except OutsideRoots:
            half = len(folders) // 2
            return self._indexed(folders[:half]) + self._indexed(folders[half:]) if half else ()
        return folders

    def _call(self, method: str, params: Mapping[str, object]) -> Any:
        """Call a method; once more if the connection is lost, since the daemon may have been restarted."""
        try:
            return self._connected().call(method, params, timeout_s=ANSWER_S)
        except Unavailable as error:
            self._disconnect()
            if not isinstance(error.__cause__, OSError) or self._cancelled:
                raise
            return self._connected().call(method, params, timeout_s=ANSWER_S)

    def _connected(self) -> Client:
        client = self._client or connect_known()
        with self._state:
            self._client = client
        return client

    def _disconnect(self) -> None:
        with self._state:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _write(self, message: Message) -> None:
        data = encode(json.dumps(message, separators=(",", ":")).encode(), "headers")
        try:
            with self._write_lock:
                self._stdout.write(data)
                self._stdout.flush()
        except (OSError, ValueError):
            os._exit(1)  # the client has gone


def _topmost(folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the folders that lie in no other one: no hit is found twice."""
    found: list[bytes] = []
    for folder in sorted(folder.rstrip(b"/") + b"/" for folder in folders):
        if not found or not folder.startswith(found[-1]):
            found.append(folder)
    return tuple(found)


def _shares(folders: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    """Divide the folders: one request names at most ``MAX_ITEMS``."""
    return [folders[start : start + MAX_ITEMS] for start in range(0, len(folders), MAX_ITEMS)] or [()]


def _paths(folders: tuple[bytes, ...]) -> dict[str, object]:
    """Return the params that limit a search to folders."""
    plain, encoded = [], []
    for folder in folders:
        try:
            plain.append(folder.decode())
        except UnicodeDecodeError:
            encoded.append(b2a_base64(folder, newline=False).decode())
    return {"paths": plain, **({"paths_b64": encoded} if encoded else {})}
