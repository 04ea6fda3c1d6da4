"""The context of a command: its command line, its streams, and its connection to the daemon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from livedex_ipc import __version__
from livedex_ipc.cli.argument_values import wire_path
from livedex_ipc.cli.command_parser import CommandLine
from livedex_ipc.cli.streams import Streams
from livedex_ipc.errors import InvalidParams, LivedexError, NotFound, OutsideRoots, TimedOut

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from livedex_ipc.cli.render.search_text import View
    from livedex_ipc.cli.spinner import Spinner
    from livedex_ipc.client import Client
    from livedex_ipc.wire_results import AnswerWarning, FreshFields, Refusal, ServerInfo

    R = TypeVar("R")

    class SearchPage(FreshFields):
        warnings: list[AnswerWarning]

    class LocalExchange(Protocol):
        """The exchange in this process: the methods of the socket, without a daemon."""

        def call(self, method: str, params: Mapping[str, Any]) -> Any:
            """Return the method's result. Raises its errors."""

        @property
        def work(self) -> Callable[[Mapping[str, Any], Streams], int]:
            """Run a worker with the options of the command line. Return the exit code."""


# Milliseconds for a method that has no time limit of its own and never takes long.
ANSWER_MS = 60_000
# Seconds in which a daemon says who it is, unless it hangs or is stopped: its event loop answers, however busy it is.
SILENT_S = 20.0
# Seconds for it beyond a time limit that was typed.
BEYOND_S = 2.0
# Seconds beyond a method's own time limit before the client gives up on a silent daemon.
_GRACE_S = 10.0


