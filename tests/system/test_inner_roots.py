"""A folder becomes a root inside another one, and is removed again: its files always are in one of the two roots."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found, wait_ready

COUNT = 20
FOLDERS = 300
# A walk takes one folder at a time, so that it is under way for long.
SLICES = "from livedex_daemon.write import inspector; inspector.WALK_S = -1.0"
# The steps of a reload are as far apart as a search takes.
SLOW = """
import time
from livedex_daemon.watch.root_presence import Presence
check = Presence.check
def slowly(self, root, **options):
    time.sleep(0.1)
    check(self, root, **options)
Presence.check = slowly
"""


def test_no_search_misses_a_file_that_passes_from_root_to_root(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    daemon = start_daemon(**with_code(tmp_path / "code", SLOW))
    tree.write_all({f"inner/s{number % 5}/f{number}.txt": f"zebra {number}\n" for number in range(COUNT)})
    tree.write("out.txt", "gnu\n")
    inner = str(tree / "inner")
    with daemon.client() as client, daemon.client() as toggling:
        add_root(client, tree)

        seen: list[list[str]] = []

        def toggle() -> None:
            for number in range(4):
                toggling.call("roots/add", {"path": inner})
                assert toggling.call("sync", {"timeout_ms": 30_000})["synced"]
                tree.write("inner/new.txt", f"okapi{number}\n")
                toggling.call("roots/remove", {"path": inner})
                seen.append(found(toggling, f"okapi{number}", path=inner))

        thread = threading.Thread(target=toggle)
        thread.start()
        fresh, number = 0, 0
        while thread.is_alive():
            number += 1
            path, expected = [(str(tree), COUNT), (inner, COUNT), (f"{inner}/s1", COUNT // 5)][number % 3]
            answer = client.call("search", {"query": "zebra", "limit": 100, "timeout_ms": 20_000, "path": path})
            if answer["fresh"]:
                fresh += 1
                assert len(answer["hits"]) == expected, (path, answer)
        thread.join()
        assert seen == [["inner/new.txt"]] * 4
        assert fresh, "some answers were fresh"


def test_a_root_that_is_removed_during_its_first_walk_takes_no_watch_away(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    daemon = start_daemon(**with_code(tmp_path / "code", SLICES))
    tree.write_all({f"inner/s{number}/f.txt": f"zebra {number}\n" for number in range(FOLDERS)})
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(2):
            client.call("roots/add", {"path": str(tree / "inner")})
            client.call("roots/remove", {"path": str(tree / "inner")})
            assert found(client, "nothing") == []  # its wait lets the outer root's walk go first
            wait_ready(client)
            for folder in range(number, FOLDERS, FOLDERS // 10):
                tree.write(f"inner/s{folder}/f.txt", f"okapi{number}x{folder}\n")
                assert found(client, f"okapi{number}x{folder}") == [f"inner/s{folder}/f.txt"]
