"""The decision about one entry."""

from __future__ import annotations

import pytest

from livedex_daemon.write.reconcile import KEEP, READ, Skip, decide
from livedex_indexing.model import FileRow, Stat

FILE = Stat("file", 10, 5_000_000_000, 6_000_000_000, 42, 1, 0o100644)


def row(**changes: object) -> FileRow:
    known = FileRow(1, b"a", FILE.state, "indexed", None, 7, b"h" * 16, b"s" * 16, "c", 100.0, True)
    return known._replace(**changes)  # type: ignore[arg-type]


def test_an_unchanged_file_is_kept() -> None:
    assert decide(FILE, row(), max_size=100) is KEEP


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "ino"])
@pytest.mark.parametrize("step", [1, -1])
def test_any_difference_in_either_direction_is_read(field: str, step: int) -> None:
    changed = FILE._replace(**{field: getattr(FILE, field) + step})
    assert decide(changed, row(), max_size=100) is READ


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "pending", "content_id": None},
        {"settled": False},
        {"status": "failed", "reason": "read: Input/output error"},
        {"status": "failed", "reason": "denied"},
        {"status": "skipped", "reason": "too_large"},
    ],
)
def test_what_is_not_sure_is_read(changes: dict[str, object]) -> None:
    assert decide(FILE, row(**changes), max_size=100) is READ


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "skipped", "reason": "binary"},
        {"status": "skipped", "reason": "forgotten"},
        {"status": "failed", "reason": "quarantined: chunk: killed twice"},
        {"status": "failed", "reason": "chunk: no"},
    ],
)
def test_what_would_end_the_same_way_is_not_read_again(changes: dict[str, object]) -> None:
    assert decide(FILE, row(**changes), max_size=100) is KEEP
    assert decide(FILE, row(**changes), max_size=100, force=True) is READ


def test_an_unknown_file_is_read() -> None:
    assert decide(FILE, None, max_size=100) is READ


def test_too_large_is_skipped_once() -> None:
    assert decide(FILE, None, max_size=9) == Skip("too_large")
    assert decide(FILE, row(status="skipped", reason="too_large"), max_size=9) is KEEP


@pytest.mark.parametrize(("kind", "reason"), [("symlink", "symlink"), ("special", "special")])
def test_links_and_devices_are_skipped(kind: str, reason: str) -> None:
    stat = FILE._replace(kind=kind)  # type: ignore[arg-type]
    assert decide(stat, row(), max_size=100) == Skip(reason)
    assert decide(stat, row(status="skipped", reason=reason), max_size=100) is KEEP


def test_content_cut_by_another_plan_is_read() -> None:
    assert decide(FILE, row(), max_size=100, planned=lambda known: False) is READ
    assert decide(FILE, row(), max_size=100, planned=lambda known: True) is KEEP


def test_a_failure_that_says_nothing_now_is_tried_again() -> None:
    for reason in ("quarantined: chunk: killed twice", "chunk: ImportError"):
        failed = row(status="failed", reason=reason, content_id=None)
        assert decide(FILE, failed, max_size=100, is_outdated=lambda known: True) is READ
        assert decide(FILE, failed, max_size=100, is_outdated=lambda known: False) is KEEP
    assert decide(FILE, row(), max_size=100, is_outdated=lambda known: True) is KEEP
