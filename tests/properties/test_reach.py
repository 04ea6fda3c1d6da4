"""Everything that a change affects is within its reach, on random trees of rule files, repositories and markers.

Invariant: the truth is a set of rules that was read again; only paths within `reach` of the change may get another
verdict.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.ignore.rules import RuleTree, reach
from livedex_indexing.relpath import is_within

FOLDERS = ["", "a", "a/target", "a/target/b", "a/build", "b", "b/out", "b/out/a"]
FILES = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in ("x.txt", "y.log")]
ENTRIES = ["x.txt", ".gitignore", ".livedexignore", ".git", "Cargo.toml", "package.json", "CACHEDIR.TAG"]
PATTERNS = ["*.log\n", "x.*\n", "target/\n", "/a/\n", "!*.log\n", "build\n", ""]
EDITS = st.lists(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(ENTRIES), st.sampled_from(["gone", *PATTERNS])),
    min_size=1,
    max_size=8,
)


def verdicts(root: Path) -> dict[bytes, bool]:
    rules = RuleTree(os.fsencode(root), environ={})
    files = {os.fsencode(path): rules.explain(os.fsencode(path), False) is None for path in FILES}
    return files | {os.fsencode(path): rules.explain(os.fsencode(path), True) is None for path in FOLDERS if path}


def edit(path: Path, text: str) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    elif text == "gone":
        path.unlink(missing_ok=True)
    elif path.name == ".git":
        path.mkdir()
    else:
        path.write_text(text)


@given(EDITS)
def test_only_what_is_reached_is_judged_otherwise(edits: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for below in FOLDERS:
            (root / below).mkdir(exist_ok=True)
        before = verdicts(root)
        for below, name, text in edits:
            edit(root / below / name, text)
            after = verdicts(root)
            reached = reach(os.fsencode(os.path.normpath(f"{below}/{name}").lstrip("/")))
            changed = [path for path in after if after[path] is not before[path]]
            assert [path for path in changed if not is_within(path, reached)] == [], (below, name, text)
            before = after
