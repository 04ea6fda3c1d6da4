"""The version has one source, and everything that prints it agrees."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable

from helpers.support import Daemon, Home
from livedex_ipc import __version__


def test_the_command_the_daemon_and_the_distribution_name_one_version(
    home: Home, start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon().client() as client:
        assert client.call("server/info", {})["version"] == __version__
    assert home.run("--version").stdout == f"livedex {__version__}\n"
    assert importlib.metadata.version("livedex") == __version__
