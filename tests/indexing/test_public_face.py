"""What ``livedex_indexing`` exports, and the examples of docs/python.md."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import livedex_indexing
from helpers.support import CHECKOUT
from livedex_indexing import Hit, Index, SearchRequest
from livedex_ipc.errors import NotFound, OutsideRoots

EXAMPLES = re.findall(r"^```python\n(.*?)^```", (CHECKOUT / "docs" / "python.md").read_text(), re.M | re.S)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sea").mkdir(parents=True)
    (folder / "sea/walrus.md").write_text("# Sea\n\nThe walrus rests.\n")
    (folder / "land.txt").write_text("no such animal here\n")
    (folder / "blob").write_bytes(b"walrus\0\0\1")
    (folder / ".gitignore").write_text("left_out.txt\n")
    (folder / "left_out.txt").write_text("walrus\n")
    return folder


def test_the_exported_names() -> None:
    assert livedex_indexing.__all__ == ["Hit", "Index", "SearchAnswer", "SearchRequest", "Searcher", "Store"]
    assert all(getattr(livedex_indexing, name).__name__ == name for name in livedex_indexing.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = livedex_indexing.nothing


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, livedex_indexing; print([name for name in sys.modules if name.startswith('livedex_')])"
    reported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert reported.strip() == "['livedex_indexing']"


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example(
    code: str, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(notes.parent)
    exec(compile(code, "python.md", "exec"), {})
    assert bool(capsys.readouterr().out) == ("print(" in code), "an example that prints has something to print"


def test_a_file_that_had_just_changed_is_read_again_later(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that counts in whole seconds, or two, may show the same times after another write."""
    clock = time.time
    with Index(notes.parent / "index.db") as index:
        monkeypatch.setattr(time, "time", lambda: clock() + 1.5)
        files = index.add(notes).read
        monkeypatch.setattr(time, "time", lambda: clock() + 10)
        assert index.add(notes).read == files
        assert index.add(notes).read == 0


def test_an_index_follows_its_folder(notes: Path) -> None:
    with Index(notes.parent / "index.db") as index:
        assert index.add(notes).read >= 3
        (hit,) = index.search("walrus").hits
        assert isinstance(hit, Hit) and hit.relative_path == "sea/walrus.md"
        assert index.search(SearchRequest("walrus", mode="exact")).hits[0].start_line == 3
        assert [Path(file.path).name for file in index.files(status="skipped").files] == ["blob"]
        (notes / "sea/walrus.md").write_text("# Sea\n\nNothing but water.\n")
        assert index.search("walrus").hits == [], "no stale text"
        assert index.retrieve(notes / "sea/walrus.md") is None
        (notes / "land.txt").unlink()
        assert index.add(notes).removed == 1
        assert [hit.relative_path for hit in index.search("water").hits] == ["sea/walrus.md"]
        with pytest.raises(NotFound):
            index.retrieve(notes / "land.txt")
        with pytest.raises(OutsideRoots):
            index.search("walrus", path="/nowhere")
    with pytest.raises(NotADirectoryError), Index(notes.parent / "index.db") as index:
        index.add(notes / "sea/walrus.md")
