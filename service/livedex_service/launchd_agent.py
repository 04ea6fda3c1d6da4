"""The service under launchd: the property list of a user's agent, and launchctl.

Invariant: the list contains absolute paths only, since launchd knows neither ``~`` nor variables.
"""

from __future__ import annotations

import os
import plistlib
import re

from livedex_service.service_manager import ManagerError, Plan, State, UnitFile, must_run, run
from livedex_service.systemd_units import Launch

LABEL = "livedex"
SOCKET_NAME = "livedex"  # under this name the daemon asks launchd for its socket
_SOCKET_MODE = 0o600
# `bootout` does not wait for the end, and `bootstrap` refuses an agent that is loaded or has not ended.
_UNLOAD = """\
launchctl bootout {target} 2>/dev/null
looks=0
while launchctl print {target} >/dev/null 2>&1 && [ $looks -lt 15 ]; do sleep 1; looks=$((looks + 1)); done
"""
_STOP = _UNLOAD + "! launchctl print {target} >/dev/null 2>&1"
_REPLACE = _UNLOAD + 'exec launchctl bootstrap {domain} "$0"'


def plist(launch: Launch, socket_path: str, stderr_path: str, path: str) -> str:
    """Return the property list. ``path``: the ``PATH`` of the daemon; launchd's own has next to nothing on it.

    Raises ManagerError for a path that no property list can have.
    """
    content = {
        "Label": LABEL,
        "ProgramArguments": [*launch.command, "daemon"],
        "EnvironmentVariables": {"PATH": path, **launch.environment},
        "Sockets": {SOCKET_NAME: {"SockPathName": socket_path, "SockPathMode": _SOCKET_MODE, "SockType": "stream"}},
        # A daemon that ends with 0 was asked to. KeepAlive starts it at login too.
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 10,
        # Background is throttled whenever the user does something, and a search must not be; so is Adaptive, but for a
        # process that speaks XPC.
        "ProcessType": "Standard",
        "Nice": 5,
        "Umask": 0o077,
        # Not the log itself: launchd does not append to this file, and does not follow when the log is rotated.
        "StandardErrorPath": stderr_path,
    }
    try:
        return plistlib.dumps(content, sort_keys=False).decode()
    except ValueError:  # UnicodeEncodeError too
        raise ManagerError(
            "no property list can have a path with control characters, or one that is not UTF-8: look at PATH and the "
            "LIVEDEX_ variables, and rename such a folder"
        ) from None


class LaunchdAgent:
    """The agent of one user. Raises ManagerError for paths that no property list can have."""

    name = "launchd"

    def __init__(self, launch: Launch, socket_path: str, log_path: str) -> None:
        self._socket_path = socket_path
        self._log_path = log_path
        self._stderr_path = os.path.join(os.path.dirname(log_path), "stderr.log")
        self._text = plist(launch, socket_path, self._stderr_path, os.environ.get("PATH", ""))
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def _file(self) -> UnitFile:
        path = os.path.join(os.path.expanduser("~"), "Library", "LaunchAgents", f"{LABEL}.plist")
        return UnitFile(path, self._text)

    def require(self) -> None:
        """Raise ManagerError unless launchd has a session of this user."""
        if run(["launchctl", "print", self._domain]).returncode != 0:
            raise ManagerError("launchd has no session of this user: log in at the screen first")

    def install_plan(self) -> Plan:
        """Return what ``install`` does; an agent that is loaded already is replaced."""
        file = self._file()
        # launchd makes the socket and the file of stderr, but no folder for them.
        folders = {os.path.dirname(self._socket_path): None, os.path.dirname(self._stderr_path): None}
        return Plan((file,), (("mkdir", "-p", "-m", "700", *folders), self._replace(file)))

    def uninstall_plan(self) -> Plan:
        """Return what ``uninstall`` does."""
        return Plan((self._file(),), (("launchctl", "bootout", self._target),))

    def after_removal(self) -> None:
        """launchd keeps nothing of an agent that is not loaded."""

    def act(self, verb: str) -> None:
        """Start, stop or restart. Stopped, it is unloaded until it is started or the user logs in."""
        if verb == "stop":
            must_run(["sh", "-c", _STOP.format(target=self._target)])
        elif verb == "restart" or not self.state().active:
            must_run(self._replace(self._file()))

    def _replace(self, file: UnitFile) -> tuple[str, ...]:
        """Return the command that loads the agent, which starts it; one that is loaded already is ended first."""
        return "sh", "-c", _REPLACE.format(target=self._target, domain=self._domain), file.path

    def state(self) -> State:
        """Return how the agent is."""
        done = run(["launchctl", "print", self._target])
        found = re.search(r"^\s*pid = (\d+)$", done.stdout, re.MULTILINE)
        pid = int(found[1]) if found else None
        return State(os.path.exists(self._file().path), done.returncode == 0, pid is not None, pid)

    def log_command(self) -> list[str]:
        """Return the words that print the last lines of the log, and of what the daemon printed when it failed."""
        return ["tail", "-n", "100", self._log_path, self._stderr_path]
