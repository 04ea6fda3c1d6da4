"""`make bench`: runs every measurement on one corpus and prints each figure with its floor and its goal."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

from bench import corpus, exchange, idle, indexing, lines, mixed_load, searching, standing
from bench.figures import HEADER, Figure
from bench.server import server


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a folder to index (default: Python's library and /usr/share/doc)")
    parser.add_argument("--prose", action="store_true", help="judge it as documentation, which is cheaper than code")
    parser.add_argument("--runs", type=int, default=3, help="of the catch-up (default: %(default)s)")
    parser.add_argument("--searches", type=int, default=300, help="of each kind (default: %(default)s)")
    parser.add_argument("--mixed", type=int, default=500, help="searches as they come (default: %(default)s)")
    parser.add_argument("--idle", type=float, default=60.0, help="seconds to settle before (default: %(default)s)")
    parser.add_argument("--queued", type=int, default=1_000_000, help="messages that wait (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


def measure(options: argparse.Namespace, folder: Path) -> list[Figure]:
    indexed = options.corpus.resolve() if options.corpus else corpus.made_in(folder)
    edits = folder / "edits"
    edits.mkdir()
    with server() as running:
        return [
            *indexing.first_index(running, indexed, prose=options.prose),
            *indexing.catch_up(running, indexed, options.runs),
            *searching.plain(running, indexed, options.searches),
            *searching.mixture(running, indexed, options.mixed),
            *lines.rare(running, indexed, max(10, options.searches // 10)),
            *lines.listed(running, indexed, max(3, options.searches // 50)),
            *searching.fresh_after_edit(running, edits, options.searches),
            *searching.command(running, max(10, options.searches // 10)),
            *idle.idle(running, options.idle),
            *mixed_load.mixed_load(running, indexed, folder, options.mixed),
            *standing.standing(indexed, folder),
            *exchange.exchange(folder, options.queued, options.searches),
        ]


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as folder:
        figures = measure(options, Path(folder).resolve())
    if options.json:
        machine = {"python": platform.python_version(), "system": platform.platform(), "cores": os.cpu_count()}
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        print(json.dumps({"at": at, "machine": machine, "figures": [figure.as_json() for figure in figures]}, indent=1))
    else:
        print("\n".join([HEADER, *(figure.as_line() for figure in figures)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
