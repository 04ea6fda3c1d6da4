"""Bad input on every surface: the contract's error, naming the thing and the remedy; nothing is lost or disturbed."""

from __future__ import annotations

import json
import socket
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.daemon_health import rss_kib
from helpers.support import Daemon, Home, Tree, add_root, found, temporary_home
from livedex_ipc.client import Client
from livedex_ipc.errors import LivedexError

HEAVY = 5 << 20  # bytes, more than one request may have


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("bad") / "root")
    made.write("kept.txt", "keptword\n")
    return made


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """One home for the whole module: a refused request may change nothing."""
    with temporary_home() as made:
        yield made


@pytest.fixture(scope="module")
def daemon(home: Home, tree: Tree) -> Iterator[Daemon]:
    made = Daemon(home).start()
    with made.client() as client:
        add_root(client, tree)
    yield made
    made.stop()


def refusal(client: Client, method: str, params: dict[str, Any]) -> LivedexError:
    with pytest.raises(LivedexError) as raised:
        client.call(method, params)
    return raised.value


# -- params


@pytest.mark.parametrize(
    ("method", "params", "code", "names"),
    [
        ("search", {}, -32602, "query"),
        ("search", {"query": 5}, -32602, "query"),
        ("search", {"query": None}, -32602, "query"),
        ("search", {"query": "\ud800"}, -32602, "query"),
        ("search", {"query": "x", "qurey": "x"}, -32602, "query"),
        ("search", {"query": "x", "limit": 0}, -32602, "limit"),
        ("search", {"query": "x", "limit": 1001}, -32602, "limit"),
        ("search", {"query": "x", "limit": 1.5}, -32602, "limit"),
        ("search", {"query": "x", "limit": True}, -32602, "limit"),
        ("search", {"query": "x", "limit": "3"}, -32602, "limit"),
        ("search", {"query": "x", "limit": None}, -32602, "limit"),
        ("search", {"query": "x", "offset": -1}, -32602, "offset"),
        ("search", {"query": "x", "offset": 9999, "limit": 2}, -32602, "offset"),
        ("search", {"query": "x", "mode": "semantics"}, -32602, "mode"),
        ("search", {"query": "x", "kinds": ["code", "nope"]}, -32602, "kinds"),
        ("search", {"query": "x", "globs": "*.py"}, -32602, "globs"),
        ("search", {"query": "x", "globs": ["["]}, -32602, "globs"),
        ("search", {"query": "x", "group": "line"}, -32602, "group"),
        ("search", {"query": "x", "context_lines": 51}, -32602, "context_lines"),
        ("search", {"query": "x", "timeout_ms": -1}, -32602, "timeout_ms"),
        ("search", {"query": "x", "fresh": "yes"}, -32602, "fresh"),
        ("search", {"query": "x", "modified_after": "yesterday"}, -32602, "modified_after"),
        ("search", {"query": "x", "facets": ["shapes"]}, -32602, "facets"),
        ("search", {"query": "x", "max_chars": 0}, -32602, "max_chars"),
        ("search", {"query": "(", "mode": "regex"}, -32602, "query"),
        ("search", {"query": "", "mode": "exact"}, -32602, "query"),
        ("search", {"query": "x", "knowledge": "x"}, -32602, "knowledge"),
        ("search", {"query": "x", "path": "relative"}, -32602, "path"),
        ("search", {"query": "x", "path": "/nope"}, 2, "/nope"),
        ("search", {"query": "x", "roots": ["/nope"]}, 2, "/nope"),
        ("files/list", {"status": "lost"}, -32602, "status"),
        ("files/list", {"limit": 10_001}, -32602, "limit"),
        ("files/list", {"root": "/nope"}, 2, "/nope"),
        ("files/retrieve", {}, -32602, "path"),
        ("files/retrieve", {"path": "/etc/passwd"}, 2, "/etc/passwd"),
        ("files/explain", {}, -32602, "path"),
        ("files/explain", {"path": "/" + "a/" * 8192}, -32602, "16,384 bytes"),
        ("search", {"query": "x", "paths": ["/a", "/" + "é" * 8192]}, -32602, "16,384 bytes"),
        ("files/list", {"path_b64": b64encode(b"/" * 16385).decode()}, -32602, "16,384 bytes"),
        ("search", {"query": "x", "path": "/" + "a/" * 8191 + "b"}, 2, "/a/a"),
        ("files/delete", {"path": "/etc/passwd"}, 2, "/etc/passwd"),
        ("index/run", {"paths": "x"}, -32602, "paths"),
        ("index/run", {"paths": ["/nope"]}, 2, "/nope"),
        ("index/run", {"force": 1}, -32602, "force"),
        ("roots/add", {"path": "/nope"}, -32602, "/nope"),
        ("roots/add", {"path": "/"}, -32602, "root"),
        ("roots/add", {"path": "/proc"}, -32602, "proc"),
        ("roots/add", {"path": "/tmp", "ignore": "*.x"}, -32602, "ignore"),
        ("roots/remove", {"path": "/nope"}, 1, "/nope"),
        ("sync", {"timeout_ms": "1"}, -32602, "timeout_ms"),
        ("server/ping", {"x": 1}, -32602, "x"),
        ("server/pong", {}, -32601, "server/pong"),
        ("search/subscribe", {"query": "x", "offset": 1}, -32602, "offset"),
        ("search/subscribe", {"query": "x", "facets": ["kinds"]}, -32602, "facets"),
        ("search/subscribe", {"query": "x", "explain": True}, -32602, "explain"),
        ("search/subscribe", {"query": "x", "max_chars": 9}, -32602, "max_chars"),
        ("search/unsubscribe", {"subscription": 99}, 1, "99"),
    ],
)
def test_params(client: Client, method: str, params: dict[str, Any], code: int, names: str) -> None:
    error = refusal(client, method, params)
    assert (error.code, names in error.message) == (code, True), error.message
    assert client.call("server/ping") == {}


