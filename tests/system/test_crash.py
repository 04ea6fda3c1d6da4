"""kill -9 at any instant: the next start serves an index equal to one built from nothing, and keeps its promises."""

from __future__ import annotations

import hashlib
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.fault_injection import SETTLES_AT_ONCE, with_code
from helpers.rebuild_oracle import assert_as_rebuilt
from helpers.support import Daemon, Home, Tree, add_root, found, remove_tree, temporary_home, wait_until
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_ipc.errors import LivedexError

KILLS = int(os.environ.get("LIVEDEX_KILLS", "3"))
WRITES = int(os.environ.get("LIVEDEX_WRITES", "2"))  # of the reference workload's calls, how many are tried; 0: all
NAME_CALLS = ("rename", "renameat", "link", "linkat", "unlink", "unlinkat")
WRITE_CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", *NAME_CALLS)
FILES = 30


class Workload:
    """Random edits of a tree by a seed."""

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


class Acknowledged:
    """Everything that was acknowledged to clients must be kept after any crash."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.forgotten: list[str] = []
        self.roots: list[str] = []

    def forget(self, daemon: Daemon, number: int) -> None:
        name = f"precious/p{number}.txt"
        self._tree.write(name, f"forgottenword{number}\n")
        with daemon.client() as client:
            assert client.call("files/delete", {"path": str(self._tree / name)}) == {"deleted": 1}
        self.forgotten.append(str(self._tree / name))

    def add_root(self, daemon: Daemon, number: int) -> None:
        folder = Tree(self._tree.path.parent / f"another{number}")
        folder.write("a.txt", f"anotherword{number}\n")
        with daemon.client() as client:
            client.call("roots/add", {"path": str(folder)})
        self.roots.append(str(folder))

    def assert_kept(self, daemon: Daemon) -> None:
        with daemon.client() as client:
            for path in self.forgotten:
                (file,) = client.call("files/list", {"path": path, "timeout_ms": 60_000})["files"]
                assert file["reason"] == "forgotten", file
            assert set(self.roots) <= {root["path"] for root in client.call("roots/list")["roots"]}


@pytest.fixture
def base() -> Iterator[Tree]:
    with temporary_home() as place:
        yield Tree(place.path / "root")
        remove_tree(place.path / "root")


@pytest.mark.timeout(30 + 12 * KILLS)
def test_kill_at_random_instants(base: Tree, start_daemon: Callable[..., Daemon]) -> None:
    work, acknowledged = Workload(base, 11), Acknowledged(base)
    chance = random.Random(5)
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, base)
    for number in range(KILLS):
        stop_after = chance.randrange(1, 60)
        for _ in range(stop_after):
            work.step()
        if number % 10 == 0:
            acknowledged.forget(daemon, number)
        if chance.random() < 0.7:  # otherwise it is killed at its very start
            with daemon.client() as client:
                client.call("search", {"query": "word1", "timeout_ms": chance.randrange(1, 300)})
            for _ in range(chance.randrange(20)):
                work.step()
        daemon.kill()
        work.step()
        daemon.start()
        if number % 5 == 4 or number == KILLS - 1:
            assert_as_rebuilt(daemon, f"after {number + 1} kills")
    acknowledged.assert_kept(daemon)


def test_a_mark_that_outlived_the_commit_after_it(
    tree: Tree, home: Home, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    """The record of forgotten files is on the disk first, and the index is not: a crash or a power loss between."""
    tree.write_all({"kept.txt": "keptword\n", "d/gone.txt": "goneword\n", "d/other.txt": "otherword\n"})
    daemon = start_daemon(**with_code(tmp_path / "seam", SETTLES_AT_ONCE))
    with daemon.client() as client:
        add_root(client, tree)
    daemon.kill()
    forgotten = ForgottenFiles(str(home.data / "forgotten.db"))
    for name, text in (("d/gone.txt", b"goneword\n"), ("d/other.txt", b"what it held before\n")):
        forgotten.add(os.fsencode(tree.path), [(name.encode(), hashlib.blake2b(text, digest_size=16).digest())])
    forgotten.close()
    daemon.start()
    with daemon.client() as client:
        assert found(client, "goneword") == []
        assert found(client, "keptword otherword") == ["d/other.txt", "kept.txt"]
    assert_as_rebuilt(daemon)


def test_a_mark_that_was_taken_before_the_commit_after_it(
    tree: Tree, home: Home, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    """The reverse: a file was indexed again on demand, its record is gone for good, and the power loss undid the
    commit.
    """
    tree.write_all({"kept.txt": "keptword\n", "d/again.txt": "againword\n", "d/forgotten.txt": "forgottenword\n"})
    daemon = start_daemon(**with_code(tmp_path / "seam", SETTLES_AT_ONCE))
    with daemon.client() as client:
        add_root(client, tree)
        for name in ("d/again.txt", "d/forgotten.txt"):
            assert client.call("files/delete", {"path": str(tree / name)}) == {"deleted": 1}
        assert client.call("index/audit", {})["differences"] == []
        daemon.kill()
    forgotten = ForgottenFiles(str(home.data / "forgotten.db"))
    assert forgotten.clear(os.fsencode(tree.path), b"d/again.txt") == 1
    forgotten.close()
    daemon.start()
    with daemon.client() as client:
        assert found(client, "againword forgottenword keptword") == ["d/again.txt", "kept.txt"]
    assert_as_rebuilt(daemon)


def reference_work(daemon: Daemon, tree: Tree, acknowledged: Acknowledged) -> bool:
    """Run the same workload each time; return False if it ended early, because the daemon did."""
    work = Workload(tree, 3)
    for number in range(12):
        for _ in range(4):
            work.step()
        try:
            with daemon.client() as client:
                client.call("search", {"query": "word1", "timeout_ms": 2000})
            if number % 3 == 1:
                acknowledged.forget(daemon, number)
            if number % 6 == 4:
                acknowledged.add_root(daemon, number)
        except (
            LivedexError,
            OSError,
        ):  # it was killed, which the caller proves
            return False
    return True


def calls_of(trace: Path) -> Counter[str]:
    """Return the most often that one thread made each call: strace counts by thread."""
    made = Counter(
        (thread, call.partition("(")[0])
        for thread, call in (line.split(maxsplit=1) for line in trace.read_text().splitlines())
        if call.startswith(WRITE_CALLS)
    )
    return Counter({call: max(count for (_, name), count in made.items() if name == call) for _, call in made})


@pytest.mark.needs("strace")
@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
@pytest.mark.timeout(4 * 3600)
def test_kill_at_the_nth_write(tmp_path: Path) -> None:
    counted = one_run(tmp_path, None)
    points = [(call, number + 1) for call in WRITE_CALLS for number in range(counted[call])]
    assert len(points) > 100
    if WRITES:
        points = random.Random(9).sample(points, WRITES)
    killed = 0
    for call, number in points:
        killed += one_run(tmp_path, (call, number))["killed"]
    print(f"{len(points)} points of {dict(counted)}, {killed} killed there")
    assert killed >= int(len(points) * 0.8), "the workload comes by most of the calls it made the first time"


def one_run(tmp_path: Path, kill_at: tuple[str, int] | None) -> Counter[str]:
    """The reference workload, possibly killed at a call, and the state after the next start."""
    trace = tmp_path / "trace"
    options = ["-e", f"trace={','.join('?' + call for call in WRITE_CALLS)}"]
    if kill_at is not None:
        options += ["-e", f"inject={kill_at[0]}:signal=SIGKILL:when={kill_at[1]}"]
    with temporary_home() as home:
        tree = Tree(home.path / "tree")
        acknowledged = Acknowledged(tree)
        tree.write("a.txt", "firstword\n")
        home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
        daemon = Daemon(home, wrap=["strace", "-D", "-f", "-qq", "-o", str(trace), *options])
        ended = False
        with suppress(AssertionError):  # of a daemon that was killed at its start
            ended = reference_work(daemon.start(), tree, acknowledged)
        if not ended:
            assert kill_at is not None, "only a kill ends it"
            wait_until(lambda: not daemon.running(), what="the end of the killed daemon")
        daemon.kill()
        again = Daemon(home).start()
        try:
            assert_as_rebuilt(again, kill_at)
            acknowledged.assert_kept(again)
        finally:
            again.stop()
    counts = calls_of(trace)
    counts["killed"] = int(not ended)
    return counts
