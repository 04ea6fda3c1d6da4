"""The doctor: what it reports of healthy and of broken homes, and that it always finishes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from helpers.other_user import NOBODY
from helpers.support import Home
from livedex_daemon.doctor import doctor_command, file_checks, system_checks
from livedex_daemon.doctor.check_result import Check

RUN = "import sys; from livedex_daemon.doctor import doctor_command; sys.exit(doctor_command.run(sys.argv[1:]))"


@pytest.fixture(autouse=True)
def in_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LIVEDEX_HOME", str(home.path))
    monkeypatch.setenv("HOME", home.env["HOME"])
    monkeypatch.delenv("LIVEDEX_SOCKET", raising=False)
    yield
    home.path.chmod(0o700)


def configure(home: Home, text: str) -> None:
    home.config.write_text(text)
    home.config.chmod(0o600)


def report() -> dict[str, list[dict[str, Any]]]:
    """Return the checks by name."""
    found: Any = doctor_command.checks()
    assert found["ok"] == all(check["state"] != "failed" for check in found["checks"])
    by_name: dict[str, list[dict[str, Any]]] = {}
    for check in found["checks"]:
        assert set(check) == {"name", "state", "message", "fix"}
        assert (check["fix"] is None) == (check["state"] == "ok"), check
        by_name.setdefault(check["name"], []).append(check)
    return by_name


def only(name: str, state: str) -> dict[str, Any]:
    found = [check for check in report()[name] if check["state"] == state]
    assert found, report()[name]
    return found[0]


def run(home: Home, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, *words]
    environment = {**home.env, **env}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_fresh_home_is_well_and_stays_untouched(home: Home) -> None:
    before = sorted(os.listdir(home.path))
    done = run(home, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["ok"]
    names = {check["name"] for check in found["checks"]}
    assert names >= {"versions", "sqlite", "components", "grammars", "configuration", "folders", "disk", "socket"}
    assert "no daemon runs" in next(check["message"] for check in found["checks"] if check["name"] == "daemon")
    assert sorted(os.listdir(home.path)) == before
    assert home.server_pid() is None


def test_for_people(home: Home) -> None:
    configure(home, "[lgo]\n")
    done = run(home)
    assert done.returncode == 4
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed")]
    assert len(failed) == 1
    assert "configuration" in failed[0]
    assert "fix: run `livedex config validate`" in done.stdout


def test_heavy_components_are_not_imported() -> None:
    code = "import sys; from livedex_daemon.doctor import doctor_command; doctor_command.checks(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"chonkie", "tree_sitter", "watchdog", "numpy", "rich"} & set(done.stdout.split())


def test_a_broken_configuration(home: Home) -> None:
    configure(home, "[lgo]\n")
    assert "line 1" in only("configuration", "failed")["message"]
    assert "root" not in report()


def test_roots(home: Home, tmp_path: Path) -> None:
    folder = home.path / "there"
    folder.mkdir()
    configure(home, f'[[roots]]\npath = "{folder}"\n[[roots]]\npath = "{tmp_path}/gone away"\n')
    assert only("root", "ok")["message"] == str(folder)
    gone = only("root", "warning")
    assert "is missing" in gone["message"]
    assert f"remove '{tmp_path.resolve()}/gone away'" in gone["fix"]


def test_folders_that_others_could_use(home: Home) -> None:
    home.data.mkdir(0o700)
    home.data.chmod(0o777)
    assert "chmod 700" in only("folders", "failed")["fix"]
    home.data.chmod(0o755)
    assert "open to others" in only("folders", "warning")["message"]
    home.data.chmod(0o700)
    (home.data / "index.db").touch()
    (home.data / "index.db").chmod(0o644)
    assert "index.db" in only("permissions", "warning")["message"]
    (home.data / "index.db").chmod(0o600)
    assert "permissions" not in report()


def test_a_link_in_the_place_of_the_data(home: Home, tmp_path: Path) -> None:
    home.data.symlink_to(tmp_path)
    assert "is a link" in only("folders", "failed")["message"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_home_that_cannot_be_written(home: Home) -> None:
    doctor_command.checks()  # the other user may not be permitted to read the packages
    home.path.chmod(0o555)
    found = as_nobody(doctor_command.checks)
    folders = [check for check in found["checks"] if check["name"] == "folders"]
    assert [f"livedex cannot write to {home.path}" in check["message"] for check in folders] == [True, True]
    (place,) = [check for check in found["checks"] if check["name"] == "socket"]
    assert f"livedex cannot write to {home.path} to create {home.socket}" in place["message"]
    assert [check["state"] for check in folders] == ["failed", "warning"], "without a log it does its work"


def as_nobody(call: Callable[[], Any]) -> Any:
    """Return the result of ``call`` in a process of another user."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(NOBODY)
            os.write(theirs, json.dumps(call()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, encoding="utf-8") as answer:
        found = json.load(answer)
    os.waitpid(pid, 0)
    return found


def test_sockets(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.socket.touch()
    assert "not a socket" in only("socket", "failed")["message"]
    home.socket.unlink()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(home.socket))
    home.socket.chmod(0o666)
    assert "0666" in only("socket", "warning")["message"]
    home.socket.chmod(0o600)
    assert only("socket", "ok")["message"] == str(home.socket)
    assert "no daemon runs" in only("daemon", "ok")["message"]
    monkeypatch.setenv("LIVEDEX_SOCKET", "/" + "x" * 200)
    assert "limit" in only("socket", "failed")["message"]
    assert "daemon" not in report(), "the socket's check says it, with the right remedy"


def test_a_daemon_that_does_not_answer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_checks, "ANSWER_S", 0.2)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(home.socket))
        silent.listen()
        assert "does not answer" in only("daemon", "failed")["message"]


