"""On battery, requested work goes on; postponed work is named in the status, with the remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.daemon_template import only_sets
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, codes, found, wait_until

FILES = 40
ON_BATTERY = only_sets("""
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.write import power
    power.on_battery = lambda supplies="": True
""")


def fill(tree: Tree, word: str) -> None:
    tree.write_all({f"d{number % 4}/f{number}.txt": f"{word} number{number}\n" for number in range(FILES)})


@pytest.fixture
def battery(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path) -> Iterator[Daemon]:
    """A daemon on battery, with a root that it has begun to index for the first time."""
    fill(tree, "alpha")
    yield start_daemon(f'[[roots]]\npath = "{tree}"\n', **with_code(tmp_path / "seam", ON_BATTERY))


def test_up_and_index_end(battery: Daemon, home: Home, tree: Tree, tmp_path: Path) -> None:
    assert home.run("up", timeout=30).returncode == 0
    status = home.run_json("up")
    assert (status["files"], status["pending"], status["warnings"]) == (FILES, 0, [])
    fill(tree, "beta")
    assert home.run("index", str(tree), timeout=30).returncode == 0
    other = Tree(tmp_path / "other")
    fill(other, "gamma")
    assert home.run("up", str(other), timeout=30).returncode == 0
    assert home.run_json("status")["files"] == 2 * FILES


def test_a_search_after_a_checkout_is_complete(battery: Daemon, tree: Tree) -> None:
    with battery.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        fill(tree, "beta")
        assert len(found(client, "beta")) == FILES
        assert codes(client) == set()


def move_in(tree: Tree, tmp_path: Path) -> None:
    """Many files at once, by one event."""
    made = Tree(tmp_path / "made")
    fill(made, "beta")
    made.path.rename(tree / "moved")


def test_what_nobody_asked_for_waits_and_is_named(battery: Daemon, tree: Tree, tmp_path: Path) -> None:
    with battery.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        move_in(tree, tmp_path)
        wait_until(lambda: "paused" in codes(client), what="the warning")
        status = client.call("status")
        assert status["pending"] > 0
        assert status["state"] == "degraded"
        (warning,) = status["warnings"]
        assert "power.wait_on_battery = false" in warning["remedy"]
        tree.write("moved/d0/f0.txt", "delta\n")
        assert found(client, "delta", path=str(tree / "moved/d0/f0.txt")) == ["moved/d0/f0.txt"]
        assert len(found(client, "beta")) == FILES - 1
        wait_until(lambda: codes(client) == set(), what="the end of the pause")


def test_the_remedy_helps(battery: Daemon, home: Home, tree: Tree, tmp_path: Path) -> None:
    with battery.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        move_in(tree, tmp_path)
        wait_until(lambda: "paused" in codes(client), what="the warning")
        home.config.write_text(f'[[roots]]\npath = "{tree}"\n[power]\nwait_on_battery = false\n')
        client.call("server/reload")
        wait_until(lambda: client.call("status")["pending"] == 0, what="the work that had waited")
        assert codes(client) == set()
