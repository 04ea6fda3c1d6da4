"""What is indexed for the figures: a folder that was named, or what any machine with Python has.

Invariant: nothing here writes to the folder that was named.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

DOCUMENTATION = Path("/usr/share/doc")
NOT_TAKEN = shutil.ignore_patterns("site-packages", "__pycache__", "*.pyc", "*.so", "*.a")
LARGEST_FILE = 8 << 20  # bytes: what the default configuration takes
BINARY_HEAD = 8 << 10  # bytes that are looked at for a NUL


def made_in(folder: Path) -> Path:
    """Copies this Python's standard library, and the machine's documentation where there is any, into ``folder``."""
    corpus = folder / "corpus"
    shutil.copytree(sysconfig.get_path("stdlib"), corpus / "python", symlinks=True, ignore=NOT_TAKEN)
    if DOCUMENTATION.is_dir():
        shutil.copytree(DOCUMENTATION, corpus / "doc", symlinks=True, ignore=NOT_TAKEN)
    return corpus


def text_files(corpus: Path) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of every file that holds text, as simply as possible."""
    for folder, folders, names in os.walk(corpus):
        folders[:] = [name for name in folders if name not in {".git", "__pycache__", "node_modules"}]
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or os.path.getsize(path) > LARGEST_FILE:
                continue
            with open(path, "rb") as file:
                data = file.read()
            if b"\0" not in data[:BINARY_HEAD]:
                yield path, data