def test_too_few_watches(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux limits watches so")
    root = home.path / "root"
    for name in ("a/b", "c"):
        (root / name).mkdir(parents=True)
    (root / "link").symlink_to("/usr")
    configure(home, f'[[roots]]\npath = "{root}"\n[[roots]]\npath = "{root}/a"\n')
    assert "4 folders in the roots" in only("watches", "ok")["message"]
    limits = home.path / "inotify"
    limits.mkdir()
    (limits / "max_user_instances").write_text("128\n")
    (limits / "max_user_watches").write_text("3\n")
    monkeypatch.setattr(file_checks, "INOTIFY", f"{limits}/")
    few = only("watches", "warning")
    assert "at least 3 folders" in few["message"]
    assert "fs.inotify.max_user_watches=" in few["fix"]
    (limits / "max_user_watches").write_text("9999\n")
    (limits / "max_user_instances").write_text("1\n")
    assert "max_user_instances" in only("watches", "warning")["fix"]


def test_missing_components(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name in ("watchdog", "tree_sitter_go") else find_spec(name)

    monkeypatch.setattr(system_checks, "find_spec", find)
    assert "watchdog (reports changed files)" in only("components", "failed")["message"]
    assert only("grammars", "warning")["fix"] == "pip install tree-sitter-go"


def test_an_old_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_checks, "SQLITE", (99, 0, 0))
    assert "99.0.0" in only("sqlite", "failed")["message"]


def test_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_checks, "LOW_BYTES", 1 << 60)
    assert "free" in only("disk", "warning")["message"]
    monkeypatch.setattr(file_checks, "FULL_BYTES", 1 << 60)
    assert "LIVEDEX_HOME" in only("disk", "failed")["fix"]


def test_a_check_that_breaks_is_reported_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[Check]:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(doctor_command, "CHECKS", (broken, *doctor_command.CHECKS))
    assert "RuntimeError: on purpose" in only("broken", "failed")["message"]
    assert only("versions", "ok")


def test_it_takes_no_words(home: Home) -> None:
    done = run(home, "now", "--json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == -32602
