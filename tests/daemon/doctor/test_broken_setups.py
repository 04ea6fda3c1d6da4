"""Broken set-ups, one by one: the doctor finds each fault, explains it, names a fix, and reports nothing else."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from helpers.canned_daemon import CannedDaemon, info
from helpers.exchange_file import Queue
from helpers.support import Home
from livedex_daemon.doctor import doctor_command, file_checks, service_checks, system_checks
from livedex_daemon.knowledge.knowledge_store import KnowledgeStore
from livedex_ipc import __version__

SYSTEMCTL = """#!/bin/sh
case "$*" in
  *livedex.socket*) echo "ActiveState={socket}" ;;
  *) echo "ActiveState={service}"; echo "UnitFileState={enabled}"; echo "Result=exit-code"; echo "MainPID=0" ;;
esac
"""


class Setup:
    """A healthy set-up with one root, until a test breaks it."""

    def __init__(self, home: Home, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.home, self.patch, self.stack = home, monkeypatch, stack
        self.root = home.path / "notes"
        self.root.mkdir()
        for folder in (home.data, home.log.parent):
            folder.mkdir(0o700)
        self.configure(f'[[roots]]\npath = "{self.root}"\n')

    def configure(self, text: str) -> None:
        self.home.config.write_text(text)
        self.home.config.chmod(0o600)

    def embedder(self, table: str) -> None:
        self.configure(f'[embedding]\n{table}\n\n[[roots]]\npath = "{self.root}"\n')

    def data_file(self, mode: int) -> None:
        (self.home.data / "index.db").touch()
        (self.home.data / "index.db").chmod(mode)

    def data_folder(self, name: str) -> None:
        (self.home.data / name).mkdir(0o700)

    def limit(self, watches: int, instances: int) -> None:
        folder = self.home.path / "inotify"
        folder.mkdir()
        (folder / "max_user_watches").write_text(f"{watches}\n")
        (folder / "max_user_instances").write_text(f"{instances}\n")
        self.patch.setattr(file_checks, "INOTIFY", f"{folder}/")

    def without(self, module: str) -> None:
        self.patch.setattr(system_checks, "find_spec", lambda name: None if name == module else find_spec(name))

    def listen(self, mode: int) -> None:
        listening = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(str(self.home.socket))
        listening.listen()
        self.home.socket.chmod(mode)
        self.patch.setattr(system_checks, "ANSWER_S", 0.2)

    def daemon(self, version: str = __version__, **status: object) -> None:
        answers = {"server/info": {**info(), "version": version}, "status": {"warnings": [], **status}}
        self.stack.enter_context(CannedDaemon(self.home.socket, **answers))

    def service(self, command: str = "/bin/true", *, socket: str = "active", service: str = "inactive") -> None:
        """Install units, and a systemctl that reports their state; ``socket`` "": no socket unit."""
        units = self.home.path / "etc" / "systemd" / "user"
        units.mkdir(parents=True)
        (units / "livedex.service").write_text(f"[Service]\nExecStart={command} daemon\n")
        if socket:
            (units / "livedex.socket").touch()
        self.patch.setenv("XDG_CONFIG_HOME", str(self.home.path / "etc"))
        self.systemctl(SYSTEMCTL.format(socket=socket, service=service, enabled="enabled"))

    def systemctl(self, text: str) -> None:
        program = self.home.path / "bin" / "systemctl"
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
        self.patch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


class Broken(NamedTuple):
    """A fault, how to cause it, and the check that reports it."""

    what: str
    breaks: Callable[[Setup], object]
    check: str
    state: str
    says: str


def replace_by_link(setup: Setup) -> None:
    setup.home.data.rmdir()
    (setup.home.path / "elsewhere").mkdir(0o700)
    setup.home.data.symlink_to(setup.home.path / "elsewhere")


def replace_by_file(setup: Setup) -> None:
    setup.home.data.rmdir()
    setup.home.data.touch()


def empty_the_configuration(setup: Setup) -> None:
    setup.data_file(0o600)
    setup.configure("# nothing\n")


def replace_root_by_file(setup: Setup) -> None:
    setup.root.rmdir()
    setup.root.touch()


def damage_a_page(setup: Setup) -> None:
    with closing(Queue(setup.home.data / "exchange.db")) as queue:
        for _ in range(50):
            queue.publish("a", "x" * 2000)
    with (setup.home.data / "exchange.db").open("r+b") as file:
        file.seek(4096 * 40)
        file.write(b"\xa5" * 4096 * 5)


def folder_for_the_log(setup: Setup) -> None:
    Queue(setup.home.data / "exchange.db").close()
    setup.data_folder("exchange.db-wal")


def dead_letter(setup: Setup) -> None:
    with closing(Queue(setup.home.data / "exchange.db", max_attempts=1)) as queue:
        queue.publish("work", "poison")
        queue.renew(queue.claim("work"), lease_s=0)
        queue.check("1")


def newer_memory(setup: Setup) -> None:
    KnowledgeStore(str(setup.home.data / "knowledge.db")).close()
    with closing(apsw.Connection(str(setup.home.data / "knowledge.db"))) as db:
        db.pragma("user_version", 99)


def not_enabled(setup: Setup) -> None:
    setup.service()
    setup.systemctl(SYSTEMCTL.format(socket="active", service="inactive", enabled="disabled"))


def no_manager(setup: Setup) -> None:
    setup.service()
    setup.systemctl("#!/bin/sh\necho 'Failed to connect to bus' >&2; exit 1\n")


BROKEN = (
    Broken("an unknown key", lambda s: s.configure("[lgo]\n"), "configuration", "failed", "line 1"),
    Broken("no TOML", lambda s: s.configure("roots = [\n"), "configuration", "failed", "line"),
    Broken(
        "an embedder that is not there",
        lambda s: s.embedder('embedder = "wrod2vec"'),
        "embedder",
        "warning",
        "wrod2vec",
    ),
    Broken(
        "a model that is not there",
        lambda s: s.embedder('embedder = "static"\nmodel = "/nowhere"'),
        "embedder",
        "warning",
        "/nowhere",
    ),
    Broken("no folder to index", lambda s: s.configure(""), "root", "warning", "no folder is indexed"),
    Broken("a configuration that was emptied", empty_the_configuration, "configuration", "warning", "no setting"),
    Broken("a root that is gone", lambda s: s.root.rmdir(), "root", "warning", "is missing"),
    Broken("a file in the place of a root", replace_root_by_file, "root", "warning", "link is in its place"),
    Broken("data that others may write", lambda s: s.home.data.chmod(0o777), "folders", "failed", "may write"),
    Broken("data that others may enter", lambda s: s.home.data.chmod(0o755), "folders", "warning", "open to others"),
    Broken("an index that others may read", lambda s: s.data_file(0o644), "permissions", "warning", "index.db"),
    Broken("a link in the place of the data", replace_by_link, "folders", "failed", "is a link"),
    Broken("a file in the place of the data", replace_by_file, "folders", "failed", "is not a folder"),
    Broken("little room", lambda s: s.patch.setattr(file_checks, "LOW_BYTES", 1 << 60), "disk", "warning", "free"),
    Broken("no room", lambda s: s.patch.setattr(file_checks, "FULL_BYTES", 1 << 60), "disk", "failed", "free"),
    Broken(
        "an index on a network disk",
        lambda s: s.patch.setattr(file_checks, "mount_kind", lambda path: "network"),
        "disk",
        "warning",
        "network",
    ),
    Broken("messages with a damaged page", damage_a_page, "exchange", "failed", "it is damaged"),
    Broken(
        "a folder in the place of the messages", lambda s: s.data_folder("exchange.db"), "exchange", "failed", "not a"
    ),
    Broken("a folder in the place of their log", folder_for_the_log, "exchange", "failed", "exchange.db-wal is not a"),
    Broken("a message that no worker finished", dead_letter, "exchange", "warning", "1 message in work.dead"),
    Broken("agent memory of a newer livedex", newer_memory, "memory", "failed", "newer livedex"),
    Broken("a file in the socket's place", lambda s: s.home.socket.touch(), "socket", "failed", "not a socket"),
    Broken("a path too long", lambda s: s.patch.setenv("LIVEDEX_SOCKET", "/" + "x" * 200), "socket", "failed", "limit"),
    Broken(
        "a socket in no folder",
        lambda s: s.patch.setenv("LIVEDEX_SOCKET", f"{s.root}/none/x.sock"),
        "socket",
        "failed",
        "no folder",
    ),
    Broken("a daemon that does not answer", lambda s: s.listen(0o600), "daemon", "failed", "does not answer"),
    Broken("a daemon of another version", lambda s: s.daemon("0.0.9"), "daemon", "warning", "0.0.9 runs"),
    Broken(
        "a daemon with a warning",
        lambda s: s.daemon(warnings=[{"code": "x", "message": "lost", "remedy": "find"}]),
        "daemon",
        "warning",
        "lost",
    ),
    Broken("too few watches", lambda s: s.limit(1, 128), "watches", "warning", "1 watches"),
    Broken("too few watchers", lambda s: s.limit(9999, 1), "watches", "warning", "1 instances"),
    Broken(
        "too few descriptors",
        lambda s: s.patch.setattr(system_checks, "descriptor_limit", lambda: 256),
        "descriptors",
        "warning",
        "256",
    ),
    Broken(
        "no descriptors to work with",
        lambda s: s.patch.setattr(system_checks, "descriptor_limit", lambda: 63),
        "descriptors",
        "failed",
        "needs 64",
    ),
    Broken(
        "a limit that the system does not tell",
        lambda s: s.patch.setattr(system_checks, "descriptor_limit", lambda: None),
        "descriptors",
        "warning",
        "does not say",
    ),
    Broken("a library that is gone", lambda s: s.without("watchdog"), "components", "failed", "watchdog"),
    Broken("a grammar that is gone", lambda s: s.without("tree_sitter_go"), "grammars", "warning", "go"),
    Broken("an old SQLite", lambda s: s.patch.setattr(system_checks, "SQLITE", (99, 0, 0)), "sqlite", "failed", "99.0"),
    Broken(
        "a service of a removed livedex", lambda s: s.service("/gone/livedex"), "service", "failed", "/gone/livedex"
    ),
    Broken("a service without its socket", lambda s: s.service(socket=""), "service", "failed", "livedex.socket"),
    Broken("a socket that does not listen", lambda s: s.service(socket="inactive"), "service", "warning", "not listen"),
    Broken("a service that failed", lambda s: s.service(service="failed"), "service", "failed", "exit-code"),
    Broken("a service that is not enabled", not_enabled, "service", "warning", "at login"),
    Broken("a service without systemd", no_manager, "service", "warning", "no systemd"),
)
ALSO = {"a file in the socket's place": {"daemon"}}  # the daemon is not reached, too
ON_LINUX = ("watches", "service")


@pytest.fixture
def setup(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setup]:
    monkeypatch.setenv("LIVEDEX_HOME", str(home.path))
    monkeypatch.setenv("HOME", home.env["HOME"])
    for name in ("LIVEDEX_SOCKET", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack:
        yield Setup(home, monkeypatch, stack)
    home.path.chmod(0o700)


def faults() -> dict[str, tuple[str, str, str]]:
    """Return each check that is not ok: its state, message and fix."""
    found = [check for check in doctor_command.checks()["checks"] if check["state"] != "ok"]
    return {check["name"]: (check["state"], check["message"], check["fix"] or "") for check in found}


def test_a_set_up_that_is_well_has_no_fault(setup: Setup) -> None:
    assert faults() == {}
    setup.service()
    assert faults() == {}
    assert service_checks.waits_for_client() is (sys.platform == "linux")


def test_whole_files_are_no_fault_and_stay_as_they_are(setup: Setup) -> None:
    with closing(Queue(setup.home.data / "exchange.db")) as queue:
        queue.publish("a", "")
        assert faults() == {}, "also while they are used"
    before = {path.name: path.read_bytes() for path in setup.home.data.iterdir()}
    assert faults() == {}
    assert {path.name: path.read_bytes() for path in setup.home.data.iterdir()} == before


def test_there_are_at_least_twenty() -> None:
    assert len(BROKEN) >= 20


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.what.replace(" ", "-"))
def test_it_is_found_and_explained(setup: Setup, broken: Broken) -> None:
    if broken.check in ON_LINUX and sys.platform != "linux":
        pytest.skip("only Linux has it")
    broken.breaks(setup)
    found = faults()
    state, message, fix = found.pop(broken.check)
    assert state == broken.state
    assert broken.says in message
    assert fix
    assert set(found) <= ALSO.get(broken.what, set())


def test_a_socket_that_systemd_keeps_is_not_connected_to(setup: Setup) -> None:
    """A connection would make systemd start a daemon."""
    if sys.platform != "linux":
        pytest.skip("systemd is Linux's")
    setup.service()
    setup.listen(0o600)
    assert faults() == {}
    assert Path(setup.home.socket).exists()
