"""A daemon with one hit and one root."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.canned_daemon import HIT, CannedDaemon, root, search_result, status_result
from helpers.support import Home


@pytest.fixture
def canned(home: Home) -> Iterator[CannedDaemon]:
    """A module may have another one."""
    with CannedDaemon(home.socket, search=search_result(HIT), status=status_result(root("/r"))) as daemon:
        yield daemon
