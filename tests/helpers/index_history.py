"""Random changes of a folder that is indexed: writes, copies, renames back, removals, roots that are added anew.

Invariant: the same seed gives the same history.
"""

from __future__ import annotations

import random
from pathlib import Path

from helpers.indexed_folder import Indexed

ROOTS = ("one", "two")
WORDS = [
    "apple", "apples", "applet", "cherry", "walrus", "zither", "either", "wither", "load_file", "loadFile", "LoadFile",
    "file", "loader", "readers", "the", "url_for", "run", "running", "alpha_beta", "AlphaBeta", "12", "x1", "größe",
    "C++", "foo.bar", "foo->bar", "naïve", "tests", "test", "config",
]  # fmt: skip
SUFFIXES = ("py", "md", "txt")
QUERIES = (
    "{0}", "{0} {1}", '"{0}"', '"{0} {1}"', "{0} -{1}", "{2}*", "{3}", "{0} lang:python", "{0} path:a", "{0} {1} {4}",
)  # fmt: skip


class IndexHistory:
    """Random changes of a folder that is indexed; ``chance`` decides them."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._chance = chance
        self.index = Indexed(folder, ROOTS)
        self.files: dict[str, str] = {}
        self._written: list[str] = []

    def go_on(self) -> None:
        chance, index = self._chance, self.index
        for _ in range(chance.choice((1, 5, 25))):
            self._change_a_file()
        if chance.random() < 0.15:
            self._replace_a_root()
        if chance.random() < 0.3:
            index.store.maintain(chance.choice((0.0, 0.001, 1.0)), keep_s=chance.choice((86_400.0, 0.0)))
        for _ in range(3):
            index.ask(self.query())

    def remove_most(self) -> None:
        """Remove files until three are left: most words are now in removed ones alone."""
        while len(self.files) > 3:
            self._remove_a_file()

    def query(self) -> str:
        first, second, third = self._chance.choices(WORDS, k=3)
        at = self._chance.randrange(len(first))
        misspelt = first[:at] + self._chance.choice("abcz") + first[at + 1 :]
        return self._chance.choice(QUERIES).format(first, second, first[: max(2, at)], misspelt, third)

    def _change_a_file(self) -> None:
        chance, index = self._chance, self.index
        if self.files and chance.random() < 0.4:
            self._remove_a_file()
            return
        suffix = chance.choice(SUFFIXES)
        name = chance.choice(("load_file", "zither", "test_x", "readme", "a", "b"))
        path = f"{chance.choice(ROOTS)}/{chance.choice(('', 'a/', 'a/b/'))}{name}.{suffix}"
        same = [text for text in self._written if text.endswith(f"\n{suffix}\n")]
        # What is written twice is one content, which another file has or had.
        text = chance.choice(same) if same and chance.random() < 0.3 else self._text(suffix)
        self._written.append(text)
        self.files[path] = text
        index.write(path, text)

    def _remove_a_file(self) -> None:
        path = self._chance.choice(list(self.files))
        del self.files[path]
        (self.index.folder / path).unlink()
        root_id, rel = self.index.root_of(path)
        self.index.store.remove_files(root_id, [rel], forget=self._chance.random() < 0.5)

    def _text(self, suffix: str) -> str:
        lines = [" ".join(self._chance.choices(WORDS, k=self._chance.choice((1, 4, 8)))) for _ in range(15)]
        return "\n".join((*lines[: self._chance.choice((1, 3, 15))], f"def {lines[0].split()[0]}()", suffix, ""))

    def _replace_a_root(self) -> None:
        name, index = self._chance.choice(ROOTS), self.index
        (root_id,) = (root_id for root_id, path in index.roots.items() if path.endswith(name.encode()))
        index.store.drop_root(root_id)
        del index.roots[root_id]
        for path in [path for path in self.files if path.startswith(name)]:
            del self.files[path]
            (index.folder / path).unlink()
        found = (index.folder / name).stat()
        root = bytes(index.folder / name)
        index.roots[index.store.put_root(root, found.st_dev, found.st_ino)] = root
