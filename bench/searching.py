"""Searches over the socket, fresh ones after an edit, and the command: what a person or an agent waits for."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean

import apsw

from bench.corpus import text_files
from bench.figures import Figure, percentile
from bench.mixture import ANY_WORD, mixed
from bench.quality.product import engine
from bench.server import Server
from livedex_ipc.client import Client, connect

FRESH_P50_GOAL_MS = 10.0
FRESH_P99_GOAL_MS = 50.0
MIXED_P50_GOAL_MS = 5.0
MIXED_P99_GOAL_MS = 40.0
ENGINE_GOAL = 0.25  # times the plain OR of the words, both in process: of the ranking, and of whole answers too
PLAIN_GOAL = 3.0  # times the same FTS5 query in process
COMMAND_GOAL_MS = 40.0  # over a bare interpreter
SEED = 20
LIMIT = 10  # hits, as a search has them that does not say
WORD = re.compile(rb"(?<![A-Za-z0-9_])[a-z]{4,12}(?![A-Za-z0-9_])")  # whole: a piece of one would be a misspelt word
SAME_QUERY = "SELECT rowid, bm25(postings) AS score FROM postings WHERE postings MATCH ? ORDER BY score LIMIT ?"


def milliseconds(work: Callable[..., object], *args: object) -> float:
    start = time.perf_counter()
    work(*args)
    return (time.perf_counter() - start) * 1000


def queries(corpus: Path, count: int) -> list[str]:
    """Pairs of words of the corpus, from a fixed seed."""
    chosen = random.Random(SEED)
    words: set[bytes] = set()
    for number, (_path, data) in enumerate(text_files(corpus)):
        if number % 20 == 0:
            words.update(WORD.findall(data[:20_000]))
    ordered = sorted(words)
    return [f"{chosen.choice(ordered).decode()} {chosen.choice(ordered).decode()}" for _query in range(count)]


def plain(server: Server, corpus: Path, count: int) -> list[Figure]:
    """The same words, asked over the socket and of the same FTS5 table in this process, in turns."""
    with connect(spawn=False, path=server.socket) as client, _table(server) as any_word:
        over_socket, in_process = _in_turns(queries(corpus, count), _searching(client), any_word)
    return [Figure("search over the socket", "ms", over_socket, in_process, PLAIN_GOAL)]


def mixture(server: Server, corpus: Path, count: int) -> list[Figure]:
    """Searches as they come, the commonest words among them, each pass over all of them after one that warms up: fresh,
    over the socket; and in this process, in turns with the plain OR of their words: with ten hits read, cut and marked,
    and with the best alone, which ranks as much and shows next to nothing, as the plain OR shows nothing."""
    mix = mixed(corpus, count)
    with connect(spawn=False, path=server.socket) as client:
        _in_turns(mix, _searching(client))
        (over_socket,) = _in_turns(mix, _searching(client))
    with engine(corpus, server.database) as livedex, _table(server) as any_word:
        figures = []
        for name, limit in ("the same in process", LIMIT), ("ranked, the best hit alone", 1):
            asks = partial(livedex.search, limit=limit), any_word
            _in_turns(mix, *asks)
            in_process, plainly = _in_turns(mix, *asks)
            figures += [
                Figure(f"{name}, mean", "ms", [fmean(in_process)], [fmean(plainly)], ENGINE_GOAL),
                Figure(f"{name}, p99", "ms", in_process, [percentile(plainly, 99)], ENGINE_GOAL, which="p99"),
            ]
    return [
        Figure("mixed searches over the socket", "ms", over_socket, goal=MIXED_P50_GOAL_MS),
        Figure("mixed searches, p99", "ms", over_socket, goal=MIXED_P99_GOAL_MS, which="p99"),
        *figures,
    ]


def _in_turns(queries: list[str], *asks: Callable[[str], object]) -> list[list[float]]:
    """Milliseconds of each query, a list for each way of asking; the ways take turns at every query."""
    taken = [[milliseconds(ask, query) for ask in asks] for query in queries]
    return [list(of_one) for of_one in zip(*taken, strict=True)]


def _searching(client: Client) -> Callable[[str], object]:
    return lambda query: client.call("search", {"query": query})


@contextmanager
def _table(server: Server) -> Iterator[Callable[[str], object]]:
    """Asks the index's FTS5 table for any of a query's words, the best ten rows."""
    with closing(apsw.Connection(str(server.database), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        database.pragma("cache_size", -32768)

        def any_word(query: str) -> object:
            match = " OR ".join(f'"{word}"' for word in ANY_WORD.findall(query))
            return list(database.execute(SAME_QUERY, (match, LIMIT)))

        yield any_word


def fresh_after_edit(server: Server, folder: Path, count: int) -> list[Figure]:
    """Saves a file and asks at once. RuntimeError when an answer lacks the edit: wrong and quick is worth nothing."""
    note = folder / "note.md"
    with connect(spawn=False, path=server.socket) as client:
        client.call("roots/add", {"path": str(folder)})
        client.call("sync")
        quiet = [milliseconds(client.call, "search", {"query": "zither"}) for _run in range(count)]
        edited = [edit_and_search(client, note, f"token{number}x{os.getpid()}") for number in range(count)]
    return [
        Figure("fresh search, nothing changed", "ms", quiet),
        Figure("fresh search after an edit", "ms", edited, goal=FRESH_P50_GOAL_MS),
        Figure("fresh search after an edit, p99", "ms", edited, goal=FRESH_P99_GOAL_MS, which="p99"),
    ]


def edit_and_search(client: Client, note: Path, token: str, mode: str = "auto") -> float:
    """Milliseconds from the end of the write to the answer that shows it."""
    note.write_text(f"# A note\n\nwith the word {token}\n")
    start = time.perf_counter()
    answer = client.call("search", {"query": token, "mode": mode, "timeout_ms": 10_000})
    taken = (time.perf_counter() - start) * 1000
    if not answer["fresh"] or [hit["path"] for hit in answer["hits"]] != [str(note)]:
        raise RuntimeError(f"an edit was not seen: {answer}")
    return taken


def command(server: Server, count: int) -> list[Figure]:
    """`livedex search` from start to exit, in turns with an interpreter that does nothing."""
    livedex = str(Path(sys.executable).with_name("livedex"))
    search, bare = [], []
    for _run in range(count):
        bare.append(milliseconds(run_command, server, [sys.executable, "-S", "-E", "-c", "pass"]))
        search.append(milliseconds(run_command, server, [livedex, "search", "zither"]))
    return [Figure("`livedex search`, the command", "ms", search, bare, COMMAND_GOAL_MS, over=True)]


def run_command(server: Server, words: list[str]) -> None:
    """Runs a command in the server's home, its output thrown away. Nothing found (exit 1) is as good as a hit."""
    done = subprocess.run(words, env=server.env, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{words}: exit {done.returncode}")
