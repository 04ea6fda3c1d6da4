"""A file that crashes the daemon itself cannot keep it from running: after three crashes it is skipped."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, found, wait_ready

# Reading this one file kills the whole process, as a fault in a library would.
POISON = """
import sys
if "livedex_daemon" in sys.orig_argv:
    import os, signal
    from livedex_indexing.disk import tree
    read = tree.read_file

    def read_file(root, path, *rest):
        if path.endswith(b"poison.txt"):
            os.kill(os.getpid(), signal.SIGKILL)
        return read(root, path, *rest)

    tree.read_file = read_file
"""


def test_the_fourth_start_leaves_it_alone(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    tree.write_all({f"f{number}.txt": f"word number{number}\n" for number in range(5)})
    tree.write("poison.txt", "poisonword\n")
    home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    seam = with_code(tmp_path / "seam", POISON)
    for _ in range(3):
        run = [sys.executable, "-m", "livedex_daemon", "daemon"]
        with home.stderr.open("ab") as stderr:
            done = subprocess.run(run, env={**home.env, **seam}, stderr=stderr, timeout=60, check=False)
        assert done.returncode == -9
    daemon = start_daemon(**seam)
    with daemon.client() as client:
        status = wait_ready(client)
        assert status["state"] == "degraded"
        assert [item["code"] for item in status["warnings"]] == ["safe_mode", "files_failed"]
        assert len(found(client, "word")) == 5
        (left,) = client.call("files/list", {"status": "failed"})["files"]
        assert left["path"] == str(tree / "poison.txt") and left["reason"].startswith("quarantined")
        tree.write("f0.txt", "edited\n")
        assert found(client, "edited") == ["f0.txt"]
    daemon.stop()  # it can stop of its own accord: the next start is an ordinary one
    daemon.env.pop("PYTHONPATH")
    daemon.start()
    with daemon.client() as client:
        status = wait_ready(client)
        assert "safe_mode" not in {item["code"] for item in status["warnings"]}
        tree.write("poison.txt", "poisonword no more\n")
        assert found(client, "poisonword") == ["poison.txt"], "a changed file is tried again"
        assert client.call("status")["state"] == "ready"
