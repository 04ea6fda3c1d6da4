"""The path of a file as every command prints it.

Invariant: a printed path leads to its file from the working folder, and never begins with a dash.
"""

from __future__ import annotations

import os
from binascii import a2b_base64
from functools import cache

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from livedex_ipc.wire_results import PathFields


def path_text(entry: PathFields) -> str:
    """Return the absolute path of a file; bytes that are not UTF-8 become lone surrogates, for ``os.fsencode``."""
    if "path_b64" in entry:
        return a2b_base64(entry["path_b64"]).decode("utf-8", "surrogateescape")
    return entry["path"]


def shown_path(entry: PathFields) -> str:
    """Return the path of a file, relative to the working folder if it is below that."""
    return relative(path_text(entry), working_folder())


def relative(path: str, folder: str) -> str:
    """Return ``path`` relative to ``folder`` if it is below that, else unchanged."""
    below = folder.rstrip("/") + "/"
    if not folder or not path.startswith(below) or path == below:
        return path
    short = path[len(below) :]
    return "./" + short if short.startswith("-") else short


@cache
def working_folder() -> str:
    """Return the working folder, "" if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
