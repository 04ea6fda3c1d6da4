"""The ``livedex`` command, also as ``python -m livedex_ipc``.

Invariant: Ctrl-C ends it without a traceback, also while its modules load.
"""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> int:
    """Load the command and run it. Return its exit code."""
    try:
        from livedex_ipc.cli.main import main as run
    except KeyboardInterrupt:
        return _INTERRUPTED
    return run()


if __name__ == "__main__":
    sys.exit(main())
