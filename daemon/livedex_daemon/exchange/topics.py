"""The topics of the exchange: their numbers in the file, and how many messages of each wait, are claimed and are dead.

Invariant: the counts are changed in the transaction that changes what they count.
"""

from __future__ import annotations

import apsw

from livedex_daemon.config.setting_values import MOST_TOPIC_CHARS, TOPIC, TOPIC_FORM
from livedex_daemon.precious.precious_database import first_row
from livedex_ipc.errors import InvalidParams


def check_topic(name: str, field: str = "topic") -> str:
    """Return ``name``. Raises InvalidParams if it is no topic."""
    if TOPIC.fullmatch(name) is None:
        raise InvalidParams(f"{field} must be {TOPIC_FORM}, not {name[:100]!a}", {"field": field})
    return name


def derived(name: str, suffix: str) -> str:
    """Return the topic for what became of a topic's messages, such as ``work.dead``; a long name is cut short."""
    return f"{name[: MOST_TOPIC_CHARS - 1 - len(suffix)]}.{suffix}"


def topic_id(db: apsw.Connection, name: str) -> int | None:
    """Return the number of a topic, None if it never had a message."""
    row = first_row(db, "SELECT id FROM topics WHERE name = ?", (name,))
    return None if row is None else int(row[0])


def made_topic_id(db: apsw.Connection, name: str) -> int:
    """Return the number of a topic, which is new if it had no message."""
    found = topic_id(db, name)
    if found is None:
        db.execute("INSERT INTO topics (name) VALUES (?)", (name,))
        found = db.last_insert_rowid()
    return found


def topic_name(db: apsw.Connection, number: int) -> str:
    return str(db.execute("SELECT name FROM topics WHERE id = ?", (number,)).get)


def add(db: apsw.Connection, topic: int, **changes: int) -> None:
    """Change counts of a topic by these numbers; the names are ``messages``, ``waiting``, ``active`` and ``dead``."""
    assignments = ", ".join(f"{name} = {name} + {change:d}" for name, change in changes.items())
    db.execute(f"UPDATE topics SET {assignments} WHERE id = ?", (topic,))
