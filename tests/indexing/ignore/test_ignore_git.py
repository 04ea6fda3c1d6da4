"""How a repository and the user's git configuration change the rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers.ignore_verdicts import Rules, shut_out, why
from helpers.support import Tree
from livedex_indexing.ignore.git_config import user_excludes
from livedex_indexing.ignore.rules import RuleTree

# --- work trees ---


def test_a_nested_work_tree_has_rules_of_its_own(tree: Tree, user: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    tree.write(".gitignore", "*.q\n")
    tree.write(".git/info/exclude", "*.b\n")
    tree.write(".livedexignore", "*.c\n")
    user.write(".config/git/ignore", "*.d\n/e\n")
    tree.mkdir("sub/inner")
    assert shut_out(rules("*.u"), *(f"sub/inner/x.{end}" for end in "qbcdu")) == [
        f"sub/inner/x.{end}" for end in "qbcdu"
    ]
    tree.git("init", "-q", "sub")
    tree.write("sub/.git/info/exclude", "*.x\n/inner/z\n")
    given = rules("*.u")
    paths = [f"sub/inner/x.{end}" for end in "qbcdux"]
    assert shut_out(given, *paths) == [f"sub/inner/x.{end}" for end in "cdux"]
    assert shut_out(given, "sub/inner/z", "inner/z", "sub/e", "e", "sub/inner/e") == ["sub/inner/z", "sub/e", "e"]


def test_a_linked_work_tree_takes_the_exclude_file_of_its_repository(tree: Tree, rules: Rules) -> None:
    tree.git("init", "-q", "main")
    tree.write("main/f")
    tree.git("-C", "main", "add", "f")
    tree.git("-C", "main", "commit", "-qm", "x")
    tree.git("-C", "main", "worktree", "add", "-q", "../linked")
    exclude = tree.write("main/.git/info/exclude", "*.x\n")
    tree.write("main/.gitignore", "*.y\n")
    assert (tree / "linked/.git").is_file()
    linked = rules(root=tree / "linked")
    assert shut_out(linked, "a.x", "a.y") == ["a.x"]
    assert why(linked, "a.x").file == str(exclude)
    assert os.fsencode(exclude) in {source.path for source in linked.outside_sources()}
    assert shut_out(rules(), "linked/a.x", "linked/a.y", "main/a.y") == ["linked/a.x", "main/a.y"]


def test_a_submodule_keeps_its_rules_in_the_outer_repository(tree: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    tree.write(".gitignore", "*.q\n")
    tree.write(".git/modules/sub/info/exclude", "*.x\n")
    tree.write("sub/.git", "gitdir: ../.git/modules/sub\n")
    assert shut_out(rules(), "sub/f.q", "sub/f.x", "f.q", "f.x") == ["sub/f.x", "f.q"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"junk",
        b"gitdir:",
        b"gitdir: \n",
        b"gitdir: /nowhere/at/all\n",
        b"gitdir: /proc/self/fd\n",
        b"gitdir: a\0b",
        b"\xff" * 100_000,
    ],
)
def test_a_pointer_to_nowhere_does_no_harm(tree: Tree, rules: Rules, content: bytes) -> None:
    tree.write(".gitignore", "*.q\n")
    tree.write("sub/.git", content)
    assert shut_out(rules(), "sub/x", "x.q") == ["x.q"]


def test_a_pointer_is_never_followed_onto_a_made_up_filesystem(tree: Tree, rules: Rules) -> None:
    tree.write("sub/.git", "gitdir: /proc/self/cwd\n")
    (tree / "link").mkdir()
    (tree / "link/.git").symlink_to("/proc/self/cwd")
    given = rules()
    assert shut_out(given, "sub/x", "link/x") == []
    assert not [source for source in given.outside_sources() if source.path.startswith(b"/proc/")]


def test_no_link_is_followed_to_a_repository_s_rules(tree: Tree, rules: Rules, tmp_path: Path) -> None:
    """The author of the checkout could point one at any file, and ``why`` would show that file's lines."""
    other = Tree(tmp_path / "other")
    other.write("exclude", "x\n")
    tree.git("init", "-q")
    (tree / ".git/info").rename(tree / ".git/was")
    (tree / ".git/info").symlink_to(other.path)
    tree.git("init", "-q", "sub")
    (tree / "sub/.git/info/exclude").unlink()
    (tree / "sub/.git/info/exclude").symlink_to(other / "exclude")
    tree.write("far/.git", f"gitdir: {tree}/fake\n")
    (tree.mkdir("fake") / "info").symlink_to(other.path)
    assert shut_out(rules(), "x", "sub/x", "far/x") == []


def test_a_root_inside_a_work_tree_notices_what_is_above_it(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "*.q\n/sub/deep/only\n/deep\n")
    tree.write("sub/.gitignore", "!b.q\n*.s\n")
    root = tree.mkdir("sub/deep")
    assert shut_out(rules(root=root), "x.q", "x.s") == []  # no work tree: nothing above counts
    tree.git("init", "-q")
    tree.write(".git/info/exclude", "/sub/deep/there\n")
    given = rules(root=root)
    assert shut_out(given, "x.q", "b.q", "x.s", "only", "there", "a/only", "deep") == ["x.q", "x.s", "only", "there"]
    sources = {source.path for source in given.outside_sources()}
    for path in (".gitignore", "sub/.gitignore", ".git/info/exclude", ".git", "sub/.git"):
        assert os.fsencode(tree / path) in sources
    tree.write(".gitignore", "sub/\n")
    assert shut_out(rules(root=root), "x") == []  # the user named the root: no rule applies to the root itself


