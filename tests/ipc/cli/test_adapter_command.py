"""The ready-made plugins: their requests to a model's server, their use of its answer, and programs they wrap."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from helpers.support import LIVEDEX, TRACEBACK, Home

OLLAMA = {"message": {"role": "assistant", "content": "A żółw."}}
OPENAI = {"choices": [{"message": {"role": "assistant", "content": "A żółw."}}]}


class Received:
    """The requests to a server of models, and its answer."""

    def __init__(self, status: int, answer: bytes, lost: int) -> None:
        self.status = status
        self.lost = lost  # bytes of the answer that do not come
        self.answer = answer
        self.requests: list[tuple[str, str | None, Any]] = []


@contextmanager
def model_server(answer: object, status: int = 200, *, lost: int = 0) -> Iterator[tuple[str, Received]]:
    """Yield the address of a server on this machine, and what it received."""
    received = Received(status, answer if isinstance(answer, bytes) else json.dumps(answer).encode(), lost)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.requests.append((self.path, self.headers["Authorization"], content))
            self.send_response(received.status)
            self.send_header("Location", "/elsewhere")
            if received.lost:
                self.send_header("Content-Length", str(len(received.answer)))
            self.end_headers()
            self.wfile.write(received.answer[: len(received.answer) - received.lost])

        def log_message(self, format: str, *words: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


def test_ollama(home: Home) -> None:
    with model_server(OLLAMA) as (url, received):
        done = home.run("exchange", "ollama", "tiny", "--url", url, "--system", "Be short.", stdin="What is it?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "A żółw.\n", "")
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "What is it?"}]
    assert received.requests == [("/api/chat", None, {"model": "tiny", "messages": messages, "stream": False})]


def test_openai(home: Home) -> None:
    with model_server(OPENAI) as (url, received):
        words = ["exchange", "openai", "tiny", "--url", f"{url}/v1/", "--api-key-env", "MODEL_KEY"]
        done = home.run(*words, stdin="What is it?", env={"MODEL_KEY": "secret"})
        assert (done.returncode, done.stdout, done.stderr) == (0, "A żółw.\n", "")
        assert home.run("--json", *words[:-2], stdin="x").stdout == '{"text":"A żółw."}\n'
    messages = [{"role": "user", "content": "What is it?"}]
    assert received.requests[0] == ("/v1/chat/completions", "Bearer secret", {"model": "tiny", "messages": messages})
    assert received.requests[1][1] is None


@pytest.mark.parametrize(
    ("status", "answer", "code"),
    [
        (503, b"loading", 75),
        (429, b"slowly", 75),
        (404, b"no such model", 4),
        (401, b"who are you", 4),
        (302, b"", 4),
        (200, b"not JSON", 4),
        (200, b"[" * 100_000, 4),
        (500, b"\x1b]0;title\x07", 75),
        (200, {"choices": []}, 4),
        (200, {"choices": [{"message": {"content": None}}]}, 4),
        (200, [], 4),
    ],
)
def test_what_goes_wrong_is_said(home: Home, status: int, answer: object, code: int) -> None:
    with model_server(answer, status) as (url, received):
        done = home.run("exchange", "openai", "tiny", "--url", url, stdin="x")
    assert (done.returncode, done.stdout) == (code, "")
    assert url in done.stderr
    assert TRACEBACK not in done.stderr and "\x1b" not in done.stderr
    assert len(received.requests) == 1


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_half_a_character_of_an_answer_that_was_cut_is_replaced(home: Home, form: tuple[str, ...]) -> None:
    with model_server({"message": {"content": "a walrus \ud83e"}}) as (url, _):
        done = home.run(*form, "exchange", "ollama", "tiny", "--url", url, stdin="x")
    assert (done.returncode, done.stdout) == (0, '{"text":"a walrus ?"}\n' if form else "a walrus ?\n")


def test_a_server_that_is_not_there_may_come_back(home: Home) -> None:
    with model_server(OPENAI) as (url, _):
        pass
    done = home.run("exchange", "ollama", "tiny", "--url", url, stdin="x")
    assert done.returncode == 75
    assert "cannot be reached" in done.stderr


@pytest.mark.parametrize("lost", [1, len(json.dumps(OLLAMA))])
def test_a_server_that_was_stopped_while_it_answered_may_come_back(home: Home, lost: int) -> None:
    with model_server(OLLAMA, lost=lost) as (url, _):
        done = home.run("exchange", "ollama", "tiny", "--url", url, stdin="x")
    assert (done.returncode, done.stdout) == (75, "")
    assert "ended in the middle of its answer" in done.stderr


@pytest.mark.parametrize(("status", "lost", "code"), [(503, 0, 75), (200, 1, 75), (404, 0, 4)])
def test_what_goes_wrong_is_an_object_where_objects_are_wanted(home: Home, status: int, lost: int, code: int) -> None:
    with model_server(OLLAMA, status, lost=lost) as (url, _):
        done = home.run("--json", "exchange", "ollama", "tiny", "--url", url, stdin="x")
    assert (done.returncode, done.stdout) == (code, "")
    error = json.loads(done.stderr)["error"]
    assert error["code"] == 4 and error["message"].startswith(f"{url}/api/chat ")


@pytest.mark.parametrize(
    "words",
    [
        ["openai", "tiny"],
        ["openai", "tiny", "--url", "file:///etc/passwd"],
        ["openai", "tiny", "--url", "http://[x"],
        ["openai", "tiny", "--url", "http://localhost:1/a b"],
        ["ollama", "tiny", "--url", "http://localhost:99999"],
        ["ollama", "tiny", "--url", "http://a..b"],
        ["ollama", "tiny", "--url", "http://localhost:1/\udcff"],
        ["openai", "tiny", "--url", "http://localhost:1", "--api-key-env", "NOT_SET"],
        ["ollama"],
    ],
)
def test_wrong_usage(home: Home, words: list[str]) -> None:
    done = home.run("exchange", *words, stdin="x")
    assert done.returncode == 2
    assert TRACEBACK not in done.stderr


@pytest.mark.parametrize("key", ["secret-key-1\n", "secret-key-1ż"])
def test_a_key_that_no_header_can_have_is_named_without_it(home: Home, key: str) -> None:
    words = ["exchange", "openai", "tiny", "--url", "http://localhost:1", "--api-key-env", "MODEL_KEY"]
    done = home.run(*words, stdin="x", env={"MODEL_KEY": key})
    assert done.returncode == 2
    assert "the variable MODEL_KEY has a line break" in done.stderr and "secret" not in done.stderr


def test_a_program_gets_its_input_as_it_wants_it(home: Home) -> None:
    words = ["sh", "-c", 'cat "$1"; printf " %s " "$2"; cat', "sh", "{file}", "<{body}>"]
    done = home.run("exchange", "wrap", "--", *words, stdin="żółw; rm -rf")
    assert (done.returncode, done.stdout) == (0, "żółw; rm -rf <żółw; rm -rf> żółw; rm -rf")
    assert home.run("exchange", "wrap", "--", "sh", "-c", "exit 7").returncode == 7
    assert home.run("exchange", "wrap", "--", "no-such-program").returncode == 4


def test_a_model_answers_messages(home: Home) -> None:
    with model_server(OLLAMA) as (url, received):
        for text in ("one", "two"):
            assert home.run("exchange", "publish", "ask", text).returncode == 0
        plugin = f"{LIVEDEX} exchange ollama tiny --url {url}"
        assert home.run("exchange", "run", "ask", "--plugin", plugin, "--drain").returncode == 0
    assert [request[2]["messages"][0]["content"] for request in received.requests] == ["one", "two"]
    messages = home.run_json("exchange", "read", "ask.completed")["messages"]
    assert [message["body"] for message in messages] == ["A żółw.\n"] * 2
