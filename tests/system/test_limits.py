"""The limits of watches and inotify instances: only the unwatched part is polled, with a warning, and heals."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.fault_injection import limit, needs_namespaces, with_code, with_inotify_limit
from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

pytestmark = needs_namespaces
HEALED_S = 60.0  # the promise
FOLDERS = 60


def warned(client: Client) -> dict[str, str] | None:
    return next((item for item in client.call("status")["warnings"] if item["code"] == "watch_limit"), None)


def watching(client: Client) -> str:
    (root,) = client.call("roots/list")["roots"]
    return str(root["watching"])


def fill(tree: Tree) -> None:
    tree.write_all({f"d{number}/f.txt": f"word{number}\n" for number in range(FOLDERS)})


def changes_are_seen(client: Client, tree: Tree, word: str) -> None:
    """Changes in folders with a watch and in those without are found."""
    for number in range(0, FOLDERS, 14):
        tree.write(f"d{number}/f.txt", f"{word}{number}word\n")
        assert found(client, f"{word}{number}word") == [f"d{number}/f.txt"]
        tree.write(f"d{number}/new/{word}.txt", f"{word}{number}new\n")
        assert found(client, f"{word}{number}new") == [f"d{number}/new/{word}.txt"]
        tree.remove(f"d{number}/new")
        assert found(client, f"{word}{number}new") == []


def test_too_few_watches(tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    fill(tree)
    daemon = start_daemon(wrap=with_inotify_limit("max_inotify_watches", 30))
    with daemon.client() as client:
        add_root(client, tree)
        said = warned(client)
        assert said is not None and "max_user_watches" in said["remedy"] and str(tree) in said["message"]
        assert client.call("status")["state"] == "degraded"
        assert watching(client) == "mixed"
        changes_are_seen(client, tree, "few")
        limit(daemon, "max_inotify_watches", 10_000)
        wait_until(lambda: warned(client) is None and watching(client) == "native", HEALED_S, what="health")
        changes_are_seen(client, tree, "more")
        assert client.call("status")["state"] == "ready"


def test_folders_whose_paths_are_too_long_are_polled_for_that_reason(
    tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    """Their message names no limit that could be raised; that of other folders goes once it is."""
    fill(tree)
    folder = os.open(tree.path, os.O_RDONLY)
    for _ in range(21):
        os.mkdir("a" * 200, dir_fd=folder)
        below = os.open("a" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    daemon = start_daemon(wrap=with_inotify_limit("max_inotify_watches", 40))
    with daemon.client() as client:
        add_root(client, tree)
        limit(daemon, "max_inotify_watches", 10_000)
        wait_until(
            lambda: "4095 bytes" in (warned(client) or {"message": ""})["message"], HEALED_S, what="other watches"
        )
        said = warned(client)
        assert said is not None and "sysctl" not in said["remedy"]
        assert f"{tree.path}/aaa" in said["remedy"]
        changes_are_seen(client, tree, "deep")
        inner = tree.path / ("a" * 200) / ("a" * 200)
        inner.rename(inner.with_name("b" * 200))  # as long, and polled by another name
        assert found(client, "deep0word") == ["d0/f.txt"]
        (tree.path / ("a" * 200)).rename(tree.path.with_name("away"))
        assert found(client, "deep0word") == ["d0/f.txt"]
        wait_until(lambda: warned(client) is None and watching(client) == "native", HEALED_S, what="health")
        assert client.call("status")["state"] == "ready"


def test_the_limit_is_met_later(tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    tree.write("a/f.txt", "firstword\n")
    daemon = start_daemon(wrap=with_inotify_limit("max_inotify_watches", 20))
    with daemon.client() as client:
        add_root(client, tree)
        assert warned(client) is None
        fill(tree)
        changes_are_seen(client, tree, "few")
        assert warned(client) is not None
        limit(daemon, "max_inotify_watches", 10_000)
        wait_until(lambda: warned(client) is None and watching(client) == "native", HEALED_S, what="health")


def open_files(daemon: Daemon) -> list[str]:
    """Return the daemon's descriptors, without those of its index: up to 16 readers come and go."""
    found = []
    for descriptor in Path(f"/proc/{daemon.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.append(os.readlink(descriptor))
    return [target for target in found if "/index.db" not in target]


@pytest.mark.parametrize(("name", "value"), [("max_inotify_instances", 0), ("max_inotify_watches", 0)])
def test_no_inotify_at_all(tree: Tree, start_daemon: Callable[..., Daemon], name: str, value: int) -> None:
    fill(tree)
    daemon = start_daemon(wrap=with_inotify_limit(name, value))
    with daemon.client() as client:
        add_root(client, tree)
        said = warned(client)
        assert said is not None and name.replace("inotify", "user") in said["remedy"]
        assert watching(client) == "polling"
        assert client.call("status")["state"] == "degraded"
        changes_are_seen(client, tree, "none")
        before = len(open_files(daemon))
        limit(daemon, name, 10_000)
        wait_until(lambda: warned(client) is None and watching(client) == "native", HEALED_S, what="health")
        # The new watcher has seven of its own; a file that is read just then has one for a moment.
        wait_until(lambda: len(open_files(daemon)) <= before + 8, what="no descriptor that is left open")
        changes_are_seen(client, tree, "all")


# … and what follows once there is another one comes late: until then the new one must not be trusted.
BREAK_THE_READER = """
import signal, sys, time
from watchdog.observers.inotify_c import InotifyFD

handle = InotifyFD.handle_event
broken = []
signal.signal(signal.SIGUSR1, lambda *_: broken.append(True))

def handle_event(self, event):
    if broken:
        broken.clear()
        raise SystemExit  # ends the thread without a word, as a fault inside of it would
    handle(self, event)

InotifyFD.handle_event = handle_event

if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.watch.event_source import EventSource

    revive = EventSource.revive

    def revived_late(self):
        revived = revive(self)
        time.sleep(0.7 if revived else 0.0)
        return revived

    EventSource.revive = revived_late
"""


@pytest.mark.breaks_daemon
def test_a_reader_that_died_is_replaced(tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    import signal

    tree.write("a.txt", "firstword\n")
    daemon = start_daemon(**with_code(tmp_path / "seam", BREAK_THE_READER))
    with daemon.client() as client:
        add_root(client, tree)
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGUSR1)
        threads = Path(f"/proc/{daemon.pid}/task")
        before = {thread.name for thread in threads.iterdir()}
        answers: list[dict[str, Any]] = []

        def is_told() -> bool:
            tree.write("b.txt", f"word{len(answers)}x\n")
            answers.append(client.call("search", {"query": f"word{len(answers)}x", "timeout_ms": 1000}))
            assert not answers[-1]["fresh"] or answers[-1]["hits"], "never said to be fresh when it is not"
            return before - {thread.name for thread in threads.iterdir()} != set()

        wait_until(is_told, what="the end of the reader's thread")
        wait_until(lambda: is_told() and answers[-1]["fresh"], what="another reader")
        assert found(client, "firstword") == ["a.txt"]
        assert client.call("status")["state"] == "ready"


def test_searches_are_fresh_without_a_folder_for_cookies(
    tree: Tree, home: Home, start_daemon: Callable[..., Daemon]
) -> None:
    """No barrier can be set up then: a search waits until all events so far are reported."""
    with start_daemon().client() as client:
        add_root(client, tree)
        shutil.rmtree(home.data / "cookies")
        (home.data / "cookies").write_text("another program's")
        for number in range(100):
            tree.write("a.txt", f"turn{number}x")
            assert found(client, f"turn{number}x") == ["a.txt"]
