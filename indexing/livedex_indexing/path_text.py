"""Writes a path, which is bytes, as text for people and for JSON, and reads it back.

Invariant: ``from_b64(path_b64(p)) == p`` for every path whose text is not exact, and a path whose text is exact
needs no second form: its text alone encodes back to the same bytes.
"""

from __future__ import annotations

import base64
import binascii


def display_path(path: bytes) -> str:
    """The path as text; bytes that are not UTF-8 are shown as replacement characters."""
    return path.decode("utf-8", "replace")


def path_b64(path: bytes) -> str | None:
    """The path's bytes in base64, or None where its text is exact and nothing more is needed."""
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(path).decode("ascii")
    return None


def path_fields(path: bytes) -> dict[str, str]:
    """The fields that name a path in a result: ``path``, and ``path_b64`` where the text is not exact."""
    encoded = path_b64(path)
    return {"path": display_path(path)} if encoded is None else {"path": display_path(path), "path_b64": encoded}


def from_b64(text: str) -> bytes:
    """The path that ``path_b64`` gave. ValueError when the text is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("not base64") from error
