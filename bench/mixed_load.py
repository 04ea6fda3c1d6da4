"""Searches of a root that is whole while the first index of another runs, by the same searches before it.

Invariant: both roots hold the same words, so that what the other adds to the postings is as common as what is asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.corpus import text_files
from bench.figures import Figure, percentile
from bench.mixture import mixed
from bench.searching import milliseconds
from bench.server import Server, wait_indexed
from livedex_ipc.client import Client, connect

P99_GOAL: Final = 3.0  # times the same searches while nothing is indexed
FILES: Final = 6_000  # of the other root, at most
LOOK_EVERY: Final = 20  # searches between two looks whether it is indexed


def mixed_load(server: Server, corpus: Path, folder: Path, count: int) -> list[Figure]:
    """Needs the corpus indexed and at rest; leaves the other root behind, in ``folder``."""
    mix = mixed(corpus, count)
    other = _like(corpus, folder / "other")
    with connect(spawn=False, path=server.socket) as client:
        _asked(client, mix, corpus)
        quiet = _asked(client, mix, corpus)
        client.call("roots/add", {"path": str(other)})
        loaded: list[float] = []
        while _is_indexed(client, other):
            at = len(loaded) % len(mix)
            loaded += _asked(client, mix[at : at + LOOK_EVERY], corpus)
        wait_indexed(client)
    usual = percentile(quiet, 99)
    return [
        Figure("mixed searches of one root", "ms", quiet),
        Figure("… while another is indexed", "ms", loaded, quiet),
        Figure("… while another is indexed, p99", "ms", loaded, [usual], P99_GOAL, which="p99"),
    ]


def _asked(client: Client, queries: list[str], root: Path) -> list[float]:
    return [
        milliseconds(client.call, "search", {"query": query, "roots": [str(root)], "fresh": False}) for query in queries
    ]


def _is_indexed(client: Client, root: Path) -> bool:
    """Whether the first index of the root is under way."""
    (found,) = [entry for entry in client.call("roots/list")["roots"] if entry["path"] == str(root)]
    return bool(found["state"] == "indexing")


def _like(corpus: Path, folder: Path) -> Path:
    """A folder of files as those of the corpus, each with one more line: the same bytes would not be cut again."""
    paths = sorted(path for path, _ in text_files(corpus))
    for path in paths[:: max(1, len(paths) // FILES)][:FILES]:
        copy = folder / Path(path).relative_to(corpus)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(Path(path).read_bytes() + b"\nonce more\n")
    return folder.resolve()
