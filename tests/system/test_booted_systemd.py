"""The service in a systemd that was booted for it: install, activate, kill, freeze, reload, stop, upgrade, uninstall.

`make trees` makes Debian trees for it; ``LIVEDEX_SYSTEMD_TREES`` names others, with ``:`` between.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, wait_until
from livedex_ipc import __version__

MADE = sorted(str(mark.parent) for mark in (CHECKOUT / "build" / "trees").glob("*/.systemd"))
TREES = [tree for tree in os.environ.get("LIVEDEX_SYSTEMD_TREES", ":".join(MADE)).split(":") if tree]
SCRIPT = CHECKOUT / "tests" / "helpers" / "systemd_tree.sh"
CONFIG = '[[roots]]\npath = "~/notes"\n'
ADA = ("setpriv", "--reuid=1000", "--regid=1000", "--init-groups", "env", "-i", "HOME=/home/ada", "LIVEDEX_NO_SPAWN=1")
VARIABLES = ("XDG_RUNTIME_DIR=/run/user/1000", "PATH=/opt/livedex/bin:/usr/bin:/bin", "LANG=C.UTF-8")
UNITS = "~/.config/systemd/user"
NOTIFY_RELOAD = 253  # the first systemd that knows it
UPGRADE = 'sed -i \'s/"{}"/"{}"/\' /opt/livedex/lib/python3*/site-packages/livedex_ipc/__init__.py'


class Machine:
    """A booted tree, as its user ada sees it."""

    def __init__(self, tree: str) -> None:
        self.process = subprocess.Popen(
            ["sh", str(SCRIPT), "boot", tree, str(CHECKOUT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: self.user("is-system-running") in ("running", "degraded"), 90, what="ada's systemd")

    def run(self, command: str, *, code: int | None = 0, root: bool = False) -> str:
        """What a command of ada's, or of root's, prints; ``code``: its exit code, None for any."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if not children:
            return ""
        enter = ["nsenter", "-t", children[0], "-m", "-p", "-u", "-i", "-n", "-C"]
        words = [*enter, *(("env", "-i") if root else ADA), *VARIABLES[root:], "bash", "-c", f"cd; {command}"]
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

    def version(self) -> str:
        return self.run('livedex --json status | grep -o \'"version": *"[^"]*"\' | cut -d\'"\' -f4', code=None)

    def version_of_systemd(self) -> int:
        return int(self.run("systemctl --version | head -n 1").split()[1])

    def drop_in(self, text: str) -> None:
        """Add settings to the service, and start it again with them."""
        folder = f"{UNITS}/livedex.service.d"
        self.run(f"mkdir -p {folder}; printf '[Service]\\n{text}' > {folder}/x.conf; systemctl --user daemon-reload")
        self.run("systemctl --user restart livedex")

    def no_drop_in(self) -> None:
        self.run(f"rm -r {UNITS}/livedex.service.d; systemctl --user daemon-reload")
        self.run("systemctl --user reset-failed; systemctl --user restart livedex")

    def end(self) -> None:
        self.process.kill()  # unshare ends its child, which is PID 1 of all others
        self.process.wait()


@pytest.fixture(params=TREES or [""], ids=lambda tree: Path(tree).name or "none")
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    if not request.param:
        pytest.skip("there is no tree with a systemd: `make trees` makes some, as root")
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("booting needs root, unshare and nsenter")
    booted = Machine(request.param)
    yield booted
    booted.end()


