"""A library: files in, hits out. It knows folders, chunks and the index, and nothing of sockets or daemons.

Invariant: importing the package loads nothing; each public name loads its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livedex_indexing.hits.hit import Hit
    from livedex_indexing.search.index import Index
    from livedex_indexing.search.search_answer import SearchAnswer
    from livedex_indexing.search.search_request import SearchRequest
    from livedex_indexing.search.searcher import Searcher
    from livedex_indexing.store.index_store import Store

__all__ = ["Hit", "Index", "SearchAnswer", "SearchRequest", "Searcher", "Store"]

_MODULES = {
    "Hit": "hits.hit",
    "Index": "search.index",
    "SearchAnswer": "search.search_answer",
    "SearchRequest": "search.search_request",
    "Searcher": "search.searcher",
    "Store": "store.index_store",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
