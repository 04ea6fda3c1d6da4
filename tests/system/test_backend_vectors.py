"""Vectors in a backend: the order of the exact cosines, nothing embedded twice, and never a reason to find less."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from helpers.fault_injection import with_code
from helpers.postgres_server import Postgres
from helpers.support import Daemon, Home, Tree, wait_until
from helpers.vector_backend import PLUGIN
from livedex_ipc.client import Client

# Pairs of letters; each text of a chunk that it embeds is noted in a file.
EMBEDDER = """
from livedex_indexing.plugins import BaseEmbedder

class Pairs(BaseEmbedder):
    dimensions = 0
    def __init__(self, plugin):
        self.identity, self.dimensions = plugin["identity"], plugin["size"]
        self.log = plugin["log"]
    def embed(self, text):
        vector = [1e-3] * self.dimensions
        for one, two in zip(text, text[1:]):
            vector[(ord(one) * 31 + ord(two)) % self.dimensions] += 1.0
        return vector
    def embed_batch(self, texts):
        with open(self.log, "a") as file:
            file.writelines(self.identity + repr(text) + "\\n" for text in texts)
        return [self.embed(text) for text in texts]

def register(registry):
    registry.register_embedder("pairs", lambda config: Pairs(config["plugin"]))
"""
FILES = {
    "sea.md": "the vessel left the harbour\n",
    "food.txt": "bread and butter, a loaf in the oven\n",
    "sub/tide.md": "vessels leave harbours at high tide\n",
    "sub/town.txt": "a tramway through the old town\n",
    "over.md": "overleaf the vase is shelved\n",
}
QUERY = "vessel harbours"


class Place:
    """The folders of one test, and its configuration."""

    def __init__(self, tree: Tree, folder: Path) -> None:
        self.tree, self.folder = tree, folder
        self.log = folder / "embedded"
        self.plugins = folder / "plugins"
        self.plugins.mkdir(mode=0o700)
        (self.plugins / "pairs.py").write_text(EMBEDDER)
        (self.plugins / "vectors.py").write_text(PLUGIN)

    def config(self, backend: str, settings: str, *, model: str = "first", size: int = 64) -> str:
        return (
            f'[[roots]]\npath = "{self.tree}"\n[index]\nbackend = "{backend}"\n[plugins]\npaths = ["{self.plugins}"]\n'
            f'[embedding]\nembedder = "pairs"\n[plugin.{backend}]\n{settings}\n'
            f'[plugin.pairs]\nidentity = "{model}"\nsize = {size}\nlog = "{self.log}"\n'
        )

    def exact(self, query: str = QUERY, *, size: int = 64, like: str | None = None) -> list[tuple[str, float]]:
        """The files by the exact cosine of their text with the query, and, as much, with that of the file ``like``."""
        names: dict[str, Any] = {}
        exec(EMBEDDER, names)
        embed = names["Pairs"]({"identity": "", "size": size, "log": ""}).embed
        wanted, scores = embed(query), {}
        if like is not None:
            other = embed((self.tree / like).read_text())
            wanted = [a / math.hypot(*wanted) + b / math.hypot(*other) for a, b in zip(wanted, other, strict=True)]
        for path in sorted(self.tree.path.rglob("*.*")):
            vector = embed(path.read_text())
            product = sum(a * b for a, b in zip(wanted, vector, strict=True))
            scores[str(path.relative_to(self.tree.path))] = product / (math.hypot(*wanted) * math.hypot(*vector))
        return sorted(scores.items(), key=lambda item: -item[1])

    def embedded_twice(self) -> list[str]:
        return [text for text, count in Counter(self.log.read_text().splitlines()).items() if count > 1]


@pytest.fixture
def place(tree: Tree, tmp_path: Path) -> Place:
    tree.write_all(FILES)
    return Place(tree, tmp_path)


def semantic(client: Client, codes: Sequence[str] | None = (), **params: Any) -> list[tuple[str, float]]:
    """The files and scores of a search by meaning, which has the warnings with these codes; None: any."""
    assert client.sync(timeout_ms=30_000)["synced"]
    answer = client.search(query=QUERY, mode="semantic", timeout_ms=30_000, **params)
    assert answer["mode"] == "semantic"
    assert codes is None or [one["code"] for one in answer["warnings"]] == list(codes), answer["warnings"]
    return [(hit["relative_path"], hit["score"]) for hit in answer["hits"]]


def settles(client: Client, backend: str) -> None:
    assert client.sync(timeout_ms=60_000)["synced"]

    def settled() -> bool:
        status = client.status()
        return bool(status["backend"] == backend and status["vectors_pending"] == 0 and status["warnings"] == [])

    wait_until(settled, 60, what=f"{backend} ranks, and all is embedded")


class Table:
    """The vectors of one schema, as the server has them."""

    def __init__(self, server: Postgres, schema: str) -> None:
        import psycopg

        self.schema, self._connect = schema, lambda: psycopg.connect(server.dsn, autocommit=True)

    def rows(self, sql: str) -> list[Any]:
        with self._connect() as db:
            cursor = db.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def names(self) -> list[str]:
        sql = f"SELECT tablename FROM pg_tables WHERE schemaname = '{self.schema}' AND tablename LIKE 'vectors%'"
        return [name for (name,) in self.rows(sql)]

    def files(self) -> list[str]:
        """The files with a vector, once there is one table."""
        names = self.names()
        if len(names) != 1:
            return []
        return [Path(path).name for (path,) in self.rows(f"SELECT path FROM {self.schema}.{names[0]} ORDER BY path")]


def is_filled(table: Table, tree: Tree) -> None:
    wanted = sorted(path.name for path in tree.path.rglob("*.*"))
    wait_until(lambda: sorted(table.files()) == wanted, 60, what="the vectors of all files on the server")


def test_postgres_orders_by_its_vectors_as_the_exact_cosines_do(
    postgres: Postgres, place: Place, start_daemon: Callable[..., Daemon]
) -> None:
    settings = f'dsn = "{postgres.dsn}"\nschema = "cosines"'
    table = Table(postgres, "cosines")
    with start_daemon(place.config("postgres", settings)).client() as client:
        settles(client, "postgres")
        is_filled(table, place.tree)
        found, exact = semantic(client), place.exact()
        assert [name for name, _ in found] == [name for name, _ in exact]
        assert [score for _, score in found] == pytest.approx([score for _, score in exact], abs=0.01)
        inside = [name for name, _ in exact if name.startswith("sub/")]
        assert [name for name, _ in semantic(client, path=str(place.tree / "sub"))] == inside
        markdown = [name for name, _ in exact if name.endswith(".md")]
        assert [name for name, _ in semantic(client, languages=["markdown"])] == markdown
        assert [name for name, _ in semantic(client, limit=2, offset=1)] == [name for name, _ in exact[1:3]]
        hybrid = client.search(query=QUERY, mode="hybrid", explain=True, timeout_ms=30_000)
        ranks = {hit["relative_path"]: hit["explain"]["ranks"] for hit in hybrid["hits"]}
        best = next(name for name, places in ranks.items() if places["keyword"] == 1)
        resembling = place.exact(like=best)
        assert {name: places["semantic"] for name, places in ranks.items()} == {
            name: number for number, (name, _) in enumerate(resembling, 1)
        }
        # What the server has decides: with the vector of another file, a file takes its place.
        last, first = exact[-1][0], exact[0][0]
        of = f"SELECT vector FROM cosines.{table.names()[0]} WHERE path = '{place.tree / first}'"

        def takes_its_place() -> bool:  # each time: a file that is read once more gets its own vector again
            table.rows(f"UPDATE cosines.{table.names()[0]} SET vector = ({of}) WHERE path = '{place.tree / last}'")
            return last in {name for name, _ in semantic(client)[:2]}

        wait_until(takes_its_place, what="an order by the server's vectors")
        # A changed file gets its own vector; the one of its former text is gone.
        place.tree.write(last, "vessel harbours\n")
        assert place.exact()[0][0] == last
        wait_until(lambda: semantic(client)[0] == pytest.approx(place.exact()[0], abs=0.01), what="the new vector")
        is_filled(table, place.tree)
        assert [name for name, _ in semantic(client)] == [name for name, _ in place.exact()]
        place.tree.remove(last)
        assert last not in {name for name, _ in semantic(client)}
        is_filled(table, place.tree)
        assert place.embedded_twice() == []


def test_another_model_takes_the_place_of_the_former_once_complete(
    postgres: Postgres, place: Place, home: Home, start_daemon: Callable[..., Daemon]
) -> None:
    settings = f'dsn = "{postgres.dsn}"\nschema = "models"'
    table = Table(postgres, "models")
    with start_daemon(place.config("postgres", settings)).client() as client:
        settles(client, "postgres")
        is_filled(table, place.tree)
        (former,) = table.names()
        home.config.write_text(place.config("postgres", settings, model="second", size=97))
        client.server_reload()

        def switched() -> bool:
            orders = [[name for name, _ in place.exact(size=size)] for size in (64, 97)]
            assert [name for name, _ in semantic(client, None)] in orders, "all by the former vectors, or by the new"
            return bool(client.status()["vectors_pending"] == 0 and former not in table.names())

        wait_until(switched, 60, what="the former vectors gone")
        is_filled(table, place.tree)
        found, exact = semantic(client), place.exact(size=97)
        assert [name for name, _ in found] == [name for name, _ in exact]
        assert [score for _, score in found] == pytest.approx([score for _, score in exact], abs=0.01)


def test_a_server_that_is_restarted_gets_what_it_lacks(
    postgres: Postgres, place: Place, start_daemon: Callable[..., Daemon]
) -> None:
    table = Table(postgres, "lost")
    config = place.config("postgres", f'dsn = "{postgres.dsn}"\nschema = "lost"')
    with start_daemon(config).client() as client:
        settles(client, "postgres")
        is_filled(table, place.tree)
        table.rows(f"DELETE FROM lost.{table.names()[0]} WHERE path LIKE '%sea.md'")
        place.tree.write_all({f"early{number}.txt": f"vessel number{number} at sea\n" for number in range(70)})
        wait_until(lambda: len(table.files()) > len(FILES), 60, what="some of the new vectors on the server")
        postgres.stop()
        place.tree.write_all({f"late{number}.txt": f"vessel number{number} harbours\n" for number in range(70)})
        assert client.sync(timeout_ms=30_000)["synced"]
        wait_until(lambda: client.status()["vectors_pending"] == 0, 60, what="all is embedded")
        wait_until(lambda: said(client, "backend_unavailable"), 60, what="the warning")
        answer = client.search(query=QUERY, mode="semantic", limit=200, timeout_ms=30_000)
        assert len(answer["hits"]) == 145 and answer["mode"] == "semantic", "the vectors of this machine answer"
        postgres.start()
        settles(client, "postgres")
        is_filled(table, place.tree)
        found = dict(semantic(client, limit=200))
        assert found == pytest.approx(dict(place.exact()), abs=0.01)
        assert place.embedded_twice() == []


def test_a_server_without_pgvector_ranks_by_words_and_is_named(
    postgres: Postgres, place: Place, start_daemon: Callable[..., Daemon]
) -> None:
    table = Table(postgres, "bare")
    body = "$$BEGIN RAISE EXCEPTION 'no such extension here'; END$$"
    table.rows(f"CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS {body}")
    when = "ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()"
    table.rows(f"CREATE EVENT TRIGGER no_pgvector {when}")
    config = place.config("postgres", f'dsn = "{postgres.dsn}"\nschema = "bare"')
    try:
        with start_daemon(config).client() as client:
            assert client.sync(timeout_ms=30_000)["synced"]
            wait_until(lambda: "no such extension here" in said(client), 60, what="the warning")
            assert client.status()["backend"] == "postgres" and client.status()["state"] == "ready"
            answer = client.search(query="vessels tide", mode="keyword", timeout_ms=30_000)
            assert answer["hits"][0]["relative_path"] == "sub/tide.md"
            assert [name for name, _ in semantic(client, ["backend_vectors"])] == [name for name, _ in place.exact()]
    finally:
        table.rows("DROP EVENT TRIGGER no_pgvector")


def said(client: Client, code: str = "backend_vectors") -> str:
    return "; ".join(one["message"] for one in client.status()["warnings"] if one["code"] == code)


@pytest.mark.parametrize(
    ("how", "reason"),
    [("raises", "RuntimeError: no room for vectors"), ("none", "list of keys"), ("nonsense", "list of keys")],
)
def test_one_that_refuses_vectors_costs_a_warning(
    how: str, reason: str, place: Place, start_daemon: Callable[..., Daemon]
) -> None:
    outside = place.folder / "outside"
    outside.mkdir()
    (outside / "fail").write_text(how)
    with start_daemon(place.config("vectors", f'folder = "{outside}"')).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        wait_until(lambda: reason in said(client), 30, what="the warning")
        assert "'vectors'" in said(client) and client.status()["backend"] == "vectors"
        answer = client.search(query="vessels tide", mode="keyword", timeout_ms=30_000)
        assert answer["hits"][0]["relative_path"] == "sub/tide.md"
        assert [name for name, _ in semantic(client, ["backend_vectors"])] == [name for name, _ in place.exact()]


# A call of a backend may take a second.
IMPATIENT = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.backend import mirror
    mirror.CALL_S = 1.0
"""


def test_one_that_hangs_over_vectors_is_given_up_and_named(
    place: Place, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    outside = place.folder / "outside"
    outside.mkdir()
    (outside / "fail").write_text("hangs")
    config = place.config("vectors", f'folder = "{outside}"')
    with start_daemon(config, **with_code(tmp_path / "seam", IMPATIENT)).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]

        wait_until(lambda: "not answer within 1 s" in said(client, "backend_unavailable"), 60, what="the warning")
        for number in range(5):
            name = f"late{number}.md"
            place.tree.write(name, f"vessel harbours {number}\n")
            answer = client.search(query=f"vessel harbours {number}", mode="keyword", timeout_ms=30_000)
            assert answer["fresh"] and answer["hits"][0]["relative_path"] == name
        wait_until(lambda: client.status()["vectors_pending"] == 0, 60, what="all is embedded")
        assert dict(semantic(client, None)) == pytest.approx(dict(place.exact()), abs=0.01)
