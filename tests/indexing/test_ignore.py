"""Who outranks whom, what a repository changes, and ignore files that are no such thing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from livedex_indexing import ignore
from livedex_indexing import tree as files
from livedex_indexing.gitconfig import user_excludes
from livedex_indexing.ignore import RuleTree, Verdict, is_mark, is_rule_file
from livedex_indexing.outside import UNREADABLE
from support import Tree

Rules = Callable[..., RuleTree]


@pytest.fixture
def user(tmp_path: Path) -> Tree:
    """The home of a user with no git configuration."""
    return Tree(tmp_path / "home")


@pytest.fixture
def environ(user: Tree) -> Mapping[str, str]:
    return {"HOME": str(user), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def rules(tree: Tree, environ: Mapping[str, str]) -> Rules:
    def make(*patterns: str, root: Path | None = None, **options: Any) -> RuleTree:
        return RuleTree(os.fsencode(root or tree.path), patterns, environ=environ, **options)

    return make


def shut_out(rules: RuleTree, *paths: str) -> list[str]:
    """Those of the paths that the rules shut out. One that ends in / is a folder."""
    return [path for path in paths if rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/")) is not None]


def why(rules: RuleTree, path: str) -> Verdict:
    verdict = rules.explain(os.fsencode(path.rstrip("/")), path.endswith("/"))
    assert verdict is not None
    return verdict


# --- rank ---


def test_each_source_outranks_the_next(tree: Tree, user: Tree, rules: Rules) -> None:
    """From the lowest up, each source says the opposite of the one before about the same name, and wins."""
    tree.git("init", "-q")
    assert why(rules(), "x.lock").kind == "default"
    user.write(".config/git/ignore", "!x.lock\n")
    assert shut_out(rules(), "x.lock") == []
    exclude = tree.write(".git/info/exclude", "\nx.lock\n")
    assert why(rules(), "x.lock") == Verdict("ignored", str(exclude), 2, "x.lock")
    tree.write(".gitignore", "!x.lock\n")
    assert shut_out(rules(), "x.lock") == []
    own = tree.write(".livedexignore", "# mine\n\nx.*\n")
    assert why(rules(), "x.lock") == Verdict("ignored", str(own), 3, "x.*")
    assert shut_out(rules("!x.lock"), "x.lock") == []
    last = rules("!x.lock", "*.lock", user_file="/etc/c.toml", user_lines=[7, 8])
    assert why(last, "x.lock") == Verdict("ignored", "/etc/c.toml", 8, "*.lock")


def test_deeper_files_outrank_those_above_them(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "*.log\n")
    tree.write("a/.gitignore", "!*.log\n")
    tree.write("a/b/.gitignore", "x.log\n")
    assert shut_out(rules(), "x.log", "a/x.log", "a/b/x.log", "a/b/y.log", "c/x.log") == [
        "x.log",
        "a/b/x.log",
        "c/x.log",
    ]
    tree.write(".livedexignore", "y.log\n")  # above every .gitignore, however deep
    assert shut_out(rules(), "a/b/y.log") == ["a/b/y.log"]


def test_nothing_inside_a_folder_that_is_shut_out_comes_back(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "out/\n!out/keep\n")
    tree.write("out/.gitignore", "!*\n")
    assert shut_out(rules(), "out/keep", "out/a/b") == ["out/keep", "out/a/b"]
    assert why(rules(), "out/a/b").pattern == "out/"
    assert shut_out(rules("!out/keep"), "out/keep") == ["out/keep"]  # the folder above is what is shut out
    assert shut_out(rules("!out"), "out/keep", "out/a/b") == []


def test_an_allow_list_of_the_root_is_one(rules: Rules) -> None:
    allowed = rules("*", "!*/", "!*.md")
    assert shut_out(allowed, "a.md", "b/c.md", "b.py", "b/c.py", "b/") == ["b.py", "b/c.py"]


def test_what_nobody_lets_in(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "!.gitignore\n!.git\n!.livedexignore\n")
    given = rules("!*", "!.git", "!.gitignore", "!.livedexignore")
    kinds = {
        path: why(given, path).kind
        for path in (".gitignore", "a/.gitignore", ".livedexignore", ".git/", ".git", "s/.git/")
    }
    assert set(kinds.values()) == {"ignore_file", "vcs"}
    assert shut_out(given, ".gitignore/", ".gitignore/x", ".ignore", ".rgignore", ".dockerignore") == []
    assert why(given, ".git/config").kind == "vcs"


# --- secrets ---

SECRETS = """
.env .env.local .env.production .ENV deep/er/.env .envrc .netrc _netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf
id_rsa id_ed25519 id_ed25519_work id_rsa.old ID_RSA server.key cert.pem store.p12 a.pfx vault.kdbx putty.ppk a.jks
a.keystore .htpasswd .ssh/ .ssh/config .aws/ .aws/credentials .gnupg/ .kube/config .azure/x .docker/config.json
.config/gh/hosts.yml .config/gcloud/credentials.db .config/google-chrome/ .mozilla/firefox/x .password-store/
.bash_history .zsh_history .python_history fish_history .psql_history .vault-token credentials.json
client_secret_123.json secrets.yaml .s3cfg .boto .dockercfg .cargo/credentials.toml .gem/credentials .m2/settings.xml
.terraformrc terraform.tfstate wallet.dat key4.db logins.json .env~ id_rsa~ ssh_host_ed25519_key
my-service-account.json share/keyrings/ .authinfo .vscode/sftp.json login.keychain-db
"""
ORDINARY = """
.env.example .env.sample .env.template .env.local.example env.md environment.txt id_rsa.pub id_ed25519_work.pub
ids.txt id_card.md secrets.md secrets.py secret.txt passwords.txt credentials.md credentials keys.md key.txt
keyboard.c token.rs pem.go ssh.md config config.json hosts.yml settings.xml known_hosts docker/config.json kube/config
history.md bash_history.md netrc.md .envoy envrc.md authentication.md accounts/ library/accounts/x service-account.md
service.py services.json google/chrome/x monkey.txt .gitconfig .bashrc .vimrc .editorconfig keys/ private/ .config/
.config/nvim/init.lua crt/ca.crt docs/id_rsa_howto.md Keychain.swift
"""


def test_likely_secrets_are_shut_out(rules: Rules) -> None:
    assert set(SECRETS.split()) - set(shut_out(rules(), *SECRETS.split())) == set()
    assert {why(rules(), path).kind for path in SECRETS.split()} == {"secret"}
    assert why(rules(), ".env.local") == Verdict("secret", "built-in", 0, ".env.*")


def test_ordinary_names_are_let_through(rules: Rules) -> None:
    assert shut_out(rules(), *ORDINARY.split()) == []


def test_only_the_root_s_own_ignore_lets_a_secret_in(tree: Tree, user: Tree, rules: Rules) -> None:
    tree.git("init", "-q")
    for name in (".gitignore", ".livedexignore", ".git/info/exclude"):
        tree.write(name, "!*\n!.env\n!.ssh/\n")
    user.write(".config/git/ignore", "!.env\n")
    assert shut_out(rules(), ".env", ".ssh/config") == [".env", ".ssh/config"]
    assert shut_out(rules("!.env"), ".env", "a/.env", ".env.local") == [".env.local"]
    assert shut_out(rules("!/.env"), ".env", "a/.env") == ["a/.env"]
    assert shut_out(rules("!.ssh"), ".ssh/config", ".ssh/id_rsa") == [".ssh/id_rsa"]


def test_a_root_that_is_itself_such_a_folder_was_asked_for(tree: Tree, rules: Rules) -> None:
    tree.mkdir(".docker")
    inside = rules(root=tree.path / ".docker")
    assert shut_out(inside, "notes.md", "config.json") == ["config.json"]


# --- defaults ---

DEFAULTS = """
.hg/ .svn/ CVS/ node_modules/ a/node_modules/x __pycache__/ .venv/ .tox/ .mypy_cache/ .pytest_cache/ .ruff_cache/
.gradle/ .cache/ a.png B.JPG a.zip a.tar.gz a.so a.o a.pyc a.woff2 a.sqlite a.mp4 package-lock.json yarn.lock
Cargo.lock poetry.lock uv.lock go.sum a.txt~ .a.swp a.swp .#a #a# a.bak ~$doc.docx .~lock.doc.odt# .DS_Store Thumbs.db
.nfs0000123
"""
NOT_DEFAULTS = """
target/ build/ dist/ vendor/ venv/ env/ out/ target/x build/x node_modules __pycache__ .venv .cache cvs/ a.ts a.tsx
a.svg a.pdf a.docx a.pptx a.csv a.json a.log a.tmp a.orig a.db a.dat a.pt a.map a.min.js README.pt #a a# # lock
Makefile a.lock.md src/ .github/ .vscode/ .config/ package.json .npmignore .gitattributes .mailmap zip png a.zip/
images.png/
"""


def test_built_in_defaults(rules: Rules) -> None:
    assert set(DEFAULTS.split()) - set(shut_out(rules(), *DEFAULTS.split())) == set()
    assert shut_out(rules(), *NOT_DEFAULTS.split()) == []
    assert why(rules(), "a/node_modules/x") == Verdict("default", "built-in", 0, "node_modules/")
    assert why(rules(), "B.JPG") == Verdict("default", "built-in", 0, "*.jpg")


@pytest.mark.parametrize(
    ("folder", "mark"),
    [
        ("target", "Cargo.toml"),
        ("target", "target/CACHEDIR.TAG"),
        ("build", "package.json"),
        ("build", "build/CACHEDIR.TAG"),
        ("dist", "package.json"),
        ("dist", "pyproject.toml"),
        ("out", "package.json"),
        ("vendor", "vendor/modules.txt"),
        ("vendor", "composer.json"),
        ("venv", "venv/pyvenv.cfg"),
        ("env", "env/pyvenv.cfg"),
        ("env", "env/CACHEDIR.TAG"),
    ],
)
def test_an_everyday_name_is_left_out_only_with_its_mark(tree: Tree, rules: Rules, folder: str, mark: str) -> None:
    tree.mkdir(f"a/{folder}")
    held = rules()
    assert shut_out(held, f"a/{folder}/x") == []
    tree.write(f"a/{mark}")
    verdict = why(held, f"a/{folder}/x")
    assert (verdict.kind, verdict.file, verdict.line) == ("default", "built-in", 0)
    assert Path(mark).name in verdict.pattern
    assert is_mark(os.fsencode(Path(mark).name))
    assert shut_out(held, f"{folder}/x", f"a/{folder}") == []  # elsewhere, and as a file
    tree.write(".gitignore", f"!{folder}/\n")
    assert shut_out(rules(), f"a/{folder}/x") == []


def test_a_mark_of_another_kind_says_nothing(tree: Tree, rules: Rules) -> None:
    tree.write("package.json")
    tree.write("Cargo.toml")
    assert shut_out(rules(), "venv/", "env/") == []


def test_livedex_s_own_folders_are_never_entered(tree: Tree, rules: Rules) -> None:
    own = [os.fsencode(tree.mkdir("home/.livedex")), b"/elsewhere"]
    given = rules("!*", own_folders=own)
    assert why(given, "home/.livedex/data/x").kind == "own"
    assert shut_out(given, "home/.livedexx", "home/x", ".livedex/") == []
    inside = rules(root=tree.mkdir("home/.livedex/data"), own_folders=own)
    assert why(inside, "x").kind == "own"
    assert inside.explain(b"", True) is not None


# --- work trees ---


def test_a_nested_work_tree_begins_anew(tree: Tree, user: Tree, rules: Rules) -> None:
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
    assert os.fsencode(exclude) in linked.outside_sources()
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
    assert not [path for path in given.outside_sources() if path.startswith(b"/proc/")]


def test_no_link_is_followed_to_a_repository_s_rules(tree: Tree, rules: Rules, tmp_path: Path) -> None:
    """Whoever made the checkout could point one at any file, and ``why`` would show that file's lines."""
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


