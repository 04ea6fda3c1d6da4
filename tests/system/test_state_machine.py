"""A random history of a folder, held against a model after every step: the index says what the model says, always.

The model is a map of paths to words. Each file holds one word that stands nowhere else, so a search for it must give
the path exactly while the model has it.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from support import Daemon, Home, Tree, add_root, end_process, remove_tree, temporary_home, wait_until

EXAMPLES = int(os.environ.get("LIVEDEX_HISTORIES", "12"))
STEPS = int(os.environ.get("LIVEDEX_STEPS", "40"))

NAMES = st.sampled_from(["a.txt", "b.md", "c.py", "d e.txt", "é.rst", "F.txt"])
FOLDERS = st.sampled_from(["", "x", "x/y", "x/y/z", "w", "w w"])
_numbers = count(1)


def new_word() -> str:
    return "qz" + "".join(chr(ord("a") + int(digit)) for digit in str(next(_numbers))) + "qz"


class Shared:
    """One daemon for all histories: each history has a root of its own folder inside."""

    context: Any = None
    home: Home
    daemon: Daemon
    base: Path

    @classmethod
    def open(cls) -> None:
        cls.context = temporary_home()
        cls.home = cls.context.__enter__()
        cls.base = Path(tempfile.mkdtemp(prefix="ldx-tree-", dir=os.path.realpath("/tmp")))
        (cls.base / "stays.txt").write_text("a root that was found empty at a start would not be believed\n")
        cls.daemon = Daemon(cls.home).start()
        with cls.daemon.client() as client:
            add_root(client, cls.base)

    @classmethod
    def close(cls) -> None:
        if cls.daemon.running():
            end_process(cls.daemon.pid)
        cls.context.__exit__(None, None, None)
        remove_tree(cls.base)


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.model: dict[str, str] = {}
        self.gone: list[str] = []
        self.changed: list[str] = []
        self.ignored: set[str] = set()

    @initialize()
    def begin(self) -> None:
        self.folder = Tree(Shared.base / f"h{next(_numbers)}")
        self.outside = Path(tempfile.mkdtemp(prefix="ldx-out-", dir=os.path.realpath("/tmp")))
        self.client = Shared.daemon.client()

    def teardown(self) -> None:
        if hasattr(self, "client"):
            self.client.close()
            shutil.rmtree(self.folder.path, ignore_errors=True)
            shutil.rmtree(self.outside, ignore_errors=True)

    # -- helpers

    def path(self, folder: str, name: str) -> str:
        return f"{folder}/{name}" if folder else name

    def put(self, path: str, word: str) -> None:
        if path in self.model:
            self.gone.append(self.model[path])
        self.model[path] = word
        self.changed.append(path)

    def drop(self, path: str) -> None:
        self.gone.append(self.model.pop(path))

    def below(self, folder: str) -> list[str]:
        return [path for path in self.model if path.startswith(folder + "/")]

    def move(self, old: str, new: str) -> None:
        for path in self.below(old):
            word = self.model.pop(path)
            self.model[new + path[len(old) :]] = word
            self.changed.append(new + path[len(old) :])

    def clear_way(self, path: str) -> None:
        """Whatever stands where a file or folder is to be made goes first."""
        for parent in Path(path).parents:
            if str(parent) != "." and (self.folder / str(parent)).is_file():
                self.remove_any(str(parent))
        if (self.folder / path).exists():
            self.remove_any(path)

    def remove_any(self, path: str) -> None:
        if (self.folder / path).is_dir():
            shutil.rmtree(self.folder / path)
            for below in self.below(path):
                self.drop(below)
        else:
            (self.folder / path).unlink()
            if path in self.model:
                self.drop(path)

    # -- rules

    @rule(folder=FOLDERS, name=NAMES, how=st.sampled_from(["write", "save", "vim", "append"]))
    def write(self, folder: str, name: str, how: str) -> None:
        path, word = self.path(folder, name), new_word()
        for parent in Path(path).parents:
            if str(parent) != "." and (self.folder / str(parent)).is_file():
                self.remove_any(str(parent))
        if (self.folder / path).is_dir():
            self.remove_any(path)
        if how == "append" and path in self.model:
            with (self.folder / path).open("a") as file:
                file.write(f"\n{word}\n")
            # the old word stays in the file: only the new one is followed
            self.model[path] = word
            self.changed.append(path)
            return
        if how == "save":
            self.folder.save(path, f"text {word}\n")
        elif how == "vim" and (self.folder / path).is_file():
            backup = self.folder / (path + "~")
            (self.folder / path).rename(backup)
            self.folder.write(path, f"text {word}\n")
            backup.unlink()
        else:
            self.folder.write(path, f"text {word}\n")
        self.put(path, word)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def rewrite_with_the_same_size_and_time(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.model)))
        file, word = self.folder / path, new_word()
        before = file.stat()
        text = f"text {word}"
        if before.st_size < len(text):
            return
        file.write_text(text.ljust(before.st_size, "\n"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.put(path, word)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.model)))
        os.truncate(self.folder / path, 0)
        self.drop(path)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), folder=FOLDERS, name=NAMES)
    def rename_file(self, data: st.DataObject, folder: str, name: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.model)))
        new = self.path(folder, name)
        if new == old or new.startswith(old + "/") or old.startswith(new + "/"):
            return
        self.clear_way(new)
        if old not in self.model:
            return
        word = self.model.pop(old)
        self.folder.rename(old, new)
        self.model[new] = word
        self.changed.append(new)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.remove_any(data.draw(st.sampled_from(sorted(self.model))))

    @rule(folder=FOLDERS.filter(bool))
    def remove_folder(self, folder: str) -> None:
        if (self.folder / folder).is_dir():
            self.remove_any(folder)

    @rule(old=FOLDERS.filter(bool), new=st.sampled_from(["m1", "m2", "x/m3", "w"]))
    def rename_folder(self, old: str, new: str) -> None:
        if not (self.folder / old).is_dir() or new == old or new.startswith(old + "/") or old.startswith(new + "/"):
            return
        self.clear_way(new)
        if (self.folder / old).is_dir():
            self.folder.rename(old, new)
            self.move(old, new)

    @rule(one=FOLDERS.filter(bool), two=FOLDERS.filter(bool))
    def swap_folders(self, one: str, two: str) -> None:
        if one == two or one.startswith(two + "/") or two.startswith(one + "/"):
            return
        if not ((self.folder / one).is_dir() and (self.folder / two).is_dir()):
            return
        self.folder.rename(one, "swap")
        self.folder.rename(two, one)
        self.folder.rename("swap", two)
        self.move(one, "swap")
        self.move(two, one)
        self.move("swap", two)

    @rule(folder=FOLDERS.filter(bool))
    def move_out(self, folder: str) -> None:
        if (self.folder / folder).is_dir():
            (self.folder / folder).rename(self.outside / f"o{next(_numbers)}")
            for path in self.below(folder):
                self.drop(path)

    @rule(name=NAMES, folder=st.sampled_from(["i1", "x/i2"]))
    def move_in(self, name: str, folder: str) -> None:
        outside = self.outside / f"in{next(_numbers)}"
        (outside / "deep").mkdir(parents=True)
        words = new_word(), new_word()
        (outside / name).write_text(words[0])
        (outside / "deep" / name).write_text(words[1])
        self.clear_way(folder)
        (self.folder / folder).parent.mkdir(parents=True, exist_ok=True)
        outside.rename(self.folder / folder)
        self.put(f"{folder}/{name}", words[0])
        self.put(f"{folder}/deep/{name}", words[1])

    @rule(name=NAMES)
    def link(self, name: str) -> None:
        target = self.folder / f"link-{name}"
        if not target.is_symlink():
            target.symlink_to(name)

    @rule(count=st.integers(1, 30))
    def burst(self, count: int) -> None:
        words = [new_word() for _ in range(count)]
        self.clear_way("burst.txt")
        for word in words:
            self.folder.write("burst.txt", f"text {word}\n")
        self.put("burst.txt", words[-1])
        self.gone += words[:-1]

    @rule(pattern=st.sampled_from(["*.md\n", "x/\n", "/a.txt\n", "*.txt\n!a.txt\n", ""]))
    def ignore(self, pattern: str) -> None:
        self.folder.write(".gitignore", pattern)
        self.changed += list(self.model)

    @rule()
    def kill(self) -> None:
        self.client.close()
        Shared.daemon.kill()
        Shared.daemon.start()
        self.client = Shared.daemon.client()

    @rule(folder=FOLDERS, names=st.lists(NAMES, min_size=1, max_size=6))
    def while_it_is_stopped(self, folder: str, names: list[str]) -> None:
        os.kill(Shared.daemon.pid, signal.SIGSTOP)
        try:
            for name in names:
                self.write(folder, name, "write")
        finally:
            os.kill(Shared.daemon.pid, signal.SIGCONT)

    # -- what must hold

    def is_ignored(self, path: str) -> bool:
        ignore = self.folder / ".gitignore"
        pattern = ignore.read_text() if ignore.exists() else ""
        name = path.rpartition("/")[2]
        return {
            "*.md\n": name.endswith(".md"),
            "x/\n": "x" in path.split("/")[:-1],
            "/a.txt\n": path == "a.txt",
            "*.txt\n!a.txt\n": name.endswith(".txt") and name != "a.txt",
        }.get(pattern, False)

    def ask(self, word: str) -> list[str]:
        answer = wait_until(lambda: self.settled_answer(word), what="an answer that is not unsettled")
        assert answer is not None
        assert answer["fresh"], answer
        for hit in answer["hits"]:
            assert word in hit["snippet"], hit
        prefix = self.folder.path.name + "/"
        return [hit["relative_path"].removeprefix(prefix) for hit in answer["hits"]]

    def settled_answer(self, word: str) -> dict[str, Any] | None:
        """None where a file could not be read in one state just now: that is said, and it may be asked again."""
        answer: dict[str, Any] = self.client.call("search", {"query": word, "timeout_ms": 30_000, "limit": 50})
        return None if answer.get("reason") == "unsettled" else answer

    @invariant()
    def the_index_says_what_the_model_says(self) -> None:
        if not hasattr(self, "client"):
            return
        self.steps += 1
        for path in self.changed[-20:]:
            word = self.model.get(path)
            if word is not None:
                assert self.ask(word) == ([] if self.is_ignored(path) else [path])
        for word in self.gone[-20:]:
            assert self.ask(word) == []
        self.changed, self.gone = [], []


@pytest.mark.timeout(60 + EXAMPLES * STEPS)  # a second a step is ten times what one takes
def test_random_histories() -> None:
    Shared.open()
    try:
        run_state_machine_as_test(
            Histories,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                print_blob=True,
            ),
        )
    finally:
        Shared.close()
