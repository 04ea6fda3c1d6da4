"""What the daemon keeps in memory and what it frees."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from livedex_daemon.process import memory


class Ring:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_what_was_kept_and_is_garbage_now_is_given_back() -> None:
    ring = Ring()
    gone = weakref.ref(ring)
    memory.freeze()
    del ring
    gc.collect()
    assert gone() is not None  # the collector no longer visits it
    memory.release()
    assert gone() is None
    assert gc.get_freeze_count() > 0


def test_a_search_does_not_set_the_collector_off() -> None:
    memory.raise_gc_threshold()
    assert gc.get_threshold()[0] == memory.COLLECT_AFTER > 5_000
