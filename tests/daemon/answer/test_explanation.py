"""Why a path is not in the index: what it costs to say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.fakes import online_root
from livedex_daemon.answer import explanation
from livedex_indexing.ignore.folder_rules import DirRules
from livedex_indexing.ignore.rules import RuleTree


@pytest.mark.parametrize(("parts", "folders"), [(100, 101), (2_500, 0)])
def test_a_long_path_to_nothing_needs_no_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int, folders: int
) -> None:
    """There would be rules for each of its folders, and each is made from the whole path."""
    made: set[bytes] = set()
    folder_rules = RuleTree.rules

    def rules(self: RuleTree, rel_dir: bytes) -> DirRules:
        made.add(rel_dir)
        return folder_rules(self, rel_dir)

    monkeypatch.setattr(RuleTree, "rules", rules)
    root = online_root(os.fsencode(tmp_path))
    found = explanation.explain(root, b"a/" * parts + b"f.txt", None, None)
    assert (found["status"], found["reason"]) == ("outside", "there is no such file")
    assert len(made) == folders
