"""A file system whose server stops answering affects only the files on it."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.fault_injection import in_namespaces, needs_fuse
from helpers.support import Daemon, Tree, found, wait_until
from livedex_ipc.errors import NotFound, TimedOut, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = needs_fuse
HEALED_S = 10.0  # the promise
ELSEWHERE_S = 5.0  # who waits for the mount waits for ever
STOPPED_S = 8.0  # 5 are promised; the rest is for a busy machine
SERVE = '"$1" "$2" "$3" "$4" "$5" < /dev/null > /dev/null 2>&1'
TRACED = "%file,%process,getdents64,pread64,fstat"
ON_THE_SHARE = re.compile(r"/outer/share|/outer>, .share")  # a path or a descriptor on it
SERVER = Path(__file__).parents[1] / "helpers" / "fuse_server.py"


class Share:
    """Three roots: one with a FUSE mount inside, one on the mount, and one apart from it.

    The configuration names the second by a link on the mount.
    """

    def __init__(self, folder: Path) -> None:
        self.disk, self.outer, self.other = (Tree(folder / name) for name in ("disk", "outer", "other"))
        self.disk.write_all({"a.txt": "zebra one\n", "sub/b.txt": "zebra two\n", "root/c.txt": "giraffe one\n"})
        (self.disk / "way").symlink_to("root")
        self.outer.write_all({"mine.txt": "zebra mine\n"})
        self.other.write_all({"o.txt": "zebra other\n"})
        self.point = folder / "outer" / "share"
        self.point.mkdir()
        self._pid_file = folder / "pid"

    @property
    def config(self) -> str:
        paths = (self.outer.path, self.point / "way", self.other.path)
        return '[watch]\nreconcile_every = "1s"\n' + "".join(f'[[roots]]\npath = "{path}"\n' for path in paths)

    @property
    def mounted(self) -> list[str]:
        words = (sys.executable, SERVER, self.point, self.disk.path, self._pid_file)
        return in_namespaces(SERVE, *map(str, words))

    @property
    def entered(self) -> list[str]:
        """Return the words before a command that run it where the share is already mounted."""
        return ["nsenter", "-t", self._pid_file.read_text(), "-U", "-m", "--preserve-credentials"]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server of the share, and to no other process."""
        os.kill(int(self._pid_file.read_text()), number)

    def end(self) -> None:
        if self._pid_file.exists():
            self.signal(signal.SIGKILL)


