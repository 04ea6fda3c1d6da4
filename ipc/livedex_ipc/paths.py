"""Locates livedex's files, identically in every process and without slow imports.

Invariant: the folders equal those of platformdirs for the same environment (the daemon calls platformdirs, the command
calls this module; a test compares the two), and ``LIVEDEX_HOME`` puts all of them below one folder.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from livedex_ipc.errors import InvalidParams

APP = "livedex"
SOCKET_NAME = "livedex.sock"
LOCK_NAME = "daemon.lock"  # in the data folder: the daemon of the home has locked it
_VARIABLES = ("LIVEDEX_HOME", "LIVEDEX_SOCKET", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
RUN_USER = "/run/user"
PRIVATE_MODE = 0o700  # of every folder that livedex makes
# Bytes of sun_path in the kernel's sockaddr_un, including the closing NUL.
SOCKET_PATH_LIMIT = 104 if sys.platform == "darwin" else 108


def home() -> str | None:
    """Return the folder named by ``LIVEDEX_HOME``, absolute; None if that is unset or empty.

    Raises InvalidParams if it is relative, and the working folder is gone.
    """
    value = os.environ.get("LIVEDEX_HOME", "")
    return _absolute("LIVEDEX_HOME", value) if value else None


def files_environment() -> dict[str, str]:
    """Return the variables that decide where the files are, as far as they are set, with absolute paths.

    What another program starts, with few variables or in another folder, finds the same files with them.
    """
    given = {name: value for name in _VARIABLES if (value := os.environ.get(name))}
    return {name: _absolute(name, value) if name.startswith("LIVEDEX_") else value for name, value in given.items()}


def config_path() -> str:
    """Return the path of the configuration file."""
    return os.path.join(home() or _xdg("XDG_CONFIG_HOME", ".config"), "config.toml")


def data_dir() -> str:
    """Return the folder of ``index.db`` and of the files that must not be lost."""
    base = home()
    return os.path.join(base, "data") if base else _xdg("XDG_DATA_HOME", ".local/share")


def state_dir() -> str:
    """Return the folder of state kept over a restart; also the socket's if there is no runtime folder."""
    return home() or _xdg("XDG_STATE_HOME", ".local/state")


def log_dir() -> str:
    """Return the folder of ``livedex.log``."""
    base = home()
    if base:
        return os.path.join(base, "log")
    if sys.platform == "darwin":
        return os.path.join(_user_home(), "Library", "Logs", APP)
    return os.path.join(state_dir(), "log")


def socket_path() -> str:
    """Return the absolute path of the daemon's socket. Its length is checked by bind() and connect()."""
    override = os.environ.get("LIVEDEX_SOCKET", "")
    if override:
        return _absolute("LIVEDEX_SOCKET", override)
    base = home()
    if base:
        return os.path.join(base, SOCKET_NAME)
    runtime = runtime_dir()
    if runtime is not None:
        return os.path.join(runtime, APP, SOCKET_NAME)
    return os.path.join(state_dir(), SOCKET_NAME)


def runtime_dir() -> str | None:
    """Return the user's runtime folder if it is private; None if there is none.

    Without ``XDG_RUNTIME_DIR``, as under cron or in a program that passes few variables on, it is where systemd makes
    it: such a client must find the same daemon.
    """
    given = os.environ.get("XDG_RUNTIME_DIR", "") or f"{RUN_USER}/{os.geteuid()}"
    return given if _is_private(given) else None


def check_length(where: str) -> None:
    """Raises InvalidParams, naming the operating system's limit, when a socket's path does not fit."""
    size, limit = len(os.fsencode(where)), SOCKET_PATH_LIMIT
    if size >= limit:
        raise InvalidParams(
            f"the socket path {where} is {size} bytes long; the limit is {limit - 1} ({limit} with the closing NUL):"
            " set LIVEDEX_SOCKET or LIVEDEX_HOME to a shorter one",
            {"field": "socket", "length": size, "limit": limit - 1},
        )


def _absolute(variable: str, value: str) -> str:
    if value == "~" or value.startswith("~/"):  # as in another program's configuration, which no shell expands
        return os.path.abspath(_user_home() + value[1:])
    try:
        return os.path.abspath(value)
    except OSError:
        message = f"{variable} is {value!r}, which is relative, and the working folder is gone: give an absolute path"
        raise InvalidParams(message, {"field": variable}) from None


def _is_private(folder: str) -> bool:
    """Return whether a runtime folder is usable: absolute, not a link, ours, and writable by no other user.

    Otherwise another user could replace our socket (XDG base directory specification; Mercurial's chg ignores such a
    folder too).
    """
    if not os.path.isabs(folder):
        return False
    try:
        info = os.lstat(folder.rstrip("/") or "/")
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022


def _xdg(variable: str, default: str) -> str:
    """Return livedex's folder below an XDG base. A relative value of the variable counts as unset, by the standard."""
    value = os.environ.get(variable, "")
    if os.path.isabs(value):
        return os.path.join(value, APP)
    if sys.platform == "darwin":
        return os.path.join(_user_home(), "Library", "Application Support", APP)
    return os.path.join(_user_home(), default, APP)


def _user_home() -> str:
    """Return the user's home, absolute: ``HOME``, or the password database's if that is unset, empty or relative."""
    value = os.environ.get("HOME", "")
    if os.path.isabs(value):
        return value.rstrip("/") or "/"
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def remedy_for(error: OSError, otherwise: str) -> str:
    """Return what to do about a file that cannot be made or written."""
    return "free some space on its disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else otherwise


def make_missing(folder: str) -> None:
    """Make ``folder`` and its missing parents, each 0700 whatever the umask. Raises OSError.

    An existing folder is neither checked nor changed. The socket's folder may be any that the user names (``/tmp``, a
    home), where refusing it or taking rights away would be wrong; there the uid check at connect protects both sides.
    The daemon's own folders are checked by ``make_private`` of its ``locations``.
    """
    missing = []
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for new in reversed(missing):
        try:
            os.mkdir(new, PRIVATE_MODE)
        except FileExistsError:  # another process was faster; the caller finds out what it made
            continue
        os.chmod(new, PRIVATE_MODE)  # a umask such as 0177 would have taken our own rights
