"""Reading one file: a job to chunk, or an outcome that needs no child."""

from __future__ import annotations

import errno
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path

import apsw
import pytest

from helpers.pool_parts import POLICY, works
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.file_reading import AVOIDED, FileReader
from livedex_daemon.write.outcomes import Failed, Gone, Hidden, Job, Known, Outcome, Skipped, Unreadable
from livedex_daemon.write.walk import bare_row
from livedex_indexing.child import code_version
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.disk import beneath, tree
from livedex_indexing.store.forgotten_files import ForgottenFiles


def unknown(_hash: bytes, _signature: bytes) -> bool:
    return False


def found(reader: FileReader, root: Root, name: str, *, force: bool = False) -> Outcome | Job:
    (work,) = works(root, name)
    work.force = force
    return reader.classify(work, POLICY)


def outcome(reader: FileReader, root: Root, name: str) -> object:
    made = found(reader, root, name)
    assert isinstance(made, Outcome)
    return made.result


def test_text_is_a_job_with_the_plan_that_its_bytes_choose(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "tool").write_text("#!/usr/bin/env python3\nprint()\n")
    reader = FileReader(unknown, marks)
    job = found(reader, root, "tool")
    assert isinstance(job, Job)
    assert job.data == b"#!/usr/bin/env python3\nprint()\n"
    assert (job.plan.language, job.settings) == ("python", POLICY.chunking)
    assert job.plan == chunk_plan.choose(b"tool", job.data, POLICY.chunking)
    assert reader.files_read == 1


def test_a_work_knows_when_its_last_reading_began(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "a.txt").write_text("words\n")
    (work,) = works(root, "a.txt")
    for _ in range(2):
        before = time.time()
        FileReader(unknown, marks).classify(work, POLICY)
        assert before <= work.read_at <= time.time()


@pytest.mark.parametrize("error", [MemoryError, apsw.NoMemError])
def test_a_lack_of_memory_is_not_the_error_of_the_file(
    root: Root, folder: Path, marks: ForgottenFiles, error: type[Exception]
) -> None:
    def known(_hash: bytes, _signature: bytes) -> bool:
        raise error

    (folder / "a.txt").write_text("words\n")
    assert outcome(FileReader(known, marks), root, "a.txt") == Unreadable(errno.ENOMEM)


@pytest.mark.parametrize(("closed", "result"), [("d/a.txt", Failed("denied", "")), ("d", Hidden())])
def test_a_file_in_a_folder_that_denies_access_is_not_the_one_that_does(
    root: Root, folder: Path, marks: ForgottenFiles, closed: str, result: object
) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "a.txt").write_text("words\n")
    refused = PermissionError(errno.EACCES, "no")
    real_folder, real_open = beneath.folder, os.open

    def reached(base: bytes, path: bytes, *, listing: bool = False) -> AbstractContextManager[int]:
        if closed == "d" and path == b"d":
            raise refused
        return real_folder(base, path, listing=listing)

    def opened(path: bytes, *args: int, **named: int) -> int:
        if closed != "d" and path == b"a.txt":
            raise refused
        return real_open(path, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "folder", reached)
        patch.setattr(os, "open", opened)
        assert outcome(FileReader(unknown, marks), root, "d/a.txt") == result


def test_what_is_no_text_is_an_outcome(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "binary.dat").write_bytes(b"a\0b")
    (folder / "large.txt").write_bytes(b"x" * (POLICY.max_file_size + 1))
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("binary.dat")
    reader = FileReader(unknown, marks)
    assert outcome(reader, root, "binary.dat") == Skipped("binary")
    assert outcome(reader, root, "large.txt") == Skipped("too_large")
    assert outcome(reader, root, "pipe") == Skipped("special")
    assert outcome(reader, root, "link") == Skipped("symlink")
    assert outcome(reader, root, "gone.txt") == Gone()
    (folder / "folder.txt").mkdir()
    assert outcome(reader, root, "folder.txt") == Gone(), "a walk may have stored already what is in it"
    assert reader.files_read == 1


def test_known_content_is_a_job_only_by_force(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "a.txt").write_text("known\n")
    reader = FileReader(lambda *_: True, marks)
    assert outcome(reader, root, "a.txt") == Known()
    assert isinstance(found(reader, root, "a.txt", force=True), Job)


def test_a_forgotten_file_stays_out_until_it_changes(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "a.txt").write_text("secret plan\n")
    reader = FileReader(unknown, marks)
    first = found(reader, root, "a.txt")
    assert isinstance(first, Job)
    marks.add(root.path, [(b"a.txt", first.content_hash)])
    assert outcome(reader, root, "a.txt") == Skipped("forgotten")
    (folder / "a.txt").write_text("another plan\n")
    assert isinstance(found(reader, root, "a.txt"), Job)


def test_a_cancelled_work_is_not_read(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    (folder / "a.txt").write_text("a\n")
    (work,) = works(root, "a.txt")
    work.cancelled = True
    reader = FileReader(unknown, marks)
    assert reader.classify(work, POLICY) == Outcome(work, Gone())
    assert reader.files_read == 0


def test_a_fault_of_the_index_is_the_outcome_of_the_file(root: Root, folder: Path, marks: ForgottenFiles) -> None:
    def broken(_hash: bytes, _signature: bytes) -> bool:
        raise ValueError

    (folder / "a.txt").write_text("a\n")
    assert outcome(FileReader(broken, marks), root, "a.txt") == Failed("read", "ValueError")


def test_what_the_daemon_crashed_on_is_read_only_by_force(
    root: Root, folder: Path, marks: ForgottenFiles, tmp_path: Path
) -> None:
    (folder / "a.txt").write_text("a\n")
    crashes = Crashes(str(tmp_path))
    crashes.avoided = frozenset([root.absolute(b"a.txt")])
    reader = FileReader(unknown, marks, crashes)
    assert outcome(reader, root, "a.txt") == Failed("quarantined", AVOIDED)
    assert reader.files_read == 0
    assert isinstance(found(reader, root, "a.txt", force=True), Job)


def test_a_quarantine_is_void_for_another_plan_or_version(
    root: Root, folder: Path, marks: ForgottenFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("a\n")
    reader = FileReader(unknown, marks)
    job = found(reader, root, "a.txt")
    assert isinstance(job, Job)
    (work,) = works(root, "a.txt")
    work.row = bare_row(1, b"a.txt", job.stat, "failed", "quarantined: chunk: killed twice", 0.0)._replace(
        content_hash=job.content_hash, signature=code_version.failure_signature(job.plan.signature)
    )
    kept = reader.classify(work, POLICY)
    assert isinstance(kept, Outcome)
    assert kept.result == Failed("quarantined", "chunk: killed twice")
    assert kept.plan == job.plan
    other_plan = POLICY._replace(chunking=ChunkSettings(chunk_size=100, overlap=0))
    assert isinstance(reader.classify(work, other_plan), Job)
    monkeypatch.setattr(code_version, "OWN", b"of tomorrow")
    assert isinstance(reader.classify(work, POLICY), Job)