def test_a_root_inside_a_work_tree_hears_what_is_above_it(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "*.q\n/sub/deep/only\n/deep\n")
    tree.write("sub/.gitignore", "!b.q\n*.s\n")
    root = tree.mkdir("sub/deep")
    assert shut_out(rules(root=root), "x.q", "x.s") == []  # no work tree: nothing above counts
    tree.git("init", "-q")
    tree.write(".git/info/exclude", "/sub/deep/there\n")
    given = rules(root=root)
    assert shut_out(given, "x.q", "b.q", "x.s", "only", "there", "a/only", "deep") == ["x.q", "x.s", "only", "there"]
    sources = given.outside_sources()
    for path in (".gitignore", "sub/.gitignore", ".git/info/exclude", ".git", "sub/.git"):
        assert os.fsencode(tree / path) in sources
    tree.write(".gitignore", "sub/\n")
    assert shut_out(rules(root=root), "x") == []  # the user named the root: it is not judged itself


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


def test_the_user_s_own_files_may_be_links(tree: Tree, user: Tree, rules: Rules) -> None:
    user.write("dotfiles/ignore", "x\n")
    user.write("dotfiles/gitconfig", "[core]\nexcludesfile = ~/link\n")
    (user / "link").symlink_to("dotfiles/ignore")
    (user / ".gitconfig").symlink_to("dotfiles/gitconfig")
    given = rules()
    assert shut_out(given, "x", "y") == ["x"]
    user.save("dotfiles/ignore", "y\n")
    assert given.outside_changed() == {b""}
    assert shut_out(given, "x", "y") == ["y"]


