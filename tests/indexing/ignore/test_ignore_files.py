"""Ignore files that are not regular files, and ignore files that change."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from helpers.ignore_verdicts import Rules, shut_out
from helpers.support import Tree
from livedex_indexing.disk import tree as files
from livedex_indexing.ignore import external_files
from livedex_indexing.ignore import rules as ignore_rules
from livedex_indexing.ignore.external_files import UNREADABLE

# --- ignore files that are not regular files ---


def test_an_ignore_file_that_is_no_file_does_not_count(tree: Tree, rules: Rules) -> None:
    tree.write("elsewhere", "*\n")
    tree.mkdir("folder/.gitignore/x")
    for name in ("pipe", "link", "dangling"):
        tree.mkdir(name)
    os.mkfifo(tree / "pipe/.gitignore")
    os.mkfifo(tree / "pipe/.livedexignore")
    (tree / "link/.gitignore").symlink_to(tree / "elsewhere")
    (tree / "dangling/.gitignore").symlink_to("nowhere")
    given = rules()
    assert shut_out(given, "folder/x", "pipe/x", "link/x", "dangling/x", "folder/.gitignore/x/y") == []
    assert set(given.faults()) == {
        str(tree / name)
        for name in ("pipe/.gitignore", "pipe/.livedexignore", "link/.gitignore", "dangling/.gitignore")
    }


def test_outside_files_that_are_no_files_do_not_count(tree: Tree, user: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    (tree / ".git/info/exclude").unlink()
    os.mkfifo(tree / ".git/info/exclude")
    (user.mkdir(".config/git") / "ignore").symlink_to("/dev/zero")
    os.mkfifo(user / ".gitconfig")
    os.mkfifo(tree / ".gitignore")
    inside = rules(root=tree.mkdir("sub"))
    assert shut_out(inside, "x") == []
    assert {str(tree / ".git/info/exclude"), str(tree / ".gitignore")} <= set(inside.faults())


def test_a_pipe_is_not_even_opened(tree: Tree, user: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that waits at its other end would be woken by livedex."""
    tree.git("init", "-q")
    (tree / ".git/info/exclude").unlink()
    pipes = {os.fsencode(tree / name) for name in (".git/info/exclude", ".gitignore", ".livedexignore")}
    pipes.add(os.fsencode(user / ".gitconfig"))
    for pipe in pipes:
        os.mkfifo(pipe)
    opened: list[bytes] = []
    real = os.open

    def remember(path: Any, *args: Any, **options: Any) -> int:
        opened.append(os.fsencode(path))
        return real(path, *args, **options)

    monkeypatch.setattr(os, "open", remember)
    assert shut_out(rules(), "x") == []
    assert opened != []
    assert not {os.path.basename(pipe) for pipe in pipes} & {os.path.basename(path) for path in opened}


