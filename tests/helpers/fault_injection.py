"""Makes parts of a daemon's environment fail: its disk, its limits, its system calls. The machine is not changed.

Invariant: only the daemon sees what is mounted or limited here, in its own namespaces.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers.daemon_template import only_sets
from helpers.support import Daemon, end_process, wait_until


def _can(*command: str) -> bool:
    if sys.platform != "linux" or shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


HAS_NAMESPACES = _can("unshare", "-Urm", "true")
needs_namespaces = pytest.mark.skipif(not HAS_NAMESPACES, reason="needs user and mount namespaces of its own")


needs_fuse = pytest.mark.skipif(
    not _can("unshare", "-Urm", "sh", "-c", ": <> /dev/fuse"), reason="needs /dev/fuse in namespaces of its own"
)


def in_namespaces(script: str, *names: str) -> list[str]:
    """Return the words before a command that run ``script`` in new namespaces first; ``$1`` … are ``names``."""
    count = len(names)
    return ["unshare", "-Urm", "sh", "-ec", f'{script}\nshift {count}\nexec "$@"', "sh", *names]


def with_small_disk(folder: Path, megabytes: int) -> list[str]:
    """Let the daemon see a disk of this size at ``folder``, with the folder's contents."""
    script = 'mkdir -p "$1"; mount -t tmpfs -o size=$2m,mode=0700 tmpfs "$1"'
    return in_namespaces(script, str(folder), str(megabytes))


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond ``size`` bytes, as on a full disk."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def with_inotify_limit(name: str, value: int) -> list[str]:
    """``name``: ``max_inotify_watches`` or ``max_inotify_instances``, of the daemon's own user namespace."""
    return in_namespaces('echo "$2" > "/proc/sys/user/$1"', name, str(value))


def limit(daemon: Daemon, name: str, value: int) -> None:
    """Set such a limit while the daemon runs."""
    enter = ["nsenter", "-t", str(daemon.pid), "-U", "--preserve-credentials"]
    subprocess.run([*enter, "sh", "-c", f"echo {value} > /proc/sys/user/{name}"], check=True)


# For `with_code`: the next walk does not read a file again only because it was written just now.
SETTLES_AT_ONCE = only_sets("from livedex_indexing.disk import settled\nsettled.RACY_S = 0.0\n")

# For `with_code`: a child that cuts a file named ``slow…`` takes until a file of that name is in the folder ``SLOW``.
CUTS_SLOWLY = """
import sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    import os, time
    from livedex_indexing.chunk import chunker
    usual = chunker.chunk_content
    def slowly(data, name, *words, **more):
        while name.startswith(b"slow") and not os.path.exists(os.path.join(os.environb[b"SLOW"], name)):
            open(os.path.join(os.environb[b"SLOW"], b"begun-" + name), "w").close()
            time.sleep(0.01)
        return usual(data, name, *words, **more)
    chunker.chunk_content = slowly
"""


def cutting_slowly(folder: Path, code: str = "") -> tuple[Path, dict[str, str]]:
    """Return the folder in which a test lets a slow file be cut, and the daemon's environment for it (`CUTS_SLOWLY`).

    ``code``: what else the daemon's processes run first.
    """
    slow = folder / "slow"
    slow.mkdir()
    return slow, {**with_code(folder / "seam", code + CUTS_SLOWLY), "SLOW": str(slow)}


# For `with_code`: a file with ``killerword`` in it ends the child that cuts it, as a fault in a grammar's C code would,
# and adds a byte to the file ``DEATHS``.
KILLED_BY_A_FILE = """
import os, signal, sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    from livedex_indexing.chunk import chunker
    whole = chunker.chunk_content
    def chunk_content(data, *rest, **named):
        if b"killerword" in data:
            with open(os.environ["DEATHS"], "ab") as deaths:
                deaths.write(b"x")
            os.kill(os.getpid(), signal.SIGSEGV)
        return whole(data, *rest, **named)
    chunker.chunk_content = chunk_content
"""

# For `with_code`: the daemon checks its roots, its socket and its files often. Each promised time that depends on
# this has a test with an unchanged daemon.
TICKS_OFTEN = only_sets("""
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.process import tick
    tick.EVERY_S = 0.3
""")


# For `with_code`: the system starts no more threads.
NO_MORE_THREADS = """
import threading
def refuse(*_args, **_named):
    raise RuntimeError("can't start new thread")
for name in ("_start_new_thread", "_start_joinable_thread"):
    if hasattr(threading, name):
        setattr(threading, name, refuse)
"""


def with_code(folder: Path, code: str) -> dict[str, str]:
    """Return the environment in which each Python runs ``code`` at its start, before its own program."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


class Unfresh:
    """Daemons that say, while they are ``held`` back, that no answer is fresh since they recover."""

    def __init__(self, folder: Path) -> None:
        self._held = folder / "held"
        self.env = with_code(folder, _UNFRESH.format(str(self._held)))

    @contextmanager
    def held(self, *, until_late: bool = False) -> Iterator[None]:
        """``until_late``: they say so when the time of a request is over, and not at once."""
        self._held.write_text("late" if until_late else "")
        try:
            yield
        finally:
            self._held.unlink()


_UNFRESH = """
import asyncio, os, sys, time
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.answer.freshness import Freshness, FreshState
    usual, held = Freshness.ensure, {!r}
    async def ensure(self, scope, deadline, **more):
        while os.path.exists(held) and os.stat(held).st_size and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        if os.path.exists(held):
            return FreshState(False, 1, "recovering")
        return await usual(self, scope, deadline, **more)
    Freshness.ensure = ensure
"""


class Disk:
    """The inside of a daemon's private mount, through its process."""

    def __init__(self, daemon: Daemon, folder: Path) -> None:
        self.path = Path(f"/proc/{daemon.pid}/root{folder}")

    def fill(self) -> None:
        """Leave no free space."""
        with (self.path / "ballast").open("ab", buffering=0) as ballast:
            for size in (1 << 20, 4096, 1):
                with suppress(OSError):
                    while ballast.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        (self.path / "ballast").unlink()


@contextmanager
def injected(daemon: Daemon, *options: str) -> Iterator[None]:
    """Make system calls of the daemon fail as strace's ``options`` say, until the end of the block."""
    tracer = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", os.devnull, "-p", str(daemon.pid), *options], stderr=subprocess.PIPE
    )
    status = Path(f"/proc/{daemon.pid}/task")
    try:
        wait_until(lambda: tracer.poll() is not None or _all_traced(status, tracer.pid), what="strace to take hold")
        assert tracer.poll() is None, tracer.stderr.read().decode() if tracer.stderr else ""
        yield
    finally:
        end_process(tracer.pid, 20)  # killed where it hangs: on a thread in vfork() whose child it holds, too
        tracer.wait()
        if tracer.stderr is not None:
            tracer.stderr.close()


def _all_traced(tasks: Path, tracer: int) -> bool:
    return all(_tracer_of(task) in (tracer, None) for task in tasks.iterdir())


def _tracer_of(task: Path) -> int | None:
    """Return the tracer of the thread; None for one that has ended since its folder was listed."""
    try:
        lines = (task / "status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))


def inside(daemon: Daemon, script: str, *names: object) -> None:
    """Run a shell's ``script`` in the daemon's own namespaces; ``$1`` … are ``names``."""
    enter = ["nsenter", "-t", str(daemon.pid), "-U", "-m", "--preserve-credentials"]
    subprocess.run([*enter, "sh", "-ec", script, "sh", *map(str, names)], check=True)