def test_git_s_own_variables_are_heard(user: Tree, environ: Mapping[str, str]) -> None:
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


# --- ignore files that are something else ---


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


def test_a_pipe_is_not_even_opened(tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits at its other end would be woken by us."""
    tree.git("init", "-q")
    (tree / ".git/info/exclude").unlink()
    pipes = {os.fsencode(tree / name) for name in (".git/info/exclude", ".gitignore", ".livedexignore")}
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
    monkeypatch.setattr(ignore, "MAX_IGNORE_FILE", 1 << 20)
    path = tree.write(".gitignore", b"first\n" + b"#" * (1 << 20) + b"\nsecond\n")
    given = rules()
    assert shut_out(given, "first", "second") == ["first"]
    assert given.faults() == {str(path): "is larger than 1 MiB: only its beginning counts"}
    tree.write(".gitignore", "second\n")
    given.invalidate()
    assert shut_out(given, "first", "second") == ["second"]
    assert given.faults() == {}


def test_a_hostile_checkout_cannot_make_us_remember_without_end(
    tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore, "MAX_HELD", 250)
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
def test_an_ignore_file_that_may_not_be_read_is_told(tree: Tree, rules: Rules) -> None:
    path = tree.write(".gitignore", "x\n")
    path.chmod(0)
    given = rules()
    assert shut_out(given, "x") == []
    assert given.faults() == {str(path): UNREADABLE}


# --- change ---


def test_a_changed_ignore_file_is_read_again_when_a_scan_shows_it(tree: Tree, rules: Rules) -> None:
    tree.write("a/b/x.log")
    given = rules()
    root = os.fsencode(tree.path)

    def entries(folder: bytes) -> dict[bytes, Any]:
        return dict(files.scan(root, folder))

    judge = given.rules(b"a", entries(b"a"))
    below = given.rules(b"a/b", entries(b"a/b"))
    assert below.decide(b"x.log", False) is None
    assert given.rules(b"a", entries(b"a")) is judge
    for content, verdicts in (("*.log\n", True), ("!*.log\n", False), ("*.log\n", True)):
        tree.save("a/.gitignore", content)
        assert given.stale(b"a", entries(b"a"))
        given.rules(b"a", entries(b"a"))
        assert not given.stale(b"a", entries(b"a"))
        assert (given.rules(b"a/b").decide(b"x.log", False) is not None) == verdicts
    (tree / "a/.gitignore").unlink()
    assert given.stale(b"a", entries(b"a"))
    assert given.rules(b"a", set(entries(b"a"))).decide(b"x.log", False) is None  # by names alone
    assert given.rules(b"a/b").decide(b"x.log", False) is None
    tree.git("init", "-q", "a")
    assert given.stale(b"a", entries(b"a"))
    given.rules(b"a", entries(b"a"))
    tree.write("a/.git/something", "the folder's own times do not matter")
    assert not given.stale(b"a", entries(b"a"))


def test_invalidate_forgets_a_folder_and_what_is_below_it(tree: Tree, rules: Rules) -> None:
    for folder in ("a", "a/b", "ab"):
        tree.write(f"{folder}/.gitignore", "x\n")
    given = rules()
    kept = given.rules(b"ab")
    dropped = given.rules(b"a/b")
    given.invalidate(b"a")
    assert given.rules(b"ab") is kept
    assert given.rules(b"a/b") is not dropped
    given.invalidate(None)
    assert given.rules(b"ab") is not kept


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
    monkeypatch.setattr(ignore, "_MAX_CACHED", 3)
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


# --- edges ---


def test_a_path_of_a_thousand_folders_is_explained(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "x\n")
    deep = "/".join(["d"] * 1_500)
    assert shut_out(rules(), f"{deep}/x", f"{deep}/y") == [f"{deep}/x"]


def test_what_is_not_relative_is_refused(rules: Rules) -> None:
    for path in (b"../x", b"/x", b"a//b", b"a/"):
        with pytest.raises(ValueError, match="not a path relative"):
            rules().explain(path, False)


def test_a_link_is_no_folder(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", "d/\n")
    assert shut_out(rules(), "d/", "d") == ["d/"]


def test_names_that_are_not_text(tree: Tree, rules: Rules) -> None:
    tree.write(".gitignore", b"caf\xe9*\n?.md\n")
    given = rules("naïve")
    assert given.explain(b"caf\xe9\xff", False) == Verdict("ignored", str(tree / ".gitignore"), 1, "caf\ufffd*")
    assert given.explain("é.md".encode(), False) is None  # two bytes
    assert given.explain(b"\xe9.md", False) is not None
    assert given.explain("naïve".encode(), False) is not None


def test_files_whose_change_changes_the_rules() -> None:
    assert [name for name in (b".gitignore", b".livedexignore", b".git", b".ignore", b"x") if is_rule_file(name)] == [
        *(b".gitignore", b".livedexignore", b".git")
    ]
    assert not is_mark(b"x")
