"""``python -m livedex_daemon``: the daemon itself, and the commands that need its rooms but no running daemon.

Invariant: a daemon that cannot start prints its error last on stderr, with --json as one line, and ends with its exit
code. Ctrl-C ends a command without a traceback, also while its modules load.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from livedex_ipc.constants import INTERRUPTED
from livedex_ipc.errors import LivedexError

# A search takes the interpreter's lock again some two hundred times, after each statement and for each row that is
# weighed, and while files are indexed it may have to wait so long each time (Python's own: 5 ms).
SWITCH_S = 0.0005


def main(argv: list[str] | None = None) -> int:
    try:
        return _command(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        return INTERRUPTED


def _command(words: list[str]) -> int:
    if words[:1] == ["config"]:
        from livedex_daemon.config import config_command

        return config_command.run(words[1:])
    if words[:1] == ["plugins"]:
        from livedex_daemon.plugin_host import plugin_check

        return plugin_check.run(words[1:])
    if words[:1] == ["doctor"]:
        from livedex_daemon.doctor import doctor_command

        return doctor_command.run(words[1:])
    if words[:1] in (["paths"], ["logs"]):
        from livedex_daemon.process import places_command

        run = places_command.run_paths if words[0] == "paths" else places_command.run_logs
        return run(words[1:])
    if words[:1] == ["exchange"]:
        from livedex_daemon.exchange import local_exchange
        from livedex_daemon.worker_host import host_command

        return local_exchange.run(words[1:], host_command.run)
    if "--check-config" in words:
        from livedex_daemon.config import config_command
        from livedex_daemon.process import direct_command

        return config_command.run(["validate", *(word for word in words if direct_command.is_form(word))])
    return _serve(words)


def _serve(words: Sequence[str]) -> NoReturn:
    """Run the daemon, and end the process: Python's own exit would wait for threads that hang on a disk."""
    from livedex_daemon.process import inherited_signals, standard_streams

    standard_streams.open_missing()
    inherited_signals.reset()
    from livedex_daemon.process.stopping import end_process

    os.umask(0o077)
    code = 1
    try:
        code = _run()
    except LivedexError as error:
        from livedex_daemon.process.direct_command import streams_of

        streams_of(words).error(error)
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException:
        import traceback

        traceback.print_exc()
    end_process(code)


def _run() -> int:
    # Imported here: `config` and `doctor` must work where the daemon's libraries do not.
    import asyncio

    from livedex_daemon.process import descriptors, soft_limits

    descriptors.require()  # first: where files are lacking, modules are, too
    soft_limits.raise_all()
    from livedex_daemon.process.restart import OwnCode

    code = OwnCode()  # before the rest of it is loaded
    from livedex_daemon.process import fork_guard, locations, memory
    from livedex_daemon.process.home_lock import HomeLock
    from livedex_ipc import core_dumps

    memory.limit_arenas()
    core_dumps.disable()
    memory.raise_gc_threshold()
    sys.setswitchinterval(SWITCH_S)
    places = locations.locate()
    places.prepare()
    lock = HomeLock(places.lock_path, places.cookie_dir)
    fork_guard.release_in_copies(lock.release, places.socket_path)
    from livedex_daemon import app

    config = app.load_config(places)
    app.set_up_logs(places, config)
    # Not asyncio.run: at its end it joins the threads of the default executor.
    return asyncio.Runner().run(app.run(places, config, code, lock))


if __name__ == "__main__":
    sys.exit(main())
