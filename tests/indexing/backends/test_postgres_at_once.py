"""Two daemons may begin with one PostgreSQL at the same moment: neither may fail over what the other just makes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from helpers.postgres_server import Postgres
from helpers.support import wait_until
from livedex_indexing.plugins import VectorModel

T = TypeVar("T")
MODEL = VectorModel("pairs/2", 2)
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def both(server: Postgres, held_back_by: str, first: Callable[[], T], second: Callable[[], T]) -> list[T]:
    """Return what two calls return that are under way at once: a third connection that makes the same holds both back,
    and then gives it up."""
    import psycopg

    with (
        psycopg.connect(server.dsn, autocommit=True) as looking,
        ThreadPoolExecutor(2) as threads,
        psycopg.connect(server.dsn) as third,  # left first: so no failure leaves the threads held back
    ):
        third.execute(held_back_by.encode())
        calls = [threads.submit(first), threads.submit(second)]
        wait_until(lambda: looking.execute(WAITING).fetchone() == (2,), what="two connections that wait")
        third.rollback()
        return [call.result() for call in calls]


def test_both_make_the_tables(postgres: Postgres) -> None:
    from livedex_indexing.backends.postgres_backend import PostgresBackend

    def made() -> PostgresBackend:
        return PostgresBackend({"dsn": postgres.dsn, "schema": "at_once"})

    for backend in both(postgres, "CREATE SCHEMA at_once", made, made):
        assert backend.status() == {"files": 0, "chunks": 0}
        backend.close()


def test_both_make_the_table_of_vectors(postgres: Postgres) -> None:
    from livedex_indexing.backends.postgres_backend import PostgresBackend

    backends = [PostgresBackend({"dsn": postgres.dsn, "schema": "vectors_at_once"}) for _ in range(2)]
    first, second = (lambda b=each: b.lacking_vectors(MODEL, "", 9) for each in backends)
    assert both(postgres, "CREATE EXTENSION vector", first, second) == [[], []]
    for backend in backends:
        backend.close()
