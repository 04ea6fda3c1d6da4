"""Changes to a folder, small and large, and what must follow: fresh answers, and no work done twice.

Invariant: after each change the next search is compared with that change, without a wait in between.
"""

from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.support import Tree

if TYPE_CHECKING:
    from livedex_ipc.client import Client

WAIT_MS = 60_000
NAMES = ("a.txt", "b.md", "d/c.py", "d/e/f.txt", "g.rst", "h.c")
_numbers = count()
_counting = threading.Lock()


def chunked(client: Client) -> int:
    """Return how many files were chunked since the daemon started; all changes so far are included."""
    assert client.call("sync", {"timeout_ms": 600_000})["synced"]
    number = client.call("status")["work"]["files_chunked"]
    assert isinstance(number, int)
    return number


def touch_all(root: Path) -> int:
    """Give every file a new time; return the number of files."""
    touched = 0
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            os.utime(os.path.join(folder, name), follow_symlinks=False)
            touched += 1
    return touched


def gather(tree: Tree, name: str) -> list[str]:
    """Move all folders of a root into one; return their names."""
    folders = sorted(path.name for path in tree.path.iterdir() if path.is_dir() and path.name != ".git")
    for folder in folders:
        tree.rename(folder, f"{name}/{folder}")
    return folders


def commit_another_branch(tree: Tree, branch: str, share: int = 10) -> int:
    """Commit a branch and leave it checked out: every n-th tracked file and every document differs there, one file is
    removed and one is moved.

    Return how many files were written.
    """
    tree.git("checkout", "-qb", branch)
    command = ["git", "-C", str(tree), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
    files = [path for name in listed if name and (path := tree / os.fsdecode(name)).is_file() and not path.is_symlink()]
    written = [path for number, path in enumerate(files) if number % share == 0 or path.suffix == ".html"]
    for path in written:
        with path.open("ab") as file:
            file.write(f"\nwords of {branch} in {path.name}\n".encode("utf-8", "replace"))
    files[1].unlink()
    files[2].rename(files[2].with_name(f"moved_{files[2].name}"))
    tree.git("add", "-A")
    tree.git("commit", "-qm", branch)
    return len(written)


def new_word() -> str:
    """Return a word that is in no other file. Its number keeps it from looking like a misspelling of another one."""
    with _counting:
        number = next(_numbers) + 26**4
    letters = ""
    while number:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return f"zq{letters}7zq"


def rounds(client: Client, tree: Tree, number: int, *, seed: int) -> list[str]:
    """Write, rename and delete files, and search for each change at once; return the answers that were wrong."""
    player = _Player(client, tree, random.Random(seed))
    for _ in range(number):
        player.play()
    return player.wrong


class _Player:
    """Changes the files of one folder and records the content of each."""

    def __init__(self, client: Client, tree: Tree, chance: random.Random) -> None:
        self._client = client
        self._tree = tree
        self._chance = chance
        self._holds: dict[str, str] = {}
        self.wrong: list[str] = []

    def play(self) -> None:
        action = self._chance.choice(["write", "write", "save", "rename", "delete"]) if self._holds else "write"
        expected: list[tuple[str, str | None]]
        if action in ("write", "save"):
            name, word = self._chance.choice(NAMES), new_word()
            old = self._holds.get(name)
            (self._tree.save if action == "save" else self._tree.write)(name, f"some words and {word}\n")
            self._holds[name] = word
            expected = [(word, name)] if old is None else [(word, name), (old, None)]
        else:
            name = self._chance.choice(sorted(self._holds))
            word = self._holds.pop(name)
            new = f"{new_word()}.txt" if action == "rename" else None
            if new is None:
                self._tree.remove(name)
            else:
                self._tree.rename(name, new)
                self._holds[new] = word
            expected = [(word, new)]
        reported = [fault for word, place in expected if (fault := self._fault(word, place)) is not None]
        if reported:
            self.wrong.append(f"{action} {name}: {reported}")

    def _fault(self, word: str, place: str | None) -> str | None:
        answer = self._client.call("search", {"query": word, "path": str(self._tree), "timeout_ms": WAIT_MS})
        found = [hit["path"] for hit in answer["hits"]]
        wanted = [] if place is None else [str(self._tree / place)]
        if found == wanted and answer["fresh"]:
            return None
        return f"{word} is in {found}, not {wanted}; fresh {answer['fresh']} {answer.get('reason')}"


def at_once(
    connect: Callable[[], AbstractContextManager[Client]], work: Sequence[Callable[[Client], list[str]]]
) -> list[str]:
    """Run all the functions at the same time, each with its own connection; return their results."""
    results: list[str] = []

    def run(one: Callable[[Client], list[str]]) -> None:
        try:
            with connect() as client:
                results.extend(one(client))
        except BaseException as error:
            results.append(repr(error))

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