def test_without_a_repository_gitignore_counts_from_the_root(tree: Tree, user: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "*.q\n")
    tree.write("sub/.gitignore", "*.b\n")
    user.write(".config/git/ignore", "/e\n")
    assert shut_out(rules(), "x.q", "sub/x.q", "sub/x.b", "x.b", "e", "sub/e") == ["x.q", "sub/x.q", "sub/x.b", "e"]


def test_the_root_of_all(rules: Rules) -> None:
    given = rules("/etc/*.x", root=Path("/"))
    assert shut_out(given, "etc/a.x", "etc/a.y") == ["etc/a.x"]


# --- the user's git configuration ---


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("", "{home}/.config/git/ignore"),
        ("[core]\n\texcludesFile = ~/x\n", "{home}/x"),
        ('[CORE] excludesfile="{home}/a b" ; note\n', "{home}/a b"),
        ("[core]\nexcludesfile = /x\\\\y # note\n", "/x\\y"),
        ("[core]\nexcludesfile = /x\\\ny\n", "/xy"),
        ("[core]\nexcludesfile = /one\n[user]\nexcludesfile = /no\n[core]\nexcludesfile = /two\n", "/two"),
        ('[core "sub"]\nexcludesfile = /no\n', "{home}/.config/git/ignore"),
        ("[core]\nexcludesfile =\n", None),
        ("[core]\nexcludesfile\n", None),
        ("[core]\nexcludesfile = relative/path\n", None),
        ("[include]\npath = more\n", "/included"),
        ("[include]\npath = loop\n[core]\nexcludesfile = /end\n", "/end"),
        ('[includeIf "gitdir:~/x/"]\npath = more\n', "{home}/.config/git/ignore"),
        ("# [core]\n; excludesfile = /no\n[core]\nexcludesfile = /yes", "/yes"),
        ("[core]\nexcludesfile = /yes\n][ not a configuration\n", "/yes"),
        ("\ufeff[core]\nexcludesfile = /bom\n", "/bom"),
    ],
)
def test_core_excludes_file_is_found_as_git_finds_it(
    user: Tree, environ: Mapping[str, str], config: str, found: str | None
) -> None:
    user.write(".gitconfig", config.replace("{home}", str(user)))
    user.write("more", "[core]\nexcludesfile = /included\n")
    user.write("loop", "[include]\npath = loop\n")
    expected = None if found is None else os.fsencode(found.replace("{home}", str(user)))
    assert user_excludes(environ).path == expected


def test_the_user_s_own_files_may_be_links(user: Tree, rules: Rules) -> None:
    user.write("dotfiles/ignore", "x\n")
    user.write("dotfiles/gitconfig", "[core]\nexcludesfile = ~/link\n")
    (user / "link").symlink_to("dotfiles/ignore")
    (user / ".gitconfig").symlink_to("dotfiles/gitconfig")
    given = rules()
    assert shut_out(given, "x", "y") == ["x"]
    user.save("dotfiles/ignore", "y\n")
    assert given.outside_changed() == {b""}
    assert shut_out(given, "x", "y") == ["y"]


def test_git_s_own_variables_count(user: Tree, environ: Mapping[str, str]) -> None:
    user.write(".gitconfig", "[core]\nexcludesfile = /home\n")
    other = user.write("other", "[core]\nexcludesfile = /other\n")
    user.write("xdg/git/config", "[core]\nexcludesfile = /xdg\n")
    assert user_excludes({**environ, "GIT_CONFIG_GLOBAL": str(other)}).path == b"/other"
    assert user_excludes({**environ, "GIT_CONFIG_GLOBAL": "/dev/null"}).path == os.fsencode(user / ".config/git/ignore")
    assert user_excludes({**environ, "XDG_CONFIG_HOME": str(user / "xdg")}).path == b"/home"
    (user / ".gitconfig").unlink()
    assert user_excludes({**environ, "XDG_CONFIG_HOME": str(user / "xdg")}).path == b"/xdg"
    assert user_excludes({"GIT_CONFIG_NOSYSTEM": "1"}).path is None


def test_a_repository_s_own_configuration_is_never_obeyed(tree: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    trap = tree.write("trap", "*\n")
    tree.git("config", "core.excludesFile", str(trap))
    tree.git("config", "core.worktree", "/")
    tree.git("config", "core.ignoreCase", "true")
    tree.write(".gitignore", "A\n")
    assert shut_out(rules(), "x", "a", "A") == ["A"]


def test_the_user_s_ignore_file_is_not_indexed(tree: Tree, rules: Rules) -> None:
    home = tree.path
    tree.write(".config/git/ignore", "*.x\n")
    given = RuleTree(os.fsencode(home), environ={"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"})
    assert why(given, ".config/git/ignore").kind == "ignore_file"
    assert shut_out(given, ".config/git/attributes", "ignore", "a.x") == ["a.x"]
