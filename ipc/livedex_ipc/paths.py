"""Where livedex keeps its files, computed alike by every process and without importing anything that costs time.

Invariant: the folders are those platformdirs gives for the same environment (the daemon asks platformdirs, the
command asks here; a test holds the two together), and ``LIVEDEX_HOME`` puts all of them below one folder.
"""

from __future__ import annotations

import os
import stat
import sys

from livedex_ipc.errors import InvalidParams

APP = "livedex"
SOCKET_NAME = "livedex.sock"
# sun_path in the kernel's sockaddr_un; a closing NUL takes one of the bytes.
SOCKET_PATH_LIMIT = 104 if sys.platform == "darwin" else 108


def home() -> str | None:
    """The one folder that ``LIVEDEX_HOME`` names, absolute; None where it is unset or empty."""
    value = os.environ.get("LIVEDEX_HOME", "")
    return os.path.abspath(value) if value else None


def config_path() -> str:
    """The configuration file."""
    return os.path.join(home() or _xdg("XDG_CONFIG_HOME", ".config"), "config.toml")


def data_dir() -> str:
    """The folder of ``index.db`` and of the files that must not be lost."""
    base = home()
    return os.path.join(base, "data") if base else _xdg("XDG_DATA_HOME", ".local/share")


def state_dir() -> str:
    """The folder of what is worth keeping over a restart but is no data; the socket's where there is no runtime one."""
    return home() or _xdg("XDG_STATE_HOME", ".local/state")


def log_dir() -> str:
    """The folder of ``livedex.log``."""
    base = home()
    if base:
        return os.path.join(base, "log")
    if sys.platform == "darwin":
        return os.path.join(_user_home(), "Library", "Logs", APP)
    return os.path.join(state_dir(), "log")


def socket_path() -> str:
    """The daemon's socket, absolute. Whether the path is short enough is for who binds or connects to say."""
    override = os.environ.get("LIVEDEX_SOCKET", "")
    if override:
        return os.path.abspath(override)
    base = home()
    if base:
        return os.path.join(base, SOCKET_NAME)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if _is_private(runtime):
        return os.path.join(runtime, APP, SOCKET_NAME)
    return os.path.join(state_dir(), SOCKET_NAME)


def check_length(where: str) -> None:
    """Raises InvalidParams, naming the operating system's limit, when a socket's path does not fit."""
    size, limit = len(os.fsencode(where)), SOCKET_PATH_LIMIT
    if size >= limit:
        raise InvalidParams(
            f"the socket path {where} is {size} bytes long; the limit is {limit - 1} ({limit} with the closing NUL):"
            " set LIVEDEX_SOCKET or LIVEDEX_HOME to a shorter one",
            {"field": "socket", "length": size, "limit": limit - 1},
        )


def _is_private(folder: str) -> bool:
    """Whether a runtime folder is usable: absolute, a real folder, ours, and nobody else can write in it.

    Others could otherwise put a socket of theirs in our place (XDG base directory specification; Mercurial's chg
    ignores such a folder too).
    """
    if not os.path.isabs(folder):
        return False
    try:
        info = os.lstat(folder.rstrip("/") or "/")
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o022


def _xdg(variable: str, default: str) -> str:
    """livedex's folder below an XDG base; a relative value of the variable counts as unset, as the standard has it."""
    value = os.environ.get(variable, "")
    if os.path.isabs(value):
        return os.path.join(value, APP)
    if sys.platform == "darwin":
        return os.path.join(_user_home(), "Library", "Application Support", APP)
    return os.path.join(_user_home(), default, APP)


def _user_home() -> str:
    """The user's home, absolute: ``HOME``, or the password database where that is unset, empty or relative."""
    value = os.environ.get("HOME", "")
    if os.path.isabs(value):
        return value.rstrip("/") or "/"
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def make_private(folder: str) -> None:
    """Makes the folder and those above it that are not there, each 0700 whatever the umask. Raises OSError."""
    missing = []
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for new in reversed(missing):
        try:
            os.mkdir(new, 0o700)
        except FileExistsError:
            if not os.path.isdir(new):
                raise
        else:
            os.chmod(new, 0o700)  # a umask such as 0177 would have taken our own rights
