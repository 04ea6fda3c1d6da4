"""Writes a command's output: results to stdout, messages to stderr, as JSON or as text for people.

No raw text of a file reaches a terminal, and a closed pipe (``livedex list | head``) ends the command silently.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from livedex_ipc.errors import LivedexError, Unavailable

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import IO, Any


class OutputClosedError(Exception):
    """The reader of stdout has closed it."""


DUMB = ("", "dumb", "unknown")  # values of TERM: such a terminal cannot draw


class Streams:
    """stdout and stderr of this process.

    ``json``: results and errors are JSON; ``color``: as given; ``out_is_terminal``, ``err_is_terminal``;
    ``out_colour``, ``err_colour``: colours are allowed on that stream; ``can_animate``: stderr can show a progress bar.
    """

    def __init__(self, json_wanted: bool = False, color: str = "auto", environ: Mapping[str, str] = os.environ) -> None:
        """``color``: ``auto``, ``always`` or ``never``."""
        self.out_is_terminal = _is_terminal(sys.stdout)
        self.err_is_terminal = _is_terminal(sys.stderr)
        self.json = json_wanted
        self.color = color
        self.out_colour = may_colour(color, self.out_is_terminal, environ)
        self.err_colour = may_colour(color, self.err_is_terminal, environ)
        self.can_animate = self.err_is_terminal and environ.get("TERM") != "dumb"

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal: those of the environment, else its own, else 80 and 24."""
        found = []
        try:
            own: tuple[int, ...] = os.get_terminal_size(sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            own = (0, 0)
        for name, size, usual in (("COLUMNS", own[0], 80), ("LINES", own[1], 24)):
            given = os.environ.get(name, "")
            found.append(int(given) if given.isdecimal() and int(given) else size or usual)
        return found[0], found[1]

    def write(self, text: str) -> None:
        """Write to stdout as UTF-8; lone surrogates are written as the bytes of the path that they encode, others as ?.

        Raises OutputClosedError when the reader has gone, Unavailable when stdout cannot be written (a full disk).
        """
        _write_out(_encoded(text))

    def flush(self) -> None:
        """Flush stdout. Raises as ``write``."""
        try:
            if sys.stdout is not None:
                sys.stdout.buffer.flush()
        except OSError as error:
            raise _output_error(error) from error

    def write_json(self, value: Any) -> None:
        """Write one JSON value on one line. On a terminal, as ASCII: JSON may contain raw control characters.

        In a pipe it is UTF-8 whatever a path has: a byte that is not becomes ?.
        """
        import json

        text = json.dumps(value, ensure_ascii=self.out_is_terminal, separators=(",", ":"))
        if self.out_is_terminal:
            text = harmless_json(text)
        _write_out(text.encode("utf-8", "replace") + b"\n")

    def message(self, text: str) -> None:
        """Print ``text`` as a line on stderr, for people."""
        self.write_err(text + "\n")

    def write_err(self, text: str) -> None:
        """Write to stderr."""
        try:
            if sys.stderr is not None:
                sys.stderr.write(text)
                sys.stderr.flush()
        except OSError:
            # No one can read it; the exit code still reports the fault.
            return

    def hint(self, text: str) -> None:
        """Print ``text`` as a line on stderr, if a person reads the results: a program would take it for one."""
        if self.out_is_terminal and not self.json:
            from livedex_ipc.cli.render.terminal_text import visible

            self.message(visible(text))

    def error(self, error: LivedexError) -> None:
        """Print ``error`` on stderr: as JSON, or as text with its remedy."""
        if self.json:
            import json

            self.message(harmless_json(json.dumps({"error": error.to_wire()})))
        else:
            from livedex_ipc.cli.render.terminal_text import error_text

            self.message(error_text(error, colour=self.err_colour))


def harmless_json(text: str) -> str:
    """Return JSON in ASCII without the one control character that it may have: DEL."""
    return text.replace("\x7f", "\\u007f")


def _is_terminal(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def may_colour(color: str, is_terminal: bool, environ: Mapping[str, str]) -> bool:
    """Return whether colours are allowed: ``color`` decides, then NO_COLOR, FORCE_COLOR, and a terminal that has them.

    ``color``: ``auto``, ``always`` or ``never``.
    """
    if color != "auto":
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def _write_out(data: bytes) -> None:
    try:
        if sys.stdout is None:
            raise OSError("there is no stdout")
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise _output_error(error) from error


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # Half of a character, as of an answer that a model's server cut.
        import re

        return re.sub("[\ud800-\udc7f\udd00-\udfff]", "?", text).encode("utf-8", "surrogateescape")


def _output_error(error: OSError) -> Exception:
    # The interpreter would flush the rest of the buffer at its end and print a traceback: redirect it.
    devnull = os.open(os.devnull, os.O_WRONLY)
    if sys.stdout is not None:
        os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
    if isinstance(error, BrokenPipeError):
        return OutputClosedError()
    return Unavailable(f"the result cannot be written to stdout: {error.strerror or error}")
