"""The start of commands: what `livedex search` imports, since every module costs time, and Ctrl-C meanwhile."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest

from helpers.canned_daemon import CannedDaemon, hit, search_result
from helpers.support import CHECKOUT, Home

OURS = {
    "cli",
    "cli.argument_types",
    "cli.argument_values",
    "cli.arguments",
    "cli.command_parser",
    "cli.commands",
    "cli.commands.search_command",
    "cli.context",
    "cli.exchange_arguments",
    "cli.knowledge_arguments",
    "cli.main",
    "cli.search_arguments",
    "cli.service_arguments",
    "cli.streams",
    "client",
    "constants",
    "errors",
    "method_calls",
    "paths",
    "peers",
}
# Of the standard library: the needed modules, with their own imports on this Python.
THEIRS = ["json", "re", "select", "socket", "struct"]

PROGRAM = """
import sys
bare = set(sys.modules)
from livedex_ipc.cli.main import main
code = main(sys.argv[1:])
print(*sorted(set(sys.modules) - bare), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def canned(home: Home) -> Iterator[CannedDaemon]:
    with CannedDaemon(home.socket, search=search_result(hit("/r/a", "x", [[0, 1]]))) as daemon:
        yield daemon


def imported(home: Home, *words: str) -> set[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, env=home.env, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_a_search_imports_only_what_it_needs(home: Home, canned: CannedDaemon) -> None:
    modules = imported(home, "search", "x", "--json")
    probe = f"import sys, {', '.join(THEIRS)}; print(*sys.modules)"
    free = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert modules - set(free) - {"__future__"} == {"livedex_ipc"} | {f"livedex_ipc.{name}" for name in OURS}
    assert set(THEIRS) - {"importlib"} <= modules, "what is listed here and not needed any more"


@pytest.mark.parametrize("words", [["--color=always"], ["--vimgrep"], ["--files"], ["--since", "2d"]])
def test_no_form_of_a_search_imports_what_is_slow(home: Home, canned: CannedDaemon, words: list[str]) -> None:
    slow = {"asyncio", "dataclasses", "inspect", "argparse", "pathlib", "platformdirs", "rich", "tomllib", "subprocess"}
    slow |= {"logging", "threading", "importlib.metadata", "livedex_ipc.methods", "livedex_ipc.server.rpc_server"}
    assert not slow & imported(home, "search", "x", *words)


INTERRUPTED = """
import sys
main, wanted, sys.argv[1:] = sys.argv[1], sys.argv[2], sys.argv[3:]

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
module = __import__(main, fromlist=["main"])
sys.exit(module.main())
"""


@pytest.mark.parametrize(
    ("main", "module", "words"),
    [
        ("livedex_ipc.__main__", "livedex_ipc.cli.arguments", ["status"]),
        ("livedex_ipc.__main__", "livedex_ipc.client", ["status"]),
        ("livedex_daemon.__main__", "livedex_daemon.doctor", ["doctor"]),
        ("livedex_daemon.__main__", "livedex_daemon.config", ["config", "show"]),
        ("livedex_daemon.__main__", "asyncio", []),
    ],
)
def test_ctrl_c_while_modules_load_ends_the_command_quietly(
    home: Home, main: str, module: str, words: list[str]
) -> None:
    command = [sys.executable, "-c", INTERRUPTED, main, module, *words]
    done = subprocess.run(command, env=home.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_installed_command_is_the_one_that_may_be_interrupted() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"livedex": "livedex_ipc.__main__:main"}