@pytest.mark.parametrize("method", ["index/run", "index/audit"])
def test_paths_of_thousands_of_folders_cost_little(client: Client, daemon: Daemon, tree: Tree, method: str) -> None:
    before = rss_kib(daemon.pid, "VmHWM")
    answer = client.call(method, {"paths": [f"{tree}/none{number}{'/a' * 8000}" for number in range(6)]})
    assert answer.get("scanned", answer.get("checked")) == 0
    assert rss_kib(daemon.pid, "VmHWM") < before + (48 << 10)


def test_a_wrong_name_gets_the_nearest(client: Client) -> None:
    assert (refusal(client, "search", {"query": "x", "qlobs": []}).data or {})["nearest"] == "globs"
    assert (refusal(client, "serach", {}).data or {})["nearest"] == "search"


def test_what_is_no_root_is_refused_with_the_name_of_its_param(client: Client, tree: Tree) -> None:
    for method, params in (("search", {"query": "x", "roots": ["/no"]}), ("files/list", {"root": "/no"})):
        error = refusal(client, method, params)
        assert (error.code, error.data) == (2, {"field": "roots" if "roots" in params else "root"})


def test_a_file_given_as_a_root(client: Client, tree: Tree) -> None:
    error = refusal(client, "roots/add", {"path": str(tree / "kept.txt")})
    assert error.code == -32602
    assert str(tree / "kept.txt") in error.message
    assert found(client, "keptword") == ["kept.txt"]


@pytest.mark.parametrize(
    ("sent", "code", "closed"),
    [
        (b"nonsense\n", -32700, False),
        (b"{}\n", -32600, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"x","limit":NaN}}\n', -32700, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"search","params":["x"]}\n', -32602, False),
        (b"[" * 100_000 + b"\n", -32700, False),
        (b"[" + b",".join([b"{}"] * 1001) + b"]\n", -32600, False),
        (b"{" + b" " * HEAVY, -32600, True),
        (b"Content-Length: 5000000\r\n\r\n", -32600, True),
        (b"Content-Length: -1\r\n\r\n", -32700, True),
        (b"Content-Length: 10\r\nX-Padding: " + b"x" * 9000, -32600, True),
        (b"Content-Length: 2\r\n\r\n[]", -32600, False),
        (b"GET / HTTP/1.1\r\n\r\n", -32600, True),
    ],
)
def test_frames(client: Client, home: Home, sent: bytes, code: int, closed: bool) -> None:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(20)
        peer.connect(str(home.socket))
        try:
            peer.sendall(sent)
        except BrokenPipeError:
            assert closed  # the daemon has seen enough
        answer = peer.recv(65536)
        assert json.loads(answer[answer.index(b"{") :])["error"]["code"] == code
        if closed:
            assert peer.recv(1) == b""
    assert client.call("server/ping") == {}


def test_half_a_frame_disturbs_nobody(client: Client, home: Home, tree: Tree) -> None:
    with socket.socket(socket.AF_UNIX) as slow, socket.socket(socket.AF_UNIX) as gone:
        for peer, sent in ((slow, b'{"jsonrpc":'), (gone, b"Content-Length: 100\r\n\r\n{")):
            peer.connect(str(home.socket))
            peer.sendall(sent)
        gone.close()
        tree.write("other.txt", "otherword")
        assert found(client, "otherword") == ["other.txt"]


def test_options_of_the_command(home: Home, daemon: Daemon) -> None:
    expected = {
        ("serach", "x"): "search",
        ("search", "x", "--mdoe", "keyword"): "--mode",
        ("search", "x", "-n", "ten"): "-n",
        ("search", "x", "--since", "someday"): "--since",
        ("search", "x", "--mode", "semantics"): "--mode",
        ("search", "x", "--kind", "poem"): "--kind",
        ("search", "-without", "x"): "--",
        ("sync", "--timeout", "soon"): "--timeout",
        ("list", "--status", "lost"): "--status",
        ("down", "now"): "now",
        ("roots", "ad"): "add",
        ("watch", "x", "--offset", "1"): "--offset",
        ("completion", "tcsh"): "bash",
    }
    for words, named in expected.items():
        done = home.run(*words)
        assert (done.returncode, done.stdout, named in done.stderr) == (2, "", True), done.stderr


def test_nothing_of_it_all_is_lost_or_in_the_log(client: Client, home: Home) -> None:
    assert found(client, "keptword") == ["kept.txt"]
    assert len(client.call("roots/list")["roots"]) == 1
    assert "keptword" not in home.logs()
