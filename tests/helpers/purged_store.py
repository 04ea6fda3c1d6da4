"""A store without unused contents, as it is after a day of maintenance.

Invariant: the steps are those of `Store.maintain`; only its waiting time is left out.
"""

from __future__ import annotations

from livedex_indexing.store.index_store import Store


def purge(store: Store) -> None:
    """Run all of `Store.maintain` at once, until everything unused is gone from the file and its log."""
    while not store.maintain(1.0, keep_s=0.0):
        pass
