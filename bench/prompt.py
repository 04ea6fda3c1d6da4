"""`python -m bench.prompt --corpus DIR`: what is waited for at a prompt: keys, the command, lists of files.

The keys are those of base names, of words and of names with underscores of the corpus, typed one by one; each is asked
over the socket.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.corpus import text_files
from bench.figures import HEADER, Figure
from bench.lines import listed
from bench.searching import milliseconds, queries, run_command
from bench.server import Server, server
from livedex_ipc.client import Client, connect

FILES_GOAL_MS = 10.0
COMMAND_GOAL_MS = 20.0  # of CPU, over a bare interpreter
SEED = 6
MOST_KEYS = 6
KEYS_OF_NAMES = 20
NAME = re.compile(rb"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")
COMMANDS = {
    "search, the command, CPU": ["search", "zither"],
    "files, the command, CPU": ["files", "--typing", "-n", "20", "reame"],
    "version, the command, CPU": ["version"],
}


def names_of(corpus: Path) -> list[str]:
    return sorted({name.decode() for _, data in text_files(corpus) for name in NAME.findall(data)})


def keys(words: list[str], count: int, most: int = MOST_KEYS) -> list[str]:
    """What stands at the prompt after each key, for ``count`` keys, at most ``most`` of each word."""
    chosen, found = random.Random(SEED), list[str]()
    while len(found) < count:
        word = chosen.choice(words)
        found += [word[:end] for end in range(1, min(most, len(word)) + 1)]
    return found[:count]


def typed(client: Client, corpus: Path, count: int) -> Iterator[Figure]:
    files = client.call("files/find", {"limit": 10_000})["files"]
    names = [Path(file["path"]).name for file in files if file["path"].isascii()]
    words = [word for query in queries(corpus, 200) for word in query.split()]

    def took(words: list[str], ask: Callable[[str], object], most: int = MOST_KEYS) -> list[float]:
        return [milliseconds(ask, text) for text in keys(words, count, most)]

    def search(text: str) -> object:
        return client.call("search", {"query": text, "typing": True})

    found = took(names, lambda text: client.call("files/find", {"query": text}))
    yield Figure("files as typed, p50", "ms", found, goal=FILES_GOAL_MS)
    yield Figure("files as typed, p99", "ms", found, which="p99")
    found = took(words, search)
    yield Figure("search as typed, p50", "ms", found)
    yield Figure("search as typed, p99", "ms", found, which="p99")
    found = took(names_of(corpus), search, KEYS_OF_NAMES)
    yield Figure("names as typed, p50", "ms", found)
    yield Figure("names as typed, p99", "ms", found, which="p99")


def commands(running: Server, count: int) -> Iterator[Figure]:
    """Each command and an interpreter that does nothing, in turns."""
    livedex = str(Path(sys.executable).with_name("livedex"))
    for name, words in COMMANDS.items():
        ours, bare = list[float](), list[float]()
        for _run in range(count):
            bare.append(_cpu_ms(running, [sys.executable, "-c", "pass"]))
            ours.append(_cpu_ms(running, [livedex, *words]))
        yield Figure(name, "ms", ours, bare, COMMAND_GOAL_MS, over=True)


def _cpu_ms(running: Server, words: list[str]) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (usage.ru_utime + usage.ru_stime) * 1000

    before = used()
    run_command(running, words)
    return used() - before


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.prompt", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="a folder to index")
    parser.add_argument("--runs", type=int, default=300, help="keys of each kind (default: %(default)s)")
    options = parser.parse_args()
    corpus = options.corpus.resolve()
    with server() as running:
        running.start().close()
        with connect(spawn=False, path=running.socket) as client:
            client.call("roots/add", {"path": str(corpus)})
            client.call("index/run", timeout_s=None)
            print(HEADER)
            for figure in typed(client, corpus, options.runs):
                print(figure.as_line())
        for figure in [*commands(running, options.runs // 5), *listed(running, corpus, 5)]:
            print(figure.as_line())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
