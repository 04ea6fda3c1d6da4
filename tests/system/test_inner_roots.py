"""A folder that becomes a root of its own, and is one no more: its files always lie in one of the two roots."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found

COUNT = 20
# What is between two steps of a reload takes as long as a search.
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
