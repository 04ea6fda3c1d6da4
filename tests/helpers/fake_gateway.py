"""A gateway of embeddings on this machine for tests: a real HTTP server that counts the texts it answers, and fails,
stalls or lies when told to.

Invariant: its vectors are those of `made_model`, so that texts of one meaning are near.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from helpers.made_model import MeaningEmbedder


class FakeGateway:
    """``mode`` is ``ok``, ``fail``, ``busy``, ``stall``, ``nan``, ``zero``, ``short``, ``few``, ``garbage`` or
    ``redirect``; ``statuses`` are answered first, one each. ``asked`` counts each text."""

    def __init__(self) -> None:
        self.mode = "ok"
        self.statuses: list[tuple[int, str | None]] = []
        self.asked: Counter[str] = Counter()
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


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
            if gateway.mode in ("fail", "busy"):
                self.reply(500 if gateway.mode == "fail" else 429, b"no", {})
                return
            if gateway.mode == "redirect":
                self.reply(302, b"", {"Location": gateway.url + "/elsewhere"})
                return
            texts = body.get("input", body.get("texts"))
            self.reply(200, b"[]" if gateway.mode == "garbage" else self.answer(texts).encode(), {})
            gateway.asked.update(texts)

        def answer(self, texts: list[str]) -> str:
            vectors: list[list[Any]] = [*embedder.embed_batch(texts)]
            if gateway.mode == "zero":
                vectors = [[0.0] * len(vector) for vector in vectors]
            if gateway.mode == "short":
                vectors = [vector[1:] for vector in vectors]
            if gateway.mode == "few":
                vectors = vectors[1:]
            if gateway.mode == "nan":
                vectors = [[float("nan"), *vector[1:]] for vector in vectors]
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
