"""A file or folder that cannot be read is not gone: its entries are kept, and no answer hides it.

The faults are failing calls of the daemon. Afterwards everything is right again, without a run or a restart.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.subscription_client import Following, now
from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from helpers.syscall_faults import Faults, Order, faulty_socket, with_faults
from livedex_ipc.client import connect

if TYPE_CHECKING:
    from livedex_ipc.client import Client

HEALED_S = 10.0  # the promise
NAMES = {f"d{number % 3}/f{number}.txt" for number in range(9)}


@pytest.fixture
def faults(home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Iterator[Faults]:
    """A client of a daemon with nine files that contain ``zebra``, in three folders."""
    for name in NAMES:
        tree.write(name, f"zebra in {name}\n")
    start_daemon(**with_faults(tmp_path / "seam", faulty_socket(home.path)))
    made = Faults(faulty_socket(home.path))
    yield made
    made.close()


@pytest.fixture
def client(home: Home, faults: Faults, tree: Tree) -> Iterator[Client]:
    with connect(spawn=False, path=str(home.socket)) as made:
        add_root(made, tree)
        yield made


def assert_not_lost(client: Client, said: set[str]) -> None:
    """No fresh answer leaves out a file."""
    answer = client.call("search", {"query": "zebra", "limit": 100, "timeout_ms": 2_000})
    names = {hit["relative_path"] for hit in answer["hits"]}
    if answer["fresh"]:
        assert names == NAMES
    else:
        said.add(answer["reason"])


def heal(client: Client, *, failed: bool = False) -> None:
    """``failed``: files that could not be read count as failed, so that a fresh answer may lack them."""

    def healed() -> bool:
        answer = client.call("search", {"query": "zebra", "limit": 100, "timeout_ms": 1_000})
        names = {hit["relative_path"] for hit in answer["hits"]}
        assert names == NAMES or failed or not answer["fresh"], answer
        return bool(answer["fresh"]) and names == NAMES and client.call("status")["state"] == "ready"

    wait_until(healed, HEALED_S, what="fresh answers and a status without a warning")


@pytest.mark.parametrize("call", ["open", "read", "stat", "getdents"])
def test_what_cannot_be_read_is_not_gone(client: Client, tree: Tree, faults: Faults, call: str) -> None:
    for code in (errno.EIO, errno.EMFILE):
        said: set[str] = set()
        with faults.on(**{call: Order(code)}):
            for name in ("d0/f0.txt", "d1"):
                (tree / name).touch()
                assert_not_lost(client, said)
            if said:
                wait_until(lambda: "read_errors" in codes(client), what="the warning")
        assert faults.failed, code
        heal(client)


def test_a_search_elsewhere_stays_fresh(client: Client, tree: Tree, faults: Faults) -> None:
    with faults.on(getdents=Order(errno.EIO, most=1)):
        tree.mkdir("d1/new")
        asked = {"query": "zebra", "limit": 100, "timeout_ms": 300}
        inside = client.call("search", {**asked, "path": str(tree / "d1")})
        assert (inside["fresh"], inside.get("reason")) == (False, "unreadable") and inside["pending"]
        (warned,) = [item for item in inside["warnings"] if item["code"] == "read_errors"]
        assert str(tree / "d1/new") in warned["message"] and warned["remedy"]
        outside = client.call("search", {**asked, "path": str(tree / "d0")})
        assert outside["fresh"] and len(outside["hits"]) == 3
    heal(client)


def test_one_bad_file_does_not_make_every_search_unfresh_for_ever(client: Client, tree: Tree, faults: Faults) -> None:
    """After some tries it is ``failed``, which the status says, and it is read as soon as that works again."""
    with faults.on(read=Order(errno.EIO)):
        tree.write("d0/f0.txt", "zebra in a bad sector\n")

        def settled() -> bool:
            return bool(client.call("search", {"query": "zebra", "timeout_ms": 500})["fresh"])

        assert not settled()
        wait_until(settled, 30, what="a search without the bad file")
        assert set(found(client, "zebra")) < NAMES
        listed = client.call("files/list", {"status": "failed"})["files"]
        assert str(tree / "d0/f0.txt") in {file["path"] for file in listed}
        assert all(file["reason"] == "read: Input/output error" for file in listed)
        assert {"read_errors", "files_failed"} <= codes(client)
        tree.write("d0/f0.txt", "zebra in the same sector\n")  # which is no reason to try the other ones
        wait_until(settled, 30, what="a search without the bad file that changed")
    heal(client, failed=True)


@pytest.mark.parametrize("mode", ["keyword", "exact"])
def test_what_only_the_search_could_not_read(client: Client, faults: Faults, mode: str) -> None:
    """Nothing has changed, so that only the search reads the files."""
    with faults.on(read=Order(errno.EIO)):
        answer = client.call("search", {"query": "zebra", "mode": mode, "limit": 100, "timeout_ms": 2_000})
        assert (answer["hits"], answer["fresh"]) == ([], False) and answer["reason"] == "unreadable"
        assert "read_errors" in codes(client)
    heal(client)


def test_what_only_a_standing_query_could_not_read(client: Client, home: Home, faults: Faults) -> None:
    with connect(spawn=False, path=str(home.socket)) as own:
        with faults.on(read=Order(errno.EIO)):
            zebra = Following(own, "zebra", timeout_ms=2_000)
            assert (zebra.names, zebra.fresh, zebra.answer["reason"]) == (set(), False, "unreadable")
            assert "read_errors" in codes(client)
        zebra.until_fresh()
        assert zebra.held == now(client, "zebra")
    heal(client)


def _with_read_errors(client: Client) -> dict[str, Any]:
    """Return a status that names errors; an empty one if it names none."""
    status: dict[str, Any] = client.call("status")
    return status if any(said["code"] == "read_errors" for said in status["warnings"]) else {}


def test_what_only_a_change_of_a_standing_query_could_not_read(client: Client, tree: Tree, faults: Faults) -> None:
    """The file is in the index: only the thread that sends the change reads it."""
    client.call("search/subscribe", {"query": "zebra", "limit": 100, "timeout_ms": 2_000})
    with faults.on(read=Order(errno.EIO, thread="standing")):
        tree.write("d0/f0.txt", "zebra changed\n")
        # The error comes and goes: the worker can read the file.
        status = wait_until(lambda: _with_read_errors(client), what="the warning")
        assert status["state"] == "degraded"
    wait_until(lambda: _told(client, "changed"), what="the change, once the file can be read")
    heal(client)


def _told(client: Client, word: str) -> bool:
    method, params = client.notification(HEALED_S)
    assert method == "search/changed"
    return any(word in hit["snippet"] for hit in params["added"])


def test_permission_that_returns_without_an_event_is_noticed(client: Client, tree: Tree, faults: Faults) -> None:
    with faults.on(open=Order(errno.EACCES, name="f0.txt")):
        tree.write("d0/f0.txt", "zebra under lock and key\n")
        wait_until(lambda: set(found(client, "zebra")) == NAMES - {"d0/f0.txt"}, what="the file left out")
        assert "files_failed" in codes(client)
    heal(client, failed=True)


def test_a_file_denied_for_a_moment_is_not_left_out(client: Client, tree: Tree, faults: Faults) -> None:
    """The reading and the look at its folder are denied, and nothing after that."""
    open_of_it = Order(errno.EACCES, name="new.txt", thread="edits", most=1)
    second_look = Order(errno.EACCES, name="new.txt", thread="edits", first=2, most=1)
    with faults.on(open=open_of_it, stat=second_look):
        tree.write("d0/new.txt", "quagga\n")
        assert found(client, "quagga") == ["d0/new.txt"]
    assert faults.failed == 2
