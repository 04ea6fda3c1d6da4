"""Plainer engines over the same files: FTS5 as it comes, bm25s with stemming, ripgrep also with definitions first.

Invariant: each answers with files, best first, each once; one that is not installed is left out.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import apsw

from bench.corpus import text_files

Search = Callable[[str, int], list[str]]

DEFINITIONS_FIRST: Final = "ripgrep, definitions first"
_MOST_LINES: Final = 20_000  # lines of ripgrep that are read
_DEFINES: Final = (
    r"\b(?:def|class|function\*?|func|fn|struct|enum|union|interface|trait|type|module|namespace|define|const|let|var)"
    r"\s+(?:\([^)]*\)\s*)?{0}\b|^\w[\w\s*]*[\s*]{0}\([^;]*$"
)
WORD: Final = re.compile(r"\w+")
_MAKE: Final = "CREATE VIRTUAL TABLE files USING fts5 (body, content = '', tokenize = '{}')"
_PUT: Final = "INSERT INTO files (rowid, body) VALUES (?, ?)"
_ASK: Final = "SELECT rowid FROM files WHERE files MATCH ? ORDER BY bm25(files), rowid LIMIT ?"


def peers(corpus: Path) -> dict[str, Search]:
    """What is here to compare with, by name."""
    root = corpus.resolve()
    files = [(path[len(str(root)) + 1 :], data.decode("utf-8", "replace")) for path, data in sorted(text_files(root))]
    found = {"FTS5, any word": _fts5(files, "unicode61"), "FTS5, stemmed": _fts5(files, "porter unicode61")}
    stemmed = _bm25s(files)
    if stemmed is not None:
        found["bm25s, stemmed"] = stemmed
    if shutil.which("rg"):
        found["ripgrep"] = _ripgrep(root)
        found[DEFINITIONS_FIRST] = _definitions_first(root, found["ripgrep"])
    return found


def _fts5(files: list[tuple[str, str]], tokenizer: str) -> Search:
    db = apsw.Connection(":memory:")
    db.execute(_MAKE.format(tokenizer))
    db.executemany(_PUT, ((number, text) for number, (_path, text) in enumerate(files, 1)))

    def search(text: str, limit: int) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in WORD.findall(text))
        return [files[number - 1][0] for (number,) in db.execute(_ASK, (match, limit))] if match else []

    return search


def _bm25s(files: list[tuple[str, str]]) -> Search | None:
    try:
        bm25s: Any = importlib.import_module("bm25s")
        stemmer: Any = importlib.import_module("Stemmer").Stemmer("english")
    except ImportError:
        return None
    engine = bm25s.BM25(k1=1.5, b=0.75)
    engine.index(
        bm25s.tokenize([text for _path, text in files], stemmer=stemmer, show_progress=False), show_progress=False
    )

    def search(text: str, limit: int) -> list[str]:
        tokens = bm25s.tokenize([text], stemmer=stemmer, show_progress=False)
        numbers, scores = engine.retrieve(tokens, k=min(limit, len(files)), show_progress=False)
        return [files[number][0] for number, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    return search


def _definitions_first(root: Path, by_words: Search) -> Search:
    """Files with the text, those first whose lines define it, then by how many lines have it; if none has it, files by
    their words."""

    def search(text: str, limit: int) -> list[str]:
        for case in ("--case-sensitive", "--ignore-case"):
            command = ["rg", "--no-ignore", "--no-heading", "--fixed-strings", case, "--", text, "."]
            done = subprocess.run(command, cwd=root, capture_output=True, check=False)
            lines = done.stdout.decode("utf-8", "replace").splitlines()[:_MOST_LINES]
            if lines:
                return _ordered(lines, re.compile(_DEFINES.format(re.escape(text)), re.IGNORECASE))[:limit]
        return by_words(text, limit)

    return search


def _ordered(lines: list[str], defines: re.Pattern[str]) -> list[str]:
    defining, having = Counter[str](), Counter[str]()
    for line in lines:
        path, _, text = line.removeprefix("./").partition(":")
        having[path] += 1
        defining[path] += defines.search(text) is not None
    return sorted(having, key=lambda path: (not defining[path], -having[path], path))


def _ripgrep(root: Path) -> Search:
    """Files by the number of distinct words that they contain, as a user would with `rg` alone."""

    @cache
    def holding(word: str) -> frozenset[str]:
        command = ["rg", "--files-with-matches", "--ignore-case", "--word-regexp", "--no-ignore", "--", word, "."]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        return frozenset(line.removeprefix("./") for line in done.stdout.splitlines())

    def search(text: str, limit: int) -> list[str]:
        held = Counter(path for word in set(WORD.findall(text.lower())) for path in holding(word))
        return [path for path, _ in sorted(held.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]]

    return search
