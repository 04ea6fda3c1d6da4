"""Emacs in a terminal, with the client as `livedex editor emacs` gives it and the keys of its page."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from helpers.editor_terminal import EditorTerminal, editor_environment, editor_terminal
from helpers.support import CHECKOUT, Home

PAGE = CHECKOUT / "docs" / "editors" / "emacs.md"
OLDEST = (29, 1)
KEEPS_FROM_COMPILING = (30, 1)  # has the option for it: before the init file, Emacs compiles its Lisp for the terminal
# Each way in which Emacs lists completions, and how it is chosen.
INTERFACES = {
    "plain": "",
    "icomplete": "(icomplete-vertical-mode 1)",
    "fido": "(fido-vertical-mode 1)",
    "vertico": "(require 'vertico) (vertico-mode 1)",
}
SETTINGS = """
(setq inhibit-startup-screen t ring-bell-function #'ignore make-backup-files nil create-lockfiles nil)
(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)  ; a tree may have no compiler
(menu-bar-mode -1)
(setq-default mode-line-format
  '((:eval (format "%s:%d:%d" (buffer-name) (line-number-at-pos) (- (point) (pos-bol))))))
"""


def settings_of_page() -> str:
    """Return the Lisp that the page says to put into the user's init file."""
    return "\n".join(re.findall(r"```elisp\n(.*?)```", PAGE.read_text(), re.DOTALL))


def batch(program: Path, *words: str | Path, env: Mapping[str, str] | None = None) -> str:
    """Return what an Emacs without a terminal prints; a failure with it if it does not exit 0."""
    done = subprocess.run(
        [program, "-Q", "--batch", *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@cache
def version_of(program: Path) -> tuple[int, ...]:
    """Return the major and the minor version."""
    said = batch(program, "--eval", '(princ (format "%d %d" emacs-major-version emacs-minor-version))')
    return tuple(map(int, said.split()))


def require_current(program: Path) -> None:
    """Skip the test if this Emacs is too old, or lacks the packages of Lisp that `make editors` installs."""
    version = version_of(program)
    if version < OLDEST:
        pytest.skip(f"Emacs {'.'.join(map(str, version))} is too old (make editors)")


@contextmanager
def emacs(
    program: Path,
    home: Home,
    folder: Path,
    *,
    lisp: Sequence[str] = (),
    env: Mapping[str, str] = {},
    size: tuple[int, int] = (30, 110),
) -> Iterator[EditorTerminal]:
    """Run Emacs in `folder`. `lisp`: further forms of its init file. The mode line has `buffer:line:column`, with
    the column in characters from 0.
    """
    require_current(program)
    init = home.path / "init.el"
    init.write_text("\n".join([SETTINGS, settings_of_page(), *lisp]))
    alone = ["-no-comp-spawn"] if version_of(program) >= KEEPS_FROM_COMPILING else []
    command: list[str | Path] = [program, *alone, "-Q", "-nw", "-l", init, "--eval", '(message "ready")']
    with editor_terminal(command, folder, editor_environment(home, **env), size) as terminal:
        terminal.see("ready")
        yield terminal
