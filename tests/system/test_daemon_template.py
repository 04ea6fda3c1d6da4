"""A daemon that the tests start as a copy is, for the system and for its children, one that its command started."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from subprocess import Popen

import pytest

from helpers.daemon_health import children
from helpers.daemon_template import Template, only_sets, start, taken_over
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, add_root, found, temporary_home, wait_until
from livedex_ipc import __version__
from livedex_ipc.daemon_process import is_daemon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each daemon is started by its command")

Starter = Callable[[Mapping[str, str], int], Popen[bytes]]
STATE = re.compile(r"^(?:Umask|Sig(?:Blk|Ign|Cgt)|Cap\w+|NoNewPrivs|Seccomp):.*$", re.MULTILINE)


def started(home: Home, starter: Starter) -> Daemon:
    daemon = Daemon(home)
    with home.stderr.open("ab") as stderr:
        daemon.process = starter(home.env, stderr.fileno())
    wait_until(daemon.answers, what="the daemon's socket")
    return daemon


def seen(starter: Starter, tree: Tree) -> dict[str, str]:
    """Return what the system says of a daemon that has indexed a file, and how it ends, but for names of its own."""
    with temporary_home() as home:
        daemon = started(home, starter)
        with daemon.client() as client:
            add_root(client, tree)
            assert found(client, "needle") == ["a.txt"]
        process = Path(f"/proc/{daemon.pid}")
        child = Path(f"/proc/{children(daemon.pid)[0]}")
        texts = {
            "state": "\n".join(STATE.findall((process / "status").read_text())),
            "limits": (process / "limits").read_text(),
            "folder": os.readlink(process / "cwd"),
            "output": " ".join(os.readlink(process / "fd" / str(number)) for number in range(3)),
            "is known": str(is_daemon(daemon.pid)),
            "its own": f"{os.getsid(daemon.pid)} {os.getpgid(daemon.pid)}",
            "child": (child / "cmdline").read_text(),
            "state of a child": "\n".join(STATE.findall((child / "status").read_text())),
            "limits of a child": (child / "limits").read_text(),
            "environment of a child": (child / "environ").read_text(),
        }
        texts["end"] = str(daemon.stop())
        killed = started(home, starter)
        killed.kill()
        texts["killed"] = str(killed.process and killed.process.returncode)
        return {
            name: text.replace(str(daemon.pid), "PID").replace(str(home.path), "HOME") for name, text in texts.items()
        }


def test_a_copy_is_like_one_that_its_command_started(home: Home, tree: Tree) -> None:
    tree.write("a.txt", "needle\n")
    with closing(Template(home.env)) as template:
        copied = seen(template.copy, tree)
    assert copied == seen(partial(start, wrap=["env"]), tree)
    of_copy = [copied[name] for name in ("is known", "its own", "end", "killed")]
    assert of_copy == ["True", "PID PID", "0", str(-signal.SIGKILL)]


def is_copy(daemon: Daemon) -> bool:
    return "daemon_template" in Path(f"/proc/{daemon.pid}/cmdline").read_text()


def test_the_second_usual_daemon_is_a_copy_and_another_is_none(start_daemon: Callable[..., Daemon]) -> None:
    daemon = start_daemon()
    assert is_copy(daemon.restart())
    assert daemon.stop() == 0
    daemon = start_daemon(TZ="UTC")
    assert not is_copy(daemon)
    assert daemon.stop() == 0
    assert not is_copy(start_daemon(wrap=["env"]))


# A module of the daemon takes the value when it is loaded.
OTHER_VERSION = only_sets("import livedex_ipc\nlivedex_ipc.__version__ = '9.9.9'\n")


def test_a_copy_has_run_the_code_that_sets_a_value(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    tree.write("a.txt", "needle\n")
    for number, copied in enumerate((False, True, True)):
        seam = with_code(tmp_path / f"seam{number}", OTHER_VERSION)
        daemon = start_daemon(**seam)
        assert is_copy(daemon) == copied
        with daemon.client() as client:
            assert client.call("server/info")["version"] == "9.9.9"
            add_root(client, tree)
            tree.write("a.txt", f"needle{number}\n")
            assert found(client, f"needle{number}") == ["a.txt"]
            environment = Path(f"/proc/{children(daemon.pid)[0]}/environ").read_text()
        assert f"PYTHONPATH={seam['PYTHONPATH']}\0" in environment
        assert daemon.stop() == 0
    usual = start_daemon().restart()
    with usual.client() as client:
        assert client.call("server/info")["version"] == __version__
    usual.stop()
    assert not is_copy(start_daemon(**with_code(tmp_path / "another", "import livedex_ipc\n")).restart().restart())


def test_what_a_copy_would_lack_is_seen(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = taken_over(home.env)
    assert taken_over({**home.env, "HOME": "/", "LIVEDEX_HOME": "/"}) == usual
    assert taken_over({**home.env, "PYTHONPATH": "/"}) != usual
    assert taken_over({name: value for name, value in home.env.items() if name != "PATH"}) != usual
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, hard))
    assert taken_over(home.env) != usual
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert taken_over(home.env) == usual
    monkeypatch.chdir(tmp_path)
    assert taken_over(home.env) != usual


def test_a_template_that_cannot_load_the_daemon_says_why(home: Home) -> None:
    without_library = {**home.env, "PYTHONHOME": "/nowhere"}
    with (
        closing(Template(without_library)) as template,
        home.stderr.open("ab") as stderr,
        pytest.raises(AssertionError, match="No module named 'encodings'"),
    ):
        template.copy(home.env, stderr.fileno())
