"""What every command works with: the command line, the streams, and the way to the daemon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from livedex_ipc.cli.argument_values import wire_path
from livedex_ipc.cli.command_parser import CommandLine
from livedex_ipc.cli.streams import Streams
from livedex_ipc.client import Client, connect
from livedex_ipc.errors import InvalidParams, LivedexError, NotFound, OutsideRoots

# Milliseconds for a method that has no limit of its own and never takes long.
ANSWER_MS = 60_000
# Seconds beyond a method's own limit until the client gives a silent daemon up.
_GRACE_S = 10.0


class Context:
    """One run of one command."""

    __slots__ = ("line", "streams")

    def __init__(self, line: CommandLine, streams: Streams) -> None:
        self.line = line
        self.streams = streams

    @property
    def values(self) -> dict[str, Any]:
        """Param to value, only those that the command line gave."""
        return self.line.values

    def connect(self, *, spawn: bool = True) -> Client:
        """The daemon; started when none runs, unless that is forbidden here, by --no-spawn or by the environment."""
        return connect(spawn=spawn and not self.line.no_spawn)

    def show(self, result: Any, render: Callable[[Any], str]) -> None:
        """Print `result`: unchanged as JSON, or as `render` words it for people."""
        if self.streams.json:
            self.streams.write_json(result)
        else:
            self.streams.write(render(result))

    def each_path(self, method: str, params: dict[str, Any], render: Callable[[Any], str]) -> int:
        """Call `method` for each of the command's `paths` and print the results; the exit code comes back.

        A path that is refused does not keep the others from being done: its error stands in its place, and the worst
        exit code wins.
        """
        timeout_s = deadline_s(params, ANSWER_MS)
        results: list[dict[str, Any]] = []
        errors: list[LivedexError] = []
        paths: list[bytes] = self.values["paths"]
        with self.connect() as client:
            for path in paths:
                try:
                    results.append(client.call(method, {**params, **wire_path(path)}, timeout_s=timeout_s))
                except (InvalidParams, NotFound, OutsideRoots) as error:
                    results.append({"error": error.to_wire()})
                    errors.append(error)
        done = [result for result in results if "error" not in result]
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


def say_state(streams: Streams, result: dict[str, Any]) -> None:
    """Say to people on stderr what an answer lacks: freshness, a right spelling, whatever a warning names."""
    if streams.json:
        return
    from livedex_ipc.cli.render.terminal_text import state_lines

    for text in state_lines(result, colour=streams.err_colour):
        streams.message(text)


def deadline_s(params: dict[str, Any], default_ms: int) -> float:
    """How long to wait for an answer, in seconds: the method's own limit and a little more."""
    return float(params.get("timeout_ms", default_ms)) / 1000 + _GRACE_S
