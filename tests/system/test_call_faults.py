"""Each call of the daemon fails with each error, at the first, a later or every time, or takes long.

With any fault, a fresh answer equals what a plain search of the disk finds, except for what the status names as failed;
a ping is answered; the status is not `ready` while answers are not fresh. Ten seconds after the fault everything is
right again, without a run, a sync or a restart.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from helpers.support import Daemon, Home, Tree, add_root, wait_until
from helpers.syscall_faults import CALLS, Faults, Order, faulty_socket, with_faults
from livedex_ipc.errors import LivedexError

if TYPE_CHECKING:
    from livedex_ipc.client import Client

CELLS = int(os.environ.get("LIVEDEX_CALL_CELLS", "13"))
FIRST_CELL = int(os.environ.get("LIVEDEX_CALL_FIRST", "0"))  # where an earlier run ended
SEED = 10  # of these 13 cells, one lets every listing fail
TOTALS_EVERY = 10
SILENT_ROUNDS = 5
HEALED_S = 10.0  # the promise
PING_S = 2.0  # 0.1 s on an idle machine
DELAY_S = 3.0
FILES = 12
CLIENTS = 8
CROWD = b"".join(
    b'{"jsonrpc": "2.0", "id": %d, "method": "search", "params": {"query": "c.mmon", "mode": "regex"}}\n' % number
    for number in range(2)
)
ERRORS = (
    errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EAGAIN, errno.EINTR, errno.ENOSPC
)  # fmt: skip


class When(NamedTuple):
    """Which of the calls fail; see ``Order``."""

    first: int = 1
    step: int = 1
    most: int = 1 << 30


WHEN = (When(), When(most=1), When(first=2, step=2), When(first=5, step=7), When(first=20))

pytestmark = pytest.mark.timeout(300 + 40 * CELLS)


class Cell(NamedTuple):
    call: str
    order: Order
    says: str


def cells() -> list[Cell]:
    """Return that many of all cells, spread over them, the same each time; every call is among them."""
    failing = [
        Cell(call, Order(code, **when._asdict()), f"{call} {errno.errorcode[code]} {when}")
        for call, code, when in itertools.product(CALLS, ERRORS, WHEN)
    ]
    slow = [
        Cell(call, Order(0, delay_s=DELAY_S, most=1), f"{call} takes {DELAY_S} s")
        for call in CALLS
        if call not in ("accept", "connect", "thread")  # the kernel never waits in these
    ]
    every = [*failing, *slow]
    random.Random(SEED).shuffle(every)
    of_each = [[cell for cell in every if cell.call == call] for call in CALLS]
    in_turn = itertools.chain.from_iterable(itertools.zip_longest(*of_each))
    return [cell for cell in in_turn if cell is not None][FIRST_CELL : FIRST_CELL + CELLS]


class World:
    """A folder that changes, and the results of checking the answers."""

    def __init__(self, tree: Tree, daemon: Daemon, faults: Faults) -> None:
        self.tree = tree
        self.other = tree.path.with_name("other")
        self.other.mkdir()
        self.daemon = daemon
        self.faults = faults
        self.judged = self.fresh = self.failed = 0
        self.last = ""
        self.slowest = self.slowest_ping = 0.0
        self.wrong: list[str] = []
        self.silent: list[str] = []
        self.slow_pings: list[str] = []
        self.not_healed: list[str] = []
        self.number = self.cells = 0
        for name in range(FILES):
            tree.write(f"d{name % 3}/f{name}.txt", f"common words0 of f{name}\n")

    def changes(self) -> Iterator[None]:
        """Change the folder step by step, each step in another way."""
        self.number += 1
        number, tree = self.number, self.tree
        text = f"common words{number} of "
        tree.write(f"d{number % 3}/f{number % 3}.txt", text + "a write\n" * (number % 5 + 1))
        yield
        tree.write(f"new{number}/deep/n.txt", text + "a new folder\n")
        yield
        tree.save(f"d0/saved{number}.txt", text + "a save\n")
        yield
        if number > 1:
            tree.remove(f"new{number - 1}")
            tree.rename(f"d0/saved{number - 1}.txt", f"d1/moved{number - 1}.txt")
        yield
        tree.write(".gitignore", f"moved{number - 1}.txt\n")
        yield

    def truth(self, word: str) -> set[str]:
        """Return what a plain search of the disk finds."""
        ignored = (self.tree / ".gitignore").read_text().split() if (self.tree / ".gitignore").exists() else []
        return {
            str(path.relative_to(self.tree.path))
            for path in self.tree.path.rglob("*.txt")
            if path.name not in ignored and word in path.read_text().split()
        }

    def _named_as_failed(self, client: Client) -> list[str]:
        listed = client.call("files/list", {"status": "failed", "fresh": False})["files"]
        return [os.path.relpath(file["path"], self.tree.path) for file in listed]

    def judge(self, client: Client, says: str) -> bool:
        """Compare answers with the disk. Return whether all were fresh and complete."""
        right = True
        for word in ("common", f"words{self.number}"):
            try:
                named = self._named_as_failed(client)
                answer = client.call("search", {"query": word, "limit": 1_000, "timeout_ms": 1_000})
                named += self._named_as_failed(client)
            except LivedexError:
                right = False
                continue
            self.judged += 1
            self.fresh += answer["fresh"]
            self.last = f"{word}: fresh {answer['fresh']} {answer.get('reason')}, failed {named}, {answer['warnings']}"
            if not answer["fresh"]:
                right = False
                self._expect_said(client, answer, f"{says}: {answer['reason']}")
                continue
            found = {hit["relative_path"] for hit in answer["hits"]}
            found |= {
                os.path.relpath(path, self.tree.path) for hit in answer["hits"] for path in hit.get("also_at", [])
            }
            truth = self.truth(word)
            said = {item["code"] for item in answer["warnings"]}
            lost = {path for path in truth - found if not _is_within(path, named)}
            if (found - truth and "ignore_file" not in said) or (lost and not said & {"root_denied", "query_deadline"}):
                self.wrong.append(
                    f"{says}: {word}: lost {sorted(lost)}, too many {sorted(found - truth)}, said {sorted(said)}"
                )
            right = right and found == truth
        return right

    def _expect_said(self, client: Client, answer: dict[str, Any], says: str) -> None:
        """Check that the status names what an answer lacks. A file that can be read sometimes is named sometimes."""
        with suppress(LivedexError):
            for _ in range(SILENT_ROUNDS):
                if client.call("status")["state"] != "ready" or answer.get("reason") != "unreadable":
                    return
                answer = client.call("search", {"query": "common", "timeout_ms": 1_000})
            self.silent.append(says)

    def ping(self, client: Client, says: str) -> None:
        began = time.monotonic()
        client.call("server/ping")
        took = time.monotonic() - began
        self.slowest_ping = max(self.slowest_ping, took)
        if took > PING_S:
            self.slow_pings.append(f"{says}: {took:.1f} s")

    def crowd(self) -> None:
        """So many clients ask at once that threads must be started."""
        with ExitStack() as clients:
            for _ in range(CLIENTS):
                peer = clients.enter_context(socket.socket(socket.AF_UNIX))
                peer.connect(str(self.daemon.home.socket))
                peer.sendall(CROWD)

    def kill_children(self) -> None:
        """New ones must then be started."""
        for task in Path(f"/proc/{self.daemon.pid}/task").iterdir():
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)

    def edit_configuration(self, client: Client) -> None:
        """Write it to the disk, so that it is read again, and report it to the supervisor."""
        for method in ("roots/add", "roots/remove"):
            with suppress(LivedexError):
                client.call(method, {"path": str(self.other)})

    def totals(self) -> str:
        return (
            f"seed {SEED}, {self.cells} cells from {FIRST_CELL}: {self.failed} calls failed, {self.judged} answers "
            f"judged ({self.fresh} fresh), {len(self.wrong)} wrong, {len(self.silent)} silent, "
            f"{len(self.slow_pings)} slow pings, "
            f"{len(self.not_healed)} not healed in {HEALED_S:g} s, the slowest in {self.slowest:.1f} s, "
            f"the slowest ping {self.slowest_ping * 1000:.0f} ms"
        )

    def run_all(self, client: Client, other: Client) -> None:
        """Run every cell. Print the totals as they grow, so that a run that is ended still shows them."""
        try:
            for cell in cells():
                try:
                    self.run(cell, client, other)
                except BaseException as fault:
                    fault.add_note(f"cell {FIRST_CELL + self.cells} of seed {SEED}: {cell.says}\n{self.last}")
                    raise
                self.cells += 1
                if self.cells % TOTALS_EVERY == 0:
                    print(self.totals(), flush=True)
        finally:
            print(self.totals(), *self.wrong, *self.silent, *self.slow_pings, *self.not_healed, sep="\n", flush=True)

    def run(self, cell: Cell, client: Client, other: Client) -> None:
        if cell.call in ("exec", "pipe"):
            self.kill_children()
        with self.faults.on(**{cell.call: cell.order}):
            if cell.call == "accept":
                with suppress(OSError, LivedexError):
                    self.daemon.client().close()
            if cell.call in ("rename", "fsync", "connect"):
                self.edit_configuration(client)
            for _ in self.changes():
                if cell.call == "thread":
                    self.crowd()
                self.judge(client, cell.says)
                self.ping(other, cell.says)
        self.failed += self.faults.failed
        began = time.monotonic()

        def healed() -> bool:
            return self.judge(client, f"after {cell.says}") and client.call("status")["state"] == "ready"

        try:
            wait_until(healed, HEALED_S, what="fresh and complete answers, and a status without a warning")
        except AssertionError:
            status = client.call("status")
            self.not_healed.append(f"{cell.says}: {status['state']} {[item['code'] for item in status['warnings']]}")
            wait_until(healed, 60, what=f"health after {cell.says}")
        self.slowest = max(self.slowest, time.monotonic() - began)


def _is_within(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") or folder == "." for folder in folders)


@pytest.fixture
def supervised(home: Home) -> Iterator[dict[str, str]]:
    """Return the environment of a daemon with a strict watchdog, which does not read its messages."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(home.path / "notify"))
        yield {"NOTIFY_SOCKET": str(home.path / "notify"), "WATCHDOG_USEC": "400000"}


def test_no_failed_call_makes_an_answer_lie(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], supervised: dict[str, str]
) -> None:
    daemon = start_daemon(**with_faults(tmp_path / "seam", faulty_socket(home.path)), **supervised)
    world = World(tree, daemon, Faults(faulty_socket(home.path)))
    with daemon.client() as client, daemon.client() as other:
        add_root(client, tree)
        try:
            world.run_all(client, other)
        except BaseException as fault:
            fault.add_note(home.logs()[-2000:])
            raise
    world.faults.close()
    assert world.failed and world.judged
    assert (world.wrong, world.silent, world.not_healed, world.slow_pings) == ([], [], [], [])
