"""A gateway of embeddings on this machine for tests: a real HTTP server that counts the texts it answers, and fails,
stalls or lies when told to.

Invariant: its vectors are those of `made_model`, so that texts of one meaning are near.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from helpers.made_model import MeaningEmbedder


class FakeGateway:
    """``mode`` is ``ok``, ``fail``, ``busy``, ``stall``, ``nan``, ``zero``, ``short``, ``few``, ``garbage``,
    ``trickle`` or ``redirect``; ``statuses`` are answered first, one each. ``asked`` counts each text. The models
    ``reversed`` and ``half`` give the vectors in reverse order, and the first half of each; every other model gives
    them whole."""

    def __init__(self) -> None:
        self.mode = "ok"
        self.statuses: list[tuple[int, str | None]] = []
        self.asked: Counter[str] = Counter()
        self.asked_of: Counter[tuple[str, str]] = Counter()  # by model and text
        self.allowed: int | None = None  # texts in requests of several; then these wait
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.heard_out = False  # somebody took a whole head in mode ``trickle``
        self.released = threading.Event()
        self._more = threading.Condition()
        self._closed = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def admit(self, texts: int) -> bool:
        """Wait until so many more texts may be embedded. Return False at the end."""
        with self._more:
            self._more.wait_for(lambda: self._closed or self.allowed is None or self.allowed >= texts)
            if self.allowed is not None:
                self.allowed -= texts
            return not self._closed

    def allow(self, texts: int | None) -> None:
        """Let so many texts be embedded, None: any number."""
        with self._more:
            self.allowed = texts
            self._more.notify_all()

    def close(self) -> None:
        with self._more:
            self._closed = True
            self.released.set()
            self._more.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def altered(right: list[list[float]], mode: str, model: str) -> list[list[Any]]:
    """Return the vectors as a gateway in this mode gives them with this model."""
    vectors: list[list[Any]] = [*right]
    if model == "reversed":
        vectors = [vector[::-1] for vector in vectors]
    if model == "half":
        vectors = [vector[: len(vector) // 2] for vector in vectors]
    if mode == "zero":
        vectors = [[0.0] * len(vector) for vector in vectors]
    if mode == "short":
        vectors = [vector[1:] for vector in vectors]
    if mode == "few":
        vectors = vectors[1:]
    if mode == "nan":
        vectors = [[float("nan"), *vector[1:]] for vector in vectors]
    return vectors


def trickle(handler: BaseHTTPRequestHandler, gateway: FakeGateway) -> None:
    """Send a head byte by byte, for as long as somebody listens."""
    handler.close_connection = True
    with suppress(OSError):
        for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: yes\r\n" * 12:
            handler.wfile.write(bytes([byte]))
            if gateway.released.wait(0.05):
                return
        gateway.heard_out = True


def _handler(gateway: FakeGateway) -> type[BaseHTTPRequestHandler]:
    embedder = MeaningEmbedder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            gateway.requests.append((self.path, body, self.headers.get("Authorization")))
            if gateway.statuses:
                status, wait = gateway.statuses.pop(0)
                self.reply(status, b"{}", {"Retry-After": wait} if wait is not None else {})
                return
            if gateway.mode == "stall":
                gateway.released.wait(60)
            if gateway.mode == "trickle":
                trickle(self, gateway)
                return
            if gateway.mode in ("fail", "busy"):
                self.reply(500 if gateway.mode == "fail" else 429, b"no", {})
                return
            if gateway.mode == "redirect":
                self.reply(302, b"", {"Location": gateway.url + "/elsewhere"})
                return
            texts = body.get("input", body.get("texts"))
            if len(texts) > 1 and not gateway.admit(len(texts)):
                return
            answer = b"[]" if gateway.mode == "garbage" else self.answer(texts, body["model"]).encode()
            self.reply(200, answer, {})
            gateway.asked.update(texts)
            gateway.asked_of.update((body["model"], text) for text in texts)

        def answer(self, texts: list[str], model: str) -> str:
            vectors = altered(embedder.embed_batch(texts), gateway.mode, model)
            if self.path.endswith("/api/embed"):
                return json.dumps({"embeddings": vectors})
            if self.path.endswith("/embed"):
                return json.dumps({"embeddings": {"float": vectors}})
            items = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
            return json.dumps({"data": items[::-1], "usage": {"total_tokens": 1}})

        def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            return

    return Handler
