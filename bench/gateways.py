"""What a bad gateway of embeddings costs a search: `PYTHONPATH=tests python -m bench.gateways [FOLDER]`.

Invariant: the same daemon answers by turns without an embedder, which is the floor, and with the gateway; an answer
that lacks the edit ends the measurement.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import corpus
from bench.figures import HEADER, Figure
from bench.indexed import parser_for
from bench.searching import edit_and_search, milliseconds
from bench.server import server, wait_indexed
from helpers.fake_gateway import FakeGateway

DOWN: Final = "down"
# A port that nobody listens on, and what the gateway does: see `FakeGateway`.
MODES: Final = (DOWN, "stall", "trickle", "fail", "busy", "nan", "zero", "few", "garbage")
QUESTION: Final = "a word of the note"  # of several words, so that it asks for its meaning, too
UNCHANGED: Final = 1.1  # times the floor
BLOCK: Final = 10  # edits without, and then with the gateway


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


def measure(mode: str, indexed: Path, folder: Path, count: int) -> list[Figure]:
    edits = folder / mode
    edits.mkdir()
    note, token = edits / "note.md", f"token{os.getpid()}"
    with address(mode) as url, server() as daemon, daemon.start() as client:
        for each in (indexed, edits):
            client.call("roots/add", {"path": str(each)})
        wait_indexed(client)
        config = daemon.home / "config.toml"
        plain = config.read_text()
        lines = f'[embedding]\nembedder = "ollama"\nmodel = "m"\ntimeout = 1\napi_base = "{url}"\n'
        texts = {"plain": plain, "gateway": plain.replace("[embedding]\n", lines)}
        edited, asked = ({name: list[float]() for name in texts} for _ in range(2))
        for block in range(0, count, BLOCK):
            for name, text in texts.items():
                config.write_text(text)
                client.call("server/reload")
                if (client.call("status")["embedder"] is None) != (name == "plain"):
                    raise RuntimeError(f"the configuration of {name} is not in force")
                for number in range(block, min(block + BLOCK, count)):
                    edited[name].append(edit_and_search(client, note, f"{token}{name}{number}", mode="keyword"))
                    asked[name].append(milliseconds(client.call, "search", {"query": QUESTION}))
    return [
        Figure(f"{mode}: {what}", "ms", taken["gateway"], taken["plain"], UNCHANGED)
        for what, taken in (("search after an edit", edited), ("a question", asked))
    ]


def main() -> int:
    parser = parser_for("gateways", __doc__)
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
