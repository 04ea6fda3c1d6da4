"""``livedex lsp`` as an editor runs it: a process, a real daemon, and files that are saved meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.canned_daemon import CannedDaemon, root, search_result
from helpers.stranger import stranger
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, wait_until
from livedex_ipc.errors import OutsideRoots


class Editor:
    """Sends requests and reads answers, with headers."""

    def __init__(self, home: Home) -> None:
        self.process = subprocess.Popen(
            [str(LIVEDEX), "lsp"], env=home.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._last = 0

    def send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        answer: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return answer

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self._last
        return answer

    def names(self, query: str) -> list[str]:
        return [found["name"] for found in self.ask("workspace/symbol", query=query)["result"]]

    def ends_with(self, code: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(30) == code


@pytest.fixture
def editor(home: Home) -> Iterator[Editor]:
    started = Editor(home)
    yield started
    started.process.kill()
    started.process.wait(30)
    for stream in (started.process.stdin, started.process.stdout, started.process.stderr):
        assert stream is not None
        stream.close()


def test_an_editor_finds_what_was_saved_just_now(daemon: Daemon, tree: Tree, editor: Editor, tmp_path: Path) -> None:
    tree.write("notes/a.md", "# Leases\n\nA lease lasts thirty days.\n")
    other = Tree(tmp_path / "other")
    other.write("b.md", "another lease\n")
    with daemon.client() as client:
        add_root(client, tree)
        add_root(client, other)
    editor.ask("initialize", workspaceFolders=[{"uri": tree.path.as_uri(), "name": "root"}])
    assert editor.names("thirt") == ["A lease lasts thirty days."]
    tree.write("new.md", "lease of the new file\n")
    assert "lease of the new file" in editor.names("lease")
    (found,) = editor.ask("workspace/symbol", query="new fil")["result"]
    assert found["location"]["uri"] == (tree.path / "new.md").as_uri()
    assert editor.ask("shutdown")["result"] is None
    editor.send({"method": "exit"})
    editor.ends_with(0)


@pytest.mark.parametrize("query", ["lamp crane", "crane lamp", "\u00e9 crane", "crane"])
def test_a_symbol_is_where_the_query_is_in_the_file(daemon: Daemon, tree: Tree, editor: Editor, query: str) -> None:
    text = "\U0001d4b3 crane \U0001f3bb lamp crane \U0001f3bb crane lamp \u00e9 crane\n"
    tree.write("a.txt", text)
    with daemon.client() as client:
        add_root(client, tree)
    editor.ask("initialize")
    (found,) = editor.ask("workspace/symbol", query=query)["result"]
    start = len(text[: text.index(query)].encode("utf-16-le")) // 2
    assert found["location"]["range"]["start"] == {"line": 0, "character": start}


def test_a_workspace_outside_of_the_index_searches_everything(
    daemon: Daemon, tree: Tree, editor: Editor, tmp_path: Path
) -> None:
    tree.write("a.md", "a lease\n")
    with daemon.client() as client:
        add_root(client, tree)
    editor.ask("initialize", rootUri=(tmp_path / "elsewhere").as_uri())
    assert editor.names("lease") == ["a lease"]


def test_a_folder_of_the_workspace_that_is_not_indexed_does_not_widen_the_search(
    daemon: Daemon, tree: Tree, editor: Editor, tmp_path: Path
) -> None:
    tree.write("a.md", "a lease\n")
    other = Tree(tmp_path / "other")
    other.write("b.md", "another lease\n")
    with daemon.client() as client:
        add_root(client, tree)
        add_root(client, other)
    folders = [{"uri": path.as_uri(), "name": path.name} for path in (tmp_path / "elsewhere", tree.path)]
    editor.ask("initialize", workspaceFolders=folders)
    assert editor.names("lease") == ["a lease"]


def test_a_workspace_of_any_number_of_folders_is_searched(
    daemon: Daemon, tree: Tree, editor: Editor, tmp_path: Path
) -> None:
    tree.write_all({f"p{number}/inner/a.md": f"lease number {number}\n" for number in (0, 1_005)})
    tree.write("outside/a.md", "lease of another\n")
    for number in range(1_010):
        tree.mkdir(f"p{number}")
    with daemon.client() as client:
        add_root(client, tree)
    folders = [tree / f"p{number}" for number in range(1_010)]
    inner = [tree / f"p{number}/inner" for number in (0, 1_005)]
    listed = [{"uri": path.as_uri(), "name": path.name} for path in (tmp_path / "elsewhere", *folders, *inner)]
    editor.ask("initialize", workspaceFolders=listed)

    def leases() -> bool:
        answer = editor.ask("workspace/symbol", query="lease")  # an error while the machine is too busy
        return sorted(hit["name"] for hit in answer.get("result", ())) == ["lease number 0", "lease number 1005"]

    wait_until(leases, timeout=60.0, what="both leases")


def test_which_folders_are_indexed_is_found_out_once_as_long_as_the_roots_stay(home: Home, editor: Editor) -> None:
    roots = ["/r"]

    def search(params: dict[str, Any]) -> object:
        is_outside = any(not path.startswith(tuple(roots)) for path in params["paths"])
        return OutsideRoots("it lies in no root") if is_outside else search_result()

    def listed(_params: dict[str, Any]) -> object:
        return {"roots": [root(path) for path in roots]}

    with CannedDaemon(home.socket, search=search, files__list=search, roots__list=listed) as daemon:
        names = ["r/a", "r/b", "r/c", "s/d"]
        editor.ask("initialize", workspaceFolders=[{"uri": f"file:///{name}", "name": name} for name in names])
        for _ in range(3):
            assert editor.names("lease") == []
        assert [params["paths"] for params in daemon.sent("search")[1:]] == [["/r/a/", "/r/b/", "/r/c/"]] * 3
        roots.append("/s")
        assert editor.names("lease") == []
        assert daemon.sent("search")[-1]["paths"] == ["/r/a/", "/r/b/", "/r/c/", "/s/d/"]
        roots.remove("/r")
        assert editor.names("lease") == []
        assert daemon.sent("search")[-1]["paths"] == ["/s/d/"]


def test_it_goes_on_after_the_daemon_was_killed(daemon: Daemon, tree: Tree, editor: Editor) -> None:
    tree.write("a.md", "a lease\n")
    with daemon.client() as client:
        add_root(client, tree)
    editor.ask("initialize")
    assert editor.names("lease") == ["a lease"]
    os.kill(daemon.pid, signal.SIGKILL)
    wait_until(lambda: not daemon.running(), what="the daemon's end")
    wait_until(lambda: editor.names("lease") == ["a lease"], what="the answer of a new daemon")


def test_what_is_no_message_is_refused_and_the_next_one_answered(editor: Editor) -> None:
    editor.send_bytes(b"Content-Length: 1\r\n\r\n{")
    assert editor.receive()["error"]["code"] == -32700
    assert "capabilities" in editor.ask("initialize")["result"]
    editor.ends_with(1)


def test_another_program_at_the_socket_is_named(home: Home, editor: Editor) -> None:
    editor.ask("initialize", capabilities={})
    with stranger(home.socket):
        error = editor.ask("workspace/symbol", query="lease")["error"]
    assert "is no livedex daemon" in error["message"]


def test_it_ends_with_the_process_of_its_editor(editor: Editor) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert "capabilities" in editor.ask("initialize", processId=process.pid)["result"]
        assert editor.ask("shutdown")["result"] is None, "it lives as long as that process"
    assert editor.process.wait(30) == 1


@pytest.mark.parametrize("number", [2**22 + 1, 2**62, -1, 0, True, "1"])
def test_a_process_that_is_not_there_ends_nothing(editor: Editor, number: object) -> None:
    """As for a server in a container, which has numbers of its own."""
    assert "capabilities" in editor.ask("initialize", processId=number)["result"]
    assert editor.ask("shutdown")["result"] is None
    editor.send({"method": "exit"})
    assert editor.process.wait(30) == 0


def test_what_is_no_frame_ends_it(editor: Editor) -> None:
    editor.send_bytes(b"GET / HTTP/1.1\r\n\r\n")
    assert "error" in json.loads(editor.process.stdout.read().split(b"\r\n\r\n")[1])  # type: ignore[union-attr]
    editor.ends_with(1)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_a_stream_it_ends_without_a_word(home: Home, closed: str) -> None:
    words = ["sh", "-c", f'exec "$0" lsp {closed}', str(LIVEDEX)]
    done = subprocess.run(words, env=home.env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
