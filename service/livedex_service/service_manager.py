"""What a service manager does for livedex, and the running of its programs.

Invariant: a plan is complete before anything is written or run, so that ``--dry-run`` shows exactly what would happen.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from typing import NamedTuple, Protocol

RUN_S = 60.0  # for one command of the service manager


class ManagerError(Exception):
    """The service manager is not there or refused. The message is one sentence with the remedy."""


class UnitFile(NamedTuple):
    """A file of the service: its absolute path and its text."""

    path: str
    text: str


class Plan(NamedTuple):
    """What ``install`` or ``uninstall`` does: write or remove the files, run the commands."""

    files: tuple[UnitFile, ...]
    commands: tuple[tuple[str, ...], ...]


class State(NamedTuple):
    """``enabled``: it starts at login. ``active``: the daemon of the service runs, as ``pid``."""

    installed: bool
    enabled: bool
    active: bool
    pid: int | None


class Manager(Protocol):
    """A service manager: systemd or launchd."""

    @property
    def name(self) -> str: ...

    def require(self) -> None:
        """Raise ManagerError unless the manager answers."""

    def install_plan(self) -> Plan:
        """Return what ``install`` does."""

    def uninstall_plan(self) -> Plan:
        """Return what ``uninstall`` does; its commands run before the files are removed."""

    def after_removal(self) -> None:
        """Let the manager forget the removed files."""

    def act(self, verb: str) -> None:
        """``start``, ``stop`` or ``restart`` the service. Raise ManagerError."""

    def state(self) -> State:
        """Return how the service is."""

    def log_command(self) -> list[str]:
        """Return the words that print the service's last log lines."""


def run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of the manager and return what it printed. Raise ManagerError if it cannot be run."""
    try:
        return subprocess.run(
            list(words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_S, check=False
        )
    except FileNotFoundError as error:
        raise ManagerError(f"{words[0]} is not installed here: use `livedex up` instead of a service") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ManagerError(f"{' '.join(words)} failed: {error}") from error


def must_run(words: Sequence[str]) -> str:
    """Run a program of the manager and return its output. Raise ManagerError with its words if it fails."""
    done = run(words)
    if done.returncode != 0:
        reason = " ".join(done.stderr.split()) or f"exit {done.returncode}"
        raise ManagerError(f"{' '.join(words)} failed: {reason}")
    return done.stdout


def install(manager: Manager) -> Plan:
    """Write the files and run the commands. Raise ManagerError; then nothing of it is left."""
    manager.require()
    plan = manager.install_plan()
    former = {file.path: _read(file.path) for file in plan.files}
    try:
        for file in plan.files:
            _write(file)
        for command in plan.commands:
            must_run(command)
    except (OSError, ManagerError) as error:
        for path, text in former.items():
            if text is None:
                _remove(path)
            else:
                _write(UnitFile(path, text))
        raise (
            error if isinstance(error, ManagerError) else ManagerError(f"{error.filename}: {error.strerror}")
        ) from None
    return plan


def uninstall(manager: Manager) -> Plan:
    """Run the commands, whatever they say, and remove the files. Raise ManagerError if a file stays."""
    plan = manager.uninstall_plan()
    if any(os.path.lexists(file.path) for file in plan.files):
        for command in plan.commands:
            run(command)  # a service that is half installed is removed as well
        try:
            for file in plan.files:
                _remove(file.path)
        except OSError as error:
            raise ManagerError(f"{error.filename} cannot be removed: {error.strerror}") from error
        manager.after_removal()
    return plan


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(file: UnitFile) -> None:
    """Write a file as a whole: a manager that reads it meanwhile sees the old or the new text."""
    folder = os.path.dirname(file.path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".livedex-", dir=folder)
    with open(handle, "w", encoding="utf-8") as written:
        written.write(file.text)
    os.chmod(temporary, 0o644)
    os.replace(temporary, file.path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
