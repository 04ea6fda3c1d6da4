"""A daemon with an indexed folder in a home of its own, for measurements of one client.

Invariant: the daemon has ended and the home is gone at the end; the folder is as it was.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench import corpus
from helpers.support import Daemon, Home, add_root, temporary_home


class Indexed(NamedTuple):
    """``work``: a folder for files of the measurement. It is no root."""

    home: Home
    daemon: Daemon
    folder: Path
    work: Path


def parser_for(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of ``python -m bench.NAME [FOLDER]``."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}", description=description)
    parser.add_argument("folder", type=Path, nargs="?", help="to index (default: Python's library and /usr/share/doc)")
    return parser


@contextmanager
def indexed(folder: Path | None) -> Iterator[Indexed]:
    """Index ``folder``; None: a corpus that is made for it."""
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as made, temporary_home() as home:
        work = Path(made).resolve()
        root = (folder or corpus.made_in(work)).resolve()
        daemon = Daemon(home).start()
        with daemon.client() as client:
            add_root(client, root, timeout=1800)
        yield Indexed(home, daemon, root, work)
        daemon.stop()
