"""A chunking child whose system fails for a moment, as a disk or a limit of descriptors may."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess
from livedex_indexing.model import ChunkedContent

FAILS_ONCE = """
import sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    import os
    from livedex_indexing.chunk import chunker
    whole = chunker.chunk_content
    def chunk_content(*words, **named):
        if not os.path.exists({0!r}):
            open({0!r}, "w").close()
            raise {1}("secret")
        return whole(*words, **named)
    chunker.chunk_content = chunk_content
"""


@pytest.mark.parametrize("error", ["ModuleNotFoundError", "OSError"])
def test_what_it_cannot_load_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    for name, value in with_code(tmp_path / "seam", FAILS_ONCE.format(str(tmp_path / "failed"), error)).items():
        monkeypatch.setenv(name, value)
    job = ChunkJob(b"a.txt", b"words\n", ChunkSettings())
    with closing(ChunkProcess(nice=0)) as process:
        (failed,) = process.chunk([job], 60)
        assert isinstance(failed, ChunkFailure)
        assert (failed.stage, "secret" in failed.message) == ("read", False)
        (content,) = process.chunk([job], 60)
        assert isinstance(content, ChunkedContent)


# The import looks in vain at paths with this end, until the child has taken note of that.
NOT_SEEN = """
import sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    import importlib, posix
    whole, noted, notes = posix.stat, importlib.invalidate_caches, []
    def failing(path):
        if not notes and {0!r} in str(path):
            raise OSError(5, "no")
        return whole(path)
    def invalidate_caches():
        notes.append(True)
        noted()
    posix.stat, importlib.invalidate_caches = failing, invalidate_caches
"""


@pytest.mark.parametrize("path", ["tree_sitter_python", "tree_sitter_python/__init__.py"])
def test_a_grammar_that_was_not_seen_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    for name, value in with_code(tmp_path / "seam", NOT_SEEN.format(path)).items():
        monkeypatch.setenv(name, value)
    job = ChunkJob(b"a.py", b"def zebra():\n    pass\n", ChunkSettings())
    with closing(ChunkProcess(nice=0)) as process:
        (failed,) = process.chunk([job], 60)
        assert isinstance(failed, ChunkFailure)
        assert failed.stage == "read"
        (content,) = process.chunk([job], 60)
        assert isinstance(content, ChunkedContent)
        assert [chunk.symbol for chunk in content.chunks] == ["zebra"]
