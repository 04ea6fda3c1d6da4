"""Editors as users have them: the real program in a terminal of tmux, keys typed, its screen read.

`make editors` puts newer editors than a machine may have into build/editors. Without it, the editor on the PATH is
driven, or the test is skipped and says why.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import pytest
from _pytest.mark.structures import ParameterSet

from helpers.screen import Screen
from helpers.support import CHECKOUT, LIVEDEX, Home, share_of

Test = TypeVar("Test", bound=Callable[..., Any])

TREES = sorted((CHECKOUT / "build" / "editors").glob("*/commands"))


OLDEST = {"emacs": (29, 1), "hx": (25, 1), "nvim": (0, 10)}  # that livedex supports


def editor_paths(program: str) -> dict[str, Path]:
    """Return where this program is, by the name of its tree; "path" is the one on the PATH, used where no tree is.

    One that is older than livedex supports is left out.
    """
    found = {tree.parent.name: tree / program for tree in TREES if (tree / program).exists()}
    on_path = shutil.which(program)
    if not found and on_path and _version(on_path) >= OLDEST[program]:
        found["path"] = Path(on_path)
    return found


@cache
def _version(program: str) -> tuple[int, ...]:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", printed)[:2]))


def editors(program: str) -> list[ParameterSet]:
    """Return the paths of this program for `parametrize`, or one skip."""
    found = editor_paths(program)
    if not found or shutil.which("tmux") is None:
        oldest = ".".join(map(str, OLDEST[program]))
        missing = "tmux" if found else f"{program} {oldest} or later (make editors)"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(f"not installed here: {missing}"))]
    return [pytest.param(path, id=name) for name, path in found.items()]


def in_editor(editor: str, **others: Iterable[str]) -> Callable[[Test], Test]:
    """Give a test each version of the editor as `program`; in `make test` one, whose turn the test's name says.

    `others`: one more argument with its values, each of which has its own turn.
    """

    def mark(test: Test) -> Test:
        turn = crc32(test.__name__.encode())
        if others:
            ((name, values),) = others.items()
            pairs = [
                pytest.param(*version.values, value, id=f"{version.id}-{value}", marks=version.marks)
                for place, value in enumerate(values)
                for version in share_of(editors(editor), turn + place)
            ]
            test = pytest.mark.parametrize(("program", name), pairs)(test)
        else:
            test = pytest.mark.parametrize("program", share_of(editors(editor), turn))(test)
        return test

    return mark


class EditorTerminal(Screen):
    """A terminal with a program in it."""

    def __init__(self, tmux: Sequence[str]) -> None:
        self.tmux = tmux

    def type(self, text: str) -> None:
        """Type the characters as they are."""
        self._run("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux: `Enter`, `Escape`, `C-n`, `BSpace`."""
        self._run("send-keys", *keys)

    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._run("capture-pane", "-p").splitlines()]

    def _run(self, *words: str) -> str:
        return subprocess.run([*self.tmux, *words], capture_output=True, text=True, check=True).stdout


def editor_environment(home: Home, **env: str) -> Mapping[str, str]:
    """Return the environment of a user whose `livedex` is the tested one, with nothing of the tester's own set-up."""
    path = f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}"
    plain = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh"}
    folders = {f"XDG_{name}_HOME": str(home.path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    return {**home.env, "PATH": path, **plain, **folders, **env}


@contextmanager
def editor_terminal(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str], size: tuple[int, int] = (30, 110)
) -> Iterator[EditorTerminal]:
    """Run a command in a terminal of `size` rows and columns, in `folder`; end it, and what it started, at the end."""
    with tempfile.TemporaryDirectory(prefix="lx-") as short:
        tmux = ["tmux", "-S", f"{short}/tmux", "-f", "/dev/null"]
        begin = ["new-session", "-d", "-x", str(size[1]), "-y", str(size[0]), "-c", str(folder)]
        clean = {name: value for name, value in env.items() if name not in ("TMUX", "COLUMNS", "LINES")}
        options = ["set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-sg", "escape-time", "0", ";"]
        subprocess.run([*tmux, *options, *begin, *map(str, command)], env=clean, check=True)
        try:
            yield EditorTerminal(tmux)
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)
