"""fzf, Vim and Emacs driven for real, with the lines of the README: what is typed is found, lists hold hits only."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, LIVEDEX, Home, Tree, wait_until

FZF_LINES = re.findall(r"^fzf (?:.*\\\n)*.*$", (CHECKOUT / "README.md").read_text(), re.MULTILINE)
VIM_LINE = re.search(r"^set grepprg=.*$", (CHECKOUT / "README.md").read_text(), re.MULTILINE)


@pytest.fixture
def indexed(home: Home, tree: Tree) -> Tree:
    tree.write("notes/lease.md", "# Leases\n\nA xylophone is leased for thirty days.\n")
    tree.write("src/lease.py", "def renew(xylophones):\n    return xylophones\n")
    home.run("up", str(tree))
    return tree


@contextmanager
def terminal(home: Home, tree: Tree, folder: Path, command: str) -> Iterator[list[str]]:
    """Run a shell command in a terminal of its own; yield the words of tmux that reach it."""
    tmux = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
    path = f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}"
    env = {**home.env, "PATH": path, "EDITOR": "echo", "TERM": "xterm-256color", "SHELL": "/bin/sh"}
    script = folder / "script"
    script.write_text(f"{command} > {folder}/chosen\n")
    size = ["-x", "110", "-y", "20"]
    subprocess.run(
        [*tmux, "new-session", "-d", *size, "-c", str(tree), f"sh {script}; read end"],
        env={name: value for name, value in env.items() if name != "TMUX"},
        check=True,
    )
    try:
        yield tmux
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def screen(tmux: list[str]) -> str:
    return subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout


def lines(tmux: list[str]) -> set[str]:
    """The entries of fzf's list."""
    shown = (line.lstrip("> ").rstrip("│ ") for line in screen(tmux).splitlines())
    return {line for line in shown if ".md" in line or ".py" in line}


@pytest.mark.needs("fzf", "tmux")
@pytest.mark.parametrize(
    ("line", "empty", "typed", "found", "chosen"),
    [
        (
            0,
            {"notes/lease.md:1:1:# Leases", "src/lease.py:1:1:def renew(xylophones):"},
            "xylophonesx",
            {
                "src/lease.py:1:11:def renew(xylophones):",
                "src/lease.py:2:12:    return xylophones",
                "notes/lease.md:3:3:A xylophone is leased for thirty days.",
            },
            ".",
        ),
        (1, {"notes/lease.md", "src/lease.py"}, "slpyx", {"src/lease.py"}, "src/lease.py"),
    ],
)
def test_fzf_searches_as_it_is_typed_into(
    home: Home, indexed: Tree, tmp_path: Path, line: int, empty: set[str], typed: str, found: set[str], chosen: str
) -> None:
    with terminal(home, indexed, tmp_path, FZF_LINES[line]) as tmux:
        wait_until(lambda: empty <= lines(tmux), 20, what="what changed last")
        for key in typed:
            subprocess.run([*tmux, "send-keys", key], check=True)
        wait_until(lambda: lines(tmux) == set() and f"> {typed}" in screen(tmux), 20, what="that nothing is found")
        assert "failed" not in screen(tmux), "nothing found is no fault"
        subprocess.run([*tmux, "send-keys", "BSpace"], check=True)
        wait_until(lambda: lines(tmux) == found, 20, what="what was typed")
        subprocess.run([*tmux, "send-keys", "Enter"], check=True)
        wait_until(lambda: chosen in (tmp_path / "chosen").read_text(), 20, what="the choice")


@pytest.mark.needs("vim")
def test_the_quickfix_list_of_vim_holds_hits_only(home: Home, indexed: Tree, tmp_path: Path) -> None:
    assert VIM_LINE is not None
    env = {**home.env, "PATH": f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}", "TERM": "dumb"}

    def quickfix(query: str) -> list[str]:
        write = "map(getqflist(), {_, e -> bufname(e.bufnr) .. ':' .. e.lnum .. ':' .. e.col .. ':' .. e.valid})"
        commands = [VIM_LINE[0], f"silent grep! {query}", f"call writefile({write}, '{tmp_path}/list')", "qall!"]
        words = [word for command in commands for word in ("-c", command)]
        subprocess.run(
            ["vim", "-u", "NONE", "-i", "NONE", "-N", "-es", *words],
            env=env, cwd=indexed.path, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        return (tmp_path / "list").read_text().splitlines()

    assert set(quickfix("renew xylophone")) == {"src/lease.py:1:5:1", "src/lease.py:2:12:1", "notes/lease.md:3:3:1"}
    assert quickfix("zzqqxx") == []


EMACS = """
(require 'grep)
(let ((found nil)
      (buffer (grep "livedex search --vimgrep %s")))
  (with-current-buffer buffer  ; its last line has a time, which looks like a place to a batch Emacs
    (let ((inhibit-read-only t))
      (while (progn (goto-char (point-max)) (not (re-search-backward "^Grep \\\\(finished\\\\|exited\\\\)" nil t)))
        (accept-process-output nil 0.05))  ; a process that has ended may have lines under way
      (delete-region (point) (point-max))))
  (condition-case nil
      (while t
        (next-error)
        (with-current-buffer (window-buffer)
          (push (format "%%s:%%d" (file-name-nondirectory buffer-file-name) (line-number-at-pos)) found)))
    (error nil))
  (princ (mapconcat 'identity (nreverse found) "\n")))
"""


@pytest.mark.needs("emacs")
def test_each_place_is_a_link_in_emacs(home: Home, indexed: Tree) -> None:
    env = {**home.env, "PATH": f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}", "TERM": "dumb"}

    def places(query: str) -> list[str]:
        command = ["emacs", "--batch", "-Q", "--eval", f"(progn {EMACS % query})"]
        done = subprocess.run(
            command, env=env, cwd=indexed.path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    assert set(places("renew xylophone")) == {"lease.py:1", "lease.py:2", "lease.md:3"}
    assert places("zzqqxx") == []
