"""The text of files is in no core dump: of the daemon, of what it starts, and of programs that keep its answers."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.daemon_health import children
from helpers.made_model import write_model
from helpers.support import LIVEDEX, Daemon, Home, Tree, found, wait_converted, wait_until

pytestmark = [
    pytest.mark.skipif(
        not Path("/proc/self/coredump_filter").exists(), reason="only Linux hands a core to a program or a socket"
    ),
    pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_CORE)[1] == 0, reason="the limit is 0 already, for good"),
]
NOTHING = (["1", "1"], 0)  # the limits, and no kind of memory
PARSER = """
import resource

with open("/proc/self/coredump_filter") as file:
    parts = int(file.read(), 16)

class Limits:
    suffixes = (".limits",)
    def convert(self, path):
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        return f"soft{soft} hard{hard} parts{parts}"

def register(registry):
    registry.register_parser("limits", lambda config: Limits())
"""


def test_no_process_that_has_text_of_files_leaves_it(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "limits.py").write_text(PARSER)
    tree.write_all({"a.py": "def vessel():\n    pass\n", "b.limits": "a loaf"})
    config = f'[[roots]]\npath = "{tree}"\n[plugins]\npaths = ["{plugins}"]\n[parsing]\n'
    config += 'overrides = { ".limits" = "limits" }\n'
    config += f'[embedding]\nembedder = "static"\nmodel = "{write_model(tmp_path / "model")}"\n'
    daemon = start_daemon(config)
    with daemon.client() as client:
        wait_converted(client)
        wait_until(lambda: client.status()["vectors_pending"] == 0, 30.0, what="the vectors")
        kinds = {kind_of(pid): core_of(pid) for pid in [daemon.pid, *children(daemon.pid)]}
        assert kinds == {"daemon": NOTHING, "chunk_child": NOTHING, "embed_child": NOTHING}
        assert found(client, "soft1 hard1 parts0", mode="exact") == ["b.limits"]


@pytest.mark.parametrize("command", ["lsp", "mcp", "web"])
def test_no_program_that_keeps_answers_leaves_them(home: Home, daemon: Daemon, command: str) -> None:
    words = [str(LIVEDEX), command]
    with subprocess.Popen(words, env=home.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: core_of(process.pid) == NOTHING, 30.0, what="no core dump")
        finally:
            process.terminate()


def kind_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return next((word.rpartition(".")[2] for word in words if word.endswith("_child")), "daemon")


def core_of(pid: int) -> tuple[list[str], int]:
    """Return the limits, soft and hard, and the parts of its memory that a core would have."""
    process = Path(f"/proc/{pid}")
    (core,) = [line for line in (process / "limits").read_text().splitlines() if line.startswith("Max core file size")]
    return core.split()[4:6], int((process / "coredump_filter").read_text(), 16)
