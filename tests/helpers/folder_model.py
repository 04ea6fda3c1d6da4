"""What the state machine of the system tests stands on: one daemon for all histories, and the model of a folder.

Invariant: the model is changed only beside the change of the disk that it stands for.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.support import Daemon, Home, Tree, add_root, end_process, remove_tree, temporary_home, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

AT_ONCE = 50  # words in one query: of more than 64 only the rarest count
_numbers = count(1)

# Nothing is denied to root: without these two capabilities the permission bits count for it too.
HUMBLE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
CAN_DENY = not HUMBLE or shutil.which("setpriv") is not None

IGNORE_PATTERNS = ["*.md\n", "x/\n", "/a.txt\n", "*.txt\n!a.txt\n", ""]


def next_number() -> int:
    return next(_numbers)


def new_word() -> str:
    """A word that stands nowhere else."""
    return f"qz{next(_numbers)}qz"


class Shared:
    """One daemon for all histories: each history has a folder of its own in the one root."""

    context: Any = None
    home: Home
    daemon: Daemon
    base: Path
    steps = 0
    histories = 0

    @classmethod
    def open(cls) -> None:
        cls.context = temporary_home()
        cls.home = cls.context.__enter__()
        cls.base = Path(tempfile.mkdtemp(prefix="ldx-tree-", dir=os.path.realpath("/tmp")))
        (cls.base / "stays.txt").write_text("a root that was found empty at a start would not be believed\n")
        cls.daemon = Daemon(cls.home, wrap=HUMBLE if CAN_DENY else ()).start()
        with cls.daemon.client() as client:
            add_root(client, cls.base)

    @classmethod
    def close(cls) -> None:
        if cls.daemon.running():
            end_process(cls.daemon.pid)
        cls.context.__exit__(None, None, None)
        remove_tree(cls.base)


class File(NamedTuple):
    word: str  # stands in no other file
    text: str  # all that the file holds


class Model:
    """What must be found where. ``touched``: words to ask for after this step, ``gone``: those that are no more."""

    def __init__(self, folder: Tree) -> None:
        self.folder = folder
        self.files: dict[str, File] = {}
        self.touched: list[str] = []
        self.gone: list[str] = []
        self.rules = ""  # what the ignore file holds

    def put(self, path: str, word: str, text: str) -> None:
        if path in self.files:
            self.gone.append(self.files[path].word)
        self.files[path] = File(word, text)
        self.touched.append(path)

    def drop(self, path: str) -> None:
        self.gone.append(self.files.pop(path).word)

    def below(self, folder: str) -> list[str]:
        return [path for path in self.files if path.startswith(folder + "/")]

    def move(self, old: str, new: str) -> None:
        """A file, or a folder with all below it."""
        for path in [old] if old in self.files else self.below(old):
            self.files[new + path[len(old) :]] = self.files.pop(path)
            self.touched.append(new + path[len(old) :])

    def make_way(self, path: str) -> None:
        """Whatever stands where a file or folder is to be made goes first, on the disk too."""
        for parent in Path(path).parents:
            above = self.folder / str(parent)
            if str(parent) != "." and os.path.lexists(above) and not above.is_dir():
                self.remove(str(parent))
        if os.path.lexists(self.folder / path):
            self.remove(path)

    def remove(self, path: str) -> None:
        self.folder.remove(path)
        for below in [path] if path in self.files else self.below(path):
            self.drop(below)

    def is_ignored(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return {
            "*.md\n": name.endswith(".md"),
            "x/\n": "x" in path.split("/")[:-1],
            "/a.txt\n": path == "a.txt",
            "*.txt\n!a.txt\n": name.endswith(".txt") and name != "a.txt",
        }.get(self.rules, False)

    def check(self, client: Client) -> None:
        """Fresh searches for every word that the last step touched give what the model has, and nothing else."""
        wanted = {
            self.files[path].word: path for path in self.touched if path in self.files and not self.is_ignored(path)
        }
        hidden = [self.files[path].word for path in self.touched if path in self.files and self.is_ignored(path)]
        words = [*dict.fromkeys([*wanted, *hidden, *self.gone])]
        for start in range(0, len(words), AT_ONCE):
            asked = words[start : start + AT_ONCE]
            expected = {path: word for word, path in wanted.items() if word in asked}
            assert self.found(client, asked) == expected, f"asked for {asked}"
        self.touched, self.gone = [], []

    def found(self, client: Client, words: list[str]) -> dict[str, str]:
        """Path to word of what a fresh search finds; each hit's text must be a piece of the file's one text."""
        answer = wait_until(
            lambda: settled_answer(client, " ".join(words)), 120, what="an answer that is not unsettled"
        )
        assert answer is not None and answer["fresh"], answer
        found = {}
        for hit in answer["hits"]:
            path = hit["relative_path"].removeprefix(self.folder.path.name + "/")
            found[path] = next(word for word in words if word in hit["snippet"])
            if path in self.files:
                assert hit["snippet"] in self.files[path].text, hit
        return found


def settled_answer(client: Client, query: str) -> dict[str, Any] | None:
    """None where a file could not be read in one state just now: that is said, and it may be asked again."""
    ask = {"query": query, "timeout_ms": 60_000, "limit": 200, "group": "file"}
    answer: dict[str, Any] = client.call("search", ask)
    return None if answer.get("reason") == "unsettled" else answer
