"""livedex is upgraded, downgraded or removed while its daemon runs: the daemon ends when that harms no client."""

from __future__ import annotations

import json
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

import livedex_daemon
import livedex_indexing
import livedex_ipc
import livedex_service
from helpers.support import Daemon, Home, Tree, add_root, codes, error_of, found, wait_until
from livedex_ipc import __version__

PACKAGES = (livedex_daemon, livedex_indexing, livedex_ipc, livedex_service)
# The daemon checks its files often, and writes the names of its own modules to MODULES at SIGUSR1.
SEAM = """
import os, signal, sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.process import tick
    tick.EVERY_S = 0.1

    def write_modules(*_):
        names = sorted(name for name in sys.modules if name.startswith("livedex_"))
        with open(os.environ["MODULES"] + ".new", "w") as file:
            file.write("\\n".join(names))
        os.rename(file.name, os.environ["MODULES"])

    signal.signal(signal.SIGUSR1, write_modules)

    if "UPGRADE" in os.environ:  # from that file to this one, while the daemon starts
        from livedex_daemon.process import locations
        locate = locations.locate

        def locate_after_upgrade():
            locations.locate = locate
            os.rename(*os.environ["UPGRADE"].split(":"))
            return locate()

        locations.locate = locate_after_upgrade
"""

Start = Callable[..., Daemon]


