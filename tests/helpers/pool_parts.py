"""A root on the disk, works to read in it and their outcomes, for tests of the pool and its parts.

Invariant: everything is real except the configuration, which is written here.
"""

from __future__ import annotations

import os
from pathlib import Path

from helpers.support import wait_until
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.backlog import Entry
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.outcomes import Job, Outcome
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.walk import Work
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow
from livedex_indexing.store.forgotten_files import ForgottenFiles

POLICY = Policy(ChunkSettings(), 1 << 20, True)


def real_root(folder: Path) -> Root:
    path = os.fsencode(folder.resolve())
    return Root(RootRow(1, path, 1, 1, None, True, None), RootConfig(str(folder), str(folder), (), 1), RuleTree(path))


def works(root: Root, *names: str) -> list[Work]:
    return [Work(root, name.encode(), 10, None, Entry((1, name.encode()), 1, 0.0)) for name in names]


def jobs(root: Root, marks: ForgottenFiles, *names: str) -> list[Job]:
    """Return works for the files, read and ready to be chunked."""
    reader = FileReader(lambda *_: False, marks)
    found = [reader.classify(work, POLICY) for work in works(root, *names)]
    return [job for job in found if isinstance(job, Job)]


def collected(pool: Pool, count: int) -> dict[str, Outcome]:
    found: list[Outcome] = []

    def are_there() -> bool:
        found.extend(pool.collect(100))
        return len(found) >= count

    wait_until(are_there, 60, what=f"{count} outcomes")
    assert len(found) == count
    return {outcome.work.path.decode(): outcome for outcome in found}


def outcomes(pool: Pool, count: int) -> dict[str, Outcome]:
    found = collected(pool, count)
    assert pool.outstanding == 0
    return found
