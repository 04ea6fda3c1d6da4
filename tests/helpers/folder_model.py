"""The base of the state machine test: one daemon for all histories, and a model of a folder.

Invariant: the model changes only together with the disk.
"""

from __future__ import annotations

import os
import random
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.machine_state import MachineState, wrapped
from helpers.support import Daemon, Home, Tree, add_root, remove_tree, temporary_home, wait_until
from livedex_indexing.ignore.rules import RuleTree

if TYPE_CHECKING:
    from livedex_ipc.client import Client

AT_ONCE = 50  # words in one query: of more than 64 only the rarest count
MOST_EXACT = 6  # words, each in a search of its own
WAYS = ["words", "words", "typing", "regex", "exact", "files"]
_numbers = count(1)

IGNORE_PATTERNS = ["*.md\n", "x/\n", "/a.txt\n", "*.txt\n!a.txt\n", "y/\n!*.md\n", "/w*/\n", ""]
SCOPES = [None, None, None, "", "x", "x/y", "x/y/z", "x/target", "w", "w w", "repo", "repo/m1", "m2"]


def next_number() -> int:
    return next(_numbers)


def new_word() -> str:
    """Return a word that is in no other file."""
    return f"qz{next(_numbers)}qz"


def are_apart(one: str, other: str) -> bool:
    """Whether neither path is the other one or lies below it."""
    return one != other and not one.startswith(other + "/") and not other.startswith(one + "/")


class Shared:
    """One daemon for all histories: each history has its own folder in the one root."""

    context: Any = None
    home: Home
    daemon: Daemon
    base: Path
    machine: MachineState
    steps = 0
    histories = 0

    @classmethod
    def open(cls) -> None:
        cls.context = temporary_home()
        cls.home = cls.context.__enter__()
        cls.base = Path(tempfile.mkdtemp(prefix="ldx-tree-", dir=os.path.realpath("/tmp")))
        (cls.base / "stays.txt").write_text("a root that was found empty at a start would not be believed\n")
        cls.machine = MachineState(cls.home)
        cls.daemon = Daemon(cls.home, wrap=wrapped(), **cls.machine.environment(cls.home)).start()
        with cls.daemon.client() as client:
            add_root(client, cls.base)

    @classmethod
    def close(cls) -> None:
        if cls.daemon.running():
            cls.daemon.stop()
        cls.context.__exit__(None, None, None)
        remove_tree(cls.base)


class File(NamedTuple):
    word: str  # in no other file
    text: str  # the whole content of the file


class Scope(NamedTuple):
    """The scope of a search: ``path`` of the folder and below, None for everywhere; and the outer root, the inner one,
    or both.
    """

    path: str | None = None
    roots: str = "all"


EVERYWHERE = Scope()


