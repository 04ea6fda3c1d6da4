"""Makes a file without a name, for bytes between this process and one that it starts.

Invariant: where the system allows it the file needs no disk, so that a full one, or one that may not be written to,
keeps no command from working.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import IO

from livedex_ipc.errors import Unavailable


def scratch_file(content: bytes = b"") -> IO[bytes]:
    """Return the file, at its beginning. Raises Unavailable."""
    try:
        file = _in_memory() or _on_disk()
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise Unavailable(f"no temporary file can be made: {error.strerror}; free some space in {_folder()}") from error
    return file


def _in_memory() -> IO[bytes] | None:
    if sys.platform == "linux":
        with suppress(PermissionError):  # a filter of system calls may forbid it
            return os.fdopen(os.memfd_create("livedex"), "r+b")
    return None


def _on_disk() -> IO[bytes]:
    import tempfile

    return tempfile.TemporaryFile()


def _folder() -> str:
    return os.environ.get("TMPDIR", "/tmp")