class Installation:
    """A copy of livedex to run, to upgrade and to remove."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for package in PACKAGES:
            own = Path(str(package.__file__)).parent
            shutil.copytree(own, folder / own.name)  # with compiled files: their times are kept
        (folder / "sitecustomize.py").write_text(SEAM)
        self.modules = folder / "modules"
        self.env = {"PYTHONPATH": str(folder), "MODULES": str(self.modules), "PYTHONDONTWRITEBYTECODE": "1"}

    def upgrade(self, version: str) -> None:
        """As an installer does: another file replaces the former one."""
        new, file = self.prepared_upgrade(version)
        new.rename(file)

    def prepared_upgrade(self, version: str) -> tuple[Path, Path]:
        """Return a file that is not yet in its place, and the place."""
        file = self.folder / "livedex_ipc/__init__.py"
        text = file.read_text()
        assert f'"{__version__}"' in text
        new = file.with_name("new")
        new.write_text(text.replace(f'"{__version__}"', f'"{version}"'))
        return new, file

    def remove(self) -> None:
        for package in PACKAGES:
            shutil.rmtree(self.folder / package.__name__)


@pytest.fixture
def installed(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "installed")


def has_ended(daemon: Daemon) -> bool:
    return not daemon.running()


def test_an_idle_daemon_gives_way_to_an_upgrade(start_daemon: Start, home: Home, installed: Installation) -> None:
    daemon = start_daemon(**installed.env)
    installed.upgrade("9.9.9")
    wait_until(lambda: has_ended(daemon), what="the end of the old daemon")
    assert daemon.process is not None
    assert daemon.process.returncode == 0
    assert home.run_json("status", **installed.env)["version"] == "9.9.9"


def test_a_daemon_that_just_starts_gives_way_too(start_daemon: Start, home: Home, installed: Installation) -> None:
    new, file = installed.prepared_upgrade("9.9.9")
    daemon = start_daemon(UPGRADE=f"{new}:{file}", **installed.env)
    wait_until(lambda: has_ended(daemon), what="the end of the old daemon")
    assert home.run_json("status", **installed.env)["version"] == "9.9.9"


def test_a_daemon_gives_way_to_nothing(start_daemon: Start, installed: Installation) -> None:
    daemon = start_daemon(**installed.env)
    installed.remove()
    wait_until(lambda: has_ended(daemon), what="the end of the daemon")


def test_a_supervisor_is_asked_to_start_it_again(start_daemon: Start, installed: Installation, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        daemon = start_daemon(NOTIFY_SOCKET=str(tmp_path / "notify"), **installed.env)
        installed.upgrade("9.9.9")
        wait_until(lambda: has_ended(daemon), what="the end of the old daemon")
    assert daemon.process is not None
    assert daemon.process.returncode == 75


def test_a_daemon_that_is_needed_says_so_and_goes_on(start_daemon: Start, installed: Installation, tree: Tree) -> None:
    daemon = start_daemon(**installed.env)
    with daemon.client() as client, daemon.client() as other:
        tree.write("a.txt", "alpha\n")
        add_root(other, tree)
        client.call("search/subscribe", {"query": "alpha"})
        installed.upgrade("9.9.9")
        wait_until(lambda: "restart_needed" in codes(other), what="the warning")
        assert other.call("status")["state"] == "degraded"
        assert found(other, "alpha") == ["a.txt"]
    wait_until(lambda: has_ended(daemon), what="the end of the old daemon")


def test_a_command_replaces_an_idle_daemon_of_another_version(
    start_daemon: Start, home: Home, installed: Installation
) -> None:
    installed.upgrade("0.0.1")
    former = start_daemon(**installed.env)
    done = home.run("--json", "status")
    assert (done.returncode, done.stderr) == (0, "")
    status = json.loads(done.stdout)
    assert (status["version"], status["pid"] == former.pid) == (__version__, False)


COMMAND = "livedex_ipc/cli/commands/search_command.py"


def remove(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    file.write_text("def search(context")


@pytest.mark.parametrize(("name", "spoil"), [(COMMAND, remove), (COMMAND, cut), ("livedex_ipc/cli/main.py", remove)])
def test_a_command_whose_files_are_just_replaced_does_not_say_that_nothing_was_found(
    home: Home, installed: Installation, name: str, spoil: Callable[[Path], None]
) -> None:
    spoil(installed.folder / name)
    done = home.run("search", "alpha", env=installed.env)
    assert (done.returncode, done.stdout) == (4, "")
    (line,) = done.stderr.splitlines()
    assert Path(name).stem in line and "try again" in line
    assert error_of(home.run("--json", "search", "alpha", env=installed.env))["code"] == 4


def test_a_command_that_fails_does_not_say_that_nothing_was_found(home: Home, installed: Installation) -> None:
    (installed.folder / COMMAND).write_text("def search(context):\n    return 1 // 0\n")
    done = home.run("search", "alpha", env=installed.env)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.splitlines()[-1].startswith("ZeroDivisionError")


def test_a_restart_on_request(start_daemon: Start, installed: Installation) -> None:
    daemon = start_daemon(**installed.env)
    with daemon.client() as client, daemon.client() as other:
        number = other.call("search/subscribe", {"query": "alpha"})["subscription"]
        assert client.call("server/restart") == {"ending": False}
        other.call("search/unsubscribe", {"subscription": number})
        wait_until(lambda: has_ended(daemon), what="its end, once it is idle")


def test_a_command_says_that_a_busy_daemon_is_of_another_version(
    start_daemon: Start, home: Home, installed: Installation
) -> None:
    installed.upgrade("0.0.1")
    former = start_daemon(**installed.env)
    with former.client() as client:
        client.call("search/subscribe", {"query": "alpha"})
        done = home.run("status")
        assert done.returncode == 0
        (line,) = done.stderr.splitlines()
        assert "0.0.1" in line
        assert __version__ in line
        assert "livedex down" in line
        assert home.run("--no-spawn", "search", "alpha").returncode == 1
        assert home.server_pid() == former.pid
    wait_until(lambda: has_ended(former), what="its end, once it is idle")


def test_nothing_of_livedex_is_imported_late(start_daemon: Start, installed: Installation, tree: Tree) -> None:
    """A module imported after an upgrade would be of the new version."""
    daemon = start_daemon(**installed.env)

    def modules() -> set[str]:
        installed.modules.unlink(missing_ok=True)
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGUSR1)
        wait_until(installed.modules.exists, what="the list of the modules")
        return set(installed.modules.read_text().split())

    at_first = modules()
    tree.write_all({"a.md": "---\ntitle: x\n---\n# Alpha\n\nalpha beta\n", "b.py": "def alpha():\n    pass\n"})
    file = {"path": str(tree / "a.md")}
    with daemon.client() as client:
        add_root(client, tree)
        for method, params in (
            ("search", {"query": "alpah", "facets": ["languages"], "explain": True, "context_lines": 1}),
            ("search", {"query": "al.ha", "mode": "regex"}),
            ("search/subscribe", {"query": "alpha"}),
            ("files/list", {}),
            ("files/retrieve", file),
            ("files/explain", file),
            ("index/run", {"force": True}),
            ("index/audit", {"repair": True}),
            ("server/reload", {}),
            ("rpc.discover", {}),
            ("files/delete", file),
            ("roots/remove", {"path": str(tree)}),
        ):
            client.call(method, params)
    assert modules() == at_first
