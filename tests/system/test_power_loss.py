"""Power loss at any instant: everything acknowledged to clients is kept, and the index opens sound or is rebuilt."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from helpers.power_loss import STYLES, Op, image, read_record, tracing
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_daemon.config import settings
from livedex_daemon.index_file.opener import open_store
from livedex_indexing.store.forgotten_files import ForgottenFiles

IMAGES = int(os.environ.get("LIVEDEX_IMAGES", "100"))

pytestmark = [
    pytest.mark.needs("strace"),
    pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's"),
    pytest.mark.timeout(120 + IMAGES),
]


class Fact(NamedTuple):
    """An acknowledgement at a place of the record. ``began``: the earliest time of its request."""

    what: str  # "forgotten", "added", "removed"
    path: str
    began: int
    reported: int


class Precious:
    """Requests that must be kept, on one connection, one after the other."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.asked: list[list[tuple[str, str]]] = []

    def ask(self, daemon: Daemon, names: range) -> None:
        """For each number add a root and forget a file; for every third remove the root again."""
        asked: list[tuple[str, str]] = []
        with daemon.client() as client:
            client.call("roots/add", {"path": str(self._tree)})
            asked.append(("added", str(self._tree)))
            for number in names:
                self._tree.write(f"p{number}.txt", f"forgottenword{number}\n")
                root = Tree(self._tree.path.parent / f"another{number}")
                client.call("roots/add", {"path": str(root)})
                asked.append(("added", str(root)))
                client.call("files/delete", {"path": str(self._tree / f"p{number}.txt")})
                asked.append(("forgotten", f"p{number}.txt"))
                if number % 3 == 0:
                    client.call("roots/remove", {"path": str(root)})
                    asked.append(("removed", str(root)))
            client.call("server/ping")  # a kill may cut off the record of the last answer
        self.asked.append(asked)

    def facts(self, ops: list[Op]) -> list[Fact]:
        """Return when each was acknowledged: the answers are in the record, in order, with their results."""
        answers = [(op, answer) for op in ops if op.kind == "sent" for answer in _answers(op.data)]
        reported = [op for op, answer in answers if {"roots", "deleted"} & set(answer.get("result") or ())]
        asked = [pair for run in self.asked for pair in run]
        assert len(reported) == len(asked)
        places = [0, *(op.ended for op in reported)]
        return [Fact(*pair, places[number], places[number + 1]) for number, pair in enumerate(asked)]


def _is_complete(record: Path, pid: int) -> bool:
    return re.search(rf"^{pid} +\+\+\+ ", record.read_text("ascii")[-1000:], re.MULTILINE) is not None


def _answers(sent: bytes) -> list[dict[str, Any]]:
    lines = [line for line in sent.split(b"\n") if line.startswith(b"{")]
    return [json.loads(line) for line in lines]


def assert_kept(home: Path, facts: list[Fact], cut: int) -> None:
    """Compare a disk with the acknowledgements before the power loss."""
    roots = {root.path for root in settings.load(str(home / "config.toml")).roots}
    marks = ForgottenFiles(str(home / "data" / "forgotten.db"))
    try:
        for fact in facts:
            removed = any(other.path == fact.path and other.what == "removed" and other.began < cut for other in facts)
            if fact.reported > cut:
                continue
            if fact.what == "forgotten":
                tree = os.fsencode(facts[0].path)
                assert marks.has_path(tree, os.fsencode(fact.path)), fact
            elif fact.what == "removed":
                assert fact.path not in roots, fact
            elif not removed:
                assert fact.path in roots, fact
    finally:
        marks.close()
    store, _is_new = open_store(str(home / "data" / "index.db"))
    try:
        assert store.integrity() == []
    finally:
        store.close()


def lay_out(files: dict[bytes, bytes], home: Path, to: Path) -> None:
    """Write the files of an image that belong to a home."""
    (to / "data").mkdir(parents=True, mode=0o700)
    for path, content in files.items():
        name = os.path.relpath(os.fsdecode(path), home)
        if name == "config.toml" or (name.startswith("data/") and ".db" in name and not name.endswith("-shm")):
            (to / name).write_bytes(content)
            (to / name).chmod(0o600)


@pytest.fixture
def recorded(home: Home, tree: Tree, tmp_path: Path) -> tuple[list[Op], list[Fact]]:
    """Two runs of a daemon with requests to keep: one is stopped, one is killed."""
    precious = Precious(tree)
    records = []
    for run, end in enumerate((Daemon.stop, Daemon.kill)):
        records.append(tmp_path / f"record{run}")
        daemon = Daemon(home, wrap=tracing(records[-1])).start()
        precious.ask(daemon, range(run * 3, run * 3 + 3))
        end(daemon)
        wait_until(lambda: _is_complete(records[-1], daemon.pid), what="the end of the record")  # noqa: B023
    ops = read_record(*records)
    return ops, precious.facts(ops)


def test_what_was_acknowledged_survives_a_loss_of_power(
    home: Home, recorded: tuple[list[Op], list[Fact]], tmp_path: Path
) -> None:
    ops, facts = recorded
    ops = [op for op in ops if op.path.startswith(os.fsencode(home.path)) or op.kind == "sent"]
    chance = random.Random(17)
    writes = [op.ended for op in ops if op.kind != "sent"]
    for number in range(IMAGES):
        style = STYLES[number % len(STYLES)]
        # Right after an acknowledgement the synced data alone must be enough; and at any other time.
        cut = chance.choice(facts).reported if number % 2 else chance.choice(writes)
        disk = tmp_path / "disk"
        lay_out(image(ops, cut, style, chance), home.path, disk)
        try:
            assert_kept(disk, facts, cut)
        except BaseException as fault:
            fault.add_note(f"image {number}, {style}, cut at {cut}")
            raise
        shutil.rmtree(disk)
