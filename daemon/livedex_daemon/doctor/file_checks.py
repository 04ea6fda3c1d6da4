"""The doctor's checks of the disk: the configuration, livedex's own folders and socket, the roots, and the limits.

Invariant: no file in a root is read. A configuration with faults disables only the checks of the roots.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from shlex import quote

from livedex_daemon.config import settings
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.doctor.check_result import Check, failed, ok, warning
from livedex_daemon.process.locations import Locations, locate, unsafe, unusable_path
from livedex_indexing.disk.mounts import mount_kind
from livedex_ipc.cli.render.terminal_text import size_text
from livedex_ipc.errors import ConfigInvalid, InvalidParams, Unavailable
from livedex_ipc.paths import check_length

INOTIFY = "/proc/sys/fs/inotify/"
_COUNT_S = 1.0  # for counting folders: the count is only compared with a limit
_FEW_INSTANCES = 16
LOW_BYTES = 1 << 30
FULL_BYTES = 64 << 20
_NAMED = 3  # how many of several similar faults are named


def configuration() -> Iterator[Check]:
    where = locate().config_path
    try:
        loaded = settings.load(where)
    except (ConfigInvalid, Unavailable) as fault:
        yield failed("configuration", fault.message, "run `livedex config validate`, then `livedex config edit`")
        return
    if _is_emptied():
        message = f"{where} contains no setting: while the index has roots, no daemon starts with it"
        yield warning("configuration", message, settings.RESTORE)
        return
    there = where if os.path.exists(where) else f"the defaults apply ({where} does not exist)"
    yield ok("configuration", f"{there}: {_count(len(loaded.roots), 'root')}")


def folders() -> Iterator[Check]:
    """livedex's own folders and files: only the user may enter, read or write them."""
    places = locate()
    yield _folder(places.data_dir, failed)
    yield _folder(places.log_dir, warning)  # without a log the daemon does its work
    loose = list(islice(_loose_files(places), _NAMED + 1))
    if loose:
        named = ", ".join(loose[:_NAMED]) + (", …" if len(loose) > _NAMED else "")
        fix = f"run `chmod -R go-rwx {quote(places.data_dir)} {quote(places.log_dir)}`"
        yield warning("permissions", f"other users may read or write {named}", fix)


def disk() -> Iterator[Check]:
    folder = _existing(locate().data_dir)
    free = shutil.disk_usage(folder).free
    message = f"{size_text(free)} free where the index is kept ({folder})"
    fix = "free some space, or set LIVEDEX_HOME to a folder on another disk"
    if free < FULL_BYTES:
        yield failed("disk", message, fix)
    elif free < LOW_BYTES:
        yield warning("disk", message, fix)
    elif mount_kind(os.fsencode(folder)) == "network":
        fix = "set LIVEDEX_HOME to a folder on a disk of this machine"
        yield warning("disk", f"the index is kept on a network file system ({folder}), whose locks may fail", fix)
    else:
        yield ok("disk", message)


def socket() -> Iterator[Check]:
    """The socket's path and permissions."""
    where = locate().socket_path
    try:
        check_length(where)
    except InvalidParams as fault:
        yield failed("socket", fault.message, "set LIVEDEX_SOCKET to a shorter path")
        return
    try:
        found = os.lstat(where)
    except FileNotFoundError:
        yield _no_socket_yet(where)
        return
    except OSError as fault:
        yield failed(
            "socket",
            f"livedex cannot examine {where}: {fault.strerror}",
            "give this user permission to enter its folder",
        )
        return
    if not stat.S_ISSOCK(found.st_mode):
        yield failed("socket", f"{where} is not a socket", "move it away, or set LIVEDEX_SOCKET to another path")
    elif found.st_uid not in (os.geteuid(), 0):
        fix = "remove it, or set LIVEDEX_SOCKET to another path"
        yield failed("socket", f"{where} belongs to another user (uid {found.st_uid})", fix)
    elif found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        yield warning("socket", f"{where} is open to others (mode {mode:04o})", f"run `chmod 600 {quote(where)}`")
    else:
        yield ok("socket", where)


def _no_socket_yet(where: str) -> Check:
    """Check whether the daemon can create its socket. It makes the folder of the usual one, too."""
    folder = os.path.dirname(where)
    if os.environ.get("LIVEDEX_SOCKET") and not os.path.isdir(folder):
        return failed(
            "socket", f"LIVEDEX_SOCKET is {where}, and there is no folder {folder}", "make it, or name another socket"
        )
    above = _existing(folder)
    if not (os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)):
        fix = "make it writable, or set LIVEDEX_SOCKET to another path"
        return failed("socket", f"livedex cannot write to {above} to create {where}", fix)
    return ok("socket", f"{where} (the daemon creates it at its start)")


def roots() -> Iterator[Check]:
    """Each root: is it there and readable, and does it report changes?"""
    found = _roots()
    if found is None:
        return
    if not found:
        yield warning("root", "no folder is indexed", "run `livedex up FOLDER`")
    for root in found:
        yield _root(root)


