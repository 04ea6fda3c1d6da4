"""Why a path is or is not in the index, and what it costs to say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.fakes import online_root
from helpers.support import Tree
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


@pytest.mark.parametrize(
    ("path", "status", "line"),
    [
        ("keep.log", "pending", 2),
        ("a.lock", "pending", 3),  # a default shuts it out
        ("other.log", "ignored", 1),
        ("plain.txt", "pending", None),
        ("shut/keep.log", "ignored", 4),  # its folder is shut out
        ("sub/keep.log", "pending", 2),
        ("sub", "indexed", 5),
        ("sub/plain.txt", "pending", None),  # the pattern is one for its folder
        ("none/keep.log", "outside", None),
        ("", "indexed", None),
    ],
)
def test_the_pattern_that_decided_is_named(tmp_path: Path, path: str, status: str, line: int | None) -> None:
    Tree(tmp_path).write_all(
        {
            ".gitignore": "*.log\n!keep.log\n!a.lock\n/shut/\n!/sub/\n",
            **dict.fromkeys(("keep.log", "other.log", "a.lock", "plain.txt"), "walrus\n"),
            **dict.fromkeys(("shut/keep.log", "sub/keep.log", "sub/plain.txt"), "walrus\n"),
        }
    )
    found = explanation.explain(online_root(os.fsencode(tmp_path)), os.fsencode(path), None, None)
    assert found["status"] == status
    if line is None:
        assert found["rule"] is None
    else:
        pattern = ("*.log", "!keep.log", "!a.lock", "/shut/", "!/sub/")[line - 1]
        assert found["rule"] == {"file": str(tmp_path / ".gitignore"), "line": line, "pattern": pattern}


def test_a_secret_that_the_users_own_rule_lets_in_names_it(tmp_path: Path) -> None:
    Tree(tmp_path).write_all({".env": "walrus\n", ".gitignore": "!.env\n"})
    root = online_root(os.fsencode(tmp_path))
    root.rules = RuleTree(os.fsencode(tmp_path), ["!.env"], user_file="config.toml", user_lines=[3])
    assert explanation.explain(root, b".env", None, None)["rule"] == {
        "file": "config.toml",
        "line": 3,
        "pattern": "!.env",
    }
