"""``livedex paths`` and ``livedex logs``: where everything of this user is, and what the log says, without a daemon.

Invariant: nothing is created or changed, and nothing of the log steers a terminal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import IO

from livedex_daemon.process import direct_command
from livedex_daemon.process.locations import locate
from livedex_ipc.cli.render.terminal_text import table, visible
from livedex_ipc.cli.streams import Streams
from livedex_ipc.errors import NotFound

_LOOK_EVERY_S = 0.3


def run_paths(argv: Sequence[str]) -> int:
    """Run ``livedex paths``; return the exit code."""
    return direct_command.run("livedex paths", {"": _show_paths}, argv)


def run_logs(argv: Sequence[str]) -> int:
    """Run ``livedex logs``, with ``--follow`` until it is interrupted; return the exit code."""
    return direct_command.run("livedex logs", {"": _show_log, "--follow": _follow_log}, argv)


def _show_paths(streams: Streams) -> int:
    places = locate()
    found = {
        "config": places.config_path,
        "data": places.data_dir,
        "index": places.index_db,
        "forgotten": places.forgotten_db,
        "exchange": places.exchange_db,
        "knowledge": places.knowledge_db,
        "log": places.log_path,
        "socket": places.socket_path,
    }
    if streams.json:
        streams.write_json(found)
    else:
        streams.write("\n".join(table([(name, visible(path)) for name, path in found.items()])) + "\n")
    return 0


def _show_log(streams: Streams) -> int:
    with _log() as file:
        _copy(streams, file)
    return 0


def _follow_log(streams: Streams) -> int:
    """Print the log and what is added to it. A new file in its place is read from its beginning."""
    file = _log()
    while True:
        _copy(streams, file)
        streams.flush()
        time.sleep(_LOOK_EVERY_S)
        try:
            current = os.stat(file.name)
        except FileNotFoundError:
            continue
        if (current.st_dev, current.st_ino) != (os.fstat(file.fileno()).st_dev, os.fstat(file.fileno()).st_ino):
            _copy(streams, file)
            file.close()
            file = _log()


def _log() -> IO[str]:
    path = locate().log_path
    try:
        return open(path, encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound(f"there is no log yet: {path}", {"path": path}) from None


def _copy(streams: Streams, file: IO[str]) -> None:
    for line in file:
        streams.write(visible(line, "\n\t") if streams.out_is_terminal else line)
