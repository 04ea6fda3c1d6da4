"""Every work that is handed in is read in its turn, however many want the same file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from livedex_daemon.watch.backlog import Entry
from livedex_daemon.write.inspector import Looker
from livedex_daemon.write.walk import Work


def test_two_works_for_one_file_are_read_one_after_the_other() -> None:
    none: Any = SimpleNamespace()
    looker = Looker(none, none, none, none)
    handed: list[Work] = []

    def submit(works: list[Work], *, bulk: bool) -> None:
        assert not bulk
        handed.extend(works)

    pool: Any = SimpleNamespace(submit=submit)
    looker.pool = pool
    root: Any = SimpleNamespace(id=1)
    entry: Any = Entry((1, b"a"), 1, 0.0)
    first, second, third = (Work(root, b"a", 1, None, entry) for _ in range(3))
    looker.submit([first], bulk=False)
    looker.submit([second, third], bulk=False)  # two walks came by while it was read
    assert handed == [first]
    for done, after in ((first, second), (second, third)):
        looker.is_read(done)
        looker.retry()  # both are due at the same time
        assert handed[-1] is after and looker.expects(after), "a work that nobody expects would never end"
    looker.is_read(third)
    assert handed == [first, second, third] and not looker.retries
