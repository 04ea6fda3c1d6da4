"""kill -9 at any instant: the next start serves what equals an index built from scratch, and forgets no mark."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support import Daemon, Home, Tree, add_root, remove_tree, temporary_home

KILLS = int(os.environ.get("LIVEDEX_KILLS", "20"))
WRITES = int(os.environ.get("LIVEDEX_WRITES", "12"))  # of the reference workload's calls, how many are tried; 0: all
WRITE_CALLS = ("pwrite64", "fdatasync", "ftruncate", "rename", "unlink")
FILES = 30


def dump(daemon: Daemon) -> dict[str, Any]:
    """All that the index holds, as far as it follows from the files."""
    with daemon.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        listed = client.call("files/list", {"limit": 10_000})
        held: dict[str, Any] = {}
        for file in listed["files"]:
            del file["indexed_at"]
            chunks = None
            if file["status"] == "indexed":
                chunks = client.call("files/retrieve", {"path": file["path"]})["chunks"]
            held[file["path"]] = (file, chunks)
        assert client.call("index/audit", {})["differences"] == []
        assert len(held) == listed["total"]
        return held


def rebuilt(home: Home, forgotten: Path) -> dict[str, Any]:
    """What a daemon of another home holds of the same roots, that never knew another state."""
    with temporary_home() as other:
        other.data.mkdir(mode=0o700)
        with (
            closing(sqlite3.connect(forgotten)) as marks,
            closing(sqlite3.connect(other.data / "forgotten.db")) as copy,
        ):
            marks.backup(copy)
        daemon = Daemon(other, home.config.read_text()).start()
        try:
            return dump(daemon)
        finally:
            daemon.stop()


class Workload:
    """Edits of a tree by a seed of its own."""

    def __init__(self, tree: Tree, seed: int) -> None:
        self.tree = tree
        self.chance = random.Random(seed)
        self.number = 0

    def step(self) -> None:
        chance, tree = self.chance, self.tree
        self.number += 1
        name = f"d{chance.randrange(4)}/f{chance.randrange(FILES)}.{chance.choice(['txt', 'md', 'py'])}"
        text = "".join(f"# part {self.number}\n\nword{chance.randrange(1000)}\n\n" for _ in range(chance.randrange(40)))
        action = chance.randrange(8)
        if action < 4 or not (tree / name).exists():
            tree.write(name, text)
        elif action == 4:
            tree.save(name, text)
        elif action == 5:
            tree.remove(name)
        elif action == 6:
            tree.rename(name, f"moved/m{self.number}.txt")
        else:
            tree.rename(name.partition("/")[0], f"x{self.number}")


@pytest.fixture
def base() -> Iterator[Tree]:
    with temporary_home() as place:
        yield Tree(place.path / "root")
        remove_tree(place.path / "root")


@pytest.mark.timeout(30 + 12 * KILLS)
def test_kill_at_random_instants(base: Tree, home: Home, start_daemon: Callable[..., Daemon]) -> None:
    work = Workload(base, 11)
    chance = random.Random(5)
    base.write("kept.txt", "forgottenword\n")
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, base)
        client.call("files/delete", {"path": str(base / "kept.txt")})
    for number in range(KILLS):
        stop_after = chance.randrange(1, 60)
        for _ in range(stop_after):
            work.step()
        if chance.random() < 0.7:  # else it is killed at its very start
            with daemon.client() as client:
                client.call("search", {"query": "word1", "timeout_ms": chance.randrange(1, 300)})
            for _ in range(chance.randrange(20)):
                work.step()
        daemon.kill()
        work.step()
        daemon.start()
        if number % 5 == 4 or number == KILLS - 1:
            assert dump(daemon) == rebuilt(home, home.data / "forgotten.db")
    held = dump(daemon)
    assert held[str(base / "kept.txt")][0]["reason"] == "forgotten"


def reference_work(daemon: Daemon, tree: Tree) -> None:
    """The same each time; ends early when the daemon does."""
    work = Workload(tree, 3)
    for _ in range(12):
        for _ in range(4):
            work.step()
        try:
            with daemon.client() as client:
                client.call("search", {"query": "word1", "timeout_ms": 2000})
        except Exception:  # it was killed: what the kill left is looked at afterwards
            return


def calls_of(trace: Path) -> Counter[str]:
    """How often the thread that made each call most often made it: strace counts by thread."""
    made = Counter(
        (thread, call.partition("(")[0])
        for thread, call in (line.split(maxsplit=1) for line in trace.read_text().splitlines())
        if call.startswith(WRITE_CALLS)
    )
    return Counter({call: max(count for (_, name), count in made.items() if name == call) for _, call in made})


@pytest.mark.needs("strace")
@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
@pytest.mark.timeout(3600)
def test_kill_at_the_nth_write(tmp_path: Path) -> None:
    counted = one_run(tmp_path, None)
    points = [(call, number + 1) for call in WRITE_CALLS for number in range(counted[call])]
    assert len(points) > 100
    if WRITES:
        points = random.Random(9).sample(points, WRITES)
    killed = 0
    for call, number in points:
        killed += one_run(tmp_path, (call, number))["killed"]
    assert killed >= len(points) * 0.8, "the workload comes by most of the calls it made the first time"


def one_run(tmp_path: Path, kill_at: tuple[str, int] | None) -> Counter[str]:
    """The reference workload, perhaps killed at a call, and what the next start makes of it."""
    trace = tmp_path / "trace"
    options = ["-e", f"trace={','.join(WRITE_CALLS)}"]
    if kill_at is not None:
        options += ["-e", f"inject={kill_at[0]}:signal=SIGKILL:when={kill_at[1]}"]
    with temporary_home() as home:
        tree = Tree(home.path / "tree")
        tree.write("a.txt", "firstword\n")
        home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
        daemon = Daemon(home, wrap=["strace", "-D", "-f", "-qq", "-o", str(trace), *options])
        try:
            daemon.start()
            reference_work(daemon, tree)
        except AssertionError:
            assert kill_at is not None, "only a kill ends it"
        killed = not daemon.running()
        if not killed:
            daemon.kill()
        again = Daemon(home).start()
        try:
            assert dump(again) == rebuilt(home, home.data / "forgotten.db"), kill_at
        finally:
            again.stop()
    counts = calls_of(trace)
    counts["killed"] = int(killed)
    return counts
