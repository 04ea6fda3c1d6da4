"""A daemon that is started with closed standard streams, as by ``livedex daemon <&- >&- 2>&- &``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.support import Daemon, Tree, add_root, codes, found


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_no_file_of_the_daemon_takes_the_place_of_one(
    tree: Tree, start_daemon: Callable[..., Daemon], closed: str
) -> None:
    daemon = start_daemon(wrap=["sh", "-c", f'exec "$@" {closed}', "sh"])
    with daemon.client() as client:
        tree.write("a.txt", "zebra\n")
        add_root(client, tree)
        assert found(client, "zebra") == ["a.txt"]
        assert codes(client) == set()
        numbers = {"<&-": 0, ">&-": 1, "2>&-": 2}
        streams = Path(f"/proc/{daemon.pid}/fd")
        assert {os.readlink(streams / str(numbers[each])) for each in closed.split()} == {"/dev/null"}
