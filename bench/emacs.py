"""What the client for Emacs costs: a key, a saved file, being idle. `PYTHONPATH=tests python -m bench.emacs [FOLDER]`.

Invariant: CPU is that of Emacs alone. A key counts as shown when the screen has the best hit of what is typed, which
the answer before did not have. Linux.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figures import HEADER, Figure
from bench.indexed import indexed, parser_for
from bench.key_timing import LIMIT_S, key_figures
from bench.live import idle_percent
from bench.neovim import IDLE_PERCENT, SAVED_MS, SAVES, SIZE, keys_of
from helpers.editor_terminal import EditorTerminal, editor_paths
from helpers.emacs import INTERFACES, emacs
from helpers.support import Daemon, Home, add_root

SETTLE_S = 15.0  # an Emacs that does nothing needs 80 ms of CPU in its first ten seconds
COMMANDS = {**{name: ("s", lisp) for name, lisp in INTERFACES.items()}, "consult": ("c", INTERFACES["vertico"])}


@contextmanager
def running(program: Path, home: Home, folder: Path, lisp: str = "") -> Iterator[tuple[EditorTerminal, int]]:
    """Run Emacs; yield its terminal and its process id."""
    noted = home.path / "emacs.pid"
    note = f'(write-region (number-to-string (emacs-pid)) nil "{noted}" nil t)'
    with emacs(program, home, folder, lisp=[note, "(setq enable-local-variables nil)", lisp], size=SIZE) as terminal:
        yield terminal, int(noted.read_text())


def follow(terminal: EditorTerminal, pid: int, edits: Path) -> list[Figure]:
    """From a save to the following buffer on the screen; then nothing happens."""
    terminal.type("\x03sfzzfollowed\r")
    terminal.see("0 hits · following")
    walls = []
    for number in range(SAVES):
        time.sleep(1.0)  # a result that changes without a pause is told every half second
        began = time.perf_counter()
        (edits / f"saved{number}.md").write_text(f"zzfollowed {number}\n")
        while f"saved{number}.md" not in terminal.text():
            if time.perf_counter() - began > LIMIT_S:
                raise RuntimeError(f"the save was not shown:\n{terminal.text()}")
        walls.append((time.perf_counter() - began) * 1000)
    time.sleep(SETTLE_S)
    percent = idle_percent([pid])
    return [
        Figure("a save, to the following buffer", "ms", walls, goal=SAVED_MS),
        Figure("idle with it, CPU of one core", "%", [percent], goal=IDLE_PERCENT),
    ]


def measure(program: Path, home: Home, daemon: Daemon, folder: Path, edits: Path) -> Iterator[Figure]:
    with running(program, home, folder) as (terminal, pid):
        yield from follow(terminal, pid, edits)
    with daemon.client() as client:
        keys = list(keys_of(client))
    for name, (key, lisp) in COMMANDS.items():
        with running(program, home, folder, lisp) as (terminal, pid):
            terminal.type(f"\x03s{key}")
            time.sleep(2.0)
            yield from key_figures(name, terminal, [pid], keys, lambda _: "\x01\x0b")  # C-a C-k


def main() -> int:
    options = parser_for("emacs", __doc__).parse_args()
    program = next(iter(editor_paths("emacs").values()), None)
    if program is None:
        raise SystemExit("no Emacs here: make editors")
    with indexed(options.folder) as (home, daemon, folder, work):
        edits = work / "edits"
        edits.mkdir()
        with daemon.client() as client:
            add_root(client, edits)
        print(f"{program}, load {os.getloadavg()[0]:.1f}", HEADER, sep="\n")
        for figure in measure(program, home, daemon, folder, edits):
            print(figure.as_line(), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
