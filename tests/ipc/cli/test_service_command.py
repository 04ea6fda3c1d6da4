"""`livedex service` with a fake systemctl, which records its calls and carries out some of them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from helpers.fault_injection import files_of_at_most, with_code
from helpers.support import Home, is_alive, wait_until

# Records its arguments; `refuse` makes a verb fail, `pid` is its answer about the service.
SYSTEMCTL = """#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/noted"
case "$*" in
  *"show livedex.service"*) cat "$here/shown" 2>/dev/null ;;
esac
if [ -f "$here/refuse" ] && echo "$*" | grep -q "$(cat "$here/refuse")"; then echo "Unit says no." >&2; exit 1; fi
"""


class Manager:
    """The fake service manager and its home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.bin = home.path / "bin"
        self.bin.mkdir()
        for name in ("systemctl", "journalctl"):
            program = self.bin / name
            program.write_text(SYSTEMCTL)
            program.chmod(0o755)
        self.env = {
            "PATH": f"{self.bin}{os.pathsep}{home.env['PATH']}",
            "XDG_CONFIG_HOME": str(home.path / "etc"),
        }
        self.units = home.path / "etc" / "systemd" / "user"

    def run(self, *words: str, code: int = 0) -> Any:
        """Return what `livedex service WORDS` prints as JSON; for an error, the error object."""
        done = self.home.run("--json", "service", *words, env=self.env)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if done.stdout else json.loads(done.stderr)["error"] if done.stderr else None

    def noted(self) -> list[str]:
        """Return the changes that systemctl was asked for."""
        file = self.bin / "noted"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.removeprefix("--user ") for line in lines if " show " not in line]

    def files(self) -> list[str]:
        return sorted(os.listdir(self.units)) if self.units.exists() else []


@pytest.fixture
def manager(home: Home) -> Manager:
    return Manager(home)


@pytest.fixture(autouse=True)
def on_linux(request: pytest.FixtureRequest) -> None:
    if os.uname().sysname != "Linux":
        pytest.skip("systemd is Linux's")


def test_install_and_uninstall_leave_nothing(manager: Manager) -> None:
    plan = manager.run("install", "--dry-run")
    assert plan["dry_run"] and manager.files() == [] and manager.noted() == []
    done = manager.run("install")
    assert done == {**plan, "dry_run": False}
    assert manager.files() == ["livedex.service", "livedex.socket"]
    for file in done["files"]:
        assert Path(file["path"]).read_text() == file["text"]
        assert Path(file["path"]).stat().st_mode & 0o777 == 0o644
    assert [f"--user {line}" for line in manager.noted()] == [" ".join(command[1:]) for command in done["commands"]], (
        "what was announced is what was done"
    )
    assert manager.run("status")["installed"] is True
    manager.run("uninstall")
    assert manager.files() == []
    assert manager.noted()[-3:] == [
        "disable --now livedex.socket livedex.service",
        "reset-failed livedex.socket livedex.service",
        "daemon-reload",
    ]
    assert manager.run("status", code=1)["installed"] is False
    manager.run("uninstall")
    told = manager.home.run("service", "uninstall", env=manager.env)
    assert told.stdout == "the service is not installed\n", "nothing was removed, and none is said to be"


def test_without_the_service_logs_names_the_other_command(manager: Manager) -> None:
    assert "`livedex logs`" in manager.run("logs", code=4)["message"]


def test_the_service_finds_the_home_and_its_socket(manager: Manager) -> None:
    texts = {Path(file["path"]).name: file["text"] for file in manager.run("print")["files"]}
    assert f"Environment=LIVEDEX_HOME={manager.home.path}\n" in texts["livedex.service"]
    assert f"ListenStream={manager.home.socket}\n" in texts["livedex.socket"]


def test_a_daemon_outside_of_the_service_is_stopped(manager: Manager) -> None:
    manager.home.run_json("up")
    pid = manager.home.server_pid()
    assert pid is not None
    manager.run("install", "--dry-run")
    assert is_alive(pid)
    manager.run("install")
    wait_until(lambda: not is_alive(pid), what="the end of the daemon")
    manager.home.run_json("up")  # as where the service has failed: the command starts one itself
    other = manager.home.server_pid()
    assert other is not None
    manager.run("start")
    wait_until(lambda: not is_alive(other), what="the end of the daemon")


def test_an_installation_that_fails_leaves_what_was_there(manager: Manager) -> None:
    (manager.bin / "refuse").write_text(" enable ")
    assert "Unit says no." in manager.run("install", code=4)["message"]
    assert manager.files() == []
    manager.units.mkdir(parents=True, exist_ok=True)
    (manager.units / "livedex.socket").write_text("mine\n")
    manager.run("install", code=4)
    assert (manager.units / "livedex.socket").read_text() == "mine\n"
    assert manager.files() == ["livedex.socket"]


