"""The rules admit what git lists, on generated trees of files and ignore files.

Invariant: the truth is `git ls-files -co --exclude-standard`, including nested work trees; a file that git lists and
livedex does not is an ignore file, or is excluded by a built-in rule that is named.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.support import CHECKOUT
from livedex_indexing import relpath
from livedex_indexing.disk import tree
from livedex_indexing.ignore.rules import RuleTree, Verdict
from livedex_indexing.path_text import display_path

BUILT_IN_KINDS = {"secret", "default", "vcs", "ignore_file", "own"}

NAMES = st.sampled_from(
    [
        *(
            b"a",
            b"b",
            b"c",
            b"ab",
            b"abc",
            b"foo",
            b"bar.txt",
            b"a.o",
            b".x",
            b"a b",
            b"a ",
            b" a",
            b"[a]",
            b"a*",
            b"*",
            b"?",
        ),
        *(
            b"!a",
            b"#a",
            b"a\\b",
            b"\\",
            b"a\nb",
            b"-rf",
            b"\xc3\xa9",
            b"\xff",
            b"a\xe9.c",
            b"A",
            b"a-b",
            b"a]",
            b"build",
            b"x~",
        ),
    ]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(b"/".join)
PIECES = st.sampled_from(
    [
        *(
            b"a",
            b"b",
            b"c",
            b"ab",
            b"foo",
            b"bar",
            b".txt",
            b".",
            b"\xc3\xa9",
            b"\xff",
            b"-",
            b" ",
            b"A",
            b"\\",
            b"#",
            b"!",
        ),
        *(
            b"*",
            b"*",
            b"**",
            b"?",
            b"/",
            b"/",
            b"**/",
            b"/**",
            b"/**/",
            b"***",
            b"\\*",
            b"\\ ",
            b"\\/",
            b"[ab]",
            b"[!a]",
            b"[^/]",
        ),
        *(
            b"[a-c]",
            b"[c-a]",
            b"[]a]",
            b"[!]]",
            b"[\\]]",
            b"[a",
            b"[[:alpha:]]",
            b"[[:nope:]]",
            b"[[:",
            b"[a-",
            b"[-a]",
            b"]",
        ),
        *(
            b"[[:upper:]a-]",
            b"[\x80-\xff]",
            b"[a\\-c]",
            b"[[a]",
            b"[/]",
            b"[*-z]",
            b"[!-z]",
            b"[[:space:]\\",
            b"\t",
            b"\r",
            b"~",
        ),
    ]
)
LINES = st.builds(
    lambda before, pieces, after: before + b"".join(pieces) + after,
    st.sampled_from([b"", b"", b"", b"!", b"/", b"!/", b"#", b" ", b"**/", b"\\!", b"\\#"]),
    st.lists(PIECES, max_size=5),
    st.sampled_from([b"", b"", b"", b"/", b" ", b"\\ ", b"  ", b"\r", b"/ ", b"\x00x"]),
)
WILD = st.sampled_from(
    [b"*", b"*", b"**", b"?", b"a*", b"*a", b"?*", b"[a]", b"[!a]", b"[!a]*", b"*.txt", b"a**", b"***"]
)
SHAPES = st.lists(st.one_of(NAMES, WILD), min_size=1, max_size=4).map(b"/".join)
MARKED_SHAPES = st.tuples(st.sampled_from([b"", b"!", b"/", b"!/"]), SHAPES, st.sampled_from([b"", b"/"])).map(b"".join)
KNOWN = st.one_of(MARKED_SHAPES, PATHS, PATHS.map(lambda path: b"!" + path), PATHS.map(lambda path: path + b"/"), NAMES)
IGNORE_FILES = st.builds(
    lambda start, lines, end: start + b"\n".join(lines) + end,
    st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"*\n", b"/*\n", b"*\n!*/\n"]),
    st.lists(st.one_of(LINES, KNOWN), max_size=8),
    st.sampled_from([b"", b"\n", b"\r\n"]),
)


class Forest(NamedTuple):
    """A tree to be made: files, ignore files by folder, and folders that are work trees."""

    files: list[bytes]
    ignores: dict[bytes, bytes]
    nested: list[bytes]
    exclude: bytes
    everywhere: bytes


FORESTS = st.builds(
    Forest,
    st.lists(PATHS, min_size=1, max_size=25, unique=True),
    st.dictionaries(st.one_of(st.just(b""), st.just(b""), PATHS), IGNORE_FILES, max_size=4),
    st.lists(PATHS, max_size=1),
    st.one_of(st.just(b""), IGNORE_FILES),
    st.one_of(st.just(b""), IGNORE_FILES),
)


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}


def git(folder: bytes, environ: Mapping[str, str], *words: str, given: bytes = b"") -> bytes:
    command = ["git", "-c", "init.defaultBranch=main", "-c", "safe.directory=*", "-C", os.fsdecode(folder), *words]
    done = subprocess.run(command, check=False, env=environ, input=given, capture_output=True)
    assert done.returncode in (0, 1), done.stderr  # 1: `check-ignore` names no pattern
    return done.stdout


def plant(top: bytes, forest: Forest, environ: Mapping[str, str]) -> None:
    """Make the tree; leave out what is impossible (a file where there is a folder)."""
    for folder in [b"", *forest.nested]:
        try:
            os.makedirs(os.path.join(top, folder), exist_ok=True)
        except OSError:
            continue
        git(os.path.join(top, folder), environ, "init", "-q")
        Path(os.fsdecode(os.path.join(top, folder, b".git/info/exclude"))).write_bytes(forest.exclude)
    contents = [(path, b"x") for path in forest.files]
    contents += [(os.path.join(folder, b".gitignore"), data) for folder, data in forest.ignores.items()]
    for path, data in contents:
        full = os.path.join(top, path)
        try:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            Path(os.fsdecode(full)).write_bytes(data)
        except OSError:
            continue


def listed_by_git(top: bytes, environ: Mapping[str, str]) -> set[bytes]:
    """Return all files of git, with nested work trees, without files that are tracked but ignored."""
    listed = set(git(top, environ, "ls-files", "-z", "-co", "--exclude-standard").split(b"\0")) - {b""}
    listed -= set(git(top, environ, "ls-files", "-z", "-ci", "--exclude-standard").split(b"\0"))
    found = set()
    for path in listed:
        full = os.path.join(top, path)
        if path.endswith(b"/") or (os.path.isdir(full) and not os.path.islink(full)):
            inner = path.rstrip(b"/")
            found |= {inner + b"/" + name for name in listed_by_git(os.path.join(top, inner), environ)}
        elif os.path.lexists(full):
            found.add(path)
    return found


def let_through(root: bytes, rules: RuleTree) -> Iterator[bytes]:
    """Yield the files that livedex would index, by its kind of walk: from the top down, pruning."""
    folders = [b""]
    while folders:
        folder = folders.pop()
        entries = dict(tree.scan(root, folder))
        judge = rules.rules(folder, entries)
        for name, stat in entries.items():
            if judge.decide(name, stat.kind == "folder") is None:
                path = folder + b"/" + name if folder else name
                if stat.kind == "folder":
                    folders.append(path)
                else:
                    yield path


def check(root: bytes, top_listing: set[bytes], rules: RuleTree) -> None:
    ours = set(let_through(root, rules))
    assert ours - top_listing == set()
    verdicts: dict[bytes, Verdict | None] = {path: rules.explain(path, False) for path in top_listing - ours}
    unexplained = {path: why for path, why in verdicts.items() if why is None or why.kind not in BUILT_IN_KINDS}
    assert unexplained == {}
    for path in ours:
        assert rules.explain(path, False) is None


def check_negations(top: bytes, environ: Mapping[str, str], rules: RuleTree) -> None:
    """What lets a file in is the pattern that git names for it: none, or one that is negated."""
    ours = sorted(let_through(top, rules))
    words = ("check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
    fields = git(top, environ, *words, given=b"\0".join(ours)).split(b"\0")
    named = {path: (source, int(line or 0)) for source, line, _, path in zip(*[iter(fields)] * 4, strict=False)}
    assert sorted(named) == ours
    for path, (source, line) in named.items():
        folder, name = relpath.split(path)
        found = rules.rules(folder).let_in(name, False)
        wanted = (display_path(os.path.join(top, source)), line) if line else None
        assert (found and (found.file, found.line)) == wanted


@pytest.mark.needs("git")
@settings(
    max_examples=int(os.environ.get("LIVEDEX_FORESTS", "30")), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(FORESTS)
def test_the_rules_let_through_what_git_lists(forest: Forest) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        (home / ".config/git").mkdir(parents=True)
        (home / ".config/git/ignore").write_bytes(forest.everywhere)
        environ = environment(home)
        top = os.fsencode(Path(scratch, "top").resolve())
        os.mkdir(top)
        plant(top, forest, environ)
        check(top, listed_by_git(top, environ), RuleTree(top, environ=environ))
        if not forest.nested:
            check_negations(top, environ, RuleTree(top, environ=environ))
        below = sorted(
            folder for folder in os.listdir(top) if os.path.isdir(os.path.join(top, folder)) and folder != b".git"
        )
        for folder in below[:1]:  # a root inside a work tree: the ignore files above count too
            root = os.path.join(top, folder)
            if RuleTree(top, environ=environ).explain(folder, True) is None:
                check(root, listed_by_git(root, environ), RuleTree(root, environ=environ))


@pytest.mark.needs("git")
def test_the_rules_let_through_what_git_lists_of_this_checkout(tmp_path: Path) -> None:
    root = os.fsencode(CHECKOUT)
    if not (CHECKOUT / ".git").exists():
        pytest.skip("these tests do not lie in a git work tree")
    environ = environment(tmp_path)
    check(root, listed_by_git(root, environ), RuleTree(root, environ=environ))
