"""The ``livedex`` command, also as ``python -m livedex_ipc``.

Invariant: Ctrl-C ends it without a traceback, also while its modules load.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Load the command and run it. Return its exit code."""
    try:
        from livedex_ipc.cli.main import main as run
    except KeyboardInterrupt:
        from livedex_ipc.constants import INTERRUPTED

        return INTERRUPTED
    return run()


if __name__ == "__main__":
    sys.exit(main())
