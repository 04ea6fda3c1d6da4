"""`livedex up` while the first index does not go on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from helpers.canned_daemon import CannedDaemon, root, status_result
from helpers.fault_injection import with_code
from helpers.support import LIVEDEX, Home

AT_ONCE = "from livedex_ipc.cli.commands import up_command\nup_command.BLOCKED_S = 0.0\n"


def test_it_says_why_the_index_cannot_be_written(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    full = {"code": "disk_full", "message": "the disk is full: indexing waits", "remedy": "free some space"}
    canned.answers["status"] = status_result(root("/r", state="indexing"), pending=7, warnings=[full])
    env = {**home.env, **with_code(tmp_path / "seam", AT_ONCE)}
    done = subprocess.run([LIVEDEX, "up", "--json"], env=env, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (4, "")
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert (error["message"], error["data"]) == (full["message"], {"pending": 7, "remedy": full["remedy"]})
