"""What `livedex web` answers, and what it refuses: requests on a real port, with a real daemon behind it."""

from __future__ import annotations

import json
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.shared_daemon import SharedDaemon
from helpers.support import Home, Tree, add_root, wait_until
from helpers.web_process import WebProcess, page_sources
from livedex_ipc.cli.render.terminal_text import state_lines, visible
from livedex_ipc.web.http_connection import MAX_BODY, MAX_HEAD, READ_BYTES
from livedex_ipc.web.web_server import MOST_CONNECTIONS
from livedex_ipc.wire_results import Reason

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


@pytest.fixture(scope="module")
def web(shared_daemon: SharedDaemon) -> Iterator[WebProcess]:
    with WebProcess(shared_daemon.home) as started:
        yield started


def test_the_page_calls_the_daemon_with_the_token(web: WebProcess, client: Client, tree: Tree) -> None:
    file = tree.write("src/lease.py", "LEASE = 30\n\n\ndef renew(lease):\n    return lease.end + LEASE\n")
    add_root(client, tree)
    (hit,) = web.call("search", query="rene", typing=True)["result"]["hits"]
    assert hit["path"] == str(file)
    assert web.call("files/explain", path=str(file))["result"]["status"] == "indexed"
    assert web.call("files/retrieve", path=str(file))["result"]["chunks"][0]["text"].startswith("LEASE")
    assert web.call("status")["result"]["files"] == 1


def test_an_error_of_the_daemon_reaches_the_page(web: WebProcess) -> None:
    error = web.call("search", query="(", mode="regex")["error"]
    assert error["code"] == -32602
    assert web.call("files/explain", path="/no/root/of/ours")["result"]["status"] == "outside"


@pytest.mark.parametrize(
    "method",
    ["files/delete", "roots/add", "roots/remove", "index/run", "server/shutdown", "exchange/publish", "knowledge/add"],
)
def test_the_page_can_change_nothing(web: WebProcess, client: Client, tree: Tree, method: str) -> None:
    file = tree.write("a.md", "kept\n")
    add_root(client, tree)
    assert web.call(method, path=str(file))["error"]["code"] == -32601
    assert [root["path"] for root in client.call("roots/list")["roots"]] == [str(tree)]
    assert client.call("files/explain", {"path": str(file)})["status"] == "indexed"


def test_agent_memory_is_not_for_the_page(web: WebProcess) -> None:
    for params in ({"knowledge": True}, {"domains": ["general"]}):
        assert web.call("search", query="x", **params)["error"]["code"] == -32602


def test_every_response_has_the_strict_headers(web: WebProcess) -> None:
    for target in ("/", *(f"/{name}" for name in page_sources()), "/none"):
        reply = web.request("GET", target)
        assert reply.status == (404 if target == "/none" else 200)
        policy = reply.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
        assert not any(name.startswith("access-control-") for name in reply.headers)


