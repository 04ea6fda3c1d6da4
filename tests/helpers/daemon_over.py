"""A daemon over a few files that the tests of a module only ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from helpers.support import Daemon, Tree, add_root, temporary_home


@contextmanager
def daemon_over(root: Path, files: Mapping[str, str | bytes]) -> Iterator[Daemon]:
    """Run a daemon in a home of its own, with one root that has the files, until the block ends."""
    tree = Tree(root)
    tree.write_all(files)
    with temporary_home() as home:
        made = Daemon(home).start()
        with made.client() as client:
            add_root(client, tree)
        yield made
        made.stop()
