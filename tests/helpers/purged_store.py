"""A store without anything that no file uses, as it is after a day of upkeep.

Invariant: the steps are those of `Store.maintain`; only the time that it waits is left out.
"""

from __future__ import annotations

from livedex_indexing.store.index_store import Store


def purge(store: Store) -> None:
    """Run all of `Store.maintain` at once, until what no file uses is gone from the file and its log."""
    while not store.maintain(1.0, keep_s=0.0):
        pass
