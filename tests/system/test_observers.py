"""The sources of events: the system's own, or walks; and the switch between them while the daemon runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, add_root, found, wait_until


def test_polling_is_as_fresh_as_the_systems_events(start_daemon: Callable[..., Daemon], tree: Tree, home: Home) -> None:
    daemon = start_daemon('[watch]\nobserver = "polling"\n')
    with daemon.client() as client:
        tree.write("a.txt", "alpha\n")
        add_root(client, tree)
        assert client.call("status")["roots"][0]["watching"] == "polling"
        tree.write("deep/er/b.txt", "beta\n")
        assert found(client, "beta") == ["deep/er/b.txt"]
        tree.rename("deep", "moved")
        assert found(client, "beta") == ["moved/er/b.txt"]
        tree.remove("moved")
        assert found(client, "beta") == []
        home.config.write_text(home.config.read_text().replace('"polling"', '"auto"'))
        client.call("server/reload")
        wait_until(lambda: client.call("status")["roots"][0]["watching"] != "polling", what="events instead of walks")
        tree.write("c.txt", "gamma\n")
        assert found(client, "gamma") == ["c.txt"]
        home.config.write_text(home.config.read_text().replace('"auto"', '"polling"'))
        client.call("server/reload")
        assert client.call("status")["roots"][0]["watching"] == "polling"
        tree.write("d.txt", "delta\n")
        assert found(client, "delta") == ["d.txt"]


def test_what_is_polled_is_found_without_a_search(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    daemon = start_daemon('[watch]\nobserver = "polling"\npoll_every = "100ms"\n')
    with daemon.client() as client:
        tree.write("a.txt", "alpha\n")
        add_root(client, tree)
        tree.write("b.txt", "beta\n")
        wait_until(lambda: client.call("status")["files"] == 2, what="the new file in the index")


# As if the root were on a share of another machine: nothing reports changes there.
A_SHARE = """
from livedex_daemon.watch import root_presence
root_presence.mount_kind = lambda path: "network"
"""


def test_a_share_of_another_machine_is_polled(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path) -> None:
    daemon = start_daemon(**with_code(tmp_path / "seam", A_SHARE))
    with daemon.client() as client:
        tree.write("a.txt", "alpha\n")
        add_root(client, tree)
        (root,) = client.call("status")["roots"]
        assert (root["state"], root["watching"]) == ("online", "polling")
        tree.write("sub/b.txt", "beta\n")
        assert found(client, "beta") == ["sub/b.txt"], "a fresh search walks it"
        tree.remove("sub")
        assert found(client, "beta") == []