def test_any_bytes_are_an_ignore_file(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", bytes(range(256)) * 400 + b"\nlast\n")
    assert "last" in shut_out(rules(), "last")
    tree.write(".gitignore", os.urandom(1 << 20) + b"\n\xff\xfe*\nlast")
    assert "last" in shut_out(rules(), "last")


def test_an_endless_ignore_file_counts_at_its_beginning(
    tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore_rules, "MAX_IGNORE_FILE", 1 << 20)
    path = tree.write(".gitignore", b"first\n" + b"#" * (1 << 20) + b"\nsecond\n")
    given = rules()
    assert shut_out(given, "first", "second") == ["first"]
    assert given.faults() == {str(path): "is larger than 1 MiB: only its beginning applies"}
    tree.write(".gitignore", "second\n")
    given.invalidate()
    assert shut_out(given, "first", "second") == ["second"]
    assert given.faults() == {}


def test_a_hostile_checkout_cannot_make_us_remember_without_end(
    tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore_rules, "MAX_TOTAL_PATTERNS", 250)
    for number in range(5):
        tree.write(f"{number}/.gitignore", "".join(f"n{line}\n" for line in range(100)))
    given = rules()
    assert shut_out(given, *(f"{number}/n99" for number in range(5))) == ["0/n99", "1/n99"]
    assert shut_out(given, "2/n49", "2/n50") == ["2/n49"]
    assert "first 50" in given.faults()[str(tree / "2/.gitignore")]
    given.invalidate(b"0")
    given.invalidate(b"1")
    given.invalidate(b"4")
    assert shut_out(given, "4/n99") == ["4/n99"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_ignore_file_that_may_not_be_read_is_reported(tree: Tree, rules: Rules) -> None:
    path = tree.write(".gitignore", "x\n")
    path.chmod(0)
    given = rules()
    assert shut_out(given, "x") == []
    assert given.faults() == {str(path): UNREADABLE}


def test_a_pipe_that_takes_the_place_of_the_user_s_file_does_not_count(
    user: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular, pipe = user.write("file"), user / "pipe"
    os.mkfifo(pipe)
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **options: real(regular, **options))
    assert external_files.users_lines(os.fsencode(pipe), 99).fault == external_files.NOT_REGULAR


# --- change ---


def test_a_changed_ignore_file_is_read_again_when_a_scan_shows_it(tree: Tree, rules: Rules) -> None:
    tree.write("a/b/x.log")
    given = rules()
    root = os.fsencode(tree.path)

    def entries(folder: bytes) -> dict[bytes, Any]:
        """As a scan sees them a minute after the last change."""
        found = files.scan(root, folder)
        return {name: stat._replace(mtime_ns=0, ctime_ns=0) for name, stat in found}

    judge = given.rules(b"a", entries(b"a"))
    below = given.rules(b"a/b", entries(b"a/b"))
    assert below.decide(b"x.log", False) is None
    assert given.rules(b"a", entries(b"a")) is judge
    for content, verdicts in (("*.log\n", True), ("!*.log\n", False), ("*.log\n", True)):
        tree.save("a/.gitignore", content)
        former, judge = judge, given.rules(b"a", entries(b"a"))
        assert judge is not former
        assert given.rules(b"a", entries(b"a")) is judge
        assert (given.rules(b"a/b").decide(b"x.log", False) is not None) == verdicts
    (tree / "a/.gitignore").unlink()
    assert given.rules(b"a", set(entries(b"a"))).decide(b"x.log", False) is None  # by names alone
    assert given.rules(b"a/b").decide(b"x.log", False) is None
    tree.git("init", "-q", "a")
    former, judge = given.rules(b"a"), given.rules(b"a", entries(b"a"))
    assert judge is not former
    tree.write("a/.git/something", "the folder's own times do not matter")
    assert given.rules(b"a", entries(b"a")) is judge


@pytest.mark.parametrize("at_once", [False, True])
def test_invalidate_forgets_a_folder_and_what_is_below_it(tree: Tree, rules: Rules, at_once: bool) -> None:
    for folder in ("a", "a/b", "ab"):
        tree.write(f"{folder}/.gitignore", "x\n")
    given = rules()
    kept = given.rules(b"ab")
    dropped = given.rules(b"a/b")
    if at_once:
        given.invalidate_all({b"a", b"a/file", b"b"})
    else:
        given.invalidate(b"a")
    assert given.rules(b"ab") is kept
    assert given.rules(b"a/b") is not dropped
    given.invalidate(None)
    assert given.rules(b"ab") is not kept


def test_a_folder_that_was_let_through_is_judged_again_after_a_change_above_it(tree: Tree, rules: Rules) -> None:
    tree.write("a/build/deep/file", "")
    tree.write("a/other/deep/file", "")
    given = rules()
    paths = ("a/build/deep/file", "a/other/deep/file")
    assert shut_out(given, *paths) == shut_out(given, *paths) == []
    tree.write("a/build/CMakeCache.txt", "")  # no rule: checked each time
    assert shut_out(given, *paths) == ["a/build/deep/file"]
    tree.write("a/.gitignore", "other\n")
    given.invalidate(b"a")
    assert shut_out(given, *paths) == list(paths)
    tree.write("a/.gitignore", "")
    given.rules(b"a", dict(files.scan(given.root, b"a")))
    assert shut_out(given, *paths) == ["a/build/deep/file"]


def test_what_lies_in_a_folder_that_is_shut_out_is_not_looked_at(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "shut\n")
    tree.write("shut/.gitignore/is a folder", "")
    given = rules()
    assert shut_out(given, "shut/deep/file") == ["shut/deep/file"]
    assert given.faults() == {}


def test_a_changed_outside_file_is_noticed(tree: Tree, user: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    tree.git("init", "-q", "sub")
    root = tree.mkdir("root")
    tree.git("init", "-q", "root/nested")
    given = rules(root=root)
    given.rules(b"nested")
    assert given.outside_changed() == set()
    changes: list[tuple[Callable[[], object], set[bytes]]] = [
        (lambda: tree.write(".gitignore", "*.q\n"), {b""}),
        (lambda: tree.write(".git/info/exclude", "*.b\n"), {b""}),
        (lambda: tree.save(".git/info/exclude", "*.c\n"), {b""}),
        (lambda: tree.write("root/nested/.git/info/exclude", "*.d\n"), {b"nested"}),
        (lambda: user.write(".config/git/ignore", "*.e\n"), {b""}),
        (lambda: user.write(".gitconfig", "[core]\nexcludesfile = ~/mine\n"), {b""}),
        (lambda: user.write("mine", "*.f\n"), {b""}),
        (lambda: tree.rename(".git", "gone"), {b""}),
    ]
    for change, folders in changes:
        change()
        assert given.outside_changed() == folders
        given.rules(b"nested")
        assert given.outside_changed() == set()
    assert shut_out(given, *(f"x.{end}" for end in "qbcdef")) == ["x.f"]
    assert shut_out(given, *(f"nested/x.{end}" for end in "qbcdef")) == ["nested/x.d", "nested/x.f"]


def test_a_repository_that_appears_above_the_root_is_noticed(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "*.q\n")
    given = rules(root=tree.mkdir("a/b"))
    assert shut_out(given, "x.q") == []
    tree.git("init", "-q")
    assert given.outside_changed() == {b""}
    assert shut_out(given, "x.q") == ["x.q"]


def test_forgetting_for_want_of_room_changes_no_answer(
    tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore_rules, "MAX_CACHED", 3)
    for number in range(10):
        tree.write(f"{number}/.gitignore", f"x{number}\n")
    given = rules()
    for _ in range(2):
        assert shut_out(given, *(f"{number}/x{number}" for number in range(10))) == [
            f"{number}/x{number}" for number in range(10)
        ]
        assert shut_out(given, *(f"{number}/x" for number in range(10))) == []


def test_many_threads_get_the_same_answers(tree: Tree, rules: Rules) -> None:
    for number in range(30):
        tree.write(f"{number}/.gitignore", f"x{number}\n*.log\n")
    given = rules()
    wrong: list[str] = []

    def ask() -> None:
        for _ in range(20):
            for number in range(30):
                if shut_out(given, f"{number}/x{number}", f"{number}/x") != [f"{number}/x{number}"]:
                    wrong.append(str(number))
            given.invalidate(b"7")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- files that change twice within one tick of the clock ---


def test_an_ignore_file_that_had_just_changed_is_read_again(tree: Tree, rules: Rules) -> None:
    """Before Linux 6.13, two changes within 4 ms leave equal times: the second one must count too."""
    path = tree.write(".gitignore", "*.q\n")
    stamp = {b".gitignore": files.describe(path.lstat())}
    given = rules()
    assert given.rules(b"", stamp).decide(b"x.q", False) is not None
    path.write_bytes(b"*.w\n")  # of the same size; the scan that follows sees the stamp of the first
    assert given.rules(b"", stamp).decide(b"x.q", False) is None
    assert given.rules(b"", stamp).decide(b"x.w", False) is not None


def test_one_that_has_settled_is_not_read_again(tree: Tree, rules: Rules) -> None:
    path = tree.write(".gitignore", "*.q\n")
    stat = files.describe(path.lstat())
    settled = {b".gitignore": stat._replace(mtime_ns=0, ctime_ns=0)}
    given = rules()
    first = given.rules(b"", settled)
    assert given.rules(b"", settled) is first


def test_an_outside_file_that_had_just_changed_is_read_again(
    user: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.write(".config/git/ignore", "*.q\n")
    real = external_files.Source.state
    frozen = external_files.Source(os.fsencode(user / ".config/git/ignore"), True, b"").state()
    monkeypatch.setattr(
        external_files.Source,
        "state",
        lambda source: frozen if source.path.endswith(b"git/ignore") else real(source),
    )
    given = rules()
    assert shut_out(given, "x.q", "x.w") == ["x.q"]
    user.write(".config/git/ignore", "*.w\n")
    assert given.outside_changed() == set()
    assert given.outside_changed(doubtful=True) == {b""}
    assert shut_out(given, "x.q", "x.w") == ["x.w"]


def test_two_work_trees_that_share_a_file_both_depend_on_it(tree: Tree, rules: Rules) -> None:
    tree.git("init", "-q", "main")
    tree.git("-C", "main", "commit", "-q", "--allow-empty", "-m", "first")
    root = tree.mkdir("root")
    for name in ("one", "two"):
        tree.git("-C", "main", "worktree", "add", "-q", str(root / name))
    given = rules(root=root)
    assert shut_out(given, "one/x.q", "two/x.q") == []
    tree.write("main/.git/info/exclude", "*.q\n")
    assert given.outside_changed() == {b"one", b"two"}
    assert shut_out(given, "one/x.q", "two/x.q") == ["one/x.q", "two/x.q"]


def test_a_marker_inside_a_folder_that_it_shuts_out_is_noticed(tree: Tree, rules: Rules) -> None:
    mark = tree.write("a/build/CMakeCache.txt")
    given = rules()
    assert shut_out(given, "a/build/") == ["a/build/"]
    assert os.fsencode(mark) in {source.path for source in given.outside_sources()}
    assert given.outside_changed(b"b") == set()
    mark.unlink()
    assert given.outside_changed(b"a") == {b"a"}
    assert shut_out(given, "a/build/") == []
