"""The log file: rotated, private, and no reason to fail."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from livedex_daemon.process import logs
from livedex_service.journal import EventFormatter

WRITES = """
import logging, os, resource, sys
from livedex_daemon.process import logs
from livedex_service.journal import EventFormatter
os.umask(0)
logs.MAX_BYTES = int(sys.argv[2])
if len(sys.argv) > 3:  # no file takes more: as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
logs.set_up(sys.argv[1], "info")
for number in range(400):
    logging.getLogger("livedex.test").info("numbered", extra={"number": number})
"""


def write(path: Path, *limits: int, elsewhere: bool = False) -> list[int]:
    """Writes 400 lines; ``limits``: of the rotation, and of what the disk takes. Returns the lines on stderr."""
    words = [sys.executable, "-c", WRITES, str(path), *map(str, limits)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert elsewhere == bool(done.stderr)
    return numbers(done.stderr)


def numbers(text: str) -> list[int]:
    return [int(line.rpartition("=")[2]) for line in text.splitlines()]


def test_it_is_rotated_and_private(tmp_path: Path) -> None:
    write(tmp_path / "livedex.log", 2000)
    newest_first = sorted(tmp_path.iterdir())
    names = ["livedex.log", *(f"livedex.log.{number + 1}" for number in range(logs.BACKUPS))]
    assert [file.name for file in newest_first] == names
    assert {file.stat().st_mode & 0o777 for file in newest_first} == {0o600}, "whatever the umask"
    assert all(file.stat().st_size <= 2000 for file in newest_first)
    found = [number for file in reversed(newest_first) for number in numbers(file.read_text())]
    assert found == list(range(found[0], 400)), "the last ones, each once and in order"


PRINTS = """
import logging, os, sys, tempfile
from livedex_daemon.process import logs
path, writes_lines = sys.argv[1], sys.argv[2] == "lines"
logs.MAX_BYTES = 10_000
file = logs.set_up(path, "info")
logging.getLogger("livedex.test").info("begins")
with tempfile.TemporaryFile() as client:
    os.dup2(client.fileno(), 2)
logs.adopt_stderr()
for number in range(100):
    os.write(2, b"p" * 4_000 + b"\\n")
    logging.getLogger("livedex.test").info("numbered") if writes_lines else file.try_again()
    if number == 50:
        os.unlink(path)
os.write(2, b"the last words")
"""


@pytest.mark.parametrize("way", ["lines", "ticks"])
def test_what_is_printed_to_stderr_is_rotated_with_it(tmp_path: Path, way: str) -> None:
    path = tmp_path / "livedex.log"
    subprocess.run([sys.executable, "-c", PRINTS, str(path), way], stdin=subprocess.DEVNULL, check=True)
    files = sorted(tmp_path.iterdir())
    assert 1 < len(files) <= 1 + logs.BACKUPS
    assert all(file.stat().st_size < 20_000 for file in files)
    assert path.read_bytes().endswith(b"the last words")


def test_on_a_full_disk_lines_go_to_stderr(tmp_path: Path) -> None:
    path = tmp_path / "livedex.log"
    elsewhere = write(path, 1 << 20, 1000, elsewhere=True)
    whole, _, _cut = path.read_text().rpartition("\n")
    assert len(whole) <= 1000
    assert numbers(whole) + elsewhere == list(range(400))


def test_a_fifo_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "livedex.log")
    assert write(tmp_path / "livedex.log", 1 << 20, elsewhere=True) == list(range(400))


def test_a_folder_that_comes_later(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file is in its place")
    stderr = logging.StreamHandler(StringIO())
    file = logs.LogFile(str(tmp_path / "log" / "livedex.log"), stderr)
    for handler in (stderr, file):
        handler.setFormatter(EventFormatter("livedex"))

    def write_number(number: int) -> None:
        file.handle(logging.makeLogRecord({"msg": "numbered", "number": number}))

    for number in range(3):
        write_number(number)
    file.try_again()
    assert file.fault == "Not a directory"
    (tmp_path / "log").unlink()
    file.try_again()
    assert file.fault is None
    file.try_again()
    write_number(3)
    lines = Path(file.baseFilename).read_text().splitlines()
    assert lines == ["livedex log_lines_lost lines=3", "livedex numbered number=3"]
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o700
    assert numbers(stderr.stream.getvalue()) == [0, 1, 2], "each once, and not the tries"
    file.close()


@pytest.mark.parametrize("way", ["removed", "rotated away", "with its folder"])
def test_a_log_that_somebody_takes_away_begins_anew(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    path, kept = folder / "livedex.log", tmp_path / "kept"
    file = logs.LogFile(str(path), None)
    file.setFormatter(EventFormatter("livedex"))

    def write_number(number: int) -> None:
        file.handle(logging.makeLogRecord({"msg": "numbered", "number": number}))

    write_number(0)
    path.rename(kept)
    if way == "removed":
        kept.unlink()
    elif way == "with its folder":
        folder.rmdir()
    write_number(1)
    file.try_again()
    write_number(2)
    file.close()
    assert numbers(path.read_text()) == [1, 2]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root makes devices")
def test_a_device_that_the_name_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    null = tmp_path / "null"
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    null.chmod(0o666)
    (tmp_path / "livedex.log").symlink_to(null)
    write(tmp_path / "livedex.log", 0)
    assert null.stat().st_mode & 0o777 == 0o666
