"""The log file: rotated, private, and no reason to fail."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from livedex_daemon.process import logs

WRITES = """
import logging, os, resource, sys
from livedex_daemon.process import logs
os.umask(0)
logs.MAX_BYTES = int(sys.argv[2])
if len(sys.argv) > 3:  # no file takes more: as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
logs.set_up(sys.argv[1], "info")
for number in range(400):
    logging.getLogger("livedex.test").info("numbered", extra={"number": number})
"""


def write(path: Path, *limits: int) -> Path:
    """Writes 400 lines; ``limits``: of the rotation, and of what the disk takes."""
    words = [sys.executable, "-c", WRITES, str(path), *map(str, limits)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def test_it_is_rotated_and_private(tmp_path: Path) -> None:
    write(tmp_path / "livedex.log", 2000)
    newest_first = sorted(tmp_path.iterdir())
    names = ["livedex.log", *(f"livedex.log.{number + 1}" for number in range(logs.BACKUPS))]
    assert [file.name for file in newest_first] == names
    assert {file.stat().st_mode & 0o777 for file in newest_first} == {0o600}, "whatever the umask"
    assert all(file.stat().st_size <= 2000 for file in newest_first)
    lines = [line for file in reversed(newest_first) for line in file.read_text().splitlines()]
    numbers = [int(line.rpartition("=")[2]) for line in lines]
    assert numbers == list(range(numbers[0], 400)), "the last ones, each once and in order"


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    assert write(tmp_path / "livedex.log", 1 << 20, 1000).stat().st_size <= 1000


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root makes devices")
def test_a_device_that_the_name_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    null = tmp_path / "null"
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    null.chmod(0o666)
    (tmp_path / "livedex.log").symlink_to(null)
    write(tmp_path / "livedex.log", 0)
    assert null.stat().st_mode & 0o777 == 0o666