class Model:
    """What must be found where.

    ``touched``: words to search for after this step, ``gone``: those that were removed. ``inner``: whether the folder
    is itself a root. The rules are read from the disk each time.
    """

    def __init__(self, folder: Tree, seed: int) -> None:
        self.folder = folder
        self.files: dict[str, File] = {}
        self.touched: list[str] = []
        self.gone: list[str] = []
        self.inner = False
        self._chance = random.Random(seed)

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
        """A file, or a folder and everything below it."""
        for path in [old] if old in self.files else self.below(old):
            self.files[new + path[len(old) :]] = self.files.pop(path)
            self.touched.append(new + path[len(old) :])

    def make_way(self, path: str) -> None:
        """Remove whatever is at the path of a new file or folder, on the disk too."""
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

    def touch_all(self) -> None:
        """The rules may have changed for every file."""
        self.touched = list(self.files)

    def let_in(self, paths: list[str]) -> set[str]:
        root = self.folder.path if self.inner else self.folder.path.parent
        rules = RuleTree(os.fsencode(root), environ=Shared.home.env)
        real = {path: os.fsencode(os.path.relpath(self.folder / path, root)) for path in paths}
        return {path for path in paths if rules.explain(real[path], False) is None}

    def reaches(self, scope: Scope, path: str) -> bool:
        if scope.roots != "all" and (scope.roots == "inner") is not self.inner:
            return False
        return not scope.path or path == scope.path or path.startswith(scope.path + "/")

    def check(self, client: Client) -> None:
        """Search for every word that the last steps touched, fresh and in a random scope, and compare with the model.

        Words outside the scope are searched for after a later step.
        """
        roots = ["all", "all", "all", "inner", "outer"] if self.inner else ["all"]
        scope = Scope(self._chance.choice(SCOPES), self._chance.choice(roots))
        touched = [path for path in dict.fromkeys(self.touched) if path in self.files]
        words = [*dict.fromkeys([*(self.files[path].word for path in touched), *self.gone])]
        for start in range(0, len(words), AT_ONCE):
            asked = words[start : start + AT_ONCE]
            inside = [path for path, file in self.files.items() if file.word in asked and self.reaches(scope, path)]
            expected = {path: self.files[path].word for path in self.let_in(inside)}
            found = self.found(client, asked, scope)
            assert found == expected, f"asked for {asked} in {scope}, inner: {self.inner}"
        everywhere = scope == EVERYWHERE
        self.touched = [] if everywhere else [path for path in touched if not self.reaches(scope, path)]
        self.gone = [] if everywhere else self.gone[-AT_ONCE:]

    def copies_of(self, path: str) -> list[str]:
        """Return the other files with the text of a file."""
        text = self.files[path].text
        return [other for other, file in self.files.items() if other != path and file.text == text]

    def found(self, client: Client, words: list[str], scope: Scope = EVERYWHERE) -> dict[str, str]:
        """Return path to word for what a fresh search finds, asked in one of many ways. The text of a hit must be a
        piece of the file's text, and its line one of the file's lines. A file that the model does not have, and of
        which only the path is found, has the first word.
        """
        asked: dict[str, Any] = {}
        if scope.path is not None and scope.roots != "outer":  # no file is in both
            asked["path"] = str(self.folder / scope.path)
        if scope.roots != "all":
            asked["roots"] = [str(self.folder if scope.roots == "inner" else self.folder.path.parent)]
        way = self._chance.choice(WAYS)
        found = {}
        if way == "files":
            answer = settled(client, "search/files", {**asked, "query": "|".join(words), "mode": "regex"})
            for file in answer["files"]:
                path = os.path.relpath(file["path"], self.folder.path)
                found[path] = self.files[path].word if path in self.files else words[0]
            return found
        for params in queries(way, words):
            answer = settled(client, "search", {**asked, **params, "limit": 200})
            for hit in answer["hits"]:
                for path in (hit["path"], *hit.get("also_at", [])):
                    name = os.path.relpath(path, self.folder.path)
                    found[name] = self._word_of(hit, name, words)
        return found

    def _word_of(self, hit: dict[str, Any], name: str, words: list[str]) -> str:
        """Return the word that a hit shows of a file."""
        word = next(word for word in words if word in hit["snippet"])
        if name in self.files:
            text = self.files[name].text
            assert text.encode()[hit["snippet_byte"] :].startswith(hit["snippet"].encode()), hit
            assert text.split("\n")[hit["line"] - 1].startswith(hit["text"]), hit
        return word


def queries(way: str, words: list[str]) -> list[dict[str, Any]]:
    """Return the searches that find the words together."""
    if way == "regex":
        return [{"query": "|".join(words), "mode": "regex"}]
    if way == "exact" and len(words) <= MOST_EXACT:
        return [{"query": word, "mode": "exact"} for word in words]
    return [{"query": " ".join(words), "typing": way == "typing", "group": "file"}]


def settled(client: Client, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return a fresh answer."""
    answer = wait_until(lambda: settled_answer(client, method, params), 120, what="an answer that is not unsettled")
    assert answer is not None and answer["fresh"], answer
    return answer


def settled_answer(client: Client, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return None if a file could not be read in one state just now: the answer says so, and the search may be
    repeated.
    """
    answer: dict[str, Any] = client.call(method, {**params, "timeout_ms": 60_000})
    return None if answer.get("reason") == "unsettled" else answer
