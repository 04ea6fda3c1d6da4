"""The ``livedex`` command, also as ``python -m livedex_ipc``.

Invariant: Ctrl-C ends it without a traceback, also while its modules load and while it exits. Only the start of Python
itself is earlier than this file.
"""

import _signal  # type: ignore[import-not-found]  # it is loaded already; ``signal`` would load ``enum``
import sys


def main() -> int:
    """Load the command and run it. Return its exit code; the process may end by SIGINT before and after."""
    at_start = _signal.getsignal(_signal.SIGINT)
    is_heard = at_start is _signal.default_int_handler  # not if it is ignored, as in the background of a script
    if is_heard:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    try:
        from livedex_ipc.cli.main import main as run

        if is_heard:
            _signal.signal(_signal.SIGINT, at_start)
        return run()
    except KeyboardInterrupt:
        from livedex_ipc.constants import INTERRUPTED

        return INTERRUPTED
    finally:
        if is_heard:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
