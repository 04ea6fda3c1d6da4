"""Where the daemon keeps its files, as platformdirs decides or ``LIVEDEX_HOME`` says, and how those folders are made.

Invariant: after ``prepare`` every folder is a real one of this user's, closed to everybody else (0700).
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from shlex import quote

from livedex_ipc import paths
from livedex_ipc.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Locations:
    """Absolute paths, not resolved. ``state_dir`` holds the socket where there is no runtime folder.

    Beside each other in ``data_dir``: ``index_db`` (derived), ``forgotten_db`` (the marks of `livedex delete`, which
    survive a rebuild), ``lock_path`` (held by the one daemon of this home) and ``cookie_dir`` (touched to learn that
    all earlier events of the roots have arrived).
    """

    config_path: str
    data_dir: str
    log_dir: str
    state_dir: str
    socket_path: str

    @property
    def log_path(self) -> str:
        return os.path.join(self.log_dir, "livedex.log")

    @property
    def index_db(self) -> str:
        return os.path.join(self.data_dir, "index.db")

    @property
    def forgotten_db(self) -> str:
        return os.path.join(self.data_dir, "forgotten.db")

    @property
    def lock_path(self) -> str:
        return os.path.join(self.data_dir, "daemon.lock")

    @property
    def cookie_dir(self) -> str:
        return os.path.join(self.data_dir, "cookies")

    @property
    def own_folders(self) -> tuple[str, ...]:
        """What is never indexed, whatever the roots: indexing the log or the index would feed on itself."""
        return (self.data_dir, self.log_dir)

    def prepare(self) -> None:
        """Makes the folders of data, log and cookies. Raises Unavailable naming the folder and the remedy.

        A folder of ours that others may read is closed; one that others may write is refused, as what lies in it
        may be theirs. The socket's folder is made by who binds it, the configuration's by who writes it.
        """
        for folder in (self.data_dir, self.log_dir, self.cookie_dir):
            make_private(folder)


def locate() -> Locations:
    """The places for this process's environment: the same that ``livedex_ipc.paths`` gives the command."""
    home = paths.home()
    if home is not None:
        return Locations(
            config_path=os.path.join(home, "config.toml"),
            data_dir=os.path.join(home, "data"),
            log_dir=os.path.join(home, "log"),
            state_dir=home,
            socket_path=paths.socket_path(),
        )
    import platformdirs  # where it is missing, the doctor still has to come so far as to say so

    dirs = platformdirs.PlatformDirs("livedex", appauthor=False)
    return Locations(
        config_path=os.path.join(dirs.user_config_dir, "config.toml"),
        data_dir=dirs.user_data_dir,
        log_dir=dirs.user_log_dir,
        state_dir=dirs.user_state_dir,
        # platformdirs falls back to the shared temporary folder, where others could put a socket in our place.
        socket_path=paths.socket_path(),
    )


def make_private(folder: str) -> None:
    """Makes ``folder`` and what is missing above it, 0700 whatever the umask; an existing one is checked.

    Raises Unavailable when it cannot be made or written, is a link or no folder, belongs to another user, or may be
    written by others.
    """
    try:
        paths.make_missing(folder)
        found = os.lstat(folder)
        fault = unsafe(folder, found)
        if fault is not None:
            raise Unavailable(fault, {"path": folder})
        if stat.S_IMODE(found.st_mode) != paths.PRIVATE_MODE:
            os.chmod(folder, paths.PRIVATE_MODE)
    except OSError as fault:
        raise _unwritable(folder, fault.strerror or str(fault)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(folder, "it cannot be written")  # a read-only file system


def unsafe(folder: str, found: os.stat_result) -> str | None:
    """Why a folder (as ``lstat`` found it) must not hold livedex's files, with the remedy; None when it may."""
    if stat.S_ISLNK(found.st_mode):
        return f"{folder} is a link: put a folder in its place, or set LIVEDEX_HOME to the folder it leads to"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is in the way of livedex's folder: move it away"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to another user (uid {found.st_uid}): run `chown -R {os.geteuid()} {quote(folder)}`"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(found.st_mode)
        return (
            f"{folder} may be written by other users (mode {mode:04o}): look through what lies in it, "
            f"then run `chmod 700 {quote(folder)}`"
        )
    return None


def _unwritable(folder: str, reason: str) -> Unavailable:
    remedy = "make it writable, or set LIVEDEX_HOME to another folder"
    return Unavailable(f"livedex cannot keep its files in {folder}: {reason}; {remedy}", {"path": folder})
