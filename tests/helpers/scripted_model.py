"""A model that follows a script: it calls one tool, then repeats the tool's answer. No network, no account.

It speaks the two HTTP interfaces of the agents' programs, as event streams, on a port of 127.0.0.1.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Event = dict[str, Any]
USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
DETAILS = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}


class ScriptedModel:
    """``requests``: the bodies of all requests so far."""

    def __init__(self, tool: Mapping[str, str], arguments: Mapping[str, object]) -> None:
        """``tool``: the fields that name the tool in a call, such as ``{"name": "mcp__livedex__search"}``."""
        self.tool, self.arguments = dict(tool), json.dumps(arguments)
        self.requests: list[Event] = []
        self.url = ""

    def events(self, path: str, body: Event) -> list[Event]:
        """The answer to one request."""
        self.requests.append(body)
        return self._messages(body) if "messages" in path else self._responses(body)

    def _messages(self, body: Event) -> list[Event]:
        blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        offered = any(tool["name"] == self.tool["name"] for tool in body.get("tools", []))
        if offered and not results:
            block: Event = {"type": "tool_use", "id": "toolu_1", "name": self.tool["name"], "input": {}}
            delta: Event = {"type": "input_json_delta", "partial_json": self.arguments}
            stop = "tool_use"
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": "TOOL SAID " + json.dumps(results)}
            stop = "end_turn"
        message = {"id": "m1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        return [
            {"type": "message_start", "message": {**message, "stop_reason": None, "usage": USAGE}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]

    def _responses(self, body: Event) -> list[Event]:
        done = [item for item in body["input"] if item.get("type") == "function_call_output"]
        if done:
            content = [{"type": "output_text", "text": "TOOL SAID " + json.dumps(done)}]
            item: Event = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        else:
            item = {"type": "function_call", "id": "fc_1", "call_id": "c1", **self.tool, "arguments": self.arguments}
        return [
            {"type": "response.created", "response": {"id": "r1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "r1", "usage": {**USAGE, **DETAILS}}},
        ]


@contextmanager
def serving_model(tool: Mapping[str, str], arguments: Mapping[str, object]) -> Iterator[ScriptedModel]:
    """Serve a model until the end of the block."""
    model = ScriptedModel(tool, arguments)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            if "count_tokens" in self.path:
                self.reply(b'{"input_tokens": 1}', "application/json")
                return
            events = model.events(self.path, body)
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self.reply(text.encode(), "text/event-stream")

        def do_GET(self) -> None:
            self.send_error(404)

        def reply(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the test reads the requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield model
        server.shutdown()
        thread.join()
