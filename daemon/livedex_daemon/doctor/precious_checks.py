"""The doctor's check of the messages and of agent memory, which nothing else has.

Invariant: a file that is not there is no fault: it begins with the first message or entry.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import apsw

from livedex_daemon.doctor.check_result import Check, failed, ok, warning
from livedex_daemon.exchange import exchange_store
from livedex_daemon.exchange.dead_letters import dead_letters, described
from livedex_daemon.knowledge import knowledge_store
from livedex_daemon.precious.file_check import fault_of
from livedex_daemon.precious.precious_database import DatabaseObstructed, obstacle_of
from livedex_daemon.process.locations import locate
from livedex_daemon.process.unchanged_database import open_unchanged


def precious() -> Iterator[Check]:
    places = locate()
    for name, path, schema in (
        ("exchange", places.exchange_db, exchange_store.SCHEMA),
        ("memory", places.knowledge_db, knowledge_store.SCHEMA),
    ):
        if os.path.lexists(path):
            obstacle = obstacle_of(path)
            if obstacle is not None:
                message = f"{path} cannot be used: {obstacle} is not a regular file"
                yield failed(name, message, DatabaseObstructed.remedy)
                continue
            fault = fault_of(path, schema)
            fix = "restore it from a backup, or move it away: a new one begins empty; or use the livedex that wrote it"
            if fault is not None:
                yield failed(name, f"{path} cannot be used: {fault}", fix)
            else:
                yield (name == "exchange" and _dead_letters(path)) or ok(name, path)


def _dead_letters(path: str) -> Check | None:
    """Return a warning of messages that no worker finished and nobody has looked after; None if there are none."""
    try:
        with closing(open_unchanged(path)) as db:
            found = dead_letters(db)
    except apsw.Error:  # locked at this moment
        return None
    return warning("exchange", *described(found)) if found else None
