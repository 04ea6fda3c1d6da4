"""The rank of the sources of rules, exclusions by name, and names that are not text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.ignore_verdicts import Rules, shut_out, why
from helpers.support import Tree
from livedex_indexing.ignore.rules import Verdict, is_marker_name, is_rule_file, reach

# --- rank ---


def test_each_source_outranks_the_next(tree: Tree, user: Tree, rules: Rules) -> None:
    """From the lowest rank up, each source contradicts the one before about the same name, and wins."""
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
    assert shut_out(rules("!out/keep"), "out/keep") == ["out/keep"]  # the folder above is the excluded entry
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
    assert is_marker_name(os.fsencode(Path(mark).name))
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
    assert not is_marker_name(b"x")


@pytest.mark.parametrize(
    ("path", "reached"),
    [
        (b"a/b.txt", b"a/b.txt"),
        (b"a/.gitignore", b"a"),
        (b".livedexignore", b""),
        (b"a/b/.git", b"a/b"),
        (b"a/Cargo.toml", b"a"),
        (b"a/target/CACHEDIR.TAG", b"a/target"),
        (b"Cargo.toml", b""),
        (b"", b""),
    ],
)
def test_what_decides_about_others_reaches_its_folder(path: bytes, reached: bytes) -> None:
    assert reach(path) == reached