@pytest.mark.timeout(300)
def test_from_install_to_uninstall(machine: Machine) -> None:
    print("systemd", machine.version_of_systemd())
    machine.run("mkdir -p notes .config/livedex; echo 'a zither' > notes/a.md")
    machine.run(f"echo '{CONFIG}' > .config/livedex/config.toml")
    machine.run("chmod 600 .config/livedex/config.toml; livedex service install")
    assert "livedex" not in machine.run(f"systemd-analyze --user verify {UNITS}/livedex.s* 2>&1")
    exposed = machine.run(f"systemd-analyze --user security --offline=true {UNITS}/livedex.service | tail -n 1")
    print(exposed)
    assert float(re.findall(r"\d+\.\d", exposed)[0]) < 7
    assert machine.pid() == "0", "the first client starts it"
    wait_until(machine.finds, 60, what="the first hit")
    first = machine.pid()
    assert first != "0" and machine.value("StatusText").startswith("serving")

    machine.kill(signal.SIGKILL)
    assert machine.finds(), "the client waits for the next daemon"
    assert machine.pid() != first and machine.value("NRestarts") == "1"

    assert machine.run("type kill") == "kill is a shell builtin", "there is no program for it: procps is not here"
    machine.run("systemctl --user reload livedex")
    machine.run("echo '[lgo]' >> .config/livedex/config.toml; systemctl --user reload livedex", code=1)
    assert machine.user("is-active livedex.service") == "active", "the former configuration stays"
    machine.run(f"echo '{CONFIG}' > .config/livedex/config.toml")

    if machine.version_of_systemd() >= NOTIFY_RELOAD:
        machine.drop_in("Type=notify-reload\\nExecReload=\\nWatchdogSec=3\\n")
        machine.run("timeout 20 systemctl --user reload livedex")
        assert machine.value("Type") == "notify-reload", "SIGHUP is answered as it wants it"
    else:
        machine.drop_in("WatchdogSec=3\\n")
    frozen = machine.pid()
    machine.kill(signal.SIGSTOP)
    wait_until(lambda: machine.pid() not in (frozen, "0"), 60, what="the watchdog")
    assert machine.finds()
    machine.no_drop_in()

    machine.run("systemctl --user stop livedex.service")
    assert machine.pid() == "0" and machine.finds(), "its socket stays, and starts the next one"
    event = "journalctl --user -u livedex LIVEDEX_EVENT=config_applied -o json"
    assert '"LIVEDEX_ROOTS":"1"' in machine.run(event)
    assert "failed" not in machine.run("livedex doctor")

    former = machine.pid()
    machine.run(UPGRADE.format(__version__, "99.0.0"), root=True)
    wait_until(lambda: machine.pid() not in (former, "0"), 60, what="the new version, without a client")
    assert machine.version() == "99.0.0" and machine.value("ExecMainStatus") == "0"
    machine.run(UPGRADE.format("99.0.0", __version__), root=True)
    machine.run("livedex service install")
    wait_until(lambda: machine.version() == __version__, 60, what="the former version again")
    assert machine.finds()

    machine.run("livedex service uninstall")
    left = f"ls -A {UNITS}; find /run/user/1000/livedex -type s; grep -la 'livedex_[d]aemon' /proc/*/cmdline"
    assert machine.run(left, code=None) == ""
    assert "could not be found" in machine.run("systemctl --user status livedex.service 2>&1", code=4)


@pytest.mark.timeout(300)
def test_the_sandbox_of_documents_works_in_the_service(machine: Machine) -> None:
    """A process with the settings of the service says what it may use."""
    machine.run("livedex service install")
    code = "from livedex_indexing.parse.sandbox import available; print(available().missing)"
    script = f"exec /opt/livedex/bin/python -c '{code}' > ~/missing"
    machine.run(f"cat > probe.sh <<'END'\n{script}\nEND")
    keep = f"grep -v '^Exec\\|^Type\\|^Watchdog\\|^Re[qs][ut]\\|^After' {UNITS}/livedex.service"
    probe = "[Service]\\nType=oneshot\\nExecStart=/bin/sh %h/probe.sh"
    machine.run(f"{keep} | sed 's|^.Service.|{probe}|' > {UNITS}/probe.service")
    machine.run("systemctl --user daemon-reload; systemctl --user start probe")
    assert machine.run("cat missing") == "[]"


@pytest.mark.timeout(300)
def test_systemd_python_and_the_template(machine: Machine) -> None:
    """What the journal gets is the same with systemd-python; a daemon of the system's manager serves ada too."""
    machine.run("mkdir -p notes; echo 'a zither' > notes/a.md; livedex service install; systemctl --user start livedex")
    plain = f"grep -c systemd/_ /proc/{machine.pid()}/maps"
    assert machine.run(plain, code=1) == "0"
    machine.drop_in("Environment=PYTHONPATH=/usr/lib/python3/dist-packages\\n")
    machine.run("livedex roots add notes && systemctl --user reload livedex")
    loaded = machine.run(f"grep -o 'systemd/_[a-z]*' /proc/{machine.pid()}/maps | sort -u")
    assert {"systemd/_daemon", "systemd/_journal"} <= {*loaded.split()}, "the library is used where it is"
    pid = f"_PID={machine.pid()}"
    assert '"LIVEDEX_ROOTS"' in machine.run(f"journalctl --user {pid} LIVEDEX_EVENT=config_applied -o json")
    wait_until(machine.finds, 60, what="the hit")
    machine.run("livedex service uninstall")

    machine.run("livedex service install --system && systemctl start livedex@1000", root=True)
    found = machine.run("systemctl show livedex@1000 --property=User,ActiveState", root=True)
    assert {*found.split()} == {"User=1000", "ActiveState=active"}
    wait_until(machine.finds, 60, what="the hit of the system's daemon")
    machine.run("livedex service uninstall --system", root=True)
    assert machine.run("systemctl list-units --no-legend --all 'livedex*'", root=True) == ""
    assert machine.run("ls /etc/systemd/system | grep livedex", root=True, code=1) == ""
