"""What the readers of the index report to the thread that can replace it."""

from __future__ import annotations

import threading
from pathlib import Path

from helpers.store_rig import Rig
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_indexing.store.index_store import IndexDamaged
from livedex_indexing.store.read_pool import PoolClosed


def test_a_late_report_about_the_former_file_hides_none_about_the_present_one(tmp_path: Path) -> None:
    readers = IndexReaders(Rig(tmp_path / "index.db").path, threading.Event())
    former = readers.current
    readers.renew()
    damage = IndexDamaged("its pages make no sense")
    readers.report(readers.current, damage)
    readers.report(former, PoolClosed("it was replaced"))
    assert readers.take_report() is damage
    assert readers.take_report() is None
    readers.close()
