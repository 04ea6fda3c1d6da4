"""Patterns that few lines match, over the socket and by ripgrep on the same files, in turns."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench.corpus import text_files
from bench.figures import Figure
from bench.searching import milliseconds
from bench.server import Server
from livedex_ipc.client import Client, connect

RARE_GOAL = 1.0  # times ripgrep
LIST_GOAL = 3.0
COMMON = ("the", "if", "and", "return")  # in most files
FEW = 100  # lines
SEED = 21
LIVEDEX = Path(sys.executable).with_name("livedex")
NAME = re.compile(rb"\b[a-z]+_[a-z_]{4,20}\b")
WORDS = re.compile(r"\S+(?: \S+){2,4}")  # of a line, with the signs among them


def rare(server: Server, corpus: Path, count: int) -> list[Figure]:
    """Names of the corpus, pieces of them, calls as regular expressions, and a few words of a line as they are there,
    which may be the commonest of all: of each kind ``count``. No figure where ripgrep is missing."""
    if shutil.which("rg") is None:
        return []
    ours: dict[str, list[float]] = {"": [], "name": [], "words": []}
    theirs: dict[str, list[float]] = {"": [], "name": [], "words": []}
    with connect(spawn=False, path=server.socket) as client:
        for kind, mode, pattern in [("", "exact", "zzz"), *_patterns(corpus, count)]:
            asked = {"query": pattern, "mode": mode, "limit": FEW, "path": str(corpus), "timeout_ms": 60_000}
            took = milliseconds(client.call, "search", asked)
            if kind and _is_common(client, asked):
                continue
            ours[kind].append(took)
            theirs[kind].append(milliseconds(_ripgrep, corpus, mode, pattern))
    # The first of all reads the words of the index: it is a figure of its own.
    return [
        Figure("the first search for a pattern", "ms", ours[""], theirs[""]),
        Figure("search for a rare name", "ms", ours["name"], theirs["name"], RARE_GOAL),
        Figure("search for a few words of a line", "ms", ours["words"], theirs["words"], RARE_GOAL),
    ]


def listed(server: Server, corpus: Path, rounds: int) -> list[Figure]:
    """The command that lists files with a common word, and ripgrep, in turns. No figure where ripgrep is missing."""
    if shutil.which("rg") is None:
        return []
    ours: list[float] = []
    theirs: list[float] = []
    for word in COMMON * (rounds + 1):
        command = [str(LIVEDEX), "search", "-Fl", word, "--in", str(corpus)]
        ours.append(milliseconds(_run, command, {**os.environ, "LIVEDEX_SOCKET": str(server.socket)}))
        theirs.append(milliseconds(_run, ["rg", "-S", "-lF", "--no-config", word, str(corpus)], None))
    begun = len(COMMON)  # the first round reads the words of the index, and the files into the system's cache
    return [Figure("list the files with a common word", "ms", ours[begun:], theirs[begun:], LIST_GOAL)]


def _run(command: list[str], environment: dict[str, str] | None) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)


def _patterns(corpus: Path, count: int) -> list[tuple[str, str, str]]:
    names: set[bytes] = set()
    lines: list[str] = []
    chosen = random.Random(SEED)
    for number, (_path, data) in enumerate(text_files(corpus)):
        if number % 20 == 0:
            names.update(NAME.findall(data[:20_000]))
            lines.append(chosen.choice(data[:20_000].decode("utf-8", "replace").split("\n")))
    patterns = []
    for number, name in enumerate(chosen.sample(sorted(names), min(count, len(names)))):
        text = name.decode()
        forms = (("exact", text), ("exact", text[2:-1]), ("regex", rf"\b{text}\s*\("), ("regex", f"{text[:-2]}[a-z]+$"))
        patterns.append(("name", *forms[number % len(forms)]))
    found = [match[0] for line in lines for match in WORDS.finditer(line)]
    return patterns + [("words", "exact", text) for text in chosen.sample(found, min(count, len(found)))]


def _is_common(client: Client, asked: dict[str, object]) -> bool:
    return client.call("search", {**asked, "fresh": False})["next_offset"] is not None


def _ripgrep(corpus: Path, mode: str, pattern: str) -> None:
    fixed = ["-F"] if mode == "exact" else []
    command = ["rg", "-S", "--crlf", "-n", "--no-config", *fixed, "-e", pattern, str(corpus)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