def test_the_page_has_nothing_inline_and_loads_nothing_from_elsewhere() -> None:
    sources = page_sources()
    assert not re.search(r"<style|<script(?![^>]* src=)|\son\w+\s*=|\sstyle\s*=", sources["index.html"])
    for name, text in sources.items():
        addresses = set(re.findall(r"\w+://[^\s\"'`]*", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses, (name, addresses)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text), (
            name
        )
    for target in re.findall(r'(?:src|href)="([^"#]+)"', sources["index.html"]):
        assert target.removeprefix("/") in sources


def test_the_page_gives_the_reasons_that_the_command_gives() -> None:
    reasons = dict(re.findall(r"^  (\w+): '(.*)',$", page_sources()["dom.js"], re.MULTILINE))
    assert set(reasons) == set(get_args(Reason))
    for reason, text in reasons.items():
        assert text != reason
        assert [*state_lines({"fresh": False, "reason": reason}, colour=False)] == [f"livedex: not fresh: {text}"]


def test_the_page_escapes_the_characters_that_the_command_escapes() -> None:
    found = re.search(r"const HIDDEN = new RegExp\((.*?)'gu'", page_sources()["dom.js"], re.DOTALL)
    assert found is not None
    ranges = re.findall(r"\\\\u\{?([0-9a-f]+)\}?(?:-\\\\u\{?([0-9a-f]+)\}?)?", found[1])
    escaped = {code for first, last in ranges for code in range(int(first, 16), int(last or first, 16) + 1)}
    assert escaped == {code for code in range(sys.maxunicode + 1) if visible(chr(code)) != chr(code)}


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1:{port}0",
    "127.0.0.1.evil.example:{port}",
    "evil.example:80@127.0.0.1:{port}",
    "localhost:{port}",
    "[::1]:{port}",
    "0.0.0.0:{port}",
    "",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_rebound_name_gets_nothing(web: WebProcess, host: str) -> None:
    name = host.format(port=web.port)
    for method, target in (("GET", "/"), ("POST", "/api/status")):
        reply = web.request(method, target, b"{}", Host=name)
        assert reply.status in (400, 421)  # 400: it is no name of a host at all
        assert b"livedex</title>" not in reply.body
        assert b"result" not in reply.body


def test_no_host_or_two_are_no_request(web: WebProcess) -> None:
    for lines in ([], [f"Host: {web.host}", "Host: evil.example"]):
        with web.peer() as peer:
            peer.sendall("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
            assert peer.recv(1000).startswith(b"HTTP/1.1 400 ")


REFUSED: dict[str, tuple[int, dict[str, str | None]]] = {
    "a foreign origin": (403, {"Origin": "http://evil.example"}),
    "an origin that hides": (403, {"Origin": "null"}),
    "another server on this machine": (403, {"Origin": "http://127.0.0.1:1"}),
    "the host without its port": (403, {"Origin": "http://127.0.0.1"}),
    "no origin": (403, {"Origin": None}),
    "another site": (403, {"Sec_Fetch_Site": "cross-site"}),
    "another port, for the browser the same site": (403, {"Sec_Fetch_Site": "same-site"}),
    "no token": (401, {"Authorization": None}),
    "a wrong token": (401, {"Authorization": "Bearer " + "A" * 43}),
    "an empty token": (401, {"Authorization": "Bearer "}),
    "a token that is not ASCII": (401, {"Authorization": "Bearer \xe4"}),
    "a token as a password": (401, {"Authorization": "Basic {token}"}),
    "a token in a cookie": (401, {"Authorization": None, "Cookie": "token={token}"}),
    "a form, which any site may send": (415, {"Content_Type": "text/plain"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_call_of_somebody_else_is_refused(web: WebProcess, case: str) -> None:
    status, headers = REFUSED[case]
    filled = {name: value and value.replace("{token}", web.token) for name, value in headers.items()}
    reply = web.request("POST", "/api/status", b"{}", **filled)
    assert reply.status == status
    assert b"result" not in reply.body
    assert not any(name.startswith("access-control-") for name in reply.headers)


def test_a_token_in_the_address_counts_for_nothing(web: WebProcess) -> None:
    reply = web.request("POST", f"/api/status?token={web.token}", b"{}", Authorization=None)
    assert reply.status == 401


def test_only_a_post_calls(web: WebProcess) -> None:
    authorization = f"Bearer {web.token}"
    for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
        reply = web.request(method, "/api/status", Authorization=authorization, Origin=web.origin)
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
        assert b"result" not in reply.body
    reply = web.request("POST", "/", b"{}")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


def test_other_sites_may_link_to_the_page_and_load_nothing_of_it(web: WebProcess) -> None:
    assert web.request("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="document").status == 200
    assert web.request("GET", "/main.js", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="script").status == 403
    assert web.request("GET", "/", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="iframe").status == 403
    assert web.request("GET", "/", Sec_Fetch_Site="none", Sec_Fetch_Dest="document").status == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../web_server.py",
        "/..%2fweb_server.py",
        "/%2e%2e/web_server.py",
        "//etc/passwd",
        "/./index.html",
        "/page/index.html",
        "/index.html/",
        "/main.js%00.css",
        "http://127.0.0.1/etc/passwd",
        "/\\..\\web_server.py",
    ],
)
def test_a_target_is_a_name_and_not_a_path(web: WebProcess, target: str) -> None:
    assert web.request("GET", target).status == 404


def test_what_is_too_large_is_refused_and_harms_nobody(web: WebProcess) -> None:
    assert web.request("POST", "/api/search", b" " * (MAX_BODY + 1)).status == 413
    assert web.request("GET", "/", Cookie="x" * (MAX_HEAD + READ_BYTES)).status == 431
    answer = web.call("search", query="word " * 10_000)
    assert any(warning["code"] == "query_cut" for warning in answer["result"]["warnings"])
    assert web.call("search", query="x", limit=10**9)["error"]["code"] == -32602
    for body in (b"", b"[]", b"{", b"\xff", b"[" * 50_000, b'{"query": 1, "query": 2}', b'{"query": NaN}', b"null"):
        answer = json.loads(web.request("POST", "/api/search", body).body)
        assert answer["error"]["code"] in (-32700, -32602)


@given(st.binary(max_size=300) | st.binary(max_size=50).map(lambda data: b"GET / HTTP/1.1\r\n" + data + b"\r\n\r\n"))
def test_any_bytes_end_only_their_own_connection(web: WebProcess, data: bytes) -> None:
    with web.peer() as peer:
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(65536):
            pass
    assert web.process.poll() is None


def test_requests_follow_each_other_on_one_connection(web: WebProcess) -> None:
    request = f"GET /icon.svg HTTP/1.1\r\nHost: {web.host}\r\n\r\n".encode()
    with web.peer() as peer, peer.makefile("rb") as stream:
        peer.sendall(request * 3)
        for _ in range(3):
            assert stream.readline() == b"HTTP/1.1 200 \r\n"
            length = 0
            while (line := stream.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            assert stream.read(length).startswith(b"<svg")


def test_half_requests_and_many_connections_keep_no_page_out(web: WebProcess, client: Client, tree: Tree) -> None:
    add_root(client, tree)
    with ExitStack() as stack:
        lines = stack.enter_context(web.changes({"query": "zither"})).lines()
        assert next(lines) == {"following": True}
        for number in range(MOST_CONNECTIONS + 20):
            peer = stack.enter_context(web.peer())
            peer.sendall(b"POST /api/search HTTP/1.1\r\nHo" if number % 2 else b"")
        assert web.call("search", query="zither")["result"]["hits"] == []  # one without the token made room
        tree.save("new.md", "a zither\n")
        assert next(lines) == {"added": 1, "removed": 0}  # this one has it, and was kept


@pytest.mark.skipif(sys.platform != "linux", reason="counts the sockets of another process")
def test_a_burst_of_connections_leaves_no_socket(web: WebProcess) -> None:
    """Of a burst that is accepted at once, some make room for others before they are served for the first time."""
    before = web.sockets()
    web.process.send_signal(signal.SIGSTOP)
    with ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS + 30):
            stack.enter_context(web.peer()).sendall(b"GET / HTTP/1.1\r\nHo")
        web.process.send_signal(signal.SIGCONT)
        assert web.request("GET", "/").status == 200  # which comes after the burst
    wait_until(lambda: web.sockets() <= before, what="the end of the connections")


def test_a_stream_tells_of_changes_and_ends_with_its_page(web: WebProcess, client: Client, tree: Tree) -> None:
    add_root(client, tree)
    before = web.sockets() if sys.platform == "linux" else 0
    with web.changes({"query": "zither*"}, {"query": "", "paths": [str(tree)]}) as stream:
        lines = stream.lines()
        assert next(lines) == {"following": True}
        tree.save("new.md", "a zither\n")
        assert next(lines) == {"added": 1, "removed": 0}
    if sys.platform == "linux":
        wait_until(lambda: web.sockets() <= before, what="the end of the stream's connections")


def test_a_stream_of_no_search_says_so(web: WebProcess) -> None:
    for searches in ([], ["x"], [{"query": "x"}] * 9, None):
        reply = web.request("POST", "/api/changes", json.dumps({"searches": searches}).encode())
        assert json.loads(reply.body)["error"]["code"] == -32602
    with web.changes({"query": "x", "sort": "path"}) as stream:
        assert next(stream.lines())["error"]["code"] == -32602


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only 127.0.0.1 is a loopback address")
def test_it_listens_on_one_address_alone(web: WebProcess) -> None:
    with pytest.raises(ConnectionRefusedError):
        web.peer("127.0.0.2")


def test_each_start_has_its_own_token_which_is_in_no_list_of_processes(web: WebProcess, home: Home) -> None:
    with WebProcess(home) as other:
        assert other.token != web.token
        assert len(other.token) >= 43
        assert other.request("POST", "/api/status", b"{}", Authorization=f"Bearer {web.token}").status == 401
        if sys.platform == "linux":
            shown = Path(f"/proc/{other.process.pid}/cmdline").read_bytes()
            assert other.token.encode() not in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_although_a_page_is_open(home: Home, number: int) -> None:
    with WebProcess(home) as other, other.changes({"query": "x"}) as stream:
        assert next(stream.lines()) == {"following": True}
        code, errors = other.end(number)
        assert code == 0
        assert errors == "Open this address in a browser; whoever has it can search your files. Ctrl-C ends.\n"


def test_a_wrong_port_or_editor_is_said_before_anything_is_served(web: WebProcess, home: Home) -> None:
    taken = home.run("web", "--port", str(web.port))
    assert taken.returncode == 4
    assert f"port {web.port} cannot be used" in taken.stderr
    for port in ("-1", "65536"):
        assert home.run("web", "--port", port).returncode == 2
    for editor in ("javascript:alert('{path}')", "JavaScript:{path}", "https://evil.example/{path}", "nano", "x:y"):
        done = home.run("web", "--editor", editor)
        assert done.returncode == 2
        assert "--editor" in done.stderr
    assert home.run("web", "--no-spawn", env={"LIVEDEX_SOCKET": f"{home.path}/none.sock"}).returncode == 3


def test_json_gives_the_address_to_a_program(home: Home) -> None:
    with WebProcess(home, "--json") as other:
        address = json.loads(other.url)
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{43}", address["url"])
