"""The messages that no worker finished and nobody has looked after since, for the status and the doctor.

Invariant: what becomes of one (it is completed, or removed by retention) ends its being named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from livedex_daemon.precious.precious_database import rows

# Those of documents are livedex's own: their files are quarantined, which is said elsewhere.
_SQL = (
    "SELECT name, waiting FROM topics WHERE waiting AND name LIKE '%.dead' AND name NOT LIKE 'livedex.%' ORDER BY name"
)


class DeadLetters(NamedTuple):
    """``topic``: such as ``work.dead``; ``waiting``: how many wait in it."""

    topic: str
    waiting: int


def dead_letters(db: apsw.Connection) -> list[DeadLetters]:
    return [DeadLetters(*row) for row in rows(db, _SQL)]


def described(found: Sequence[DeadLetters]) -> tuple[str, str]:
    """Return what is to be said of some, and the remedy."""
    topic, count = found[0]
    more = f", and in {len(found) - 1} more topics" if len(found) > 1 else ""
    what = f"{count:,} message{'s' * (count != 1)} in {topic}{more}: each worker of theirs was lost, or gave them back"
    fix = f"`livedex exchange read {topic}` shows them, `livedex exchange run {topic} --plugin CMD` handles them"
    return what, fix
