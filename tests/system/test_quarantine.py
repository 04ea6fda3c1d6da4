"""A file that kills the process which chunks it is quarantined alone and durably, until it is edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.fault_injection import KILLED_BY_A_FILE, with_code
from helpers.support import Daemon, Tree, add_root, found, wait_ready, wait_until
from livedex_ipc.client import Client

MATES = 40
KILLER = "killerword\n"
QUARANTINED = "quarantined: chunk: the worker ended twice on it (killed by signal 11)"


@pytest.fixture
def deaths(tmp_path: Path) -> Path:
    """A file with a byte for each death of a child."""
    path = tmp_path / "deaths"
    path.touch()
    return path


@pytest.fixture
def deadly(start_daemon: Callable[..., Daemon], tmp_path: Path, deaths: Path) -> Iterator[Daemon]:
    yield start_daemon(DEATHS=str(deaths), **with_code(tmp_path / "seam", KILLED_BY_A_FILE))


def state_of(client: Client, path: Path) -> tuple[str, str | None]:
    answer: dict[str, Any] = client.call("files/list", {"path": str(path), "timeout_ms": 30_000})
    (record,) = answer["files"]
    return record["status"], record.get("reason")


def test_one_bad_file_is_set_aside_alone_and_for_good(deadly: Daemon, tree: Tree, deaths: Path) -> None:
    tree.write_all({f"f{number:02}.txt": f"mate number{number}\n" for number in range(MATES)})
    killer = tree.write("f20-killer.txt", KILLER)
    with deadly.client() as client:
        add_root(client, tree)
        assert len(found(client, "mate")) == MATES, "those of its batch are indexed"
        assert state_of(client, killer) == ("failed", QUARANTINED)
        assert deaths.stat().st_size == 2
        for answer in (client.call("status"), client.call("search", {"query": "mate"})):
            assert [warning["code"] for warning in answer["warnings"]] == ["files_failed"]
        client.call("index/run", {"paths": [str(tree)]})
        killer.touch()
        assert client.call("sync")["synced"]
    for end in (deadly.stop, deadly.kill):
        end()
        deadly.start()
        with deadly.client() as client:
            wait_ready(client)
            client.call("index/run", {"paths": [str(tree)]})
            assert state_of(client, killer) == ("failed", QUARANTINED)
    assert deaths.stat().st_size == 2, "it is known for what it is"


def test_an_edit_or_a_demand_sets_it_free(deadly: Daemon, tree: Tree, deaths: Path) -> None:
    killer = tree.write("a.txt", KILLER)
    with deadly.client() as client:
        add_root(client, tree)
        assert state_of(client, killer)[0] == "failed"
        client.call("index/run", {"paths": [str(killer)], "force": True})
        assert deaths.stat().st_size == 4
        assert state_of(client, killer) == ("failed", QUARANTINED)
        tree.save("a.txt", "harmless words\n")
        assert found(client, "harmless") == ["a.txt"]
        new = deaths.with_name("new.txt")  # outside the root: a file next to it may be read before it is renamed
        new.write_text(KILLER * 2)
        new.rename(killer)
        assert found(client, "harmless") == []
        assert state_of(client, killer) == ("failed", QUARANTINED)
    assert deaths.stat().st_size == 6


def test_a_daemon_that_dies_with_its_child_starts_again(deadly: Daemon, tree: Tree, deaths: Path) -> None:
    tree.write("mate.txt", "mate\n")
    with deadly.client() as client:
        add_root(client, tree)
    killer = tree.write("killer.txt", KILLER)
    for _ in range(3):
        before = deaths.stat().st_size
        with deadly.client() as client:
            client.call("search", {"query": "mate", "timeout_ms": 1})
        wait_until(lambda: deaths.stat().st_size > before or state_is_final(deadly, killer), what="a death")  # noqa: B023
        deadly.kill()
        deadly.start()
    with deadly.client() as client:
        wait_ready(client)
        assert found(client, "mate") == ["mate.txt"]
        assert state_of(client, killer) == ("failed", QUARANTINED)


def state_is_final(daemon: Daemon, path: Path) -> bool:
    with daemon.client() as client:
        return state_of(client, path) == ("failed", QUARANTINED)
