"""``livedex uninstall``: stops the daemon and removes the service and livedex's own files.

Invariant: only files that livedex made are removed, by their names; what can not be made again (the configuration, the
marks of forgotten files, messages, memory) only on request.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from livedex_ipc import paths
from livedex_ipc.cli.commands.up_command import stop_daemon
from livedex_ipc.cli.context import Context
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names of files, each matched as a whole: `knowledge.db.bak` next to them is somebody's.
_OF_SQLITE = r"(-wal|-shm|-journal)?"
_DERIVED = (
    rf"index\.db(\.aside|\.damaged)?{_OF_SQLITE}|in-hand|(starts|backend\.mark)(\.new)?|{re.escape(paths.LOCK_NAME)}"
)
_PRECIOUS = rf"(exchange|knowledge)\.db{_OF_SQLITE}|forgotten\.db(\.copy(\.new)?|(\.damaged)?{_OF_SQLITE})"
_EDIT = r"\.config\.toml\.livedex-[a-z0-9_]{8}"  # of an edit that was killed
_LOG = r"livedex\.log(\.\d+)?"
_FOLDERS = r"cookies|vectors|document-[a-z0-9_]{8}"  # the last ones: of documents that were being converted


def uninstall(context: Context) -> int:
    """Remove everything but the package; what is precious only with --all, or if a person at a terminal says so."""
    everything = bool(context.values.get("all"))
    dry_run = bool(context.values.get("dry_run"))
    precious = list(_precious())
    if precious and not everything and not dry_run and _has_reader(context):
        everything = _is_wanted(context, precious)
    service = _service_files(context)
    derived = list(_derived())
    removed = [*service, *derived, *(precious if everything else ())]
    kept = [] if everything else precious
    if not dry_run:
        if service:
            from livedex_ipc.cli.commands import service_command

            service_command.remove(context)
        stop_daemon()
        for path in removed[len(service) :]:
            _remove(path)
        for folder in _folders():
            _remove_if_empty(folder)
    result = {"removed": removed, "kept": kept, "dry_run": dry_run}
    context.show(result, lambda _: _text(removed, kept, dry_run))
    return 0


def _text(removed: list[str], kept: list[str], dry_run: bool) -> str:
    from livedex_ipc.cli.render.terminal_text import visible

    done = "would remove" if dry_run else "removed"
    lines = [f"{done} {visible(path)}" for path in removed] or ["there was nothing to remove"]
    lines += [f"kept {visible(path)}" for path in kept]
    if kept:
        lines.append("livedex uninstall --all removes these, too")
    lines.append("the program itself: pipx uninstall livedex, uv tool uninstall livedex, or pip uninstall livedex")
    return "".join(line + "\n" for line in lines)


def _has_reader(context: Context) -> bool:
    return context.streams.err_is_terminal and not context.streams.json and sys.stdin is not None and sys.stdin.isatty()


def _is_wanted(context: Context, precious: list[str]) -> bool:
    from livedex_ipc.cli.render.terminal_text import visible

    context.streams.write_err("".join(f"{visible(path)}\n" for path in precious))
    context.streams.write_err("Remove these, too? They can not be made again. [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _service_files(context: Context) -> list[str]:
    """Return the files of the installed service; none where there is no service manager."""
    from livedex_ipc.cli.commands import service_command

    try:
        return service_command.installed_files(context)
    except Unavailable:
        return []


def _derived() -> Iterator[str]:
    """Yield livedex's own files that can be made again, as far as they are there."""
    yield from _named(paths.data_dir(), _DERIVED)
    yield from _own_folders(paths.data_dir())
    yield from _named(paths.log_dir(), _LOG)
    yield from _named(os.path.dirname(os.path.realpath(paths.config_path())), _EDIT)
    socket = paths.socket_path()
    yield from (path for path in (socket, socket + ".lock") if os.path.lexists(path))


def _precious() -> Iterator[str]:
    yield from _named(paths.data_dir(), _PRECIOUS)
    if os.path.lexists(paths.config_path()):
        yield paths.config_path()


def _named(folder: str, names: str) -> Iterator[str]:
    """Yield what has one of these names in a folder. No folder: livedex puts one aside that is in its files' place."""
    for entry in _entries(folder):
        path = os.path.join(folder, entry)
        if re.fullmatch(names, entry) and not _is_folder(path):
            yield path


def _own_folders(folder: str) -> Iterator[str]:
    for entry in _entries(folder):
        path = os.path.join(folder, entry)
        if re.fullmatch(_FOLDERS, entry) and _is_folder(path):
            yield path


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _folders() -> list[str]:
    """Return livedex's own folders, the inner ones first."""
    runtime = os.path.dirname(paths.socket_path())
    own = [paths.data_dir(), paths.log_dir(), paths.state_dir(), os.path.dirname(paths.config_path()), runtime]
    named = [folder for folder in own if os.path.basename(folder) in (paths.APP, "data", "log")]
    return sorted({*named, *filter(None, [paths.home()])}, key=len, reverse=True)


def _remove(path: str) -> None:
    """Remove a file, or the files of a folder of livedex's and then the folder, unless it has folders. Raises
    Unavailable."""
    try:
        if _is_folder(path):
            for entry in os.listdir(path):
                if not _is_folder(os.path.join(path, entry)):
                    os.unlink(os.path.join(path, entry))
            _remove_if_empty(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unavailable(f"{path} cannot be removed: {error.strerror}", {"path": path}) from error


def _remove_if_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return
