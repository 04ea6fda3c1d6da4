"""The ``livedex`` command, also as ``python -m livedex_ipc``.

Invariant: Ctrl-C ends it without a traceback, also while its modules load and while it exits. Only the start of Python
itself is earlier than this file. No fault, and no file that is missing in the middle of an upgrade, looks like an
answer.
"""

import _signal  # type: ignore[import-not-found]  # it is loaded already; ``signal`` would load ``enum``
import sys

# As ``LivedexError.exit_code``, whose module may be what is missing; not Python's own 1: nothing was found.
FAILED = 4


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
    except Exception as error:
        _report(error)
        return FAILED
    finally:
        if is_heard:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _report(error: Exception) -> None:
    """Print on stderr why the command could not be run: files that are missing or cut in one line, or as JSON with
    ``--json``; any other fault with its traceback."""
    if not isinstance(error, ImportError | SyntaxError):
        sys.excepthook(type(error), error, error.__traceback__)
        return
    text = f"livedex's own files are incomplete ({error}): try again once no upgrade runs, or install it again"
    if "--json" in sys.argv:
        import json

        text = json.dumps({"error": {"code": FAILED, "message": text}})
    else:
        text = f"livedex: {text}"
    if sys.stderr is not None:
        print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