def watches() -> Iterator[Check]:
    """Linux limits the watches per user; folders beyond the limit are polled."""
    if sys.platform != "linux":
        return
    try:
        limit, instances = _limit("max_user_watches"), _limit("max_user_instances")
    except OSError as error:
        message = f"{error.filename} cannot be read ({error.strerror}): nobody knows how many folders can be watched"
        yield warning("watches", message, "mount /proc: without it, network mounts are taken for local disks, too")
        return
    paths = [root.path for root in _roots() or ()]
    count, complete = _count_folders(paths, limit)
    folders = f"{'' if complete else 'at least '}{_count(count, 'folder')} in the roots, before the ignore rules"
    message = f"{limit} watches and {instances} instances for each user; {folders}"
    if count >= limit:
        fix = f"sudo sysctl fs.inotify.max_user_watches={max(1 << 19, 2 * limit)}, and keep it in /etc/sysctl.d/"
        yield warning("watches", message, fix)
    elif instances < _FEW_INSTANCES:
        fix = "sudo sysctl fs.inotify.max_user_instances=128, and keep it in /etc/sysctl.d/"
        yield warning("watches", message, fix)
    else:
        yield ok("watches", message)


def _roots() -> Sequence[RootConfig] | None:
    """Return the configured roots; None if the configuration is broken, which its own check reports."""
    try:
        return None if _is_emptied() else settings.load(locate().config_path).roots
    except (ConfigInvalid, Unavailable):
        return None


def _is_emptied() -> bool:
    """Return whether the configuration has lost its settings, although there is an index. Raises ConfigInvalid."""
    places = locate()
    return os.path.exists(places.index_db) and settings.is_emptied(places.config_path)


def _root(root: RootConfig) -> Check:
    try:
        mode = os.stat(root.path).st_mode
        is_taken = not stat.S_ISDIR(mode) or (root.is_link and os.path.realpath(root.path) != root.path)
    except FileNotFoundError:
        fix = f"mount or restore it, or run `livedex roots remove {quote(root.path)}`"
        return warning("root", f"{root.path} is missing; livedex keeps its entries for 24 hours", fix)
    except OSError as fault:
        return warning(
            "root", f"{root.path} cannot be reached: {fault.strerror}", "give this user permission to enter its folders"
        )
    if is_taken:
        fix = f"move that away and create the folder, or run `livedex roots remove {quote(root.path)}`"
        return warning("root", f"{root.path} is missing: a file or a link is in its place", fix)
    if not os.access(root.path, os.R_OK | os.X_OK):
        fix = f"run `chmod u+rx {quote(root.path)}`, or have its owner give this user permission to read it"
        return warning("root", f"this user may not read {root.path} (mode {stat.S_IMODE(mode):04o})", fix)
    if mount_kind(os.fsencode(root.path)) == "network":
        return ok("root", f"{root.path} is on a network or FUSE file system: livedex polls it")
    return ok("root", root.path)


def _folder(folder: str, unwritable: Callable[[str, str, str], Check]) -> Check:
    """Check one of livedex's own folders. A missing folder is ok if it can be created."""
    fix = "make it writable, or set LIVEDEX_HOME to another folder"
    fault = unusable_path(folder)
    if fault is None and not os.path.lexists(folder):
        above = _existing(folder)
        if os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK):
            return ok("folders", f"{folder} (the daemon creates it at its start)")
        return unwritable("folders", f"livedex cannot write to {above} to create {folder}", fix)
    if fault is None:
        found = os.lstat(folder)
        fault = unsafe(folder, found)
    if fault is not None:
        message, _, remedy = fault.partition(": ")
        return failed("folders", message, remedy)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return unwritable("folders", f"livedex cannot write to {folder}", fix)
    if found.st_mode & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        return warning("folders", f"{folder} is open to others (mode {mode:04o})", f"run `chmod 700 {quote(folder)}`")
    return ok("folders", folder)


def _loose_files(places: Locations) -> Iterator[str]:
    for top in (places.data_dir, places.log_dir):
        for folder, _folders, files in os.walk(top):
            for name in files:
                path = os.path.join(folder, name)
                if os.lstat(path).st_mode & 0o077 and not os.path.islink(path):
                    yield path


def _existing(path: str) -> str:
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def _limit(name: str) -> int:
    with open(INOTIFY + name, encoding="ascii") as file:
        return int(file.read())


def _count_folders(tops: Sequence[str], enough: int) -> tuple[int, bool]:
    """Return the number of folders, and whether all were counted: it stops at ``enough``. Links are not followed."""
    give_up = time.monotonic() + _COUNT_S
    # A root below another root is counted with that one.
    left = [top for top in tops if not any(top != other and top.startswith(other + "/") for other in tops)]
    count = 0
    while left:
        if count >= enough or time.monotonic() >= give_up:
            return count, False
        try:
            with os.scandir(left.pop()) as entries:
                left.extend(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:  # missing or unreadable: it gets no watch either
            continue
        count += 1
    return count, True


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
