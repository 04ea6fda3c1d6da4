"""What others see of a rebuild, and when."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from helpers.store_rig import Rig
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile, Rebuilder
from livedex_daemon.index_file.salvage import Salvage
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
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
    rebuilder = Rebuilder(IndexFile(rig.store, readers, salvage, health), backlog, lambda: None, under_way=False)
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
