"""The doctor's check of the messages and of agent memory, which nothing else has.

Invariant: a file that is not there is no fault: it begins with the first message or entry.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from livedex_daemon.doctor.check_result import Check, failed, ok
from livedex_daemon.exchange import exchange_store
from livedex_daemon.knowledge import knowledge_store
from livedex_daemon.precious.file_check import fault_of
from livedex_daemon.process.locations import locate


def precious() -> Iterator[Check]:
    places = locate()
    for name, path, schema in (
        ("exchange", places.exchange_db, exchange_store.SCHEMA),
        ("memory", places.knowledge_db, knowledge_store.SCHEMA),
    ):
        if os.path.lexists(path):
            fault = fault_of(path, schema)
            fix = "restore it from a backup, or move it away: a new one begins empty; or use the livedex that wrote it"
            yield ok(name, path) if fault is None else failed(name, f"{path} cannot be used: {fault}", fix)
