"""What a service manager does for livedex, and the running of its programs.

Invariant: a plan is complete before anything is written or run, so that ``--dry-run`` shows exactly what would happen.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    try:
        _install(manager, plan)
    except OSError as error:
        raise ManagerError(f"{error.filename}: {error.strerror}") from error
    return plan


def _install(manager: Manager, plan: Plan) -> None:
    former = {file.path: _read(file.path) for file in plan.files}
    try:
        _place({file.path: file.text.encode() for file in plan.files})
        for command in plan.commands:
            must_run(command)
    except (OSError, ManagerError):
        kept = {path: content for path, content in former.items() if content is not None}
        if not kept:
            with suppress(ManagerError):  # what was enabled would stay, linked to files that are gone
                _run_all(manager.uninstall_plan().commands)
        for path in former.keys() - kept.keys():
            _remove(path)
        _place(kept)
        if not kept:
            with suppress(ManagerError):
                manager.after_removal()
        raise


def uninstall(manager: Manager) -> Plan:
    """Run the commands, whatever they say, and remove the files. Raise ManagerError if a file stays."""
    plan = manager.uninstall_plan()
    paths = [path for file in plan.files for path in (file.path, _new(file.path))]
    if any(os.path.lexists(path) for path in paths):
        _run_all(plan.commands)  # a service that is half installed is removed as well
        try:
            for path in paths:
                _remove(path)
        except OSError as error:
            raise ManagerError(f"{error.filename} cannot be removed: {error.strerror}") from error
        manager.after_removal()
    return plan


def _run_all(commands: Sequence[Sequence[str]]) -> None:
    """Run the commands, whatever they say."""
    for command in commands:
        run(command)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _place(contents: Mapping[str, bytes]) -> None:
    """Write all files, or none where one cannot be written: a manager that reads one sees the old or the new text."""
    try:
        for path, content in contents.items():
            _write(_new(path), content)
        for path in contents:
            os.replace(_new(path), path)
    finally:
        for path in contents:
            _remove(_new(path))


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _remove(path)  # of an installation that was killed
    with open(path, "xb") as file:
        os.fchmod(file.fileno(), 0o644)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error


def _new(path: str) -> str:
    """Return where a file is written before it gets its name; no manager takes it for one of its own."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.new")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
