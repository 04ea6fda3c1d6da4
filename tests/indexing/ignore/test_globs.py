"""Globs as ripgrep reads them, compared with ripgrep itself, and the ``path:`` term of a query."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.support import Tree, examples
from livedex_indexing.ignore.globs import BadGlob, GlobFilter, PathTerm

FILES = [
    *(
        "a.py",
        "b.rs",
        "README.md",
        "src/a.py",
        "src/b.py",
        "src/sub/x.md",
        "src/sub/deep/y.py",
        "docs/a.md",
        "docs/src/a.py",
    ),
    *("é.md", "#foo", "a b", "{a", "x{y}", "[z]", "c]", "!bang", "back\\slash", "A.PY", "sub/a", "x,y"),
]
GLOBS = [
    *(
        [],
        ["*.py"],
        ["*.{py,rs}"],
        ["!*.py"],
        ["*.py", "!src"],
        ["*.py", "!src/"],
        ["!src", "src/a.py"],
        ["src/*.py"],
        ["/a.py"],
    ),
    *(
        ["src"],
        ["src/"],
        ["src/**"],
        ["**/sub/**"],
        ["**/a.py"],
        ["src/**/*.py"],
        ["**"],
        ["*"],
        ["/*"],
        ["!/*", "*.md"],
    ),
    *(
        ["?.md"],
        ["??.md"],
        ["[ab].*"],
        ["[!a].*"],
        ["[^a].*"],
        ["[a-b].*"],
        ["[]c]*"],
        ["c[]]"],
        ["[[]z]"],
        ["[é].md"],
        ["\\{a"],
    ),
    *(
        ["x\\{y\\}"],
        ["x,y"],
        ["{x,y},y"],
        ["{x,}*"],
        ["{src,docs}/*.py"],
        ["{src,docs}/**/*.{md,py}"],
        ["\\!bang"],
        ["!bang"],
        [""],
    ),
    *(
        ["#foo"],
        ["\\#foo"],
        [" "],
        ["a\\ b"],
        ["a b"],
        ["back\\\\slash"],
        ["src**/a.py"],
        ["a**y"],
        ["***"],
        ["a.py/"],
        ["*.PY"],
    ),
    *(
        ["!*.md", "README.md"],
        ["README.md", "!*.md"],
        ["!docs/**", "docs/a.md"],
        ["!docs", "!*.rs"],
        ["*.py", "!*.py", "a.py"],
    ),
    *(
        ["[[:alpha:]].py"],
        ["a.{py}"],
        ["{a,b}.{py,rs}"],
        ["src/{a,sub/x}.*"],
        ["[a-]*"],
        ["[-b]*"],
        ["[\\]*"],
        ["*[\\]*"],
    ),
]
REFUSED = ["[", "[a", "{a", "{a,b", "\\", "[b-a]", "a{b", "[]", "[!]", "[a-", "src/[", "*.{py"]


def listed_by_ripgrep(folder: Path, globs: list[str]) -> set[bytes]:
    command = ["rg", "--files", "--no-config", "--no-ignore", "--hidden", "--null"]
    done = subprocess.run(
        [*command, *(f"--glob={glob}" for glob in globs)], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return set(done.stdout.split(b"\0")) - {b""}


@pytest.fixture
def planted(tree: Tree) -> Tree:
    tree.write_all(dict.fromkeys(FILES, "x"))
    return tree


@pytest.mark.needs("rg")
@pytest.mark.parametrize("globs", GLOBS, ids=repr)
def test_globs_admit_what_ripgrep_lists(planted: Tree, globs: list[str]) -> None:
    admitted = GlobFilter(globs)
    ours = {os.fsencode(name) for name in FILES if admitted.admits(os.fsencode(name))}
    assert ours == listed_by_ripgrep(planted.path, globs)


@pytest.mark.needs("rg")
@pytest.mark.parametrize("glob", REFUSED)
def test_globs_that_ripgrep_refuses(tree: Tree, glob: str) -> None:
    with pytest.raises(BadGlob, match=r"^'"):
        GlobFilter(["*.py", glob])
    done = subprocess.run(["rg", "--files", f"--glob={glob}"], cwd=tree.path, capture_output=True, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("glob", ["a}", "{a}}", "a\nb", "a\0b", "x" * 5_000])
def test_globs_that_ripgrep_takes_and_livedex_refuses(glob: str) -> None:
    with pytest.raises(BadGlob):
        GlobFilter([glob])


# Not "[!a]": ripgrep lets it match a slash, which its own documentation denies.
# Not "[!a]" after another piece: ripgrep 13 lets it match a slash, against its own documentation.
PIECES = st.lists(
    st.sampled_from(
        ["a", "b", ".py", ".md", "src", "sub", "docs", "*", "**", "?", "/", "**/", "/**", "[ab]", "{a,b}", "."]
    ),
    min_size=1,
    max_size=5,
).map("".join)


@pytest.mark.needs("rg")
@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.builds(lambda start, glob: start + glob, st.sampled_from(["", "", "!", "/"]), PIECES).filter(
            lambda glob: glob not in ("!", "!/") and "//" not in glob
        ),  # these exclude everything, unexpectedly
        min_size=1,
        max_size=3,
    )
)
def test_random_globs_admit_what_ripgrep_lists(tmp_path_factory: pytest.TempPathFactory, globs: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp() / "random globs"
    if not folder.exists():
        Tree(folder).write_all(dict.fromkeys(FILES, "x"))
    admitted = GlobFilter(globs)
    ours = {os.fsencode(name) for name in FILES if admitted.admits(os.fsencode(name))}
    assert ours == listed_by_ripgrep(folder, globs)


@pytest.mark.parametrize(
    "glob",
    [
        "*a" * 1_500 + "b",
        "{a," * 300 + "b" + "}" * 300,
        "**/" * 1_300,
        "?" * 4_000,
        "[a-z]" * 800,
        "{" * 2_000 + "}" * 2_000,
        "{a,x*" * 580 + "}" * 580,
        "{a,b}" * 800,
    ],
)
def test_a_glob_bomb_is_defused(glob: str) -> None:
    """The time limit of the test is the assertion: a backtracking matcher would not finish."""
    admitted = GlobFilter([glob])
    for path in (b"a" * 4_000, b"/".join([b"a" * 200] * 20), b"x"):
        admitted.admits(path)


def test_a_line_break_in_a_name_is_a_byte_as_any() -> None:
    for glob in ("*.py", "**", "new?line.py", "[!a]*", "new*"):
        assert GlobFilter([glob]).admits(b"new\nline.py")


def test_globs_nest() -> None:
    admitted = GlobFilter(["{a,{b,c}d}.py"])
    assert [path for path in (b"a.py", b"bd.py", b"cd.py", b"b.py", b"d.py") if admitted.admits(path)] == [
        b"a.py",
        b"bd.py",
        b"cd.py",
    ]


@pytest.mark.parametrize(
    ("term", "admitted", "refused"),
    [
        ("src", ["src/a.py", "a/src.py", "xsrcx", "SRC/a"], ["sr/c"]),
        ("Src/A", ["src/a.py", "x/src/a"], ["src/b"]),
        ("/src", ["src/a", "src2/a", "src"], ["a/src/x"]),
        ("*.py", ["a.py", "x/a.PY", "x.py/inner"], ["a.pyc"]),
        ("test_*", ["test_a.py", "x/test_/y"], ["mytest_a"]),
        ("src/*.py", ["src/a.py", "x/src/a.py"], ["src/x/a.py", "mysrc/a.py"]),
        ("/src/*.py", ["src/a.py"], ["x/src/a.py"]),
        ("/*.py", ["a.py"], ["x/a.py"]),
        ("src/*", ["src/a", "x/src/a/b"], ["src"]),
        ("src/**/x", ["src/x", "src/a/b/x"], ["src/a"]),
        ("**/x", ["x", "a/x"], ["ax"]),
        ("a?c", ["abc", "x/aéc"], ["ac", "a/c"]),
        ("[ab].c", ["a.c", "x/b.c"], ["c.c"]),
        ("[!a].c", ["é.c", "日.c"], ["a.c"]),
        ("[a", ["x[a]y"], ["a"]),  # not a glob, but literal
        ("", ["anything", "at/all"], []),
        ("/", ["anything"], []),
        ("*", ["anything"], []),
        ("ÉTÉ", ["été.md", "e\u0301te\u0301.md"], ["ete.md"]),
        ("e\u0301t*", ["\xe9tude/x"], ["etude"]),
        ("straße", ["STRASSE.md"], []),
        ("日本", ["日本語.md"], ["日曜"]),
        ("a b", ["x a b y"], ["ab"]),
        ("..", ["a..b"], ["a.b"]),
        ("#x", ["#x"], ["x"]),
    ],
)
def test_a_path_term_is_in_the_path(term: str, admitted: list[str], refused: list[str]) -> None:
    wanted = PathTerm(term)
    assert [path for path in admitted if not wanted.admits(os.fsencode(path))] == []
    assert [path for path in refused if wanted.admits(os.fsencode(path))] == []


def test_a_path_term_meets_names_that_are_not_text() -> None:
    assert PathTerm("caf*").admits(b"x/caf\xe9\xff")
    assert PathTerm("caf?").admits(b"caf\xe9")
    assert PathTerm("caf").admits(b"caf\xe9")
    assert not PathTerm("[x]").admits(b"\xff")
    assert PathTerm("[]x]*.py").admits(b"a/]y.py")


@given(st.text(), st.binary(max_size=60))
def test_no_path_term_is_an_error(term: str, path: bytes) -> None:
    PathTerm(term).admits(path)


@given(
    st.lists(
        st.sampled_from([glob for globs in GLOBS for glob in globs] + ["src/s*/?.md", "*/a.py", "s{u,r}c/*.py"]),
        max_size=3,
    ),
    st.sampled_from(FILES),
)
def test_what_passes_lies_within_the_bounds(globs: list[str], path: str) -> None:
    passing = GlobFilter(globs)
    if passing.bounds and passing.admits(path.encode()):
        within = [
            (not bound.folder or path.encode().startswith(bound.folder + b"/")) and path.encode().endswith(bound.end)
            for bound in passing.bounds
        ]
        assert any(within)
