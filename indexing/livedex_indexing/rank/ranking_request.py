"""What ranking is asked for besides the words of a query: how to arrange the matches, and the text as it was typed.

Invariant: plain data; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from livedex_indexing.query.typed_place import TypedPlace
from livedex_indexing.rank.found_names import FoundNames
from livedex_indexing.rank.similarity import Similarity


class Arrangement(NamedTuple):
    """How the matches are ordered. ``no_file_limit``: the query names a single file, so its chunks may fill the page.
    ``similarity``: the vectors, None where words alone count; ``fusion``: add the scores, put the two orders together
    (``rrf``), or count the vectors alone (``none``). ``demote``: rank tests, examples, news of versions and the like
    after equally good files, unless the query asks for them. ``is_sentence``: see `is_sentence`."""

    group_by_file: bool
    no_file_limit: bool
    demote: bool
    similarity: Similarity | None = None
    fusion: Literal["score", "rrf", "none"] = "score"
    is_sentence: bool = False


class TypedText(NamedTuple):
    """A query as it was typed, the file and the names that it may mean, and patterns of its words if somebody remembers
    them."""

    text: str
    place: TypedPlace | None
    names: FoundNames
    remembered: Sequence[str] = ()

    @property
    def at_line(self) -> bool:
        """Whether a line of a file was typed, maybe among other words."""
        return self.place is not None and self.place.line > 0

    @property
    def files(self) -> Collection[int]:
        """The contents of the files that the text names."""
        return () if self.place is None else self.place.contents

    @property
    def without_path(self) -> str:
        """The text without the path of a file that it mentions."""
        if self.place is None or self.place.line or self.place.is_whole:
            return self.text
        return self.text.replace(self.place.path, " ").strip()

    @property
    def is_place(self) -> bool:
        """Whether a line of a file was typed and nothing else."""
        return self.place is not None and self.place.line > 0 and self.place.is_whole
