"""The data of the terminal UI: its state, the events that change it, and the requests that follow. Plain values.

Invariant: ``hits`` are those of ``answered``, the number of a request; they are current if that equals ``requested``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, RemovedHit

Mode = Literal["words", "exact", "regex"]
Link = Literal["connecting", "connected", "lost"]
Lines = tuple[str, str, int, int, str]  # path, kind, first and last line, content hash
Place = tuple[Lines, int]  # and the column of its start

HELP_TITLE = "help"


class Query(NamedTuple):
    """What is searched for. ``paths``: as typed; ``since``: as typed, "" for any time; ``following``: standing."""

    text: str = ""
    mode: Mode = "words"
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: str = ""
    following: bool = False


class Preview(NamedTuple):
    """Lines of the file of a hit. ``first``: the number of the first one; ``note``: why there are none."""

    place: Place
    first: int
    lines: tuple[str, ...]
    note: str = ""


class Page(NamedTuple):
    """A text over the list, such as the help. ``top``: its first line on the screen."""

    title: str
    lines: tuple[str, ...]
    top: int = 0


class State(NamedTuple):
    """All that the screen shows. ``cursor``: characters of ``text`` before it; ``top``: the first hit on the screen."""

    rows: int
    columns: int
    folder: str = ""  # paths below it are shown relative to it
    text: str = ""  # of the prompt: the query, and perhaps a slash command
    cursor: int = 0
    query: Query = Query()
    requested: int = 0
    answered: int = 0
    hits: tuple[HitFields, ...] = ()
    more: bool = False  # there are more hits than these
    fresh: bool = True
    selected: int = 0
    top: int = 0
    marked: tuple[Place, ...] = ()
    preview: Preview | None = None
    previewed: Place | None = None  # the preview asked for last
    shift: int = 0  # lines that the preview is scrolled by
    page: Page | None = None
    note: str = ""
    link: Link = "connecting"
    edited: str | None = None  # the path that was edited: its hit stays selected
    deferred: Key | None = None  # pressed before the answer of the last search, for one of its hits


# Events


class Key(NamedTuple):
    """A key: ``text`` with its character, or a name such as ``up`` or ``ctrl-o``."""

    name: str
    text: str = ""


class Mouse(NamedTuple):
    """``kind``: ``click``, ``double``, ``up`` or ``down`` (the wheel); row and column from 0."""

    kind: str
    row: int
    column: int


class Resized(NamedTuple):
    rows: int
    columns: int


class Found(NamedTuple):
    """The answer of a search. ``note``: what the daemon says about it."""

    number: int
    hits: tuple[HitFields, ...]
    more: bool = False
    fresh: bool = True
    note: str = ""


class Changed(NamedTuple):
    """What entered and left the result of a standing query. ``fresh``: it has all now that it lacked at first."""

    number: int
    added: tuple[HitFields, ...]
    removed: tuple[HitFields | RemovedHit, ...]
    fresh: bool = False


class Failed(NamedTuple):
    """A request failed. ``number``: of a search; 0 for another one."""

    number: int
    message: str


class Linked(NamedTuple):
    """The connection to the daemon is there, or lost. ``note``: why."""

    link: Link
    note: str = ""


class Edited(NamedTuple):
    """The editor has ended; the file may be another now."""

    path: str


Event = Edited | Key | Mouse | Resized | Found | Changed | Failed | Linked | Preview | Page

# Requests


class Search(NamedTuple):
    """Search, or follow if the query says so. It replaces the last one."""

    number: int
    query: Query


class Show(NamedTuple):
    """Get the lines around a hit."""

    hit: HitFields


class Explain(NamedTuple):
    """Get the page of the status (``path`` None), or why a file is in the index."""

    hit: HitFields | None


class Open(NamedTuple):
    """Open the hit in the user's editor."""

    hit: HitFields


class End(NamedTuple):
    """End; ``hits`` are the choice."""

    hits: tuple[HitFields, ...] = ()


Request = Search | Show | Explain | Open | End
Step = tuple[State, tuple[Request, ...]]


def lines(hit: HitFields | RemovedHit) -> Lines:
    """Return what is known of a hit that has gone. All hits of a long line have it, and go at the same time."""
    return hit.get("path_b64", hit["path"]), hit["kind"], hit["start_line"], hit["end_line"], hit["content_hash"]


def place(hit: HitFields) -> Place:
    """Return what identifies a hit."""
    return lines(hit), hit["start_column"]