def test_an_installation_that_fails_late_is_disabled_again(manager: Manager) -> None:
    """What `enable` linked to the units would stay, and `uninstall` would see nothing to remove."""
    (manager.bin / "refuse").write_text(" start ")
    manager.run("install", code=4)
    assert manager.files() == []
    assert manager.noted()[-3:] == [
        "disable --now livedex.socket livedex.service",
        "reset-failed livedex.socket livedex.service",
        "daemon-reload",
    ]
    (manager.bin / "refuse").unlink()
    manager.run("install")
    (manager.bin / "refuse").write_text(" start ")
    before = len(manager.noted())
    manager.run("install", code=4)
    assert manager.files() == ["livedex.service", "livedex.socket"]
    assert not any("disable" in line for line in manager.noted()[before:]), "the former service goes on"


def test_a_disk_without_room_for_the_units(manager: Manager) -> None:
    manager.units.mkdir(parents=True)
    (manager.units / "livedex.socket").write_bytes(b"mine, in Latin-1: \xe9\n")
    with files_of_at_most(200):
        done = manager.home.run("service", "install", env=manager.env)
    assert done.returncode == 4 and "File too large" in done.stderr, done.stderr
    assert (manager.units / "livedex.socket").read_bytes() == b"mine, in Latin-1: \xe9\n"
    assert manager.files() == ["livedex.socket"] and manager.noted() == []


# For `with_code`: the process is killed instead of giving the second unit its name.
KILLED_BETWEEN_THE_UNITS = """
import os, signal
usual = os.replace
def replace(source, target):
    if str(target).endswith("livedex.socket"):
        os.kill(os.getpid(), signal.SIGKILL)
    usual(source, target)
os.replace = replace
"""


def test_a_killed_installation_leaves_nothing_that_stays(manager: Manager, tmp_path: Path) -> None:
    killed = {**manager.env, **with_code(tmp_path / "code", KILLED_BETWEEN_THE_UNITS)}
    for then in (["install", "uninstall"], ["uninstall"]):
        assert manager.home.run("service", "install", env=killed).returncode == -signal.SIGKILL
        assert [name for name in manager.files() if name.endswith("livedex.service")] == ["livedex.service"]
        for verb in then:
            manager.run(verb)
        assert manager.files() == []


def test_without_a_manager_nothing_is_written(manager: Manager) -> None:
    (manager.bin / "refuse").write_text("Version")
    error = manager.run("install", code=4)
    assert "enable-linger" in error["message"] and "Unit says no." in error["message"]
    assert manager.files() == []
    manager.env["PATH"] = "/nonexistent"
    assert "systemctl is not installed here" in manager.run("install", code=4)["message"]


def test_start_stop_restart_and_the_state(manager: Manager) -> None:
    assert "not installed" in manager.run("start", code=4)["message"]
    manager.run("install")
    (manager.bin / "shown").write_text("UnitFileState=enabled\nActiveState=active\nMainPID=42\n")
    state = {"manager": "systemd", "installed": True, "enabled": True, "active": True, "pid": 42}
    assert manager.run("start") == state
    assert manager.run("restart") == state
    (manager.bin / "shown").write_text("UnitFileState=disabled\nActiveState=inactive\nMainPID=0\n")
    assert manager.run("stop") == {**state, "enabled": False, "active": False, "pid": None}
    assert manager.noted()[-3:] == [
        "start livedex.socket livedex.service",
        "restart livedex.service",
        "stop livedex.socket livedex.service",
    ]
    (manager.bin / "refuse").write_text(" stop ")
    assert "Unit says no." in manager.run("stop", code=4)["message"]


def test_reload_reads_the_configuration_and_names_its_faults(manager: Manager) -> None:
    assert manager.run("reload", code=3)["code"] == 4, "none runs, and none is started"
    manager.home.run_json("up")
    assert manager.run("reload") == {}
    manager.home.config.write_text("[lgo]\n")
    assert manager.run("reload", code=2)["data"]["faults"][0]["nearest"] == "log"


def test_the_log_is_that_of_the_unit(manager: Manager) -> None:
    manager.run("install")
    manager.home.run("service", "logs", env=manager.env)
    assert manager.noted()[-1] == "--unit livedex.service --lines 100 --no-pager"


def test_print_is_plain_text_and_needs_no_manager(manager: Manager) -> None:
    done = manager.home.run("service", "print", env={"PATH": "/nonexistent"})
    assert done.returncode == 0
    assert "[Service]\n" in done.stdout and "[Socket]\n" in done.stdout
    template = manager.home.run("service", "print", "--system").stdout
    assert "/etc/systemd/system/livedex@.service" in template and "User=%i" in template
    assert "<key>Sockets</key>" in manager.home.run("service", "print", "--platform", "launchd").stdout
    assert manager.run("print", "--system", "--platform", "launchd", code=2)["data"] == {"field": "--system"}
