"""Keeps the numbers of the standard input and outputs from the files of a process.

Invariant: it imports next to nothing: the daemon calls it before anything else.
"""

from __future__ import annotations

import os


def open_standard_files() -> None:
    """Open the null device in the place of each of the first three descriptors that is closed: else the next files that
    are opened get these numbers, and with them what is printed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it takes the lowest number; children get it
