"""The launchd agent: its property list has only keys and types of launchd, and its sockets are taken over."""

from __future__ import annotations

import ctypes
import errno
import os
import plistlib
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.support import Home
from livedex_service import service_manager, supervisor
from livedex_service.launchd_agent import LaunchdAgent, plist
from livedex_service.launchd_sockets import activated_descriptors
from livedex_service.systemd_units import Launch

# From launchd.plist(5): the keys that livedex uses, with the type of each.
KNOWN: dict[str, type] = {
    **{"Label": str, "ProgramArguments": list, "EnvironmentVariables": dict, "Sockets": dict, "KeepAlive": dict},
    **{"ThrottleInterval": int, "ExitTimeOut": int, "ProcessType": str, "Nice": int},
    **{"Umask": int, "StandardErrorPath": str},
}
LAUNCH = Launch(["/opt/a & b/livedex"], {"LIVEDEX_HOME": "/home/<ada>"})


def content() -> dict[str, Any]:
    found: dict[str, Any] = plistlib.loads(plist(LAUNCH, "/s/livedex.sock", "/l/stderr.log", "/usr/bin").encode())
    return found


def test_launchd_knows_every_key_and_type() -> None:
    assert {key: type(value) for key, value in content().items()} == KNOWN


def test_what_it_says() -> None:
    found = content()
    assert found["ProgramArguments"] == ["/opt/a & b/livedex", "daemon"]
    assert found["EnvironmentVariables"] == {"PATH": "/usr/bin", "LIVEDEX_HOME": "/home/<ada>"}
    assert found["Sockets"]["livedex"]["SockPathName"] == "/s/livedex.sock"
    assert found["Sockets"]["livedex"]["SockPathMode"] == 384
    assert found["KeepAlive"] == {"SuccessfulExit": False}, "a daemon that was asked to end stays ended"
    assert found["ProcessType"] == "Standard", "Background and Adaptive are throttled, and searches with them"


def test_no_path_is_relative() -> None:
    paths = [content()["StandardErrorPath"], content()["ProgramArguments"][0]]
    assert all(path.startswith("/") and "~" not in path for path in paths)


# An agent is loaded while there is a file of it; one that was let go is seen twice more.
LAUNCHCTL = """#!/bin/sh
here=$(dirname "$0")
case "$1 $2" in
  print*livedex)
    test -e "$here/loaded" || exit 113
    if test -e "$here/ended"; then rm "$here/ended" "$here/loaded"; fi
    if test -e "$here/ending"; then mv "$here/ending" "$here/ended"; fi
    echo "	pid = 7" ;;
  bootout*) test -e "$here/loaded" || exit 3; touch "$here/ending" ;;
  bootstrap*) test ! -e "$here/loaded" || exit 5; grep -q "<key>Sockets</key>" "$3" && touch "$here/loaded" ;;
  kickstart*) test -e "$here/loaded" || exit 113 ;;
esac
"""


@pytest.fixture
def programs(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home.path / "bin"
    folder.mkdir()
    (folder / "launchctl").write_text(LAUNCHCTL)
    (folder / "launchctl").chmod(0o755)
    monkeypatch.setenv("HOME", home.env["HOME"])
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.fixture
def agent(home: Home, programs: Path) -> LaunchdAgent:
    return LaunchdAgent(LAUNCH, f"{home.path}/run/livedex.sock", f"{home.path}/logs/livedex.log")


def test_the_agent_is_loaded_loaded_again_and_unloaded(home: Home, programs: Path, agent: LaunchdAgent) -> None:
    (file,) = service_manager.install(agent).files
    assert file.path == f"{home.env['HOME']}/Library/LaunchAgents/livedex.plist"
    assert [(home.path / name).stat().st_mode & 0o777 for name in ("run", "logs")] == [0o700, 0o700]
    service_manager.install(agent)
    assert (programs / "loaded").exists() and not (programs / "ended").exists()
    service_manager.uninstall(agent)
    assert (programs / "ending").exists() and not os.path.exists(file.path)


def test_the_agent_starts_and_stops_whatever_it_does(programs: Path, agent: LaunchdAgent) -> None:
    service_manager.install(agent)
    for verb, runs in (("start", True), ("restart", True), ("stop", False), ("stop", False), ("restart", True)):
        agent.act(verb)
        assert ((programs / "loaded").exists(), agent.state().active) == (runs, runs), verb
    agent.act("stop")
    agent.act("start")
    assert agent.state().active


class Launchd:
    """launch_activate_socket(3) with sockets of the test."""

    def __init__(self, descriptors: dict[str, list[int]], code: int = 0) -> None:
        self.descriptors = descriptors
        self.code = code

    def __call__(self, name: bytes, found: Any, count: Any) -> int:
        if self.code or name.decode() not in self.descriptors:
            return self.code or errno.ENOENT
        numbers = self.descriptors[name.decode()]
        self.array = (ctypes.c_int * len(numbers))(*numbers)
        ctypes.cast(found, ctypes.POINTER(ctypes.POINTER(ctypes.c_int)))[0] = self.array
        ctypes.cast(count, ctypes.POINTER(ctypes.c_size_t))[0] = len(numbers)
        return 0


def test_the_descriptors_of_the_named_sockets() -> None:
    launchd = Launchd({"livedex": [7, 9]})
    assert activated_descriptors("livedex", launchd) == [7, 9]
    assert activated_descriptors("other", launchd) == []
    assert activated_descriptors("livedex", Launchd({}, errno.ESRCH)) == [], "launchd did not start this process"
    with pytest.raises(OSError, match="launchd passes no socket livedex"):
        activated_descriptors("livedex", Launchd({}, errno.EALREADY))


def test_on_macos_the_daemon_takes_its_socket_from_launchd(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home.socket))
        listening.listen()
        monkeypatch.setattr(
            "livedex_service.launchd_sockets.activated_descriptors", lambda name: [listening.fileno()] * (name == "x")
        )
        assert supervisor.inherited_socket("y") is None
        taken = supervisor.inherited_socket("x")
        assert taken is not None and taken.fileno() == listening.detach()
        taken.close()


@pytest.mark.parametrize("path", ["/home/a\x1bda", os.fsdecode(b"/home/\xff")])
def test_a_path_that_no_list_can_have_is_refused(home: Home, path: str) -> None:
    done = home.run("service", "print", "--platform", "launchd", env={"PATH": f"{path}:{os.environ['PATH']}"})
    assert (done.returncode, "Traceback" in done.stderr, "property list" in done.stderr) == (4, False, True), (
        done.stderr
    )
