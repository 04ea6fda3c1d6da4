"""The base of the tests: a home for each test, a real daemon in it, a folder to change, and the one wait.

Invariant: nothing here touches the user's own livedex, and no process started here outlives its test.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from helpers import daemon_template

if TYPE_CHECKING:
    from livedex_ipc.client import Client

CHECKOUT = Path(__file__).resolve().parent.parent.parent
TRACEBACK = "Traceback (most recent call last)"
CODE_FAILED = "Error in sitecustomize"  # Python says so of the code of `with_code`, and goes on without it
POLL_S = 0.01  # at first; then a twentieth more of what was waited, since each look costs the daemon time …
MOST_POLL_S = 0.1  # … and never more
LIVEDEX = Path(sys.executable).with_name("livedex")  # the installed command

T = TypeVar("T")


def wait_until(condition: Callable[[], T], timeout: float = 15.0, *, what: str = "the condition") -> T:
    """Return the first true value of ``condition``; try again for ``timeout`` seconds: the only sleep of the tests."""
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - began
        if waited > timeout:
            raise AssertionError(f"{what} did not come true in {timeout} s; it is {value!r}")
        time.sleep(min(POLL_S + waited / 20, MOST_POLL_S))


# How thoroughly a rule with many cases is tried: a share of them in `make test`, all in `make planted` and `make soak`.
SHARE = float(os.environ.get("LIVEDEX_EXAMPLES", "0.25"))


def examples(count: int) -> int:
    """How many random examples a property is tried on; a soak multiplies ``count``."""
    return max(1, round(count * SHARE))


def share_of(cases: Iterable[T], turn: int) -> list[T]:
    """Some of the cases, all in a soak. Turn ``n`` begins where turn ``n - 1`` ended, so that a few turns cover all."""
    every = list(cases)
    size = min(len(every), math.ceil(len(every) * SHARE))
    return [every[(turn * size + place) % len(every)] for place in range(size)]


@contextmanager
def running(script: str, *words: str) -> Iterator[None]:
    """Run a Python script in a separate process until the end of the block."""
    process = subprocess.Popen([sys.executable, "-c", script, *words])
    try:
        yield
        assert process.poll() is None, "it was to run all the time"
    finally:
        process.kill()
        process.wait()


class Tree:
    """A folder of real files to index and to change. Names are relative to it; text is written as UTF-8 as it is."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.resolve()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def __str__(self) -> str:
        return str(self.path)

    def write(self, name: str, content: str | bytes = "") -> Path:
        """Write in place and make the folders above."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def save(self, name: str, content: str | bytes) -> Path:
        """Write as most editors do: a temporary file next to it, which is renamed to its name."""
        beside = self.write(f"{name}.saving", content)
        return beside.rename(self.path / name)

    def write_all(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            self.write(name, content)

    def mkdir(self, name: str) -> Path:
        path = self.path / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def rename(self, old: str, new: str) -> Path:
        target = self.path / new
        target.parent.mkdir(parents=True, exist_ok=True)
        return (self.path / old).rename(target)

    def remove(self, name: str) -> None:
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def git(self, *words: str) -> str:
        """Run git in the folder without a user's configuration; return its output."""
        env = {**os.environ, **GIT_ENVIRONMENT}
        done = subprocess.run(["git", "-C", self.path, *words], env=env, capture_output=True, text=True, check=True)
        return done.stdout


GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "test",
    "GIT_AUTHOR_EMAIL": "test@localhost",
    "GIT_COMMITTER_NAME": "test",
    "GIT_COMMITTER_EMAIL": "test@localhost",
}


def usual_environment() -> dict[str, str]:
    """Return the variables that all homes have."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LIVEDEX_", "XDG_", "GIT_"))}
    return {**kept, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


class Home:
    """A ``LIVEDEX_HOME`` for one test. Its path is short, because a socket's path may have only 103 bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = path / "livedex.sock"
        self.config = path / "config.toml"
        self.data = path / "data"
        self.log = path / "log" / "livedex.log"
        self.stderr = path / "daemon.stderr"
        user = path / "user"
        user.mkdir()
        self.env = {**usual_environment(), "LIVEDEX_HOME": str(path), "HOME": str(user)}

    def run(
        self, *words: str, stdin: str = "", timeout: float = 60, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the ``livedex`` command in this home, as a user's shell would; its output is captured as text."""
        command = [str(LIVEDEX), *words]
        environment = {**self.env, **(env or {})}
        return subprocess.run(
            command, env=environment, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )

    def run_json(self, *words: str, **env: str) -> Any:
        """Return the object that a command prints as JSON; an AssertionError with its stderr if it failed."""
        done = self.run("--json", *words, env=env)
        assert done.returncode == 0, f"livedex {' '.join(words)}: exit {done.returncode}: {done.stderr}"
        return json.loads(done.stdout)

    def server_pid(self) -> int | None:
        """Return the process that answers on the socket; None if there is none."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(5)
            try:
                peer.connect(str(self.socket))
            except OSError:
                return None
            return peer_pid(peer)

    def logs(self) -> str:
        """Return everything that daemons of this home have logged or printed so far."""
        files = [self.stderr, *sorted(self.path.glob("log/livedex.log*"))]
        return "\n".join(file.read_text(errors="replace") for file in files if file.exists())


def error_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the error that a command printed as JSON, and nothing else."""
    assert done.stdout == ""
    error: dict[str, Any] = json.loads(done.stderr)["error"]
    return error


def peer_pid(peer: socket.socket) -> int:
    """Return the process id at the other end of a Unix socket."""
    if sys.platform == "darwin":
        local_peerpid = 2
        (pid,) = struct.unpack("i", peer.getsockopt(0, local_peerpid, 4))
    else:
        pid, _uid, _gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    assert isinstance(pid, int)
    return pid


@contextmanager
def temporary_home(*, tracebacks: bool = False) -> Iterator[Home]:
    """Yield a new home. At the end its daemon is ended and its folder removed; a traceback in its log is a failure.

    So is a fault that was to be injected and was not, whatever ``tracebacks`` says.
    """
    path = Path(tempfile.mkdtemp(prefix="ldx-", dir=os.path.realpath("/tmp")))
    home = Home(path)
    try:
        yield home
    finally:
        pid = home.server_pid()
        if pid is not None:
            end_process(pid)
        logs = home.logs()
        remove_tree(path)
    assert CODE_FAILED not in logs, f"the code of the test did not run:\n{logs}"
    assert tracebacks or TRACEBACK not in logs, f"a daemon logged a traceback:\n{logs}"


def remove_tree(path: Path) -> None:
    """Remove a folder although tests have removed permissions in it."""
    for folder, _folders, _files in os.walk(path):
        with suppress(OSError):
            Path(folder).chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def is_alive(pid: int) -> bool:
    """Return whether the process runs; one that has ended and waits to be reaped does not."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return sys.platform != "linux"
    return state != "Z"


def end_process(pid: int, grace_s: float = 10.0) -> None:
    """Ask a process to end, and kill it if it has not ended after ``grace_s`` seconds."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGTERM)
    try:
        wait_until(lambda: not is_alive(pid), grace_s, what=f"the end of process {pid}")
    except AssertionError:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), what=f"the end of the killed process {pid}")


