"""Formats text for a terminal: escapes, colours, tables, sizes, and messages.

No text of a file or a name reaches a terminal as a control character: ``visible`` escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from livedex_ipc.errors import LivedexError

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.wire_results import AnswerWarning, FreshFields

# Control characters, bidirectional overrides, fillers and zero-width characters: a terminal would obey or hide them.
# Variation selectors are not among them: they choose a form of the character before them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}
_WIDE = frozenset("WF")


def visible(text: str, keep: str = "") -> str:
    """Return ``text`` with every control, bidi and zero-width character escaped, such as ``\\e`` or ``\\u202e``.

    ``keep``: characters not to escape, such as a tab in a line of code. A byte of a path that is not UTF-8 (a lone
    surrogate) becomes ``\\xNN``.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Style:
    """Colours text if the stream allows colours, else returns it unchanged."""

    __slots__ = ("_colour",)

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def _sgr(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def path(self, text: str) -> str:
        """Colour a path or another title."""
        return self._sgr("35", text)

    def line(self, text: str) -> str:
        """Colour a line number."""
        return self._sgr("32", text)

    def match(self, text: str) -> str:
        """Colour a match."""
        return self._sgr("1;31", text)

    def strong(self, text: str) -> str:
        """Emphasise the most important text."""
        return self._sgr("1", text)

    def dim(self, text: str) -> str:
        """Dim less important text."""
        return self._sgr("2", text)

    def good(self, text: str) -> str:
        """Colour a healthy state."""
        return self._sgr("32", text)

    def bad(self, text: str) -> str:
        """Colour a state that needs attention."""
        return self._sgr("33", text)


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Align ``rows`` of escaped, uncoloured text as lines; the columns in ``right`` are aligned to the right."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - display_width(cell))
            cells.append(padding + cell if index in right else cell + padding)
        lines.append("  ".join(cells).rstrip())
    return lines


def display_width(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes, which is already escaped."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(character) else 1 + (east_asian_width(character) in _WIDE) for character in text)


def count_text(count: int, noun: str) -> str:
    """Format a number of things, such as ``1 file`` or ``2,000 files``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_text(count: int) -> str:
    """Format a number of bytes, such as ``12.3 MiB``."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def duration_text(seconds: float) -> str:
    """Format a duration in its largest unit, such as ``3 h``."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def error_text(error: LivedexError, *, colour: bool) -> str:
    """Format an error: its message, the further faults of a configuration, and the remedy."""
    style = Style(colour)
    data = error.data or {}
    lines = [f"{style.bad('livedex:')} {visible(error.message)}"]
    given = data.get("faults")
    faults = [fault for fault in given if isinstance(fault, dict)] if isinstance(given, list) else []
    is_first_named = bool(faults) and str(faults[0].get("message")) in error.message
    lines += [f"  {_fault_text(fault)}" for fault in faults[is_first_named:]]
    remedy = data.get("remedy")
    if isinstance(remedy, str) and remedy not in error.message:
        lines.append(f"  try: {visible(remedy)}")
    return "\n".join(lines)


def _fault_text(fault: Mapping[str, Any]) -> str:
    place = ":".join(str(fault[name]) for name in ("line", "column") if fault.get(name) is not None)
    nearest = f" (did you mean {fault['nearest']}?)" if fault.get("nearest") else ""
    words = [f"line {place}" if place else "", str(fault.get("key") or ""), str(fault.get("message", "")) + nearest]
    return visible(": ".join(word for word in words if word))


_REASONS = {
    "deadline": "the time ran out before the newest changes were indexed",
    "indexing": "the first index is still being made",
    "recovering": "livedex is making up for lost events",
    "rebuilding": "the index is being rebuilt",
    "polling": "a polled folder could not be walked in time",
    "paused": "indexing is paused",
    "store": "the index cannot be written",
    "unsettled": "a file kept changing while it was read",
    "unreadable": "a file or folder cannot be read now",
}


AS_LINES = "query_as_lines"  # said before the hits
_OF_THE_ANSWER = frozenset(
    (
        "query_unknown",
        "query_deadline",
        "query_cut",
        "hits_cut",
        "query_no_words",
        "files_changed",
        "root_missing",
        "root_denied",
        "read_errors",
    )
)


def changes_answer(warning: AnswerWarning) -> bool:
    """Return whether an answer lacks something for the reason of this warning, and does not say so otherwise."""
    return warning["code"] in _OF_THE_ANSWER


def is_for_people(warning: AnswerWarning) -> bool:
    """Return whether people should read this warning below an answer: failed files are for the status to tell."""
    return warning["code"] not in ("files_failed", AS_LINES)


def state_lines(
    state: FreshFields, pending: int = 0, warnings: Iterable[AnswerWarning] = (), *, colour: bool
) -> Iterator[str]:
    """Yield lines for the state of an answer: why it is not fresh, then each warning with its remedy."""
    style = Style(colour)
    name = style.bad("livedex:")
    if not state["fresh"] and "reason" in state:  # no reason: freshness was not requested
        reason = state["reason"]
        count = f", {pending} pending" if pending else ""
        yield f"{name} not fresh: {visible(_REASONS.get(reason, reason))}{count}"
    for warning in warnings:
        yield f"{name} {warning_text(warning)}"


def warning_text(warning: AnswerWarning) -> str:
    """Format a warning and its remedy on one line."""
    remedy = f" ({warning['remedy']})" if warning["remedy"] else ""
    return visible(f"{warning['code']}: {warning['message']}{remedy}")
