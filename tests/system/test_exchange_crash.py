"""kill -9 at any write, and power loss at any instant: acknowledged messages are there, and nothing is there twice."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from helpers import exchange_checker as checker
from helpers.exchange_file import Queue
from helpers.exchange_programs import command, environment, read_journals
from helpers.power_loss import STYLES, image, read_record, tracing

WRITES = int(os.environ.get("LIVEDEX_WRITES", "3"))  # of the script's calls, how many are tried; 0: all
IMAGES = int(os.environ.get("LIVEDEX_IMAGES", "100"))
WRITE_CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "unlink")
SCRIPT_KEYS = 12

pytestmark = [
    pytest.mark.needs("strace"),
    pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's"),
    pytest.mark.timeout(4 * 3600),
]


def run_script(folder: Path, strace: list[str]) -> int:
    words = [*strace, *command("script", folder / "exchange.db", folder / "script.journal")]
    return subprocess.run(words, env=environment(), check=False).returncode


def assert_kept(folder: Path, context: object) -> None:
    """Compare the file with the journal; then run the same script again: it finds its keys and finishes."""
    try:
        notes = read_journals(folder)
        with closing(Queue(folder / "exchange.db", real=True)) as queue:  # a crash leaves a log to be recovered
            queue.read("work")
        log = checker.Log(folder / "exchange.db")
        checker.check_counts(log)
        checker.check_leases(log)
        checker.check_acknowledged(log, notes)
    except BaseException as fault:
        fault.add_note(f"{context}, acknowledged: {notes}")
        raise


def calls_of(trace: Path) -> Counter[str]:
    lines = [line.split(maxsplit=1)[1] for line in trace.read_text().splitlines()]
    return Counter(line.partition("(")[0] for line in lines if line.startswith(WRITE_CALLS))


def test_kill_at_the_nth_write(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    counting = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={','.join('?' + call for call in WRITE_CALLS)}"]
    (tmp_path / "whole").mkdir()
    assert run_script(tmp_path / "whole", counting) == 0
    assert len(read_journals(tmp_path / "whole")) == SCRIPT_KEYS * 3 // 2
    counted = calls_of(trace)
    points = [(call, number + 1) for call in WRITE_CALLS for number in range(counted[call])]
    assert len(points) > 50
    if WRITES:
        points = random.Random(9).sample(points, WRITES)
    killed = 0
    for call, number in points:
        folder = tmp_path / f"{call}{number}"
        folder.mkdir()
        killed += run_script(folder, [*counting, "-e", f"inject={call}:signal=SIGKILL:when={number}"]) != 0
        assert_kept(folder, (call, number))
        assert run_script(folder, []) == 0, "its keys are known, its claims are free again"
        assert_kept(folder, (call, number, "again"))
        with closing(Queue(folder / "exchange.db", real=True)) as queue:
            assert len(queue.read("work", limit=1000)) == SCRIPT_KEYS
    print(f"{len(points)} points of {dict(counted)}, {killed} killed there")
    assert killed >= len(points) * 0.8


def test_what_was_acknowledged_survives_a_power_loss(tmp_path: Path) -> None:
    live, record = tmp_path / "live", tmp_path / "record"
    live.mkdir()
    assert run_script(live, [word for word in tracing(record) if word != "-D"]) == 0
    ops = read_record(record)
    journal = os.fsencode(live / "script.journal")
    notes = [op for op in ops if op.kind == "write" and op.path == journal]
    assert len(notes) == SCRIPT_KEYS * 3 // 2
    ops = [op for op in ops if op.path.startswith(os.fsencode(live)) and not op.path.endswith((b".journal", b"-shm"))]
    chance = random.Random(17)
    for number in range(IMAGES):
        style = STYLES[number % len(STYLES)]
        # Right after an acknowledgement the synced data alone must be enough; and at any other time.
        cut = chance.choice(notes if number % 2 else ops).ended
        disk = tmp_path / f"disk{number}"
        disk.mkdir()
        lay_out(image(ops, cut, style, chance), disk)
        acknowledged = b"".join(op.data for op in notes if op.ended <= cut)
        (disk / "script.journal").write_bytes(acknowledged)
        assert_kept(disk, (number, style, cut))


def lay_out(files: dict[bytes, bytes], disk: Path) -> None:
    for path, content in files.items():
        (disk / os.path.basename(os.fsdecode(path))).write_bytes(content)


def test_the_checker_sees_what_is_wrong(tmp_path: Path) -> None:
    """Each check fails on a log that was changed by hand."""
    assert run_script(tmp_path, []) == 0
    import apsw

    changes: dict[str, Callable[[checker.Log], object]] = {
        "UPDATE topics SET waiting = waiting + 1": checker.check_counts,
        "UPDATE claims SET attempt = 2 WHERE id = 1": checker.check_leases,
        "INSERT INTO claims SELECT id + 100, message_id, topic_id, NULL, NULL, claimed_at, lease_until, boot_id,"
        " lease_ends_ns, status, completed_at, 2, token, NULL FROM claims WHERE id = 1": checker.check_leases,
        "UPDATE claims SET message_id = 13 - message_id": checker.check_order,
        "DELETE FROM messages WHERE id = 1": lambda log: checker.check_acknowledged(log, read_journals(tmp_path)),
        "UPDATE claims SET token = 'x' WHERE id = 1": lambda log: checker.check_outcomes(log, ["work"]),
    }
    for sql, check in changes.items():
        changed = tmp_path / "changed.db"
        changed.write_bytes((tmp_path / "exchange.db").read_bytes())
        with closing(apsw.Connection(str(changed))) as db:
            db.execute(sql)
        with pytest.raises((AssertionError, KeyError)):
            check(checker.Log(changed))
