"""The backends that come as extras pass the suite of every backend, each over its own engine."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers.postgres_server import running_postgres
from helpers.support import CHECKOUT
from livedex_indexing.backends import extra_backends
from livedex_indexing.conformance import check_backend
from livedex_indexing.plugins import BACKEND, BUILT_IN, Backend, PluginUnavailable, Registry

FINDER = [sys.executable, str(CHECKOUT / "tests" / "helpers" / "word_finder.py")]


def made(name: str, settings: Mapping[str, object]) -> Backend:
    registry = Registry()
    extra_backends.register(registry.owned_by(BUILT_IN))
    return registry.create(BACKEND, name, {"plugin": settings})


def test_semtools_conforms(tmp_path: Path) -> None:
    assert check_backend(lambda: made("semtools", {"command": FINDER}), str(tmp_path)) == []


# The local mode leaves the database of a dropped collection to the garbage collector, which Python 3.13 reports.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_qdrant_conforms(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    assert check_backend(lambda: made("qdrant", {"path": str(tmp_path / "qdrant")})) == []


def test_postgres_conforms() -> None:
    with running_postgres() as server:
        assert check_backend(lambda: made("postgres", {"dsn": server.dsn, "text_config": "simple"})) == []


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("postgres", {}, "needs dsn"),
        ("postgres", {"dsn": "x", "schema": "a; DROP"}, "must be a plain name"),
        ("postgres", {"dsn": "host=/nowhere"}, "OperationalError"),
        ("qdrant", {}, "needs url, or path"),
        ("semtools", {"command": "rm -rf /"}, "must be a list"),
    ],
)
def test_wrong_settings_are_a_reason(name: str, settings: Mapping[str, object], reason: str) -> None:
    module = {"postgres": "psycopg", "qdrant": "qdrant_client"}.get(name)
    if module is not None:
        pytest.importorskip(module, reason=f"{module} is not installed")
    with pytest.raises(PluginUnavailable, match=reason):
        made(name, settings)


def test_semtools_that_fails_is_an_error(tmp_path: Path) -> None:
    backend = made("semtools", {"command": ["false"]})
    assert check_backend(lambda: backend, str(tmp_path))[0].startswith("it raises OSError: false ended with 1")
