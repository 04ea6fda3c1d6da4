"""Shows the progress of a long command: a bar on a terminal, a line every few seconds in a pipe, nothing with JSON.

It writes to stderr only, and restores the terminal however the command ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

from livedex_ipc.amount import Amount
from livedex_ipc.cli.streams import Streams

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from livedex_ipc.wire_results import ProgressValue, StatusResult

_LINE_EVERY_S = 5.0


class Progress:
    """A context manager around the work; ``show`` and ``report`` update the count. Until then the bar has none."""

    def __init__(self, streams: Streams, title: str) -> None:
        self._streams = streams
        self._title = title
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._first: tuple[Amount, float] | None = None
        self._next_line = time.monotonic() + _LINE_EVERY_S

    def __enter__(self) -> Progress:
        if self._streams.can_animate:
            self._bar = _bar(self._streams)
            try:
                self._bar.start()
                self._task = self._bar.add_task(self._title, total=None, path="", figures="")
            except BaseException:
                # Ctrl-C here comes before `with` would call __exit__, and the cursor is already hidden.
                self._bar.stop()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def report(self, value: ProgressValue) -> None:
        """Show the value of one ``$/progress`` notification."""
        done, total = Amount(value["done"], value["done_bytes"]), Amount(value["total"], value["total_bytes"])
        self.show(done, total, value["path"] or "")

    def show(self, done: Amount, total: Amount, path: str = "") -> None:
        """Show how much of ``total``, as far as that is known, is done, and the ``path`` in work."""
        now = time.monotonic()
        self._first = self._first or (done, now)
        if self._bar is not None and self._task is not None:
            from livedex_ipc.cli.render.terminal_text import visible

            completed, whole = (done.size, total.size) if total.size else (done.files, total.files)
            figures = amounts_text(done, total, self._rate(done, now))
            self._bar.update(self._task, completed=completed, total=whole or None, path=visible(path), figures=figures)
        elif not self._streams.json and now >= self._next_line:
            self._next_line = now + _LINE_EVERY_S
            rate = self._rate(done, now)
            line = amounts_text(done, total, rate) + left_text(done, total, rate)
            self._streams.message(f"livedex: {self._title}: {line}")

    def _rate(self, done: Amount, now: float) -> Amount:
        """Return the files and bytes a second since the first figures."""
        first, since = self._first or (done, now)
        elapsed = now - since
        if elapsed <= 0:
            return Amount(0)
        return Amount(int((done.files - first.files) / elapsed), int((done.size - first.size) / elapsed))


def amounts_text(done: Amount, total: Amount, rate: Amount) -> str:
    """Return ``1,204 of 23,107 files, 14 MiB of 262 MiB, 9 MiB/s``; the files and their rate where no size is known."""
    from livedex_ipc.cli.render.terminal_text import size_text

    files = f"{done.files:,} of {total.files:,} files" if total.files else f"{done.files:,} files"
    if not total.size:
        return f"{files}, {rate.files:,}/s"
    return f"{files}, {size_text(done.size)} of {size_text(total.size)}, {size_text(rate.size)}/s"


def left_text(done: Amount, total: Amount, rate: Amount) -> str:
    """Return ``, 12 s left`` while there is a rate to tell it by."""
    from livedex_ipc.cli.render.terminal_text import duration_text

    left, speed = (total.size - done.size, rate.size) if total.size else (total.files - done.files, rate.files)
    return f", {duration_text(left / speed)} left" if speed >= 1 and left > 0 else ""


def _bar(streams: Streams) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    console = Console(stderr=True, no_color=not streams.err_colour)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[figures]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    # Transient: the bar disappears at the end, and only the result remains. stdout is kept for the result.
    return RichProgress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)


def live_status(streams: Streams, read: Callable[[], StatusResult], every_s: float) -> NoReturn:
    """Show the status returned by ``read`` every ``every_s`` seconds, until it raises; the last view stays visible."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from livedex_ipc.cli.render.status_rates import StatusRates
    from livedex_ipc.cli.render.status_text import status_text

    console, rates = Console(no_color=not streams.out_colour), StatusRates()
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as view:
        while True:
            status = read()
            text = f"{status_text(status, colour=streams.out_colour)}\n{rates.line(status, time.monotonic())}"
            # From ANSI, so that the view and `livedex status` cannot differ; the text is already escaped.
            view.update(Text.from_ansi(text.rstrip("\n"), no_wrap=True, overflow="ellipsis"), refresh=True)
            time.sleep(every_s)
