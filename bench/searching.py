"""Searches over the socket, fresh ones after an edit, and the command: what a person or an agent waits for."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

import apsw

from bench.corpus import text_files
from bench.figures import Figure, percentile
from bench.mixture import ANY_WORD, mixed
from bench.quality.product import Engine
from bench.server import Server
from livedex_indexing.readpool import ReadPool
from livedex_ipc.client import Client, connect

FRESH_P50_GOAL_MS = 10.0
FRESH_P99_GOAL_MS = 50.0
MIXED_P50_GOAL_MS = 5.0
MIXED_P99_GOAL_MS = 40.0
ENGINE_GOAL = 0.25  # times the plain OR of the words, both in process
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
    """Pairs of words that stand in the corpus, from a fixed seed."""
    chosen = random.Random(SEED)
    words: set[bytes] = set()
    for number, (_path, data) in enumerate(text_files(corpus)):
        if number % 20 == 0:
            words.update(WORD.findall(data[:20_000]))
    ordered = sorted(words)
    return [f"{chosen.choice(ordered).decode()} {chosen.choice(ordered).decode()}" for _query in range(count)]


def plain(server: Server, corpus: Path, count: int) -> list[Figure]:
    """The same words, asked over the socket and of the same FTS5 table in this process, in turns."""
    over_socket, in_process = [], []
    with connect(spawn=False, path=server.socket) as client, _table(server) as any_word:
        for query in queries(corpus, count):
            in_process.append(milliseconds(any_word, query))
            over_socket.append(milliseconds(client.call, "search", {"query": query}))
    return [Figure("search over the socket", "ms", over_socket, in_process, PLAIN_GOAL)]


def mixture(server: Server, corpus: Path, count: int) -> list[Figure]:
    """Searches as they come, the commonest words among them, each pass over all of them after one that warms up: fresh,
    over the socket; and in this process, in turns with the plain OR of their words."""
    mix = mixed(corpus, count)
    with connect(spawn=False, path=server.socket) as client:
        over_socket = _second_pass(mix, lambda query: client.call("search", {"query": query}))
    engine_ms, any_word_ms = _engine_by_any_word(server, corpus, mix)
    deep = percentile(any_word_ms, 99)
    return [
        Figure("mixed searches over the socket", "ms", over_socket, goal=MIXED_P50_GOAL_MS),
        Figure("mixed searches, p99", "ms", over_socket, goal=MIXED_P99_GOAL_MS, which="p99"),
        Figure("the same in process, mean", "ms", [fmean(engine_ms)], [fmean(any_word_ms)], ENGINE_GOAL),
        Figure("the same in process, p99", "ms", engine_ms, [deep], ENGINE_GOAL, which="p99"),
    ]


def _second_pass(queries: list[str], ask: Callable[[str], object]) -> list[float]:
    for query in queries:
        ask(query)
    return [milliseconds(ask, query) for query in queries]


def _engine_by_any_word(server: Server, corpus: Path, queries: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of each query in this process: livedex's own answer, and the plain OR of its words."""
    pool = ReadPool(str(server.database))
    with _table(server) as any_word, pool.connection() as reader:
        (root_id,) = [row[0] for row in reader.rows("SELECT id FROM roots WHERE path = ?", (os.fsencode(corpus),))]
        engine = Engine(pool, root_id, corpus)
        for query in queries:
            engine.search(query, LIMIT)
            any_word(query)
        in_turns = [(milliseconds(engine.search, query, LIMIT), milliseconds(any_word, query)) for query in queries]
    pool.close()
    ours, plainly = zip(*in_turns, strict=True)
    return list(ours), list(plainly)


@contextmanager
def _table(server: Server) -> Iterator[Callable[[str], object]]:
    """Asks the index's FTS5 table for any of a query's words, the best ten rows."""
    database = apsw.Connection(str(server.database), flags=apsw.SQLITE_OPEN_READONLY)
    database.pragma("cache_size", -32768)

    def any_word(query: str) -> object:
        match = " OR ".join(f'"{word}"' for word in ANY_WORD.findall(query))
        return list(database.execute(SAME_QUERY, (match, LIMIT)))

    yield any_word
    database.close()


def fresh_after_edit(server: Server, folder: Path, count: int) -> list[Figure]:
    """Saves a file and asks at once. RuntimeError when an answer lacks the edit: wrong and quick is worth nothing."""
    note = folder / "note.md"
    with connect(spawn=False, path=server.socket) as client:
        client.call("roots/add", {"path": str(folder)})
        client.call("sync")
        quiet = [milliseconds(client.call, "search", {"query": "zither"}) for _run in range(count)]
        edited = [_edit_and_search(client, note, f"token{number}x{os.getpid()}") for number in range(count)]
    return [
        Figure("fresh search, nothing changed", "ms", quiet),
        Figure("fresh search after an edit", "ms", edited, goal=FRESH_P50_GOAL_MS),
        Figure("fresh search after an edit, p99", "ms", edited, goal=FRESH_P99_GOAL_MS, which="p99"),
    ]


def _edit_and_search(client: Client, note: Path, token: str) -> float:
    """Milliseconds from the end of the write to the answer that shows it."""
    note.write_text(f"# A note\n\nwith the word {token}\n")
    start = time.perf_counter()
    answer = client.call("search", {"query": token, "timeout_ms": 10_000})
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
