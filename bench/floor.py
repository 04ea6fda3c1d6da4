"""The floors: the least that an index of text in SQLite costs in one plain Python process, with none of livedex.

Run as programs of their own, so that their CPU is told apart: ``python -m bench.floor index CORPUS DATABASE`` reads
every file and inserts chunks of 60 lines into a contentless FTS5 table; ``… walk CORPUS`` lists and stats.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw

from bench.corpus import text_files

LINES_PER_CHUNK = 60
FILES_PER_TRANSACTION = 500
INSERT = "INSERT INTO postings (rowid, body) VALUES (?, ?)"


def index(corpus: Path, database: Path) -> dict[str, Any]:
    """Indexes the corpus; the number of files, their bytes, and the bytes of the database."""
    connection = apsw.Connection(str(database))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("cache_size", -32768)
    connection.execute("CREATE VIRTUAL TABLE postings USING fts5 (body, content='', contentless_delete=1)")
    files = size = chunk = 0
    connection.execute("BEGIN")
    for _path, data in text_files(corpus):
        files += 1
        size += len(data)
        lines = data.decode("utf-8", "replace").splitlines(keepends=True)
        for start in range(0, len(lines), LINES_PER_CHUNK):
            chunk += 1
            connection.execute(INSERT, (chunk, "".join(lines[start : start + LINES_PER_CHUNK])))
        if files % FILES_PER_TRANSACTION == 0:
            connection.execute("COMMIT; BEGIN")
    connection.execute("COMMIT")
    connection.close()
    return {"files": files, "bytes": size, "chunks": chunk, "db_bytes": database.stat().st_size}


def walk(corpus: Path) -> dict[str, Any]:
    """Lists every folder and stats every entry, as a catch-up must at the least."""
    entries = 0
    folders = [str(corpus)]
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                entry.stat(follow_symlinks=False)
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return {"entries": entries}


def measured(*words: str) -> dict[str, Any]:
    """Runs a floor as a process: what it counted, with ``cpu_s`` (of all of it) and ``wall_s`` (of its work)."""
    command = [sys.executable, "-m", "bench.floor", *words]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    printed = child.stdout.read()
    child.stdout.close()
    _pid, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}")
    return {**json.loads(printed), "cpu_s": usage.ru_utime + usage.ru_stime}


def main(words: list[str]) -> None:
    start = time.perf_counter()
    result = walk(Path(words[1])) if words[0] == "walk" else index(Path(words[1]), Path(words[2]))
    print(json.dumps({**result, "wall_s": time.perf_counter() - start}))


if __name__ == "__main__":
    main(sys.argv[1:])
