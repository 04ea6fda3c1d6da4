"""The names that a program may import from the package itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

import livedex_ipc
from helpers.threaded_server import serving
from livedex_ipc import async_client, client


def test_the_public_names_are_these() -> None:
    assert livedex_ipc.__all__ == ["AsyncClient", "Client", "connect", "connect_async"]
    assert livedex_ipc.Client is client.Client
    assert livedex_ipc.connect is client.connect
    assert livedex_ipc.AsyncClient is async_client.AsyncClient
    assert livedex_ipc.connect_async is async_client.connect_async
    assert {*livedex_ipc.__all__} <= {*dir(livedex_ipc)}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = livedex_ipc.no_such_name  # type: ignore[attr-defined]


def test_every_public_name_has_a_docstring() -> None:
    for name in livedex_ipc.__all__:
        assert getattr(livedex_ipc, name).__doc__


def test_importing_the_package_loads_no_other_module_of_it() -> None:
    script = "import sys; bare = {*sys.modules}; import livedex_ipc; print(*sorted({*sys.modules} - bare))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["livedex_ipc"]


def test_a_program_talks_to_a_daemon_with_the_public_names_alone() -> None:
    with serving() as server, livedex_ipc.connect(spawn=False, path=str(server.path)) as connection:
        assert isinstance(connection, livedex_ipc.Client)
        assert connection.call("server/ping") == {}
