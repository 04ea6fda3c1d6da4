"""What a newcomer tries, and what they should be told: each command in a pipe, and all of them in a real terminal."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.support import LIVEDEX, Home, Tree, add_root, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

# Words, exit code, and what the output has on a terminal: a pipe has the same, but for the hints marked with ``?``.
TOUR: tuple[tuple[str, int, str], ...] = (
    ("search how long does a lease last", 0, "A lease lasts thirty days."),
    ("search laese", 0, 'no "laese"; showing "lease"'),
    ("search zither", 1, "?nothing found"),
    ("search zzqqxx", 1, "?nothing found"),
    ("search -l lease", 0, "notes/lease.md"),
    ("search -Fl LEASE -i", 0, "notes/lease.md"),
    ("search -Fw leas", 1, "?nothing found"),
    ("search -lease", 2, "livedex search -- -lease"),
    ("search -- -lease", 0, "src/router.js"),
    ("search -s lease", 2, "--case-sensitive needs -F or -e"),
    ("search '->'", 1, "the query contains no letter or digit"),
    ("search x --sort date", 2, "none of: relevance, modified, path"),
    ("search router -t js", 0, "src/router.js"),
    ("search router -t pyton", 1, "no indexed file has the language 'pyton'"),
    ("search lease --since '1 week ago' --before tomorow", 2, "tomorow"),
    ("search lease --limt 3", 2, "did you mean --limit?"),
    ("search -e '(?<=a)b'", 2, "look-around is not supported"),
    ("search lease --in notes --in src -l", 0, "notes/lease.md"),
    ("search lease -n 5000", 2, "--limit is at most 1,000; --all prints all hits"),
    ("search -Fl lease -n 5000", 0, "notes/lease.md"),
    ("search lease /etc/hosts", 0, "A lease lasts"),
    ("search Łukaszewicz --short", 0, "notes/people.md:1:Lukaszewicz, Strasse"),
    ("search straße --short", 0, "notes/people.md"),
    ("search lease --in notes/gone", 1, "notes/gone (`livedex why` shows the reason)"),
    ("search -F lease --in src/build.log", 1, "no indexed file is at or below"),
    ("search lease --in notes/gone --in notes -l", 0, "no indexed file is at or below"),
    ("search lease --root notes", 2, "notes is not a root; it is in one: name it as a path instead"),
    ("list --root /", 2, "/ is not a root; `livedex roots list` lists the roots"),
    ("list notes/gone", 1, "no file is at or below"),
    ("list notes/gone notes", 0, "notes/gone (`livedex why` shows the reason)"),
    ("index notes/gone", 0, "livedex: there is no notes/gone"),
    ("audit notes/gone notes", 0, "livedex: there is no notes/gone"),
    ("list src/build.log", 1, "?no files"),
    ("list src/build.log", 1, "no file is at or below"),
    ("languages notes/gone", 1, "no indexed file is at or below"),
    ("files rtr", 0, "src/router.js"),
    ("files --sort path", 0, "notes/lease.md"),
    ("languages", 0, "javascript"),
    ("retrieve --start-line 9 --end-line 3 notes/lease.md", 2, "--end-line 3 is before --start-line 9"),
    ("why notes/gone.md", 0, "there is no such file"),
    ("why src/build.log", 0, "*.log"),
    ("help search", 0, "usage: livedex search"),
    ("version", 0, "livedex "),
    ("-V", 0, "livedex "),
    ("roots", 0, "STATE"),
    ("config", 0, "chunking.chunk_size"),
    ("paths", 0, "index.db"),
    ("search", 2, "QUERY is missing"),
    ("serch lease", 2, "did you mean search?"),
)  # fmt: skip


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Tree:
    tree.write("notes/lease.md", "# Leases\n\nA lease lasts thirty days.\n")
    tree.write("notes/people.md", "Lukaszewicz, Strasse 1\n\neither of them\n")
    tree.write("src/router.js", "function router() {}\n// retry -deprecated\n")
    tree.write("src/.gitignore", "*.log\n")
    tree.write("src/build.log", "noise\n")
    add_root(client, tree)
    client.call("sync")
    return tree


def test_in_a_pipe(home: Home, indexed: Tree) -> None:
    wrong = []
    for words, code, wanted in TOUR:
        command = [str(LIVEDEX), *shlex.split(words)]
        done = subprocess.run(
            command, env=home.env, cwd=indexed.path, capture_output=True, text=True, timeout=60, check=False
        )
        text = done.stdout + done.stderr
        told = wanted in text if not wanted.startswith("?") else wanted[1:] not in text
        if done.returncode != code or not told or "\x1b" in text or text.startswith("{"):
            wrong.append((words, done.returncode, text))
    assert wrong == []


@pytest.mark.needs("tmux")
def test_in_a_terminal(home: Home, indexed: Tree, tmp_path: Path) -> None:
    tmux = ["tmux", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]
    lines = [
        f"{LIVEDEX} {words}; code=$?; echo; echo '<{number}:'$code'>'" for number, (words, _, _) in enumerate(TOUR)
    ]
    (tmp_path / "script").write_text("\n".join(lines) + "\n")
    env = {name: value for name, value in home.env.items() if name not in ("TMUX", "NO_COLOR")}
    env |= {"TERM": "xterm-256color", "PAGER": "cat", "SHELL": "/bin/sh"}
    start = ["new-session", "-d", "-x", "200", "-y", "50", "-c", str(indexed.path), f"sh {tmp_path}/script; read end"]
    subprocess.run(
        [*tmux, "start-server", ";", "set", "-g", "history-limit", "20000", ";", *start], env=env, check=True
    )

    def screen() -> str:
        shown = [*tmux, "capture-pane", "-p", "-J", "-S", "-20000"]
        return subprocess.run(shown, capture_output=True, text=True, check=True).stdout

    try:
        wait_until(lambda: f"<{len(TOUR) - 1}:" in screen(), 60, what="the end of the tour")
        found = re.split(r"<(\d+):(\d+)>", screen())
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
    wrong = []
    for (words, code, wanted), text, ended in zip(TOUR, found[::3], found[2::3], strict=False):
        if int(ended) != code or " ".join(wanted.lstrip("?").split()) not in " ".join(text.split()):
            wrong.append((words, ended, text))
    assert wrong == []
