"""The index of another version is replaced, and the daemon is killed at any write of that: nothing precious is lost."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest

from helpers.rebuild_oracle import assert_as_rebuilt
from helpers.support import Daemon, Home, Tree, found, temporary_home, wait_ready
from livedex_indexing.store.database import SCHEMA_VERSION
from livedex_ipc.errors import LivedexError

POINTS = int(os.environ.get("LIVEDEX_WRITES", "1"))  # of the calls of a start, how many are tried; 0: all
WRITE_CALLS = ("pwrite64", "fdatasync", "ftruncate", "rename", "unlink")
FILES = 20
NEWER = 9999

Point = tuple[str, int]


def prepared(home: Home, version: int) -> None:
    """Leave what a killed daemon of another version left: an index with its log, a forgotten file, a message."""
    tree = Tree(home.path / "tree")
    for number in range(FILES):
        tree.write(f"d{number % 3}/f{number}.txt", f"commonword word{number}\n")
    tree.write("gone.txt", "forgottenword\n")
    daemon = Daemon(home, f'[[roots]]\npath = "{tree}"\n').start()
    with daemon.client() as client:
        wait_ready(client)
        client.call("files/delete", {"path": str(tree / "gone.txt")})
        client.call("exchange/publish", {"topic": "work", "body": "precious"})
    daemon.kill()
    with closing(sqlite3.connect(home.data / "index.db")) as index, index:
        index.execute(f"PRAGMA user_version = {version}")


def start_under(home: Home, trace: Path, kill_at: Sequence[Point]) -> None:
    """Start a daemon that makes its new index, or is killed at a call; then it is ended."""
    options = ["-e", f"trace={','.join(WRITE_CALLS)}"]
    for call, number in kill_at:
        options += ["-e", f"inject={call}:signal=SIGKILL:when={number}"]
    daemon = Daemon(home, wrap=["strace", "-D", "-f", "-qq", "-o", str(trace), *options])
    with suppress(AssertionError, LivedexError, OSError):  # it was killed at its start, or while it indexes
        daemon.start()
        with daemon.client() as client:
            wait_ready(client)
    daemon.kill()


def points(home: Home, trace: Path) -> list[Point]:
    """Return every call that one thread made at such a start, with its number."""
    start_under(home, trace, [])
    begun = re.findall(r"^(\d+) +(\w+)\(", trace.read_text(), re.MULTILINE)  # not what goes on: `<... unlink resumed>`
    calls = Counter(begun)
    most = Counter({call: max(n for (_, name), n in calls.items() if name == call) for _, call in calls})
    return [(call, number + 1) for call in WRITE_CALLS for number in range(most[call])]


@pytest.mark.needs("strace")
@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, NEWER], ids=["older", "newer"])
def test_killed_while_the_index_of_another_version_is_replaced(tmp_path: Path, version: int) -> None:
    trace = tmp_path / "trace"
    with temporary_home() as home:
        prepared(home, version)
        every = points(home, trace)
    assert {"rename", "pwrite64"} <= {call for call, _ in every}
    for point in random.Random(version).sample(every, POINTS or len(every)):
        with temporary_home() as home:
            prepared(home, version)
            start_under(home, trace, [point])
            daemon = Daemon(home).start()
            try:
                assert_nothing_is_lost(daemon, version)
                assert_as_rebuilt(daemon, point)
            finally:
                daemon.stop()


def assert_nothing_is_lost(daemon: Daemon, version: int) -> None:
    with daemon.client() as client:
        wait_ready(client)
        assert found(client, "forgottenword") == []
        assert len(found(client, "commonword")) == FILES
        assert [message["body"] for message in client.call("exchange/read", {"topic": "work"})["messages"]] == [
            "precious"
        ]
    data = daemon.home.data
    assert list(data.glob("index.db.damaged*")) == []
    assert (data / "index.db.aside").exists() == (version == NEWER)
    if version == NEWER:
        with closing(sqlite3.connect(f"file:{data}/index.db.aside?immutable=1", uri=True)) as aside:
            assert aside.execute("PRAGMA user_version").fetchone() == (NEWER,)
