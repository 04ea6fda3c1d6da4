"""How much one client may ask of the daemon: sizes, counts and times, in one place.

Invariant: every buffer, queue and wait that a client can fill is bounded by a number here.
"""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Sizes in bytes, times in seconds. Tests shrink them; the daemon runs with these."""

    request_bytes: int = 4 * 1024 * 1024  # one JSON text, whichever the framing
    header_bytes: int = 8 * 1024  # one block of LSP headers
    batch: int = 1000  # requests in one batch
    frame_s: float = 30.0  # from a frame's first byte to its last
    in_flight: int = 64  # requests of one connection that run at once
    queued: int = 4096  # requests of one connection that wait for their turn, before reading from it pauses
    connections: int = 1000
    output_bytes: int = 8 * 1024 * 1024  # answers that wait to be read
    write_s: float = 30.0  # in which a client that is behind must take something
    stalled_s: float = 2.0  # the same for one that is more than output_bytes behind
    linger_s: float = 1.0  # how long what a refused client still sends is thrown away, so that it can read why
