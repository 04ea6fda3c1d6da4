"""Trees that are written to without end: one busy file costs a bounded amount and delays no other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import cutting_slowly
from helpers.support import Daemon, Tree, add_root, found, running, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

LOOKS = int(os.environ.get("LIVEDEX_LOOKS", "16"))
LIMIT = 8 << 20  # bytes of a file that is read

# One megabyte a second is appended, with a numbered line every so often.
LOG = """
import sys, time
number, began = 0, time.monotonic()
with open(sys.argv[1], "ab", buffering=0) as file:
    while True:
        number += 1
        file.write(b"logword n%dn\\n" % number + b"filling words of a log\\n" * 455)
        time.sleep(max(0, began + number / 100 - time.monotonic()))
"""

# All of one letter or all of the other, of the same length, overwritten in place a thousand times a second. In one call
# and less than a page: a writer that is stopped between two writes would leave a mixture that is a state of the file.
ALTERNATING = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
texts = [(b"pureword " + letter * 20 + b"\\n") * 130 for letter in (b"a", b"b")]
number = 0
while True:
    number += 1
    os.pwrite(file, texts[number % 2], 0)
    time.sleep(0.001)
"""

RENAMES = """
import os, sys
number, name = 0, sys.argv[1] + "/stormy.txt"
while True:
    number += 1
    new = f"{sys.argv[1]}/stormy{number % 50}.txt"
    os.rename(name, new)
    name = new
"""

IGNORED = """
import os, sys
number = 0
while True:
    number += 1
    path = f"{sys.argv[1]}/node_modules/p{number % 30}/f{number % 1000}.js"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f"ignoredword {number}")
"""


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write("first.txt", "the first file\n")
    add_root(client, tree)
    yield client
    assert client.call("index/audit", {})["differences"] == []


def others_are_seen(client: Client, tree: Tree, word: str) -> None:
    """Each change elsewhere is found by the next search, whatever else happens."""
    for number in range(LOOKS):
        tree.write("calm.txt", f"{word}{number}x\n")
        answer = client.call("search", {"query": f"{word}{number}x", "timeout_ms": 20_000})
        assert [hit["relative_path"] for hit in answer["hits"]] == ["calm.txt"]
        assert answer["fresh"] or answer["reason"] == "unsettled"


def read(client: Client) -> int:
    number = client.call("status")["work"]["files_read"]
    assert isinstance(number, int)
    return number


def test_a_log_that_grows_for_ever(indexed: Client, tree: Tree) -> None:
    path = tree.write("app.log", "logword n0n\n")
    with running(LOG, str(path)):
        others_are_seen(indexed, tree, "beside")
        for _ in range(3):  # its end is found too: the text before the request
            last = path.read_bytes().rpartition(b"logword n")[2].partition(b"n")[0].decode()
            answer = indexed.call("search", {"query": f"n{last}n", "timeout_ms": 20_000})
            if path.stat().st_size < LIMIT:
                assert answer["hits"] or not answer["fresh"], last
        before, began = read(indexed), time.monotonic()
        wait_until(lambda: path.stat().st_size > 5_000_000, 60, what="some growth")
        runs, seconds = read(indexed) - before, time.monotonic() - began
        assert runs <= 2 + 3 * seconds, "a run a second, and what a fault of a reading adds, while nobody asks"
    size = path.stat().st_size
    last = path.read_bytes().rpartition(b"logword n")[2].partition(b"n")[0].decode()
    if size < LIMIT:
        assert found(indexed, f"n{last}n") == ["app.log"]


def test_a_file_rewritten_while_it_is_read(indexed: Client, tree: Tree) -> None:
    """The text of every answer is of one version, or is left out."""
    path = tree.write("pure.txt", b"pureword " + b"a" * 20 + b"\n")
    path.write_bytes((b"pureword " + b"a" * 20 + b"\n") * 130)
    served, late = 0, 0
    with running(ALTERNATING, str(path)):
        for number in range(LOOKS * 3):
            query = {"query": "pureword", "timeout_ms": 20_000, "limit": 50, "max_snippet_chars": 4000}
            answer = indexed.call("search", {**query, "fresh": bool(number % 2)})
            for hit in answer["hits"]:
                served += 1
                letters = set(hit["snippet"].replace("pureword", "").split())
                assert letters in ({"a" * 20}, {"b" * 20}), letters
            late += not answer["fresh"]
    print(f"{served} chunks served, {late} answers not fresh")
    assert len(found(indexed, "pureword")) >= 1


