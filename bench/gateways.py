"""What a bad gateway of embeddings costs a search: `PYTHONPATH=tests python -m bench.gateways [FOLDER]`.

Invariant: each edit is asked for in turns of a daemon without an embedder, which is the floor, and of one with the
gateway; both have indexed the same folder, and an answer that lacks the edit ends the measurement.
"""

from __future__ import annotations

import argparse
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from bench import corpus
from bench.figures import HEADER, Figure
from bench.searching import edit_and_search, milliseconds
from bench.server import Server, server, wait_indexed
from helpers.fake_gateway import FakeGateway
from livedex_ipc.client import Client

DOWN: Final = "down"
# A port that nobody listens on, and what the gateway does: see `FakeGateway`.
MODES: Final = (DOWN, "stall", "trickle", "fail", "busy", "nan", "zero", "short", "garbage")
QUESTION: Final = "a word of the note"  # of several words, so that it asks for its meaning, too
UNCHANGED: Final = 1.1  # times the floor


@contextmanager
def address(mode: str) -> Iterator[str]:
    if mode == DOWN:
        with socket.socket() as unused:  # bound, and never listening
            unused.bind(("127.0.0.1", 0))
            yield f"http://127.0.0.1:{unused.getsockname()[1]}"
        return
    gateway = FakeGateway()
    gateway.mode = mode
    try:
        yield gateway.url
    finally:
        gateway.close()


def started(daemon: Server, indexed: Path, edits: Path, url: str | None) -> Client:
    """Start the daemon with this gateway, None: without an embedder; index both folders."""
    if url is not None:
        text = f'[embedding]\nembedder = "ollama"\nmodel = "m"\napi_base = "{url}"\n'
        config = daemon.home / "config" / "config.toml"
        config.parent.mkdir()
        config.write_text(text)
    client = daemon.start()
    for folder in (indexed, edits):
        client.call("roots/add", {"path": str(folder)})
    wait_indexed(client)
    return client


def measure(mode: str, indexed: Path, folder: Path, count: int) -> list[Figure]:
    token = f"token{os.getpid()}"
    with ExitStack() as stack:
        url = stack.enter_context(address(mode))
        edited, asked = list[list[float]](), list[list[float]]()
        clients = []
        for name, gateway in (("plain", None), ("gateway", url)):
            edits = folder / f"{mode}-{name}"
            edits.mkdir()
            client = started(stack.enter_context(server()), indexed, edits, gateway)
            clients.append((stack.enter_context(client), edits / "note.md"))
        for number in range(count):
            edited.append(
                [edit_and_search(client, note, f"{token}x{number}", mode="keyword") for client, note in clients]
            )
            asked.append([milliseconds(client.call, "search", {"query": QUESTION}) for client, _ in clients])
        return [*_figures(f"{mode}: search after an edit", edited), *_figures(f"{mode}: a question", asked)]


def _figures(name: str, pairs: Sequence[Sequence[float]]) -> list[Figure]:
    floor, values = ([pair[place] for pair in pairs] for place in (0, 1))
    return [Figure(name, "ms", values, floor, UNCHANGED)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.gateways", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="to index (default: Python's library and /usr/share/doc)")
    parser.add_argument("--edits", type=int, default=100, help="with each gateway (default: %(default)s)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    options = parser.parse_args()
    print(HEADER)
    with tempfile.TemporaryDirectory(prefix="livedex-bench-") as made:
        folder = Path(made).resolve()
        indexed = options.folder.resolve() if options.folder else corpus.made_in(folder)
        for mode in options.modes:
            print("\n".join(figure.as_line() for figure in measure(mode, indexed, folder, options.edits)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
