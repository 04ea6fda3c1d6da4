"""The service in a systemd that was booted for it: install, activate, kill, freeze, reload, stop, upgrade, uninstall.

Trees are made once by ``tests/helpers/systemd_tree.sh make``; ``LIVEDEX_SYSTEMD_TREES`` names them, with ``:`` between.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, wait_until

TREES = [tree for tree in os.environ.get("LIVEDEX_SYSTEMD_TREES", "").split(":") if tree]
SCRIPT = CHECKOUT / "tests" / "helpers" / "systemd_tree.sh"
CONFIG = '[[roots]]\npath = "~/notes"\n'
ADA = ("setpriv", "--reuid=1000", "--regid=1000", "--init-groups", "env", "-i", "HOME=/home/ada", "LIVEDEX_NO_SPAWN=1")
VARIABLES = ("XDG_RUNTIME_DIR=/run/user/1000", "PATH=/opt/livedex/bin:/usr/bin:/bin", "LANG=C.UTF-8")


class Machine:
    """A booted tree, as its user ada sees it."""

    def __init__(self, tree: str) -> None:
        self.process = subprocess.Popen(
            ["sh", str(SCRIPT), "boot", tree, str(CHECKOUT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: self.user("is-system-running") in ("running", "degraded"), 90, what="ada's systemd")

    def run(self, command: str, *, code: int | None = 0) -> str:
        """What a command of ada's prints; ``code``: its exit code, None for any."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if not children:
            return ""
        enter = ["nsenter", "-t", children[0], "-m", "-p", "-u", "-i", "-n", "-C"]
        words = [*enter, *ADA, *VARIABLES, "bash", "-c", f"cd; {command}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert code in (None, done.returncode), f"{command}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def user(self, words: str) -> str:
        return self.run(f"systemctl --user {words}", code=None)

    def value(self, name: str) -> str:
        return self.user(f"show livedex.service --value --property={name}")

    def pid(self) -> str:
        return self.value("MainPID")

    def kill(self, number: signal.Signals) -> None:
        self.run(f"kill -{number.name.removeprefix('SIG')} {self.pid()}")

    def finds(self) -> bool:
        return "zither" in self.run("livedex search zither", code=None)

    def end(self) -> None:
        self.process.kill()  # unshare ends its child, which is PID 1 of all others
        self.process.wait()


@pytest.fixture(params=TREES or [""], ids=lambda tree: Path(tree).name or "none")
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if not request.param:
        pytest.skip("LIVEDEX_SYSTEMD_TREES names no tree: tests/helpers/systemd_tree.sh makes one")
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("booting needs root, unshare and nsenter")
    booted = Machine(request.param)
    yield booted
    booted.end()


@pytest.mark.timeout(300)
def test_from_install_to_uninstall(machine: Machine) -> None:
    machine.run("mkdir -p notes .config/livedex; echo 'a zither' > notes/a.md")
    machine.run(f"echo '{CONFIG}' > .config/livedex/config.toml")
    machine.run("chmod 600 .config/livedex/config.toml; livedex service install")
    assert "livedex" not in machine.run("systemd-analyze --user verify ~/.config/systemd/user/livedex.service 2>&1")
    assert machine.pid() == "0", "the first client starts it"
    wait_until(machine.finds, 60, what="the first hit")
    first = machine.pid()
    assert first != "0" and machine.value("StatusText").startswith("serving")

    machine.kill(signal.SIGKILL)
    assert machine.finds(), "the client waits for the next daemon"
    assert machine.pid() != first and machine.value("NRestarts") == "1"

    machine.run("systemctl --user reload livedex")
    machine.run("echo '[lgo]' >> .config/livedex/config.toml; systemctl --user reload livedex", code=1)
    assert machine.user("is-active livedex.service") == "active", "the former configuration stays"
    machine.run(f"echo '{CONFIG}' > .config/livedex/config.toml")

    machine.run("mkdir -p .config/systemd/user/livedex.service.d")
    drop_in = "[Service]\\nType=notify-reload\\nExecReload=\\nWatchdogSec=3\\n"
    machine.run(f"printf '{drop_in}' > .config/systemd/user/livedex.service.d/x.conf; systemctl --user daemon-reload")
    machine.run("systemctl --user restart livedex && timeout 20 systemctl --user reload livedex")
    assert machine.value("Type") == "notify-reload", "SIGHUP is answered as it wants it"
    frozen = machine.pid()
    machine.kill(signal.SIGSTOP)
    wait_until(lambda: machine.pid() not in (frozen, "0"), 60, what="the watchdog")
    assert machine.finds()
    machine.run("rm -r .config/systemd/user/livedex.service.d; systemctl --user daemon-reload")
    machine.run("systemctl --user reset-failed")

    machine.run("systemctl --user stop livedex.service")
    assert machine.pid() == "0" and machine.finds(), "its socket stays, and starts the next one"
    event = "journalctl --user -u livedex LIVEDEX_EVENT=config_applied -o json"
    assert '"LIVEDEX_ROOTS":"1"' in machine.run(event)
    assert "failed" not in machine.run("livedex doctor")

    machine.run("livedex service install")
    assert machine.finds()
    machine.run("livedex service uninstall")
    left = "ls -A .config/systemd/user; find /run/user/1000/livedex -type s; pgrep -f livedex_daemon"
    assert machine.run(left, code=None) == ""
    assert "could not be found" in machine.run("systemctl --user status livedex.service 2>&1", code=4)
