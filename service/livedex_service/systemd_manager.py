"""The service under systemd: units of the user's manager, or the template of the system's.

Invariant: only livedex's own units are touched.
"""

from __future__ import annotations

import os

from livedex_service.service_manager import ManagerError, Plan, State, UnitFile, must_run, run
from livedex_service.systemd_units import (
    SERVICE,
    SOCKET,
    TEMPLATE,
    Launch,
    template_service,
    user_service,
    user_socket,
)

SYSTEM_FOLDER = "/etc/systemd/system"


def user_folder() -> str:
    """Return the folder of the user's own units."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = config if os.path.isabs(config) else os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "systemd", "user")


class SystemdUser:
    """The service and the socket of one user."""

    name = "systemd"
    _control: tuple[str, ...] = ("systemctl", "--user")

    def __init__(self, launch: Launch, socket_path: str | None) -> None:
        """``socket_path``: where the socket is; None: in the user's runtime folder."""
        self._launch = launch
        self._socket_path = socket_path

    def require(self) -> None:
        """Raise ManagerError unless the user's manager answers."""
        done = run([*self._control, "show", "--property=Version"])
        if done.returncode != 0:
            reason = " ".join(done.stderr.split())
            raise ManagerError(
                f"no systemd of this user answers ({reason}): log in, or have root run `loginctl enable-linger`"
                " for this user; `livedex up` works without a service"
            )

    def install_plan(self) -> Plan:
        """Return what ``install`` does. A daemon of the service is started again, as after an upgrade."""
        texts = {SERVICE: user_service(self._launch), SOCKET: user_socket(self._socket_path)}
        return Plan(
            tuple(UnitFile(os.path.join(user_folder(), name), text) for name, text in texts.items()),
            (
                (*self._control, "daemon-reload"),
                (*self._control, "enable", SERVICE, SOCKET),
                (*self._control, "start", SOCKET),
                (*self._control, "try-restart", SERVICE),
            ),
        )

    def uninstall_plan(self) -> Plan:
        """Return what ``uninstall`` does. The socket goes first, or it would start the daemon again."""
        return Plan(
            self.install_plan().files,
            ((*self._control, "disable", "--now", SOCKET, SERVICE), (*self._control, "reset-failed", SOCKET, SERVICE)),
        )

    def after_removal(self) -> None:
        """Let systemd forget the units."""
        run([*self._control, "daemon-reload"])

    def act(self, verb: str) -> None:
        """Start, stop or restart. Stopped, it stays so: without the socket no client starts it."""
        units = [SERVICE] if verb == "restart" else [SOCKET, SERVICE]
        must_run([*self._control, verb, *units])

    def state(self) -> State:
        """Return how the service is."""
        installed = os.path.exists(os.path.join(user_folder(), SERVICE))
        shown = run([*self._control, "show", SERVICE, "--property=UnitFileState,ActiveState,MainPID"]).stdout
        values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
        pid = int(values.get("MainPID") or 0) or None
        active = values.get("ActiveState") in ("active", "reloading")
        return State(installed, values.get("UnitFileState") == "enabled", active, pid)

    def log_command(self) -> list[str]:
        """Return the words that print the last lines of the journal."""
        return ["journalctl", "--user", "--unit", SERVICE, "--lines", "100", "--no-pager"]


class SystemdTemplate(SystemdUser):
    """The template for a machine with many users. Its instances are the administrator's to enable."""

    _control = ("systemctl",)

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch, None)

    def require(self) -> None:
        """Raise ManagerError unless this is root and systemd runs the machine."""
        if os.geteuid() != 0:
            raise ManagerError(f"only root may write {SYSTEM_FOLDER}: run it with sudo")
        must_run([*self._control, "show", "--property=Version"])

    def install_plan(self) -> Plan:
        """Return what ``install --system`` does."""
        file = UnitFile(os.path.join(SYSTEM_FOLDER, TEMPLATE), template_service(self._launch))
        return Plan((file,), ((*self._control, "daemon-reload"),))

    def uninstall_plan(self) -> Plan:
        """Return what ``uninstall --system`` does: every user's instance ends."""
        stop = (*self._control, "stop", "livedex@*.service")
        return Plan(self.install_plan().files, (stop, (*self._control, "disable", TEMPLATE)))
