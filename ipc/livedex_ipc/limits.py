"""Limits what one client may use of the daemon: sizes, counts and times, in one place.

Invariant: every buffer, queue and wait that a client can fill is bounded by a number here.
"""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Sizes in bytes, times in seconds. The daemon runs with these defaults; tests use smaller ones."""

    request_bytes: int = 4 * 1024 * 1024  # one JSON text, in either framing
    header_bytes: int = 8 * 1024  # one block of LSP headers
    batch: int = 1000  # requests in one batch
    frame_s: float = 30.0  # from a frame's first byte to its last
    in_flight: int = 64  # requests of one connection that run at the same time
    queued: int = 4096  # requests of one connection that wait to run, before reading from it pauses
    connections: int = 1000
    refused: int = 64  # connections that stay open after their refusal, for linger_s
    unfinished_bytes: int = 64 * 1024 * 1024  # of requests that all connections have begun and not finished
    output_bytes: int = 8 * 1024 * 1024  # answers waiting for the client to read them
    write_s: float = 30.0  # a client that is behind must read something within this time
    stalled_s: float = 2.0  # the same for one that is more than output_bytes behind
    linger_s: float = 1.0  # how long input of a refused client is discarded, so that it can read the reason