def test_a_storm_of_renames_of_one_file(indexed: Client, tree: Tree) -> None:
    tree.write("storm/stormy.txt", "stormword\n")
    assert found(indexed, "stormword") == ["storm/stormy.txt"]
    chunked = indexed.call("status")["work"]["files_chunked"]
    with running(RENAMES, str(tree / "storm")):
        for number in range(LOOKS // 4):
            tree.write("calm.txt", f"elsewhere{number}x\n")
            ask = {"query": f"elsewhere{number}x", "path": str(tree / "calm.txt"), "timeout_ms": 20_000}
            answer = indexed.call("search", ask)
            assert answer["hits"] or not answer["fresh"]
    (last,) = (tree / "storm").iterdir()
    assert found(indexed, "stormword") == [f"storm/{last.name}"]
    assert indexed.call("status")["work"]["files_chunked"] <= chunked + LOOKS // 4, "its content was known all the time"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_churn_in_an_ignored_folder_costs_nothing(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    def ticks() -> int:
        fields = Path(f"/proc/{daemon.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    tree.mkdir("node_modules/p0")
    assert found(indexed, "ignoredword") == []
    with running(IGNORED, str(tree)):
        wait_until((tree / "node_modules/p29").exists, what="the churn")
        before = ticks()
        began = time.monotonic()
        wait_until(lambda: time.monotonic() - began > 2, what="two seconds of it")
        used = (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)
    assert used < 0.25, f"{used:.1%} of a core"
    assert found(indexed, "ignoredword") == []


def test_edits_go_on_while_others_take_their_time_to_be_cut(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    slow, environment = cutting_slowly(tmp_path)
    daemon = start_daemon(**environment)
    with daemon.client() as client:
        add_root(client, tree)
        for name in ("slow1.txt", "slow2.txt", "slow3.txt"):
            tree.write(name, f"slowword {name}\n")
        wait_until((slow / "begun-slow2.txt").exists, what="the slow files")
        for number in range(3):
            tree.write("edited.txt", f"edit{number}x\n")
            only = {"path": str(tree / "edited.txt"), "timeout_ms": 60_000}  # the slow files take for ever
            assert found(client, f"edit{number}x", **only) == ["edited.txt"]
        assert not client.call("search", {"query": "slowword"})["fresh"], "those that are cut are waited for"
        for number in (1, 2, 3):
            (slow / f"slow{number}.txt").touch()
        assert len(found(client, "slowword")) == 3


def test_a_walk_of_the_root_makes_no_edit_wait_for_the_slow_files_that_it_found(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    slow, environment = cutting_slowly(tmp_path)
    daemon = start_daemon(**environment)
    with daemon.client() as client:
        add_root(client, tree)
        with daemon.paused():
            tree.write("slow.txt", "slowword\n")
            tree.path.chmod(0o711)  # which has the whole root walked
        wait_until((slow / "begun-slow.txt").exists, what="the slow file")
        for number in range(3):
            tree.write("edited.txt", f"edit{number}x\n")
            only = {"path": str(tree / "edited.txt"), "timeout_ms": 60_000}  # the slow file takes for ever
            assert found(client, f"edit{number}x", **only) == ["edited.txt"]
        assert not client.call("search", {"query": "slowword"})["fresh"], "the one that is cut is waited for"
        (slow / "slow.txt").touch()
        assert found(client, "slowword") == ["slow.txt"]


def test_an_edit_waits_for_no_slow_file_that_was_replaced_before(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    """Its former inode might have another name, but not one that is in the scope."""
    slow, environment = cutting_slowly(tmp_path)
    (slow / "slow.txt").touch()
    daemon = start_daemon(**environment)
    with daemon.client() as client, ExitStack() as replaced:
        add_root(client, tree)
        for number in range(2):
            tree.save("slow.txt", f"slowword {number}\n")
            assert found(client, "slowword") == ["slow.txt"]
            replaced.enter_context((tree / "slow.txt").open())  # else the edited file may get its inode
        (slow / "slow.txt").unlink()
        tree.save("slow.txt", "slowword again\n")
        wait_until((slow / "begun-slow.txt").exists, what="the slow file")
        for number in range(3):
            with daemon.paused():  # the edit is being read while the search looks for other names
                tree.write("edited.txt", f"edit{number}x\n")
            only = {"path": str(tree / "edited.txt"), "timeout_ms": 30_000}  # the slow file takes for ever
            assert found(client, f"edit{number}x", **only) == ["edited.txt"]
        (slow / "slow.txt").touch()
        assert found(client, "again") == ["slow.txt"]
