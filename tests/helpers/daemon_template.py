"""Starts daemons for the tests: a process that has loaded the daemon's modules makes copies of itself.

Nearly all of a daemon's start is the import of its modules: half a second, and the tests start hundreds. A copy runs
the same program from its first line, in a session of its own, as a child of the tests' process.

Invariant: a daemon is started by its command if a copy would lack something of it: a variable of the environment, a
limit, a folder, code that runs before its own. So is the first one of each kind in each process of the tests: the usual
kind, and one for each code of `only_sets`.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import json
import os
import resource
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

COMMAND = (sys.executable, "-m", "livedex_daemon", "daemon")
# Variables that change between tests and that no module reads when it is loaded. The last one livedex sets itself.
OF_ONE_TEST = ("HOME", "LIVEDEX_HOME", "PYTEST_CURRENT_TEST", "TOKENIZERS_PARALLELISM")
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
MOST_BYTES = 1 << 17  # of an environment
PR_SET_CHILD_SUBREAPER = 36


def start(env: Mapping[str, str], stderr: int, wrap: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    """Start a daemon that prints to ``stderr``: as a copy, where that makes no difference to it.

    ``wrap``: words before its command.
    """
    if not wrap and (template := _template_of(env)) is not None:
        return template.copy(env, stderr)
    return subprocess.Popen(
        [*wrap, *COMMAND], env=env, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr, start_new_session=True
    )


class Template:
    """The process of which the copies are made. It ends when this one closes its socket, or ends."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.taken_over = taken_over(env)
        self._lock = threading.Lock()
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  closed with the template
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), *COMMAND[1:]],  # livedex knows a daemon by its words
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def copy(self, env: Mapping[str, str], stderr: int) -> subprocess.Popen[bytes]:
        """Start a daemon that prints to ``stderr``."""
        libc = ctypes.CDLL(None)
        pid = is_child = b""
        with self._lock, suppress(ConnectionError):
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # the copy of a copy that has ended becomes a child of this process
            socket.send_fds(self._requests, [json.dumps(dict(env)).encode()], [stderr])
            pid, is_child = self._requests.recv(MOST_BYTES), self._requests.recv(1)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)
        if not is_child:
            self._output.seek(0)
            raise AssertionError(f"the template of the daemons has ended:\n{self._output.read().decode()}")
        # `Popen` knows only what it has started itself.
        daemon = subprocess.Popen(["true"])
        daemon.wait()
        daemon.args, daemon.pid, daemon.returncode = COMMAND, int(pid), None
        return daemon

    def close(self) -> None:
        self._requests.close()
        self._process.wait()
        self._output.close()


class _Made:
    """``usual``: the environment of most daemons. ``codes``: those of `only_sets`. ``templates``: of the daemons that
    run such a code, and of those that run none (""), from the second of them on; None after the first.
    """

    usual: Mapping[str, str] | None = None
    codes: Final[set[str]] = set()
    templates: Final[dict[str, Template | None]] = {}


def expect(env: Mapping[str, str]) -> None:
    """Copy daemons that get this environment, but for what each test has of its own. Call it before a test begins."""
    _Made.usual = env


def only_sets(code: str) -> str:
    """Return a code for `with_code` that only sets values, the same ones whenever it runs: a copy of a process that has
    run it is like one that runs it itself."""
    _Made.codes.add(code)
    return code


def _template_of(env: Mapping[str, str]) -> Template | None:
    """Return what a daemon with this environment can be a copy of."""
    given, (code, without_code) = taken_over(env), _code_of(env)
    # On other systems, a library may fail in a copy of its process.
    if sys.platform != "linux" or _Made.usual is None or taken_over(without_code) != taken_over(_Made.usual):
        return None
    if code not in _Made.templates:
        _Made.templates[code] = None
        return None
    template = _Made.templates[code]
    if template is None:
        template = _Made.templates[code] = Template(env)
        atexit.register(template.close)
    return None if template.taken_over != given else template


def taken_over(env: Mapping[str, str]) -> tuple[object, ...]:
    """Return what a daemon has from the process that starts it, as far as tests change it."""
    code, without_code = _code_of(env)
    lasting = {name: value for name, value in without_code.items() if name not in OF_ONE_TEST}
    limits = [resource.getrlimit(limit) for limit in LIMITS]
    return code, lasting, limits, os.getcwd(), os.getpriority(os.PRIO_PROCESS, 0)


def _code_of(env: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Return the code of `only_sets` that each Python runs first ("" if there is none), and the environment without its
    folder, which each test has of its own."""
    folder, _, others = env.get("PYTHONPATH", "").partition(os.pathsep)
    code = ""
    if folder:
        with suppress(OSError):
            code = (Path(folder) / "sitecustomize.py").read_text()
    if code not in _Made.codes:
        return "", env
    kept = {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return code, {**kept, "PYTHONPATH": others} if others else kept


def _folders() -> list[str]:
    return os.environ.get("PYTHONPATH", "").split(os.pathsep)


def _main() -> None:
    """Make copies until the tests' process ends. A copy is a daemon from then on."""
    importlib.import_module("livedex_daemon.app")
    requests = socket.socket(fileno=int(sys.argv[1]))
    while True:
        env, descriptors, _, _ = socket.recv_fds(requests, MOST_BYTES, 1)
        if not env:
            return
        between = os.fork()
        if not between:
            pid = os.fork()
            if not pid:
                break
            requests.send(str(pid).encode())
            os._exit(0)
        os.waitpid(between, 0)
        requests.send(b"1")
        os.close(descriptors[0])
    os.setsid()
    for standard in (1, 2):
        os.dup2(descriptors[0], standard)
    os.close(descriptors[0])
    requests.close()
    of_template = _folders()
    os.environ.clear()
    os.environ.update(json.loads(env))
    own = dict(zip(of_template, _folders(), strict=True))
    sys.path[:] = [own.get(folder, folder) for folder in sys.path]
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()
    sys.orig_argv[:] = COMMAND
    sys.argv[1:] = COMMAND[3:]
    runpy.run_module("livedex_daemon", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
