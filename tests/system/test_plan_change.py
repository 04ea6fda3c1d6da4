"""The daemon is killed while every file is chunked again: each file has old or new chunks, and the work continues."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from helpers.fault_injection import SETTLES_AT_ONCE, with_code
from helpers.rebuild_oracle import assert_as_rebuilt, logical
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_indexing.chunk import chunk_plan

KILLS = int(os.environ.get("LIVEDEX_PLAN_KILLS", "3"))
FILES = 150
_CUT = "SELECT count(*) FROM files WHERE content_id IN (SELECT id FROM contents WHERE signature = ?)"
SIZES = (2048, 300)  # characters of a chunk, in turn


def settle_on(home: Home, tree: Tree, size: int) -> bytes:
    """Save the configuration; return the signature that every file has once it is applied."""
    beside = home.path / "config.new"
    beside.write_text(f'[[roots]]\npath = "{tree}"\n[chunking]\nchunk_size = {size}\n')
    beside.rename(home.config)
    return chunk_plan.choose(b"f.txt", b"word", chunk_plan.ChunkSettings(chunk_size=size)).signature


def cut_again(index: Path, signature: bytes) -> int:
    """Return how many files have that signature, as any other program can see it now."""
    db = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(db.execute(_CUT, (signature,)).get)
    finally:
        db.close()


def assert_each_is_cut_one_way(index: Path, sizes: dict[bytes, int]) -> None:
    """Every file's chunks are those of its own signature: they tile it, and are no longer than that permits."""
    found = logical(index)
    ends: dict[tuple[bytes, bytes], int] = {}
    for content_hash, signature, _ordinal, _kind, _language, start, end, *_ in found["chunks"]:
        assert start == ends.get((content_hash, signature), 0), "the chunks tile the file"
        assert end - start <= sizes[signature]
        ends[content_hash, signature] = end
    for _status, _reason, size, _mtime, _ctime, _ino, content_hash, signature, *_ in found["files"].values():
        assert ends[content_hash, signature] == size


@pytest.mark.timeout(60 + 20 * KILLS)
def test_killed_while_everything_is_cut_again(
    home: Home, tree: Tree, start_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    for number in range(FILES):
        tree.write(f"d{number % 10}/f{number}.txt", "".join(f"word{number} line {line}\n" for line in range(200)))
    signatures = [settle_on(home, tree, size) for size in reversed(SIZES)][::-1]
    sizes = dict(zip(signatures, SIZES, strict=True))
    index = home.data / "index.db"
    daemon = start_daemon(**with_code(tmp_path / "seam", SETTLES_AT_ONCE))
    wait_until(lambda: cut_again(index, signatures[0]) == FILES, 60, what="the first index")
    for number in range(KILLS):
        target = settle_on(home, tree, SIZES[(number + 1) % 2])
        already = cut_again(index, target)
        with daemon.client() as client:
            client.call("server/reload")
            enough = already + (FILES - already) * number // KILLS
            wait_until(lambda: cut_again(index, target) >= enough, 60, what="progress")  # noqa: B023
        daemon.kill()
        assert_each_is_cut_one_way(index, sizes)
        left = FILES - cut_again(index, target)
        daemon.start()
        with daemon.client() as client:
            assert client.call("sync", {"timeout_ms": 60_000})["synced"]
            assert client.call("status")["work"]["files_chunked"] <= left, "what was done is not done again"
        assert cut_again(index, target) == FILES
    assert_as_rebuilt(daemon)
