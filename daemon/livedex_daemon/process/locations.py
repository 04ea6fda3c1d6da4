"""The folders and files of the daemon, from ``LIVEDEX_HOME`` or platformdirs, and the creation of those folders.

Invariant: after ``prepare`` every folder is a real one, owned by this user and closed to all others (0700).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import dataclass
from shlex import quote

from livedex_ipc import paths
from livedex_ipc.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Locations:
    """Absolute paths, not resolved. ``state_dir`` contains the socket if there is no runtime folder.

    ``data_dir`` contains ``index_db`` (derived), ``forgotten_db`` (the marks of ``livedex forget``, which survive a
    rebuild), ``exchange_db`` (messages) and ``knowledge_db`` (agent memory), which nothing else has, ``lock_path``
    (locked by the one daemon of this home) and ``cookie_dir`` (its files are touched to learn that all earlier events
    of the roots have arrived).
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
    def exchange_db(self) -> str:
        return os.path.join(self.data_dir, "exchange.db")

    @property
    def vectors_dir(self) -> str:
        """Where the vectors of the index are: derived data, a file for each model."""
        return os.path.join(self.data_dir, "vectors")

    @property
    def knowledge_db(self) -> str:
        return os.path.join(self.data_dir, "knowledge.db")

    @property
    def backend_mark(self) -> str:
        return os.path.join(self.data_dir, "backend.mark")

    @property
    def lock_path(self) -> str:
        return os.path.join(self.data_dir, paths.LOCK_NAME)

    @property
    def cookie_dir(self) -> str:
        return os.path.join(self.data_dir, "cookies")

    @property
    def own_folders(self) -> tuple[str, ...]:
        """Folders that are never indexed, in any root: indexing the log or the index would cause further changes."""
        return (self.data_dir, self.log_dir)

    def prepare(self) -> None:
        """Create the folders for data, log and cookies. Raises Unavailable with the folder and the remedy.

        A folder that others may read is closed; one that others may write is refused, because its files may be
        theirs. The socket's folder is created on binding, the configuration's on writing. Without a log the daemon
        does its work.
        """
        make_private(self.data_dir)
        with contextlib.suppress(FolderUnwritable):
            make_private(self.log_dir)
        make_private(self.cookie_dir)


class FolderUnwritable(Unavailable):
    """A folder of livedex's own cannot be made or written."""


def locate() -> Locations:
    """Return the locations for this process's environment, the same that ``livedex_ipc.paths`` gives the command."""
    home = paths.home()
    if home is not None:
        return Locations(
            config_path=os.path.join(home, "config.toml"),
            data_dir=os.path.join(home, "data"),
            log_dir=os.path.join(home, "log"),
            state_dir=home,
            socket_path=paths.socket_path(),
        )
    import platformdirs  # imported here, so that `livedex doctor` can report it missing

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
    """Create ``folder`` and its missing parents, 0700 regardless of the umask; check an existing one.

    Raises FolderUnwritable if it cannot be created or written, Unavailable if it is a link or not a folder, belongs to
    another user, is writable by others, or has a path that is not UTF-8.
    """
    if (unusable := unusable_path(folder)) is not None:
        raise Unavailable(unusable, {"path": os.fsencode(folder).decode("utf-8", "replace")})
    try:
        paths.make_missing(folder)
        found = os.lstat(folder)
        fault = unsafe(folder, found)
        if fault is not None:
            raise Unavailable(fault, {"path": folder})
        if stat.S_IMODE(found.st_mode) != paths.PRIVATE_MODE:
            os.chmod(folder, paths.PRIVATE_MODE)
    except OSError as fault:
        raise _unwritable(folder, fault) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(folder, OSError(errno.EROFS, "it cannot be written"))


def unusable_path(folder: str) -> str | None:
    """Return why no database can be in a folder of this name, with the remedy; None if one can."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        return f"{folder} is not UTF-8, and SQLite opens no such path: set LIVEDEX_HOME to another folder"
    return None


def unsafe(folder: str, found: os.stat_result) -> str | None:
    """Return why a folder (as ``lstat`` found it) must not contain livedex's files, with the remedy; None if it may."""
    if stat.S_ISLNK(found.st_mode):
        return f"{folder} is a link: put a folder in its place, or set LIVEDEX_HOME to the folder it leads to"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder: move it away, livedex needs a folder there"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to another user (uid {found.st_uid}): run `chown -R {os.geteuid()} {quote(folder)}`"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = stat.S_IMODE(found.st_mode)
        return (
            f"other users may write to {folder} (mode {mode:04o}): check its contents, "
            f"then run `chmod 700 {quote(folder)}`"
        )
    return None


def _unwritable(folder: str, fault: OSError) -> FolderUnwritable:
    remedy = paths.remedy_for(fault, "make it writable, or set LIVEDEX_HOME to another folder")
    message = f"livedex cannot keep its files in {folder}: {fault.strerror or fault}; {remedy}"
    return FolderUnwritable(message, {"path": folder})
