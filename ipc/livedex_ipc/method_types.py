"""What a row of the table of methods is made of: a method, its params and the fields of its result.

Invariant: a row is data alone; the same row describes the method to server, client, command and documents.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_ipc.params import Param


class Field(NamedTuple):
    """One field of a result. A ``?`` after the type: may be null; ``optional``: may be absent."""

    name: str
    type: str
    doc: str
    optional: bool = False


class Method:
    """One method. ``cancel_on_close``: cancelled when its connection closes, as no one else wants the answer.

    ``waits``: it only waits for others, and the daemon counts as idle meanwhile. ``window``: the most that its
    ``offset`` plus ``limit`` may be; None without such a bound.
    """

    __slots__ = ("cancel_on_close", "doc", "fields", "name", "params", "waits", "window")

    def __init__(
        self,
        name: str,
        doc: str,
        params: tuple[Param, ...] = (),
        fields: tuple[Field, ...] = (),
        *,
        cancel_on_close: bool = False,
        waits: bool = False,
        window: int | None = None,
    ) -> None:
        self.name = name
        self.doc = doc
        self.params: dict[str, Param] = {param.name: param for param in params}
        self.fields = fields
        self.cancel_on_close = cancel_on_close
        self.waits = waits
        self.window = window
