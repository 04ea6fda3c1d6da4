"""A daemon whose code was replaced ends by itself once the new code is complete and no client needs the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedex_daemon.process.restart import REMOVED, REPLACED, REQUESTED, OwnCode, Restart


class Desk:
    def __init__(self, folder: Path) -> None:
        self.files = [folder / "one.py", folder / "two.py"]
        for file in self.files:
            file.write_text("old")
        self.idle = True
        self.stopped = 0
        self.differs = False
        files = [str(file) for file in self.files]
        self.restart = Restart(lambda: self.idle, self.stop, lambda: self.differs, OwnCode(files))

    def stop(self) -> None:
        self.stopped += 1

    def look(self) -> str | None:
        self.restart.look()
        self.restart.end_if_idle()
        return self.restart.reason


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_same_code_is_no_reason(desk: Desk) -> None:
    assert [desk.look() for _ in range(3)] == [None] * 3
    assert desk.stopped == 0


def test_new_code_counts_once_it_has_come_to_rest(desk: Desk) -> None:
    desk.files[0].unlink()
    assert desk.look() is None
    desk.files[0].write_text("new one")
    assert desk.look() is None
    desk.files[1].write_text("new two")
    assert desk.look() is None
    assert desk.stopped == 0
    assert desk.look() == REPLACED
    assert desk.stopped == 1
    desk.look()
    assert desk.stopped == 1


def test_code_that_is_gone(desk: Desk) -> None:
    desk.files[1].unlink()
    assert (desk.look(), desk.look()) == (None, REMOVED)
    assert desk.stopped == 1


def test_code_that_came_back_as_it_was(desk: Desk, tmp_path: Path) -> None:
    desk.files[1].rename(tmp_path / "aside")
    assert desk.look() is None
    (tmp_path / "aside").rename(desk.files[1])
    assert (desk.look(), desk.look()) == (None, None)


def test_a_child_that_runs_other_code(desk: Desk) -> None:
    desk.differs = True
    assert desk.look() == REPLACED


def test_it_waits_until_nobody_needs_it(desk: Desk) -> None:
    desk.idle = False
    desk.restart.request()
    assert desk.look() == REQUESTED
    assert desk.stopped == 0
    desk.idle = True
    desk.look()
    assert desk.stopped == 1


def test_its_own_files_are_those_of_every_package() -> None:
    assert len({Path(file).parent.name for file in OwnCode().files}) == 4
