"""``livedex service``: installs, removes and drives the service that starts the daemon.

Invariant: no daemon is started outside of the service; an installation that fails leaves what was there before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from livedex_ipc import paths
from livedex_ipc.cli.commands.up_command import stop_daemon
from livedex_ipc.cli.context import ANSWER_MS, Context
from livedex_ipc.client import connect_known
from livedex_ipc.errors import InvalidParams, Unavailable
from livedex_service import service_manager
from livedex_service.executable import NotInstalledError, daemon_command
from livedex_service.service_manager import Manager, ManagerError, Plan
from livedex_service.systemd_units import Launch

if TYPE_CHECKING:
    from livedex_ipc.cli.streams import Streams

T = TypeVar("T")

_NOT_INSTALLED = 1


def install(context: Context) -> int:
    """Write, enable and start the service; with --dry-run print what that means."""
    manager = _manager(context)
    dry_run = bool(context.values.get("dry_run"))
    if dry_run:
        plan = manager.install_plan()
    else:
        _checked(manager.require)
        if not context.values.get("system") and not _checked(manager.state).active:
            stop_daemon()  # it would keep the index locked, and the service's daemon out
        plan = _checked(lambda: service_manager.install(manager))
    _show_plan(context.streams, manager, plan, dry_run=dry_run)
    return 0


def uninstall(context: Context) -> int:
    """Stop and remove the service; with --dry-run print what that means."""
    manager = _manager(context)
    dry_run = bool(context.values.get("dry_run"))
    were_there = _is_there(manager)
    plan = manager.uninstall_plan() if dry_run else _checked(lambda: service_manager.uninstall(manager))
    if not (were_there or context.streams.json):
        context.streams.write("the service is not installed\n")
        return 0
    _show_plan(context.streams, manager, plan, dry_run=dry_run, removed=True)
    return 0


def _is_there(manager: Manager) -> bool:
    return any(os.path.lexists(file.path) for file in manager.uninstall_plan().files)


def installed_files(context: Context) -> list[str]:
    """Return the files of the service that are there and start the daemon of this home. Raises Unavailable."""
    home = paths.home()
    found = []
    for file in _manager(context).uninstall_plan().files:
        try:
            with open(file.path, encoding="utf-8", errors="replace") as opened:
                text = opened.read()
        except OSError:
            continue
        if (home in text) if home else ("LIVEDEX_HOME" not in text):
            found.append(file.path)
    return found


def remove(context: Context) -> None:
    """Stop and remove the service. Raises Unavailable."""
    manager = _manager(context)
    _checked(lambda: service_manager.uninstall(manager))


def show(context: Context) -> int:
    """Print the files of the service."""
    manager = _manager(context, context.values.get("platform"))
    plan = manager.install_plan()
    if context.streams.json:
        _show_plan(context.streams, manager, plan, dry_run=True)
    else:
        context.streams.write("\n".join(f"# {file.path}\n{file.text}" for file in plan.files))
    return 0


def start(context: Context) -> int:
    """Start the service."""
    return _act(context, "start")


def stop(context: Context) -> int:
    """Stop the service."""
    return _act(context, "stop")


def restart(context: Context) -> int:
    """Restart the service."""
    return _act(context, "restart")


def reload(context: Context) -> int:
    """Have the daemon read its configuration, and wait for that. Raises ConfigInvalid with all faults."""
    with connect_known(spawn=False) as client:
        result = client.call("server/reload", timeout_s=ANSWER_MS / 1000)
    context.show(result, lambda _: "the configuration was read again\n")
    return 0


def status(context: Context) -> int:
    """Print how the service is; exit 1 when it is not installed."""
    manager = _manager(context)
    return 0 if _show_state(context.streams, manager) else _NOT_INSTALLED


def logs(context: Context) -> int:
    """Replace this process with the program that prints the log. Raises Unavailable."""
    manager = _manager(context)
    if not _is_there(manager):
        raise Unavailable("the service is not installed: `livedex logs` prints the log of a daemon outside of it")
    command = manager.log_command()
    context.streams.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise Unavailable(f"{command[0]} cannot be run: {error.strerror}: read {_log_path()} instead") from error


def _act(context: Context, verb: str) -> int:
    manager = _manager(context)
    state = _checked(manager.state)
    if not state.installed:
        raise Unavailable("the service is not installed: run `livedex service install`")
    if verb != "stop" and not state.active:
        stop_daemon()  # one outside of the service would keep the index locked
    _checked(lambda: manager.act(verb))
    _show_state(context.streams, manager)
    return 0


def _manager(context: Context, platform: str | None = None) -> Manager:
    """Return the service manager of this machine, or of ``platform``."""
    try:
        launch = Launch(daemon_command(), paths.files_environment())
    except NotInstalledError as error:
        raise Unavailable(str(error)) from error
    if (platform or ("launchd" if sys.platform == "darwin" else "systemd")) == "launchd":
        if context.values.get("system"):
            raise InvalidParams("--system is for systemd: launchd has no such template", {"field": "--system"})
        from livedex_service.launchd_agent import LaunchdAgent

        return _checked(lambda: LaunchdAgent(launch, paths.socket_path(), _log_path()))
    from livedex_service.systemd_manager import SystemdTemplate, SystemdUser

    if context.values.get("system"):
        return SystemdTemplate(Launch(launch.command, {}))
    return SystemdUser(launch, _socket_elsewhere())


def _socket_elsewhere() -> str | None:
    """Return the socket's path; None if it is the usual one below the runtime folder."""
    where = paths.socket_path()
    runtime = paths.runtime_dir()
    return None if runtime and where == os.path.join(runtime, paths.APP, paths.SOCKET_NAME) else where


def _log_path() -> str:
    return os.path.join(paths.log_dir(), "livedex.log")


def _checked(action: Callable[[], T]) -> T:
    try:
        return action()
    except ManagerError as error:
        raise Unavailable(str(error)) from error


def _show_plan(streams: Streams, manager: Manager, plan: Plan, *, dry_run: bool, removed: bool = False) -> None:
    if streams.json:
        files = [file._asdict() for file in plan.files]
        streams.write_json({"manager": manager.name, "files": files, "commands": plan.commands, "dry_run": dry_run})
        return
    if not dry_run:
        done = "removed" if removed else "wrote"
        streams.write("".join(f"{done} {file.path}\n" for file in plan.files))
        return
    commands = "".join(f"$ {' '.join(command)}\n" for command in plan.commands)
    if removed:
        streams.write(commands + "".join(f"$ rm {file.path}\n" for file in plan.files))
    else:
        streams.write("".join(f"# {file.path}\n{file.text}\n" for file in plan.files) + commands)


def _show_state(streams: Streams, manager: Manager) -> bool:
    """Print the state; return whether the service is installed."""
    state = _checked(manager.state)
    if streams.json:
        streams.write_json({"manager": manager.name, **state._asdict()})
    elif not state.installed:
        streams.write("the service is not installed: run `livedex service install`\n")
    else:
        running = f"active, pid {state.pid}" if state.active else "inactive: the first client starts it"
        streams.write(f"{manager.name}: {running}, {'enabled' if state.enabled else 'not enabled'} at login\n")
    return state.installed
