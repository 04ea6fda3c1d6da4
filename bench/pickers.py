"""100 keys typed into fzf at 20 keys a second, with the line of the README: from each key to the list that it leads to.

``python -m bench.pickers --corpus DIR``. A key that comes before the former one's list counts with its own list. The
floor is fzf itself: the same keys where ``cat`` gives it the same lists from files.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import HEADER, Figure
from bench.server import Server, server
from livedex_ipc.client import Client, connect

README = Path(__file__).parents[1] / "README.md"
KEYS = 100
PER_SECOND = 20
REDRAW_GOAL_MS = 100.0
SEED = 5
LIMIT_S = 5.0
MOST = 1_000  # paths, as the line asks for
ASKS = "livedex files --typing -n 1000 {q}"

Typed = tuple[str, str, tuple[str, str]]


class Picker:
    """fzf in a terminal of its own."""

    def __init__(self, line: str, running: Server, folder: Path, work: Path) -> None:
        """``line``: starts it."""
        self._tmux = ["tmux", "-S", str(work / "tmux"), "-f", "/dev/null"]
        (work / "script").write_text(line + "\n")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**running.env, "PATH": path, "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        env.pop("TMUX", None)
        start = ["new-session", "-d", "-x", "160", "-y", "30", "-c", str(folder), f"sh {work}/script"]
        subprocess.run([*self._tmux, *start], env=env, check=True)

    def press(self, key: str) -> None:
        subprocess.run([*self._tmux, "send-keys", key], check=True)

    def screen(self) -> str:
        return subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)


def line_of_readme() -> str:
    lines: list[str] = re.findall(r"^fzf (?:.*\\\n)*.*$", README.read_text(), re.MULTILINE)
    return next(line for line in lines if ASKS in line)


def typed(client: Client, folder: Path, lists: Path, keys: int) -> list[Typed]:
    """Return keys, each with what is typed then, and what fzf shows of its answer: the best path, relative to the
    folder, and how many there are. ``lists`` gets a file with the paths for each text that is typed."""
    names = [Path(file["path"]).stem for file in client.call("files/find", {"limit": 10_000})["files"]]
    words = [name for name in names if name.isascii() and name.isalnum() and len(name) >= 4]
    chosen, found = random.Random(SEED), list[Typed]()
    lists.mkdir()
    while len(found) < keys:
        text = ""
        for key in chosen.choice(words)[:4]:
            text += key
            answer = client.call("files/find", {"query": text, "limit": MOST})
            paths = [os.path.relpath(file["path"], folder) for file in answer["files"]]
            (lists / text).write_text("".join(f"{path}\n" for path in paths))
            found.append((key, text, (paths[0] if paths else "", f" {len(paths)}/{len(paths)} ")))
        found.append(("C-u", "", ("", "")))
    return found[:keys]


def measure(running: Server, folder: Path, work: Path) -> Iterator[Figure]:
    lists = work / "lists"
    with connect(spawn=False, path=running.socket) as client:
        client.call("roots/add", {"path": str(folder)})
        client.call("index/run", timeout_s=None)
        keys = typed(client, folder, lists, KEYS)
    line = line_of_readme()
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as own:
        took = press(Picker(line, running, folder, Path(own)), keys)
    yield Figure("a key in fzf, to its list", "ms", took, goal=REDRAW_GOAL_MS)
    floor = press(Picker(line.replace(ASKS, f"cat {lists}/{{q}}"), running, folder, work), keys)
    yield Figure("  the same list by cat", "ms", floor)


def press(picker: Picker, keys: list[Typed]) -> list[float]:
    took = list[float]()
    try:
        time.sleep(1.0)  # fzf has its first list
        due = time.perf_counter()
        for key, text, answer in keys:
            due = max(due + 1 / PER_SECOND, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
            pressed = time.perf_counter()
            picker.press(key)
            while text and not all(part in (shown := picker.screen()) for part in (f"> {text}", *answer)):
                if time.perf_counter() - pressed > LIMIT_S:
                    raise RuntimeError(f"{answer} was not shown for {text!r}:\n{shown}")
            if text:
                took.append((time.perf_counter() - pressed) * 1000)
    finally:
        picker.close()
    return took


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.pickers", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="a folder to index")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as work, server() as running:
        running.start().close()
        print(HEADER)
        for figure in measure(running, options.corpus.resolve(), Path(work)):
            print(figure.as_line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
