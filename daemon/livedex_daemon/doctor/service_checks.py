"""The doctor's checks of the service that starts the daemon: its files, its executable, and what systemd makes of it.

Invariant: nothing is started. A check never connects to a socket that systemd keeps for a daemon that does not run.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator

from livedex_daemon.doctor.check_result import Check, failed, ok, warning
from livedex_service.service_manager import ManagerError, run
from livedex_service.systemd_manager import user_folder
from livedex_service.systemd_units import SERVICE, SOCKET

_INSTALL = "run `livedex service install`"
_STATES = "ActiveState,UnitFileState,Result,MainPID"


def service() -> Iterator[Check]:
    """Is the service, if it is installed, whole and able to start?"""
    if sys.platform == "darwin":
        return
    command = _command()
    if command is None:
        yield ok("service", "not installed: commands start the daemon")
    elif not _is_executable(command):
        yield failed("service", f"the service runs {command}, which is not there", _INSTALL)
    elif not os.path.exists(os.path.join(user_folder(), SOCKET)):
        yield failed("service", f"{SOCKET} is missing next to {SERVICE}", _INSTALL)
    else:
        try:
            yield from _states()
        except ManagerError as fault:
            fix = "log in, or use livedex without a service"
            yield warning("service", f"it is installed, and systemd cannot be reached: {fault}", fix)


def waits_for_client() -> bool:
    """Return whether systemd keeps the socket and no daemon runs: connecting would start one."""
    if sys.platform == "darwin" or _command() is None:
        return False
    try:
        return _shown(SOCKET).get("ActiveState") == "active" and _shown(SERVICE).get("MainPID", "0") == "0"
    except ManagerError:
        return False


def _states() -> Iterator[Check]:
    unit, socket = _shown(SERVICE), _shown(SOCKET)
    if not unit:
        fix = "have root run `loginctl enable-linger` for this user, or log in"
        yield warning("service", "it is installed, and no systemd of this user answers", fix)
    elif "failed" in (unit.get("ActiveState"), socket.get("ActiveState")):
        result = unit["Result"] if unit.get("ActiveState") == "failed" else socket.get("Result")
        fix = "read `livedex service logs`, then run `livedex service restart`"
        yield failed("service", f"the service has failed ({result})", fix)
    elif socket.get("ActiveState") != "active":
        fix = "run `livedex service start`"
        yield warning("service", "its socket does not listen: commands start a daemon outside of the service", fix)
    elif unit.get("UnitFileState") != "enabled":
        yield warning("service", "it does not start at login", _INSTALL)
    else:
        pid = unit.get("MainPID", "0")
        running = "the first client starts it" if pid == "0" else f"it runs as process {pid}"
        yield ok("service", f"systemd user service: {running}; without lingering it stops at logout")


def _command() -> str | None:
    """Return the program of the installed service; None if none is installed. An unreadable line is ``""``."""
    try:
        with open(os.path.join(user_folder(), SERVICE), encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("ExecStart=")]
    except OSError:
        return None
    try:
        words = shlex.split(lines[-1].partition("=")[2]) if lines else []
    except ValueError:
        words = []
    return words[0].replace("%%", "%").replace("$$", "$") if words else ""


def _is_executable(command: str) -> bool:
    return os.path.isfile(command) and os.access(command, os.X_OK)


def _shown(unit: str) -> dict[str, str]:
    done = run(["systemctl", "--user", "show", unit, f"--property={_STATES}"])
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
