"""A random history of a folder, compared with a model after every step, in random scopes of a search.

The model is a map of paths to texts. Each file has one word that is in no other file but its copies, so a search for
it, asked in one of many ways, must give their paths exactly while the model has them, with a piece of that very text.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test

from helpers.daemon_histories import connected
from helpers.file_histories import FOLDERS, NAMES, FileHistories, path_of
from helpers.folder_model import IGNORE_PATTERNS, Model, Shared, are_apart, new_word, next_number
from helpers.rebuild_oracle import assert_as_rebuilt
from helpers.support import Tree, wait_until

EXAMPLES = int(os.environ.get("LIVEDEX_HISTORIES", "4"))
STEPS = int(os.environ.get("LIVEDEX_STEPS", "100"))  # of a history, at most: most have fewer
TOTALS_EVERY = 1_000  # steps: a run that is ended shows how far it came
REBUILD_EVERY = int(os.environ.get("LIVEDEX_REBUILD_EVERY", "3"))  # histories between two comparisons with a new index
# A disaster takes as long as a hundred other steps: a history has at most one.
FATES = ["none", "none", "kill", "storm", "stop", "upgrade", "no python"]

BELOW = st.sampled_from(["x", "x/y", "x/y/z", "x/target", "w", "w w"])
RULE_FILES = st.sampled_from([".gitignore", ".gitignore", ".livedexignore"])
HAS_GIT = shutil.which("git") is not None


class Histories(FileHistories):
    @initialize(fate=st.sampled_from(FATES), seed=st.integers(0, 1 << 16))
    def begin(self, fate: str, seed: int) -> None:
        self.fate = fate
        self.folder = Tree(Shared.base / f"h{next_number()}")
        self.outside = Path(tempfile.mkdtemp(prefix="ldx-out-", dir=os.path.realpath("/tmp")))
        self.client = connected()
        self.folder.write("stays.txt", "a root that was found empty at a start would not be believed\n")
        self.model = Model(self.folder, seed)
        self.branches: dict[str, dict[str, str]] = {}

    def teardown(self) -> None:
        if not hasattr(self, "client"):
            return
        if self.model.inner:
            self.client.call("roots/remove", {"path": str(self.folder)})
        self.client.close()
        self.release()
        Shared.machine.battery.unlink(missing_ok=True)
        try:
            Shared.histories += 1
            if Shared.histories % REBUILD_EVERY == 0:
                assert_as_rebuilt(Shared.daemon)
        finally:
            shutil.rmtree(self.folder.path, ignore_errors=True)
            shutil.rmtree(self.outside, ignore_errors=True)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Inside, the daemon is stopped, and the kernel goes on queueing."""
        Shared.daemon.pause()
        try:
            yield
        finally:
            Shared.daemon.resume()

    # -- folders

    @rule(folder=BELOW)
    def remove_folder(self, folder: str) -> None:
        if (self.folder / folder).is_dir():
            self.model.remove(folder)
            self.model.touch_all()

    @rule(folder=BELOW, pause_ms=st.sampled_from([0, 0, 1, 5, 20, 40, 60, 120]))
    def make_again(self, folder: str, pause_ms: int) -> None:  # as a build does
        if (self.folder / folder).is_dir():
            paths = self.model.below(folder)
            self.model.remove(folder)
            until = time.monotonic() + pause_ms / 1000
            wait_until(lambda: time.monotonic() >= until)
            for path in paths:
                word = new_word()
                self.folder.write(path, f"text {word}\n")
                self.model.put(path, word, f"text {word}\n")
            self.model.touch_all()

    @precondition(lambda self: self.model.files)
    @rule(data=st.data(), folder=BELOW)
    def take_each_others_names(self, data: st.DataObject, folder: str) -> None:
        file = data.draw(st.sampled_from(self.known))
        if not (self.folder / folder).is_dir() or file.startswith(folder + "/") or file.startswith("repo/"):
            return
        for old, new in ((file, "swap"), (folder, file), ("swap", folder)):
            self.folder.rename(old, new)
            self.model.move(old, new)
        self.model.touch_all()

    @rule(old=BELOW, new=st.sampled_from(["m1", "m2", "x/m3", "w"]))
    def rename_folder(self, old: str, new: str) -> None:
        if are_apart(old, new) and (self.folder / old).is_dir():
            self.model.make_way(new)
            self.folder.rename(old, new)
            self.model.move(old, new)
            self.model.touch_all()

    @rule(one=BELOW, two=BELOW)
    def swap_folders(self, one: str, two: str) -> None:
        if are_apart(one, two) and (self.folder / one).is_dir() and (self.folder / two).is_dir():
            for old, new in ((one, "swap"), (two, one), ("swap", two)):
                self.folder.rename(old, new)
                self.model.move(old, new)
            self.model.touch_all()

    @rule(folder=BELOW)
    def move_out(self, folder: str) -> None:
        if (self.folder / folder).is_dir():
            (self.folder / folder).rename(self.outside / f"o{next_number()}")
            for path in self.model.below(folder):
                self.model.drop(path)
            self.model.touch_all()

    @rule(name=NAMES, folder=st.sampled_from(["i1", "x/i2"]), edited=st.booleans())
    def move_in(self, name: str, folder: str, edited: bool) -> None:
        outside = Tree(self.outside / f"in{next_number()}")
        self.model.make_way(folder)
        (self.folder / folder).parent.mkdir(parents=True, exist_ok=True)
        words = {path: new_word() for path in (name, f"deep/{name}")}
        for path, word in words.items():
            outside.write(path, f"text {word}\n")
        outside.path.rename(self.folder / folder)
        for path, word in words.items():
            self.model.put(f"{folder}/{path}", word, f"text {word}\n")
        if edited:
            self.append(f"{folder}/deep/{name}", new_word())

    # -- rules, and disasters

    @rule(folder=FOLDERS, name=RULE_FILES, pattern=st.sampled_from(IGNORE_PATTERNS), saved=st.booleans())
    def ignore(self, folder: str, name: str, pattern: str, saved: bool) -> None:
        path = path_of(folder, name)
        self.model.make_way(path_of(folder, "new"))
        (self.folder.save if saved else self.folder.write)(path, pattern)
        self.model.touch_all()

    @rule(folder=FOLDERS, name=RULE_FILES)
    def ignore_no_more(self, folder: str, name: str) -> None:
        if (self.folder / path_of(folder, name)).is_file():
            self.folder.remove(path_of(folder, name))
            self.model.touch_all()

    @rule(path=st.sampled_from([".git", "x/.git", "x/y/.git", "x/Cargo.toml", "x/target/CACHEDIR.TAG"]))
    def toggle(self, path: str) -> None:  # it decides about its folder or about the folders next to it
        if os.path.lexists(self.folder / path):
            self.folder.remove(path)
        else:
            self.model.make_way(path)
            self.folder.mkdir(path) if path.endswith(".git") else self.folder.write(path, "")
        self.model.touch_all()

    @rule()
    def toggle_inner_root(self) -> None:
        self.client.call("roots/remove" if self.model.inner else "roots/add", {"path": str(self.folder)})
        self.model.inner = not self.model.inner
        if self.model.inner:  # no search waits for a first index
            assert self.client.call("sync", {"timeout_ms": 60_000})["synced"]
        self.model.touch_all()

    @precondition(lambda _self: HAS_GIT)
    @rule(branch=st.sampled_from(["one", "two"]))
    def checkout(self, branch: str) -> None:
        """Switch between two branches in which files are folders and folders are files."""
        if not self.branches:
            self.model.make_way("repo")
            self.make_branches()
        elif not (self.folder / "repo/.git").is_dir():
            return
        words = self.branches[branch].values()
        for path in [path for path, file in self.model.files.items() if any(word in file.text for word in words)]:
            self.model.remove(path)  # it was moved out of the repository: a word is in one file only
        self.folder.git("-C", "repo", "checkout", "-qf", branch)
        self.folder.git("-C", "repo", "clean", "-qffdx")
        for path in self.model.below("repo"):
            self.model.drop(path)
        for path, word in self.branches[branch].items():
            self.model.put(path, word, f"text {word}\n")
        self.model.touch_all()

    def make_branches(self) -> None:
        shapes = {"one": ["repo/m1", "repo/m2/a.txt", "repo/k.md"], "two": ["repo/m1/b.md", "repo/m1/c.py", "repo/m2"]}
        self.folder.mkdir("repo")
        self.folder.git("-C", "repo", "init", "-q")
        for branch, paths in shapes.items():
            self.branches[branch] = {path: new_word() for path in paths}
            self.folder.git("-C", "repo", "checkout", "-q", "--orphan", branch)
            self.folder.git("-C", "repo", "rm", "-rqf", "--ignore-unmatch", ".")
            for path, word in self.branches[branch].items():
                self.folder.write(path, f"text {word}\n")
            self.folder.git("-C", "repo", "add", "-f", ".")
            self.folder.git("-C", "repo", "commit", "-qm", branch)

    @rule()
    def reload(self) -> None:
        self.client.call("server/reload")

    @rule(folder=FOLDERS, names=st.lists(NAMES, min_size=1, max_size=6))
    def while_it_is_stopped(self, folder: str, names: list[str]) -> None:
        with self.stopped():
            for name in names:
                self.write(folder, name, "write")

    @precondition(lambda self: self.fate == "storm")
    @rule(folder=FOLDERS, name=NAMES)
    def storm(self, folder: str, name: str) -> None:
        """Cause more events than the kernel's queue has room for: later changes are not reported."""
        self.fate = "none"
        (self.folder / "s1").touch()
        (self.folder / "s2").touch()
        limit = Path("/proc/sys/fs/inotify/max_queued_events")
        with self.stopped():
            for _ in range(int(limit.read_text()) // 2 + 1 if limit.exists() else 100):
                os.utime(self.folder / "s1")
                os.utime(self.folder / "s2")
            self.write(folder, name, "save")
            self.swap_folders("x", "w")
        self.model.touch_all()

    @precondition(lambda self: self.fate == "kill")
    @rule(folder=FOLDERS, name=NAMES, while_down=st.booleans())
    def kill(self, folder: str, name: str, while_down: bool) -> None:
        self.fate = "none"
        self.client.close()
        Shared.daemon.kill()
        if while_down:
            self.write(folder, name, "write")
        Shared.daemon.start()
        self.reconnect()

    @invariant()
    def the_index_says_what_the_model_says(self) -> None:
        if hasattr(self, "client"):
            Shared.steps += 1
            if Shared.steps % TOTALS_EVERY == 0:
                print(f"{Shared.steps} steps in {Shared.histories} histories", flush=True)
            self.model.check(self.client)


@pytest.mark.timeout(120 + EXAMPLES * STEPS)  # a second a step is many times what one takes
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
        with connected() as client:
            assert client.call("index/audit", {})["differences"] == []
    finally:
        print(f"{Shared.steps} steps")
        Shared.close()
