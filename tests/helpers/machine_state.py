"""The state of a daemon's machine: on battery, without an interpreter, upgraded, short of descriptors.

Invariant: only that daemon and its children see it, and it may change at any time.
"""

from __future__ import annotations

import shutil
import sys

from helpers.fault_injection import HAS_NAMESPACES, in_namespaces, with_code
from helpers.other_user import CAN_DENY, HUMBLE
from helpers.support import Home
from livedex_daemon.process.descriptors import RESERVE

CONNECTIONS = 64  # all that the daemon may accept

# In the daemon and its children: files that the test changes say whether the machine is on battery, which program
# starts a child, and which code a process runs.
SEAM = """
import hashlib, os, sys

if "STATES" in os.environ and ("livedex_daemon" in sys.orig_argv or "chunk_child" in " ".join(sys.orig_argv)):
    states = os.environ["STATES"]
    from livedex_indexing.child import code_version

    def read_from_disk():
        with open(states + "/version", "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=16).digest()

    code_version.read_from_disk = read_from_disk
    code_version.OWN = read_from_disk()
    if "livedex_daemon" in sys.orig_argv:
        from livedex_daemon.write import power
        power.CHECK_EVERY_S = 0.0
        power.on_battery = lambda supplies="": os.path.exists(states + "/battery")
        sys.executable = states + "/python"
"""


class MachineState:
    """The state of the shared daemon's machine, in the files that its code reads."""

    def __init__(self, home: Home) -> None:
        self.folder = home.path / "states"
        self.folder.mkdir()
        self.battery = self.folder / "battery"
        self.version = self.folder / "version"
        self.python = self.folder / "python"
        self.version.write_text("1")
        self.give_python()

    def environment(self, home: Home) -> dict[str, str]:
        return {"STATES": str(self.folder), **with_code(home.path / "seam", SEAM)}

    def give_python(self) -> None:
        made = self.folder / "python.new"
        made.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        made.chmod(0o755)
        made.rename(self.python)

    def upgrade(self) -> None:
        self.version.write_text(str(int(self.version.read_text()) + 1))


def wrapped() -> list[str]:
    """Return the words before the daemon's command: its own mounts, a plain user's rights, few descriptors."""
    few = ["prlimit", f"--nofile={RESERVE + CONNECTIONS}:{RESERVE + CONNECTIONS}"] if shutil.which("prlimit") else []
    return [*few, *(in_namespaces("true") if HAS_NAMESPACES else []), *(HUMBLE if CAN_DENY else [])]
