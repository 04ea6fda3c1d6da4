"""How a path that is bytes is shown to people and sent as JSON, and how it comes back.

Invariant: no two paths are sent alike. Where the text of a path does not encode back to the same bytes, the bytes are
sent too, in base64.
"""

from __future__ import annotations

import base64

from livedex_ipc.wire_results import PathFields


def display_path(path: bytes) -> str:
    """Return the path as text; bytes that are not UTF-8 become replacement characters."""
    return path.decode("utf-8", "replace")


def path_b64(path: bytes) -> str | None:
    """Return the path's bytes in base64, or None if its text is exact and nothing more is needed."""
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(path).decode("ascii")
    return None


def path_fields(path: bytes) -> PathFields:
    """Return the fields by which a result names a path: ``path``, and ``path_b64`` if it is needed."""
    encoded = path_b64(path)
    return {"path": display_path(path)} if encoded is None else {"path": display_path(path), "path_b64": encoded}


def from_b64(text: str) -> bytes:
    """Return the path that ``path_b64`` encoded. Raises ValueError if the text is not base64."""
    return base64.b64decode(text, validate=True)
