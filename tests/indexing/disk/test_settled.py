"""When the times of a file identify its content."""

from __future__ import annotations

import pytest

from livedex_indexing.disk.settled import RACY_S, is_settled
from livedex_indexing.model import Stat

FILE = Stat("file", 10, 5_000_000_000, 6_000_000_000, 42, 1, 0o100644)
AT = 6.0  # its last change
LONG_AFTER = AT + 10 * RACY_S


def test_settled_is_about_distance_not_order() -> None:
    assert not is_settled(FILE, AT + RACY_S / 2)
    assert is_settled(FILE, AT + RACY_S + 0.1)
    assert is_settled(FILE, 5.0 - RACY_S - 0.1)  # times in the future


def test_what_changed_since_its_reading_began_is_not_settled() -> None:
    assert is_settled(FILE, LONG_AFTER, AT + RACY_S + 0.1)
    assert not is_settled(FILE, LONG_AFTER, AT + 0.1)  # as when the commit had to wait
    assert not is_settled(FILE, LONG_AFTER, AT - 5 * RACY_S)  # as when the process was stopped
    assert is_settled(FILE, 5.0 - RACY_S - 0.1, 5.0 - 5 * RACY_S)


@pytest.mark.parametrize("set_to", [0, 4_000_000_000_000_000_000])
def test_a_modification_time_that_a_program_has_set_does_not_hide_a_change_just_now(set_to: int) -> None:
    assert not is_settled(FILE._replace(mtime_ns=set_to), AT + 0.1)


@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns"])
def test_on_a_file_system_that_counts_in_steps_of_two_seconds_a_second_write_may_leave_the_same_times(
    field: str,
) -> None:
    assert not is_settled(FILE.state._replace(**{field: 6_000_000_000}), 7.9)