@pytest.fixture
def share(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Iterator[Share]:
    """``start_daemon`` stops the daemon after the server has ended."""
    made = Share(tmp_path.resolve() / "roots")
    yield made
    made.end()


@pytest.fixture
def daemon(share: Share, start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon(share.config, wrap=share.mounted)


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with daemon.client() as made:
        assert made.call("sync", {"timeout_ms": 60_000})["synced"]
        assert set(found(made, "zebra")) == {"mine.txt", "share/a.txt", "share/sub/b.txt", "o.txt"}
        yield made


def search(client: Client, query: str, path: object, within_s: float) -> dict[str, Any]:
    ask = {"query": query, "path": str(path), "timeout_ms": round(within_s * 1000)}
    answer: dict[str, Any] = client.call("search", ask)
    return answer


def read_errors(client: Client) -> list[str]:
    return [one["message"] for one in client.call("status")["warnings"] if one["code"] == "read_errors"]


def roots_in_the_index(client: Client) -> set[str]:
    with closing(sqlite3.connect(f"file:{client.call('status')['db_path']}?mode=ro", uri=True)) as index:
        return {os.fsdecode(path) for (path,) in index.execute("SELECT path FROM roots")}


def wait_until_healed(client: Client) -> None:
    wait_until(lambda: not read_errors(client) and client.call("status")["state"] == "ready", HEALED_S, what="healed")


def test_a_hung_mount_costs_only_itself(client: Client, share: Share) -> None:
    share.signal(signal.SIGSTOP)
    for number in range(8):  # searches there ask for looks at it meanwhile
        asked = search(client, "zebra", share.point, ELSEWHERE_S)
        assert not asked["fresh"], asked
        for tree in (share.other, share.outer):
            tree.write("new.txt", f"elephant{number} {tree.path.name}\n")
            answer = search(client, f"elephant{number}", tree / "new.txt", ELSEWHERE_S)
            assert answer["fresh"] and len(answer["hits"]) == 1, answer
    wait_until(lambda: any(str(share.point) in text for text in read_errors(client)), what="a warning that names it")
    assert search(client, "zebra", share.point, ELSEWHERE_S)["reason"] == "unreadable"
    assert search(client, "giraffe", share.point / "root", ELSEWHERE_S)["reason"] == "unreadable"
    roots = client.call("roots/list")["roots"]
    assert {(root["state"], root["files"]) for root in roots} == {("online", 4), ("online", 2), ("online", 1)}
    share.disk.write("sub/b.txt", "zebra changed meanwhile\n")
    share.disk.write("root/d.txt", "giraffe two\n")
    (share.disk / "a.txt").unlink()

    share.signal(signal.SIGCONT)
    wait_until_healed(client)
    assert set(found(client, "zebra")) == {"mine.txt", "share/sub/b.txt", "o.txt"}
    assert found(client, "changed meanwhile") == ["share/sub/b.txt"]
    assert set(found(client, "giraffe")) == {"c.txt", "d.txt"}


@pytest.mark.parametrize("hang", [signal.SIGSTOP, signal.SIGUSR1], ids=["asks in vain", "is kept by the kernel"])
def test_the_daemon_stops_while_a_mount_hangs(
    daemon: Daemon, client: Client, share: Share, hang: signal.Signals
) -> None:
    share.signal(hang)
    for path in (share.point, share.point / "root"):
        assert not search(client, "zebra", path, ELSEWHERE_S)["fresh"]
    assert daemon.process is not None
    daemon.process.terminate()
    assert daemon.process.wait(STOPPED_S) == 0


@pytest.mark.needs("strace")
def test_only_a_child_touches_the_mount(share: Share, start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    tracer = ["strace", "-D", "-f", "-y", "-qq", "-s", "40", "-o", str(trace), "-e", f"trace={TRACED}"]
    users = tmp_path / "gitconfig"  # the user's own link to the share
    users.symlink_to(share.point / "root" / "gitconfig")
    share.disk.write("root/gitconfig", f"[core]\nexcludesFile = {share.point}/root/ignore\n")
    daemon = start_daemon(share.config, wrap=[*share.mounted, *tracer], GIT_CONFIG_GLOBAL=str(users))
    with daemon.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        ask_everything(client, share)
        share.signal(signal.SIGUSR1)
        ask_everything(client, share)
    share.signal(signal.SIGUSR2)
    daemon.stop()
    toucher = touchers(trace.read_text(errors="replace").splitlines())
    assert any(toucher.values())
    assert [line for line, is_child in toucher.items() if not is_child] == []


def ask_everything(client: Client, share: Share) -> None:
    """Call every method that reads files, for places on the share and around it."""
    limit: dict[str, object] = {"timeout_ms": 1000}
    for path in map(str, (share.outer, share.point, share.point / "root", share.point / "way" / "c.txt")):
        calls: list[tuple[str, dict[str, object]]] = [("search/subscribe", {"query": "zebra", **limit})]
        calls += [("search", {"query": "zebra", "mode": mode, **limit}) for mode in ("keyword", "exact", "regex")]
        calls += [(f"files/{name}", limit) for name in ("list", "explain", "retrieve")]
        for method, params in calls:
            with suppress(NotFound, Unavailable, TimedOut):  # strace makes the daemon slow
                client.call(method, {"path": path, **params}, timeout_s=20)
    for method in ("server/reload", "index/audit", "index/run"):
        with suppress(TimedOut):
            client.call(method, timeout_s=5)
    with suppress(Unavailable):
        client.call("roots/add", {"path": str(share.point)}, timeout_s=20)


def touchers(trace: list[str]) -> dict[str, bool]:
    """Yield the calls on the share, and whether a thread of the child made each."""
    begun = [(line.split(" ", 1)[0], line.rpartition(" = ")[2]) for line in trace if " clone" in line]
    child = {line.split(" ", 1)[0] for line in trace if "execve(" in line and "disk.remote_child" in line}
    while more := {thread for starter, thread in begun if starter in child} - child:
        child |= more
    return {line: line.split(" ", 1)[0] in child for line in trace if ON_THE_SHARE.search(line)}


def test_another_daemon_starts_while_a_mount_hangs(
    daemon: Daemon, client: Client, share: Share, start_daemon: Callable[..., Daemon]
) -> None:
    share.signal(signal.SIGUSR1)
    assert not search(client, "zebra", share.point, ELSEWHERE_S)["fresh"]
    daemon.stop()
    with start_daemon(wrap=share.entered).client() as again:
        share.other.write("new.txt", "elephant\n")
        answer = search(again, "elephant", share.other, HEALED_S)
        assert answer["fresh"] and len(answer["hits"]) == 1, answer
        for path in (share.point, share.point / "root"):
            answer = search(again, "zebra", path, ELSEWHERE_S)
            assert (answer["fresh"], answer["hits"], answer["reason"]) == (False, [], "unreadable"), answer
        assert any(str(share.point) in text for text in read_errors(again))
        assert {root["state"] for root in again.call("roots/list")["roots"]} == {"online", "recovering"}
        again.call("server/reload")
        assert str(share.point / "root") in roots_in_the_index(again), "its rows wait for it"
        share.disk.write("root/d.txt", "giraffe two\n")

        share.signal(signal.SIGUSR2)
        wait_until_healed(again)
        assert set(found(again, "giraffe")) == {"c.txt", "d.txt"}
        assert set(found(again, "zebra")) == {"mine.txt", "share/a.txt", "share/sub/b.txt", "o.txt"}
        roots = again.call("roots/list")["roots"]
        assert {root["state"] for root in roots} == {"online"}
        assert roots_in_the_index(again) == {root["path"] for root in roots}
