"""What others see of a rebuild, and when."""

from __future__ import annotations

import errno
import logging
import threading
import time
from pathlib import Path

import pytest

from helpers.store_rig import Rig
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile, Rebuilder
from livedex_daemon.index_file.salvage import Salvage
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.store.database import IndexUnwritable
from livedex_indexing.store.forgotten_files import ForgottenFiles


class Log(logging.Handler):
    """Notes, with each line of the log, whether the index was being rebuilt then."""

    def __init__(self, health: StoreHealth) -> None:
        super().__init__()
        self.lines: list[tuple[str, bool]] = []
        self._health = health

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.getMessage(), self._health.rebuilding))


def test_what_the_log_says_of_a_rebuild_is_so(tmp_path: Path) -> None:
    rig, health, roots = Rig(tmp_path / "index.db"), StoreHealth(), Roots()
    readers = IndexReaders(rig.path, threading.Event())
    salvage = Salvage(roots, ForgottenFiles(str(tmp_path / "forgotten.db")))
    backlog = Backlog(time.monotonic, lambda: None)
    index = IndexFile(rig.store, readers, salvage, health)
    rebuilder = Rebuilder(index, backlog, lambda: None, lambda: None, under_way=False)
    logger, log = logging.getLogger("livedex_daemon.index_file.rebuild"), Log(health)
    level = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    try:
        rebuilder.replace("damaged", roots)
        rebuilder.finish_if_whole(roots)
    finally:
        logger.removeHandler(log)
        logger.setLevel(level)
    said = [line for line in log.lines if line[0] in ("index_lost", "index_rebuilt")]
    assert said == [("index_lost", True), ("index_rebuilt", False)]
    readers.close()


def test_the_index_of_another_daemon_stays(tmp_path: Path) -> None:
    """The folder was removed, and the other daemon was faster."""

    def refuse() -> None:
        raise BlockingIOError(errno.EAGAIN, "another daemon has the home")

    rig, health, roots = Rig(tmp_path / "index.db"), StoreHealth(), Roots()
    readers = IndexReaders(rig.path, threading.Event())
    index = IndexFile(rig.store, readers, Salvage(roots, ForgottenFiles(str(tmp_path / "forgotten.db"))), health)
    rebuilder = Rebuilder(index, Backlog(time.monotonic, lambda: None), lambda: None, refuse, under_way=False)
    (tmp_path / "index.db").write_bytes(b"theirs")
    with pytest.raises(IndexUnwritable, match="another daemon has the home"):
        rebuilder.replace("replaced", roots)
    assert (tmp_path / "index.db").read_bytes() == b"theirs"
    readers.close()
