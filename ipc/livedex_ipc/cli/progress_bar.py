"""Shows the progress of a long command: a bar on a terminal, a line every few seconds in a pipe, nothing with JSON.

It writes to stderr only, and restores the terminal however the command ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn

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
        self._first: tuple[int, float] | None = None
        self._next_line = time.monotonic() + _LINE_EVERY_S

    def __enter__(self) -> Progress:
        if self._streams.can_animate:
            self._bar = _bar(self._streams)
            try:
                self._bar.start()
                self._task = self._bar.add_task(self._title, total=None, path="", rate="")
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
        self.show(value["done"], value["total"], value["path"] or "")

    def show(self, done: int, total: int | None, path: str = "") -> None:
        """Show ``done`` of ``total`` files (None: not known yet) and the ``path`` in work."""
        if self._bar is not None and self._task is not None:
            from livedex_ipc.cli.render.terminal_text import visible

            rate = f"{self._rate(done):,.0f}/s"
            self._bar.update(self._task, completed=done, total=total or None, path=visible(path), rate=rate)
        elif not self._streams.json and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _LINE_EVERY_S
            self._streams.message(f"livedex: {self._title}: {self._figures(done, total)}")

    def _rate(self, done: int) -> float:
        """Return the files a second since the first figures."""
        if self._first is None:
            self._first = (done, time.monotonic())
        elapsed = time.monotonic() - self._first[1]
        return (done - self._first[0]) / elapsed if elapsed > 0 else 0.0

    def _figures(self, done: int, total: int | None) -> str:
        rate = self._rate(done)
        text = f"{done:,}" + (f" of {total:,}" if total else "") + f" files, {rate:,.0f}/s"
        return text + (f", {(total - done) / rate:,.0f} s left" if total and rate >= 1 else "")


def _bar(streams: Streams) -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.table import Column

    console = Console(stderr=True, no_color=not streams.err_colour)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
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
