"""Nothing is dropped in silence: what is on disk, what git lists and what ripgrep finds is what livedex has."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from livedex_ipc.client import Client
from support import CHECKOUT, Tree, add_root, found

TOKENS = 60
SEED = 11
IGNORE_FILES = (".gitignore", ".livedexignore", ".ignore")


def listed(client: Client, root: Path) -> dict[str, str]:
    """Every file of a root by its relative path, with its status; all pages."""
    files: dict[str, str] = {}
    while True:
        page = client.call("files/list", {"root": str(root), "limit": 1000, "offset": len(files), "timeout_ms": 20_000})
        for file in page["files"]:
            files[os.path.relpath(file["path"], root)] = file["status"]
        if len(files) >= page["total"]:
            return files


@pytest.mark.needs("git")
def test_this_checkout_holds_what_git_lists(client: Client) -> None:
    """Less what is tracked though ignored, the ignore files, and what `why` ascribes to a rule of livedex's own."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a git checkout")
    add_root(client, CHECKOUT)

    def git(*words: str) -> set[str]:
        command = ["git", "-C", str(CHECKOUT), "ls-files", "-z", *words]
        names = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
        return {os.fsdecode(name) for name in names if name}

    expected = git("-co", "--exclude-standard") - git("-ci", "--exclude-standard")
    expected = {name for name in expected if (CHECKOUT / name).exists() and Path(name).name not in IGNORE_FILES}
    have = set(listed(client, CHECKOUT))
    for name in expected - have:
        answer = client.call("files/explain", {"path": str(CHECKOUT / name)})
        assert answer["rule"]["file"] == "built-in", answer
    assert have <= expected


def test_every_entry_is_accounted_for(tree: Tree, client: Client) -> None:
    tree.write("text.txt", "words\n")
    tree.write("empty.txt")
    tree.write("picture.dat", b"\x00\x01\x02" * 100)
    tree.write("large.txt", b"x" * (9 << 20))
    tree.write(".env", "SECRET=1\n")
    (tree / "link.txt").symlink_to("text.txt")
    os.mkfifo(tree / "pipe")
    os.mkdir(tree / "folder")
    add_root(client, tree)
    files = client.call("files/list", {})["files"]
    told = {Path(file["path"]).name: (file["status"], file.get("reason")) for file in files}
    assert told == {
        "text.txt": ("indexed", None),
        "empty.txt": ("indexed", None),
        "picture.dat": ("skipped", "binary"),
        "large.txt": ("skipped", "too_large"),
        "link.txt": ("skipped", "symlink"),
        "pipe": ("skipped", "special"),
    }
    status = client.call("status")
    assert status["files"] + status["skipped"] + status["failed"] == len(files)
    assert client.call("files/explain", {"path": str(tree / ".env")})["status"] == "ignored"


@pytest.mark.needs("rg")
def test_words_are_found_where_ripgrep_finds_them(client: Client) -> None:
    """Every file that holds a word by ripgrep's rules is found; any other holds another form of it."""
    folder = CHECKOUT / "indexing"
    add_root(client, folder)
    words = set()
    for path in folder.rglob("*.py"):
        words.update(re.findall(r"(?<![\w.-])[a-z]{5,12}(?![\w.-])", path.read_text()))
    chosen = random.Random(SEED).sample(sorted(words), TOKENS)
    for word in chosen:
        command = ["rg", "-l", "-w", "-F", "-i", "--hidden", word, "."]
        printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
        expected = {os.path.normpath(name) for name in printed.splitlines()}
        have = set(found(client, f'"{word}"', group="file"))
        assert expected <= have, word
        for name in have - expected:
            text = (folder / name).read_text().lower() + name.lower()
            assert word[:4] in text, f"{name} does not hold {word} in any form"