class Context:
    """One run of one command. ``local_exchange``: None in the thin command."""

    __slots__ = ("_messages", "client", "line", "local_exchange", "streams")

    def __init__(self, line: CommandLine, streams: Streams, local_exchange: LocalExchange | None = None) -> None:
        self.line = line
        self.streams = streams
        self.local_exchange = local_exchange
        self.client: Client | None = None  # the last connection
        self._messages: set[str] = set()  # printed by `print_state`

    @property
    def values(self) -> dict[str, Any]:
        """Param to value, only those that the command line gave."""
        return self.line.values

    def connect(self, *, spawn: bool = True) -> Client:
        """Connect to the daemon; start one if none runs, unless ``spawn``, --no-spawn or the environment forbids it.

        A daemon of another version that is idle is replaced; if it is busy, a line on stderr says so.
        """
        from livedex_ipc.client import connect

        may_spawn = spawn and not self.line.no_spawn
        client = connect(spawn=may_spawn)
        info = self.who(client)
        self._say_whose(info)
        if info.get("version") != __version__:
            from livedex_ipc.cli.other_version import replaced

            client = replaced(client, info, self.streams, spawn=may_spawn)
        self.client = client
        return client

    def who(self, client: Client) -> ServerInfo:
        """Return who answers; say on a terminal that it is waited for. Raises TimedOut, with what helps, if nobody
        does."""
        typed = self.values.get("timeout_ms")
        silent_s = SILENT_S if typed is None else min(SILENT_S, typed / 1000 + BEYOND_S)
        shown: list[Spinner] = []

        def show(waited_s: float) -> None:
            from livedex_ipc.cli.spinner import Spinner

            if not shown:
                shown.append(Spinner(self.streams, what="waiting for the daemon to answer"))
            shown[0].show(waited_s)

        try:
            return client.who(silent_s, on_wait=None if self.streams.json or not self.streams.can_animate else show)
        except TimedOut:
            from livedex_ipc.daemon_process import no_answer

            raise no_answer(silent_s) from None
        finally:
            for line in shown:
                line.clear()

    def _say_whose(self, info: ServerInfo) -> None:
        """Say on stderr if the daemon serves another home, as where two homes share a runtime folder."""
        from livedex_ipc.paths import config_path

        used, own = info.get("config_path", ""), config_path()
        if not used or used == own or self.streams.json:
            return
        import os

        if not os.environ.get("LIVEDEX_SOCKET") and os.path.realpath(used) != os.path.realpath(own):
            from livedex_ipc.cli.render.terminal_text import visible

            remedy = "set LIVEDEX_HOME or XDG_RUNTIME_DIR for one of your own"
            self.streams.message(f"livedex: this daemon's configuration is {visible(used)}, not yours; {remedy}")

    def show(self, result: R, render: Callable[[R], str]) -> None:
        """Print ``result``: unchanged as JSON, or as text made by ``render``."""
        if self.streams.json:
            self.streams.write_json(result)
        else:
            self.streams.write(render(result))

    def view(self) -> View:
        """Return how to show hits: as the options say, and as wide as the terminal."""
        from livedex_ipc.cli.render.hyperlinks import link_form
        from livedex_ipc.cli.render.search_text import View
        from livedex_ipc.cli.render.shown_paths import working_folder

        streams = self.streams
        on_terminal = streams.out_is_terminal
        form = self.values.get("form")
        return View(
            form="long" if form in ("long", "full") else "short" if form == "short" else "normal",
            colour=streams.out_colour,
            around=self.values.get("context_lines", 0),
            width=streams.size[0] if on_terminal else None,
            links=link_form() if on_terminal and streams.out_colour else "",
            folder=working_folder(),
        )

    def call_patiently(self, client: Client, method: str, params: Mapping[str, object], timeout_s: float) -> Any:
        """Call a method; on a terminal, say what it waits for if that takes longer. Raises as ``Client.call``."""
        if self.streams.json or not self.streams.can_animate:
            return client.call(method, params, timeout_s=timeout_s)
        shown: list[Spinner] = []

        def show(waited_s: float) -> None:
            from livedex_ipc.cli.spinner import Spinner
            from livedex_ipc.client import connect

            if not shown:
                shown.append(Spinner(self.streams, lambda: connect(spawn=False)))
            shown[0].show(waited_s)

        try:
            return client.call(method, params, timeout_s=timeout_s, on_wait=show)
        finally:
            for spinner in shown:
                spinner.clear()

    def print_state(
        self, state: FreshFields, pending: int = 0, warnings: Iterable[AnswerWarning] = (), *, hints: bool | None = None
    ) -> None:
        """Print on stderr why an answer is not fresh, and its warnings.

        ``hints`` False: only the warnings that change the answer; None: all if stdout is a terminal.
        """
        streams = self.streams
        if streams.json:
            return
        from livedex_ipc.cli.option_names import in_options
        from livedex_ipc.cli.render.terminal_text import changes_answer, is_for_people, state_lines

        is_shown = is_for_people if (streams.out_is_terminal if hints is None else hints) else changes_answer
        by_meaning = self.values.get("mode") in ("semantic", "hybrid")  # then words alone are another answer
        shown = [
            warning
            for warning in warnings
            if is_shown(warning) or (by_meaning and warning["code"] == "embedder_unavailable")
        ]
        for text in state_lines(state, pending, shown, colour=streams.err_colour):
            if text not in self._messages:  # of another page
                self._messages.add(text)
                streams.message(in_options(text, self.line.command))

    def name_missing(self, paths: Iterable[bytes]) -> None:
        """Say on stderr which of the absolute paths are not on the disk: an answer without them was of nothing."""
        import os

        from livedex_ipc.cli.render.shown_paths import relative, working_folder
        from livedex_ipc.cli.render.terminal_text import visible

        for path in () if self.streams.json else paths:
            if not os.path.lexists(path):
                self.streams.message(f"livedex: there is no {visible(relative(os.fsdecode(path), working_folder()))}")

    def page(self, text: str) -> None:
        """Write ``text``: on a terminal that it does not fit, through the pager."""
        if self.streams.out_is_terminal and not self.line.no_pager:
            from livedex_ipc.cli.pager import page

            page(self.streams, text)
        else:
            self.streams.write(text)

    def each_path(self, method: str, params: Mapping[str, object], render: Callable[[R], str]) -> int:
        """Call ``method`` for each of the command's ``paths``, print the results, and return the exit code.

        After a refused path the others are still handled: its error is printed in its place, and the highest exit code
        is returned.
        """
        timeout_s = deadline_s(params, ANSWER_MS)
        done: list[R] = []
        results: list[R | Refusal] = []  # in the order of the paths
        errors: list[LivedexError] = []
        paths: list[bytes] = self.values["paths"]
        with self.connect() as client:
            for path in paths:
                try:
                    done.append(client.call(method, {**params, **wire_path(path)}, timeout_s=timeout_s))
                    results.append(done[-1])
                except (InvalidParams, NotFound, OutsideRoots) as error:
                    results.append({"error": error.to_wire()})
                    errors.append(error)
        if self.streams.json:
            if len(paths) > 1:
                self.streams.write_json({"results": results})
            elif done:
                self.streams.write_json(done[0])
        else:
            self.streams.write("".join(render(result) for result in done))
        for refusal in errors:
            self.streams.error(refusal)
        return max((refusal.exit_code for refusal in errors), default=0)


def deadline_s(params: Mapping[str, object], default_ms: int) -> float:
    """Return how long to wait for an answer, in seconds: the method's own time limit plus a margin."""
    given = params.get("timeout_ms")
    return (given if isinstance(given, int) else default_ms) / 1000 + _GRACE_S


def is_unsure(page: SearchPage) -> bool:
    """Whether more may be found than a page has: it is not fresh, or its query was cut at its deadline."""
    return "reason" in page or any(warned["code"] == "query_deadline" for warned in page["warnings"])
