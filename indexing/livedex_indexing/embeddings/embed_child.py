"""The process that embeds with a model, separate from the daemon, whose memory it would fill.

Invariant: it reads texts only from its standard input, answers each batch, opens no connection, and ends when the input
or its parent ends.
"""

from __future__ import annotations

import os
import sys
from array import array

from livedex_indexing.child import code_version
from livedex_indexing.child.child_pipes import read_exactly, write_all
from livedex_indexing.child.parent_process import follow_parent
from livedex_indexing.embeddings.embed_messages import (
    FAILURE_CHARS,
    HEADER,
    Failure,
    Ready,
    Start,
    Texts,
    ToChild,
    Vectors,
    frame,
    to_child,
)
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.embeddings.models import make_model
from livedex_indexing.plugins import Embedder


def main() -> None:
    follow_parent(nice=int(sys.argv[1]), parent=int(sys.argv[2]))
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # the output of a library must not mix with the frames
    embedder: Embedder | None = None
    while (message := _next(incoming)) is not None:
        try:
            if isinstance(message, Start):
                numbers = None if message.frequencies is None else array("f", message.frequencies)
                embedder = make_model(message.embedder, message.model, numbers)
                identity = str(getattr(embedder, "identity", ""))
                answer: object = Ready(code_version.OWN, embedder.dimensions, identity)
            else:
                answer = _embedded(embedder, message)
        except EmbedderUnavailable as fault:
            answer = Failure(str(fault)[:FAILURE_CHARS])
        except Exception as fault:  # a model may raise anything, with the text in its message
            answer = Failure(type(fault).__name__)
        write_all(outgoing, frame(answer))


def _embedded(embedder: Embedder | None, message: Texts) -> Vectors:
    assert embedder is not None
    numbers = array("f")
    for vector in embedder.embed_batch(message.texts):
        numbers.extend(vector)
    return Vectors(numbers.tobytes())


def _next(descriptor: int) -> ToChild | None:
    header = read_exactly(descriptor, HEADER)
    body = None if header is None else read_exactly(descriptor, int.from_bytes(header, "little"))
    return None if body is None else to_child(body)


if __name__ == "__main__":
    main()
