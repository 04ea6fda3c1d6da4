"""The figures of a long command: what is done of what, how fast, and how long it may take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.amount import Amount
from livedex_ipc.cli.progress_bar import amounts_text, left_text

MIB = 1 << 20


def test_files_and_bytes_and_the_rate_of_bytes() -> None:
    done, total, rate = Amount(1204, 14 * MIB), Amount(23_107, 262 * MIB), Amount(300, 9 * MIB)
    assert amounts_text(done, total, rate) == "1,204 of 23,107 files, 14.0 MiB of 262.0 MiB, 9.0 MiB/s"
    assert left_text(done, total, rate) == ", 28 s left"


def test_files_alone_where_no_size_is_known() -> None:
    assert amounts_text(Amount(5), Amount(20), Amount(3)) == "5 of 20 files, 3/s"
    assert left_text(Amount(5), Amount(20), Amount(3)) == ", 5 s left"
    assert amounts_text(Amount(0), Amount(0), Amount(0)) == "0 files, 0/s"


def test_no_time_is_promised_without_a_rate() -> None:
    assert left_text(Amount(0, 0), Amount(3, MIB), Amount(0, 0)) == ""


@given(*[st.builds(Amount, st.integers(0, 10**9), st.integers(0, 10**15)) for _ in range(3)])
def test_any_figures_have_a_text(done: Amount, total: Amount, rate: Amount) -> None:
    assert "\n" not in amounts_text(done, total, rate) + left_text(done, total, rate)
