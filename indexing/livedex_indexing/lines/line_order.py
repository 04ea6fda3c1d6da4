"""The order of a search for lines, and the cursor that says where in it a page ends.

Invariant: a cursor names a place by the file and the line, so that the page after it begins there whatever was added
or removed before it.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final, Literal, NamedTuple

from livedex_ipc.errors import InvalidParams

Order = Literal["relevance", "modified", "path"]

_MOST: Final = 1 << 63


class LineCursor(NamedTuple):
    """The place of the last line of a page. ``age`` orders the files before their paths do (see `age_of`)."""

    age: int
    path: bytes
    line: int


def age_of(order: Order, mtime_ns: int) -> int:
    """Return the number by which files are ordered first: the last modified has the least. 0 if paths alone count."""
    return -mtime_ns if order == "modified" else 0


def cursor_text(cursor: LineCursor) -> str:
    """Return a cursor as the text that a client sends back."""
    plain = b"%d:%d:%b" % (cursor.age, cursor.line, cursor.path)
    return base64.urlsafe_b64encode(plain).decode("ascii")


def read_cursor(text: str) -> LineCursor:
    """Return the cursor that `cursor_text` wrote. Raises InvalidParams."""
    try:
        age, line, path = base64.b64decode(text.encode("ascii"), b"-_", validate=True).split(b":", 2)
        cursor = LineCursor(int(age), path, int(line))
    except (ValueError, binascii.Error):
        cursor = LineCursor(0, b"", -1)
    if not (cursor.path.startswith(b"/") and 0 <= cursor.line < _MOST and -_MOST <= cursor.age < _MOST):
        raise InvalidParams("cursor must be the next_cursor of an answer", {"field": "cursor"})
    return cursor