class Daemon:
    """A real daemon in the foreground of a separate process."""

    def __init__(self, home: Home, config: str | None = None, *, wrap: Sequence[str] = (), **env: str) -> None:
        """``wrap``: words before the command of the daemon; they must end by running it in their place."""
        self.home = home
        self.wrap = wrap
        self.env = {**home.env, **env}
        if config is not None:
            home.config.write_text(config)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None, "the daemon was not started"
        return self.process.pid

    def start(self) -> Daemon:
        """Start it and return once its socket accepts; an AssertionError with its output if it ends instead."""
        with self.home.stderr.open("ab") as stderr:
            self.process = daemon_template.start(self.env, stderr.fileno(), self.wrap)
        wait_until(self.answers, what="the daemon's socket")
        return self

    def answers(self) -> bool:
        assert self.process is not None
        code = self.process.poll()
        assert code is None, f"the daemon ended with {code} at its start:\n{self.home.logs()}"
        return self.home.server_pid() == self.process.pid

    def stop(self) -> int:
        """Send SIGTERM and return the exit code. A daemon that does not end within 20 s is killed and is a failure."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the daemon did not stop on SIGTERM:\n{self.home.logs()}") from None

    def kill(self) -> None:
        """Send SIGKILL, as a crash or the out-of-memory killer would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        """Send SIGSTOP: the kernel goes on queueing events meanwhile."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """All changes of the block reach the daemon at once."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def restart(self) -> Daemon:
        self.stop()
        return self.start()

    def client(self) -> Client:
        """Return a new connection to this daemon; the caller closes it."""
        from livedex_ipc.client import connect

        return connect(spawn=False, path=str(self.home.socket))

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


def add_root(client: Client, root: Tree | Path, *, timeout: float = 60.0) -> None:
    """Add a root and wait until its first index is complete."""
    client.call("roots/add", {"path": str(root)})
    wait_ready(client, timeout=timeout)


def wait_ready(client: Client, *, timeout: float = 60.0) -> dict[str, Any]:
    """Return the first ``status`` that is no longer starting or indexing, with nothing pending."""
    from livedex_ipc.errors import Unavailable

    def settled() -> dict[str, Any] | None:
        try:
            client.call("roots/list")
        except Unavailable:  # it starts, which a degraded state does not show
            return None
        status: dict[str, Any] = client.call("status")
        done = status["state"] in ("ready", "degraded") and status["pending"] == 0
        return status if done else None

    return wait_until(settled, timeout, what="a complete index") or {}


def wait_converted(client: Client, *, timeout: float = 120.0) -> None:
    """Wait until no document waits for its conversion, which no search waits for."""

    def none_waits() -> bool:
        client.call("sync", {"timeout_ms": 30_000})
        status = client.call("status")
        return bool(status["documents_pending"] == 0 and status["pending"] == 0)

    wait_until(none_waits, timeout, what="the conversion of all documents")


def codes(client: Client) -> set[str]:
    """Return the codes of the warnings in the daemon's status."""
    return {warning["code"] for warning in client.call("status")["warnings"]}


def found(client: Client, query: str, **params: Any) -> list[str]:
    """Return the paths, relative to their roots, of a search, best first. One that is not fresh is a failure."""
    answer = client.call("search", {"query": query, "limit": 1000, "timeout_ms": 20_000, **params})
    assert answer["fresh"], {name: answer.get(name) for name in ("reason", "pending", "took_ms", "warnings", "hits")}
    return [hit["relative_path"] for hit in answer["hits"]]


def watch_count(daemon: Daemon) -> int:
    """Return how many watches the daemon has placed."""
    total = 0
    for fd in os.listdir(f"/proc/{daemon.pid}/fdinfo"):
        try:
            with open(f"/proc/{daemon.pid}/fdinfo/{fd}") as file:
                total += sum(line.startswith("inotify ") for line in file)
        except OSError:
            continue
    return total
