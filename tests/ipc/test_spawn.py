"""Starting the daemon on demand: once for any number of clients, detached, and with its message if it cannot start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.support import Home, end_process, wait_until
from livedex_ipc.client import attempt, connect
from livedex_ipc.errors import ConfigInvalid, Conflict, NoDaemon, Unavailable
from livedex_ipc.spawn import start

# A small daemon: it counts its starts, binds its socket, and reports what the daemon would see of its environment.
DAEMON = """
import asyncio, json, os, sys
from livedex_ipc.method_types import Method
from livedex_ipc.methods import METHODS
from livedex_ipc.server.rpc_server import Server, bind

path = os.environ["LIVEDEX_SOCKET"]
with open(path + ".starts", "a") as starts:
    starts.write(f"{os.getpid()}\\n")

async def info(call, params):
    return {"pid": os.getpid(), "sid": os.getsid(0), "cwd": os.getcwd(), "home": os.environ.get("LIVEDEX_HOME"),
            "stdin": os.readlink("/proc/self/fd/0") if os.path.exists("/proc/self/fd") else "/dev/null"}

async def main():
    await asyncio.sleep(float(os.environ.get("SLOW", "0")))
    await Server({"server/info": info}).start(bind(path))
    await asyncio.Event().wait()

asyncio.run(main())
"""

FAILING = """
import json, sys
print("a warning", file=sys.stderr)
print(sys.argv[2], file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""

ASK = """
import json, os, sys
from livedex_ipc.client import connect
with connect(command=json.loads(sys.argv[1]), wait_s=30) as client:
    print(client.call("server/info")["pid"])
"""


@pytest.fixture
def command(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the starter of the small daemon, in the test's home; a daemon that was started is ended."""
    for name in ("LIVEDEX_SOCKET", "LIVEDEX_NO_SPAWN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LIVEDEX_HOME", str(home.path))
    yield [sys.executable, "-c", DAEMON]
    for pid in starts(home):
        end_process(pid)


def starts(home: Home) -> list[int]:
    record = Path(f"{home.socket}.starts")
    return [int(line) for line in record.read_text().split()] if record.exists() else []


def test_a_daemon_is_started_detached(home: Home, command: list[str]) -> None:
    with connect(command=command) as client:
        info = client.call("server/info")
    assert info["sid"] == info["pid"] != os.getpid()
    assert (info["cwd"], info["home"], info["stdin"]) == ("/", str(home.path), os.devnull)
    with connect(spawn=False) as again:
        assert again.call("server/info")["pid"] == info["pid"]


def test_a_relative_home_is_the_same_for_both(home: Home, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.path.parent)
    monkeypatch.setenv("LIVEDEX_HOME", home.path.name)
    with connect(command=command) as client:
        assert client.call("server/info")["home"] == str(home.path)


def test_only_one_is_started_however_many_ask(home: Home, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOW", "0.3")
    words = [sys.executable, "-c", ASK, json.dumps(command)]
    clients = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(10)]
    answers = {process.communicate(timeout=60)[0].strip() for process in clients}
    assert len(starts(home)) == 1
    assert answers == {str(starts(home)[0])}


def test_none_is_started_when_one_came_up_before_the_lock(home: Home, command: list[str]) -> None:
    with connect(command=command) as client:
        pid = client.call("server/info")["pid"]
    with start(str(home.socket), attempt, wait_s=10, command=["/nonexistent"]) as client:
        assert client.call("server/info")["pid"] == pid


def test_a_dead_socket_is_replaced(home: Home, command: list[str]) -> None:
    with connect(command=command) as client:
        first = client.call("server/info")["pid"]
    os.kill(first, 9)
    wait_until(lambda: home.server_pid() is None)
    assert home.socket.exists()
    with connect(command=command) as client:
        assert client.call("server/info")["pid"] != first


@pytest.mark.usefixtures("command")
def test_the_faults_of_a_configuration_are_the_clients_error() -> None:
    wire = {"error": ConfigInvalid("1 fault", {"faults": [{"key": "x", "line": 3}]}).to_wire()}
    with pytest.raises(ConfigInvalid) as caught:
        connect(command=[sys.executable, "-c", FAILING, "2", json.dumps(wire)])
    assert caught.value.exit_code == 2
    assert caught.value.data == {"faults": [{"key": "x", "line": 3}]}


@pytest.mark.usefixtures("command")
@pytest.mark.parametrize("said", ["Traceback: it broke", '{"error": 1}', "[]", '"error"'])
def test_a_daemon_that_ends_otherwise_is_quoted(said: str) -> None:
    with pytest.raises(Unavailable, match="status 1 at start") as caught:
        connect(command=[sys.executable, "-c", FAILING, "1", said])
    assert said in caught.value.message and caught.value.exit_code == 4


@pytest.mark.usefixtures("command")
def test_a_daemon_that_is_killed_at_start_is_reported() -> None:
    with pytest.raises(Unavailable, match="killed by signal 9 at start"):
        connect(command=[sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])


@pytest.mark.usefixtures("command")
def test_another_error_of_the_daemon_keeps_its_class() -> None:
    wire = {"error": Conflict("something stands there").to_wire()}
    with pytest.raises(Conflict, match="stands there"):
        connect(command=[sys.executable, "-c", FAILING, "4", json.dumps(wire)])


def test_who_lost_a_race_uses_the_winner(home: Home, command: list[str]) -> None:
    """Ours ends because another one, not started by a client, has the home and answers a moment later."""
    wire = json.dumps({"error": Unavailable("another daemon holds this home", {"pid": 1}).to_wire()})
    rival = f"import subprocess, sys; subprocess.Popen({command!r}); print({wire!r}, file=sys.stderr); sys.exit(4)"
    with connect(command=[sys.executable, "-c", rival]) as client:
        assert client.call("server/info")["pid"] in starts(home)


def test_a_daemon_that_is_just_ending_is_waited_for(home: Home, command: list[str]) -> None:
    wire = json.dumps({"error": Unavailable("another daemon holds this home", {"pid": 1}).to_wire()})
    refused = f"{home.socket}.refused"
    script = (
        f"import os, sys; tries = open({refused!r}, 'a'); tries.write('x'); tries.close()\n"
        f"if os.path.getsize({refused!r}) < 3: print({wire!r}, file=sys.stderr); sys.exit(4)\n"
        f"os.execv(sys.executable, {command!r})"
    )
    with connect(command=[sys.executable, "-c", script]) as client:
        assert [client.call("server/info")["pid"]] == starts(home)
    assert Path(refused).read_text() == "xxx"


@pytest.mark.usefixtures("command")
def test_a_daemon_that_does_not_end_and_does_not_answer_is_named() -> None:
    wire = json.dumps({"error": Unavailable("daemon 77 holds this home", {"pid": 77}).to_wire()})
    with pytest.raises(Unavailable, match="daemon 77"):
        connect(command=[sys.executable, "-c", FAILING, "4", wire], wait_s=1.0)


@pytest.mark.usefixtures("command")
def test_a_daemon_that_does_not_answer_in_time_is_reported(home: Home) -> None:
    record = f"{home.socket}.starts"
    script = f"import os, time; print(os.getpid(), file=open({record!r}, 'w'), flush=True); time.sleep(60)"
    with pytest.raises(NoDaemon, match=r"did not answer on .* in 0\.5 s"):
        connect(command=[sys.executable, "-c", script], wait_s=0.5)
    wait_until(lambda: starts(home))


@pytest.mark.usefixtures("command")
def test_a_missing_command_is_named() -> None:
    with pytest.raises(Unavailable, match="/nonexistent/livedex: No such file"):
        connect(command=["/nonexistent/livedex"])


def test_a_home_that_cannot_be_made_is_reported(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.path / "file").touch()
    monkeypatch.setenv("LIVEDEX_HOME", str(home.path / "file" / "home"))
    with pytest.raises(Unavailable, match="cannot be started"):
        connect(command=["/nonexistent"])


def test_a_lock_that_is_a_link_is_not_followed(home: Home, command: list[str]) -> None:
    target = home.path / "target"
    Path(f"{home.socket}.lock").symlink_to(target)
    with pytest.raises(Unavailable, match="lock"):
        connect(command=command)
    assert not target.exists()


def test_a_folder_that_the_user_named_for_the_socket_is_not_made(
    home: Home, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = home.path / "mistyped" / "livedex.sock"
    monkeypatch.setenv("LIVEDEX_SOCKET", str(where))
    with pytest.raises(Unavailable, match="there is no folder"):
        connect(command=command)
    assert not where.parent.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files in memory")
def test_a_temporary_file_does_where_none_in_memory_may_be_made(
    home: Home, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
    with connect(command=command) as client:
        assert client.call("server/info")["pid"] in starts(home)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files in memory")
def test_no_temporary_folder_is_needed(home: Home, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk Python finds none: it tries to write into each."""

    def none_is_usable() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none_is_usable)
    with connect(command=command) as client:
        assert client.call("server/info")["pid"] in starts(home)


def test_a_system_without_a_null_device_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "devnull", str(home.path / "null"))
    with pytest.raises(Unavailable, match=f"the daemon cannot be started: {home.path}/null: No such file"):
        connect(path=str(home.socket))
