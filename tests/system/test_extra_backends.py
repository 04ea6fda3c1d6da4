"""The same script over each backend: the same files, the same shapes; PostgreSQL restarted in the middle."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.mcp_client import McpClient
from helpers.postgres_server import Postgres
from helpers.support import CHECKOUT, Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client

FINDER = CHECKOUT / "tests" / "helpers" / "word_finder.py"


def settings(backend: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if backend == "postgres":
        return f'dsn = "{request.getfixturevalue("postgres").dsn}"\nschema = "{folder.name[:20].lower()}"'
    if backend == "qdrant":
        pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
        return f'path = "{folder / "qdrant"}"'
    return f'command = ["{sys.executable}", "{FINDER}"]'


def ranks(client: Client, backend: str) -> None:
    assert client.sync(timeout_ms=60_000)["synced"]

    def settled() -> bool:
        status = client.status()
        lost = any(one["code"] == "backend_unavailable" for one in status["warnings"])
        return status["backend"] == backend and not lost

    wait_until(settled, 60, what=f"{backend} ranks")


def shape(value: Any) -> Any:
    """The fields of an answer, without their values."""
    if isinstance(value, dict):
        return {name: shape(field) for name, field in value.items() if name not in ("metadata", "explain")}
    return [shape(one) for one in value[:1]] if isinstance(value, list) else type(value).__name__


@pytest.mark.parametrize("backend", ["postgres", "qdrant", "semtools"])
def test_the_same_script_has_the_same_shapes(
    backend: str, request: pytest.FixtureRequest, home: Home, tree: Tree, tmp_path: Path,
    start_daemon: Callable[..., Daemon],
) -> None:  # fmt: skip
    tree.write_all({"a.md": "# Sea\n\nwalrus walrus\n", "b.txt": "one walrus\n", "sub/c.txt": "a goat\n"})
    root = f'[[roots]]\npath = "{tree}"\n'
    mine = settings(backend, request, tmp_path)
    config = f'{root}[index]\nbackend = "sqlite"\n[plugin.{backend}]\n{mine}\n'
    with start_daemon(config).client() as client:
        assert client.sync(timeout_ms=60_000)["synced"]

        def of_agent(query: str) -> Any:
            with McpClient(home, cwd=str(tree)) as agent:
                return agent.answer("search", query=query)

        def script() -> tuple[list[str], Any]:
            first = client.search(query="walrus", timeout_ms=60_000)
            inside = client.search(query="goat", path=str(tree / "sub"), timeout_ms=60_000)
            reported = json.loads(home.run("--json", "search", "walrus").stdout)
            told = of_agent("walrus")
            python = [sorted(hit["relative_path"] for hit in one["hits"]) for one in (first, inside, reported)]
            python.append(sorted(hit["path"] for hit in told["hits"]))
            exact = client.search(query="a goat", mode="exact", timeout_ms=60_000)
            nothing = client.search(query="zzqqxx", timeout_ms=60_000)
            return [*map(str, python)], [shape(one) for one in (first, inside, reported, told, exact, nothing)]

        built_in = script()
        done = home.run("index", "--backend", backend)
        assert done.returncode == 0, done.stderr
        ranks(client, backend)
        assert script() == built_in
        tree.write("b.txt", "no more\n")
        tree.write("new.txt", "a walrus of now\n")
        found = client.search(query="walrus", timeout_ms=60_000)
        assert sorted(hit["relative_path"] for hit in found["hits"]) == ["a.md", "new.txt"]
        assert found["warnings"] == [] and client.status()["backend"] == backend


def test_postgres_is_restarted_in_the_middle(
    postgres: Postgres, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    tree.write_all({f"f{number}.txt": f"walrus number{number}\n" for number in range(40)})
    root = f'[[roots]]\npath = "{tree}"\n[index]\nbackend = "postgres"\n'
    with start_daemon(f'{root}[plugin.postgres]\ndsn = "{postgres.dsn}"\nschema = "restarted"\n').client() as client:
        ranks(client, "postgres")
        postgres.stop()
        tree.write_all({f"f{number}.txt": f"walrus again{number}\n" for number in range(20, 60)})
        answer = client.search(query="walrus", limit=100, timeout_ms=30_000)
        assert len(answer["hits"]) == 60 and answer["fresh"], "the built-in index answers"
        assert "backend_unavailable" in {one["code"] for one in answer["warnings"]}
        postgres.start()
        ranks(client, "postgres")
        answer = client.search(query="walrus", limit=100, timeout_ms=30_000)
        assert len(answer["hits"]) == 60 and answer["warnings"] == [], "nothing is lost"
        (hit,) = client.search(query="again59", timeout_ms=30_000)["hits"]
        assert hit["relative_path"] == "f59.txt"
