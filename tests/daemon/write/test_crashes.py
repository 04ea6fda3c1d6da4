"""Which files are skipped: those in progress at each of the last three crashes, if these happened within a minute."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from livedex_daemon.write import crashes
from livedex_daemon.write.crashes import Crashes

NEVER_LEFT: list[object] = []


@pytest.fixture(autouse=True)
def left_at_the_end() -> Iterator[None]:
    yield
    NEVER_LEFT.clear()


def crash(folder: Path, *paths: bytes) -> frozenset[bytes]:
    """A run that reads files and crashes; returns the files that it skipped."""
    run = Crashes(str(folder))
    for path in paths:
        under_way = run.reading(path)
        under_way.__enter__()
        NEVER_LEFT.append(under_way)
    return run.avoided


def test_a_file_in_hand_at_three_crashes(tmp_path: Path) -> None:
    assert crash(tmp_path, b"/a", b"/b") == frozenset()
    assert crash(tmp_path, b"/b", b"/c") == frozenset()
    assert crash(tmp_path, b"/d", b"/b") == frozenset()
    assert crash(tmp_path) == {b"/b"}
    assert crash(tmp_path) == frozenset(), "the next start tries it again"


def test_two_crashes_or_other_files_or_a_clean_end_blame_nobody(tmp_path: Path) -> None:
    for name, runs in {"two": [b"/a", b"/a"], "others": [b"/a", b"/b", b"/c"]}.items():
        (tmp_path / name).mkdir()
        for path in runs:
            assert crash(tmp_path / name, path) == frozenset()
        assert crash(tmp_path / name) == frozenset()
    (tmp_path / "clean").mkdir()
    for _ in range(2):
        crash(tmp_path / "clean", b"/a")
    Crashes(str(tmp_path / "clean")).end()
    for _ in range(2):
        assert crash(tmp_path / "clean", b"/a") == frozenset()


def test_crashes_long_ago_do_not_count(tmp_path: Path) -> None:
    for _ in range(3):
        crash(tmp_path, b"/a")
    starts = json.loads((tmp_path / "starts").read_text())
    starts[0][0] = time.time() - crashes.WITHIN_S - 1
    (tmp_path / "starts").write_text(json.dumps(starts))
    assert crash(tmp_path) == frozenset()


def crash_in(folder: Path, *, loads: str = "", runs: str = "", reads: bytes = b"") -> frozenset[str]:
    """A run that crashes while it loads a plugin, runs one's code and reads a file; returns the plugins left out."""
    run = Crashes(str(folder))
    code = [run.loading(loads)] if loads else []
    code += [run.running(runs)] if runs else []
    code += [run.reading(reads)] if reads else []
    for under_way in code:
        under_way.__enter__()
    NEVER_LEFT.extend(code)
    return run.avoided_code


def test_a_plugin_that_was_loaded_alone_is_left_out_after_two_crashes(tmp_path: Path) -> None:
    for _ in range(2):
        assert crash_in(tmp_path, loads="one") == frozenset(), "one crash may be a kill from outside"
        starts = json.loads((tmp_path / "starts").read_text())
        made_long_ago = [[at - 1000 * crashes.WITHIN_S, files] for at, files in starts]
        (tmp_path / "starts").write_text(json.dumps(made_long_ago))
    assert crash_in(tmp_path) == {"one"}, "however long ago"
    assert crash_in(tmp_path) == frozenset(), "the next start tries it again"


def test_two_plugins_that_were_loaded_are_not_left_out(tmp_path: Path) -> None:
    assert [crash_in(tmp_path, loads=name) for name in ("one", "two", "one")] == [frozenset()] * 3
    assert crash_in(tmp_path) == frozenset()


def test_a_daemon_that_is_stopped_while_it_loads_a_plugin_blames_nobody(tmp_path: Path) -> None:
    crash_in(tmp_path, loads="one")
    run = Crashes(str(tmp_path))
    with run.loading("one"):
        run.end()
        assert crash_in(tmp_path) == frozenset()


@pytest.mark.parametrize(("runs", "reads"), [("two", b""), ("", b"/a")])
def test_a_plugin_that_was_loaded_while_more_ran_is_left_out_after_three(
    runs: str, reads: bytes, tmp_path: Path
) -> None:
    for _ in range(2):
        assert crash_in(tmp_path, loads="one", runs=runs, reads=reads) == frozenset()
    assert crash_in(tmp_path, runs="one") == frozenset()
    assert crash_in(tmp_path) == {"one"}, "loaded or run, it is the same plugin"


def test_a_plugin_whose_code_ran_is_left_out_after_three(tmp_path: Path) -> None:
    assert [crash_in(tmp_path, runs="one") for _ in range(3)] == [frozenset()] * 3
    assert crash_in(tmp_path) == {"one"}


def test_a_file_that_was_read_to_its_end_is_in_hand_no_more(tmp_path: Path) -> None:
    for _ in range(3):
        run = Crashes(str(tmp_path))
        with run.reading(b"/a"):
            pass
        for number in range(100):  # slots are reused; files without a free slot are read all the same
            with run.reading(b"/x%d" % number):
                pass
        with run.reading(b"/" + b"x" * 5000):
            pass
    assert Crashes(str(tmp_path)).avoided == frozenset()


def test_a_list_that_is_truncated_or_removed_under_it_ends_nothing(tmp_path: Path) -> None:
    run = Crashes(str(tmp_path))
    os.truncate(tmp_path / "in-hand", 0)
    with run.reading(b"/a"):
        assert b"/a" in (tmp_path / "in-hand").read_bytes()
    assert b"/a" not in (tmp_path / "in-hand").read_bytes()
    (tmp_path / "in-hand").unlink()
    with run.reading(b"/a"):
        pass


def test_a_list_that_cannot_be_written_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Crashes(str(tmp_path))

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwrite", refuse)
    was_read = False
    with run.reading(b"/a"):
        was_read = True
    assert was_read
    assert b"/a" not in (tmp_path / "in-hand").read_bytes()


def test_what_it_keeps_is_private_and_nonsense_in_it_is_harmless(tmp_path: Path) -> None:
    crash(tmp_path, b"/a")
    for name in ("starts", "in-hand"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    for nonsense in (b"", b"{}", b"[[1]]", b"\xff\xff", b'[["a", []]]', b"[1, 2]"):
        (tmp_path / "starts").write_bytes(nonsense)
        (tmp_path / "in-hand").write_bytes(b"\xff" * 100_000)
        assert crash(tmp_path) == frozenset()
    (tmp_path / "starts").unlink()
    os.mkfifo(tmp_path / "starts")
    assert crash(tmp_path) == frozenset()


def test_a_list_without_end_is_not_read(tmp_path: Path) -> None:
    """It may be a link to /dev/zero: the daemon would not start, and take all memory."""
    endless = tmp_path / "endless"
    endless.touch()
    os.truncate(endless, 64 << 20)
    for put in (os.symlink, os.rename):
        (tmp_path / "starts").unlink(missing_ok=True)
        put(endless, tmp_path / "starts")
        tracemalloc.start()
        try:
            assert crash(tmp_path) == frozenset()
            assert tracemalloc.get_traced_memory()[1] < 16 << 20
        finally:
            tracemalloc.stop()
        assert json.loads((tmp_path / "starts").read_text())[0][1] == [], "it is begun again"
