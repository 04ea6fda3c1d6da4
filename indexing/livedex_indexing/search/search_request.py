"""The request of one search: the params of the method ``search`` as a value, with every path resolved to a place.

Invariant: the defaults are those of the method table, and a request never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

import msgspec

from livedex_indexing.model import Kind, Place, Query
from livedex_indexing.query.query_parser import bare, ends_in_word, parse
from livedex_ipc.constants import LINE_MODES
from livedex_ipc.errors import InvalidParams
from livedex_ipc.methods import METHODS
from livedex_ipc.params import parse_time

_PARAMS: Final = METHODS["search"].params

Mode = Literal["auto", "keyword", "semantic", "hybrid", "exact", "regex"]
Facet = Literal["languages", "kinds", "roots"]


def _default(name: str) -> Any:
    value = _PARAMS[name].default
    return tuple(value) if isinstance(value, list) else value


class SearchRequest(msgspec.Struct, frozen=True):
    """One search. Every field but ``query`` has the default of the param of that name.

    ``places`` limits the search to files at or below them, None means everywhere; ``root_ids``, ``languages`` and
    ``kinds`` admit any of their values, and everything when empty. ``globs`` are ripgrep's, relative to each root.
    ``modified_after`` (inclusive) and ``modified_before`` (exclusive) are nanoseconds since the epoch. ``max_chars``
    bounds the text of all hits together, in characters; None means no limit. ``limit`` plus ``offset`` are at most
    ``methods.SEARCH_WINDOW``: ``next_offset`` of an answer is None from there on, but ``cursor``, the ``next_cursor``
    of an answer with lines, goes on without end. ``case`` and ``whole_words`` are those of lines. Without ``fresh`` a
    misspelt word may be corrected as it was lately.
    """

    query: str
    limit: int = _default("limit")
    offset: int = _default("offset")
    mode: Mode = _default("mode")
    sort: Literal["relevance", "modified", "path"] = _default("sort")
    letter_case: Literal["smart", "ignore", "sensitive"] = _default("letter_case")
    whole_words: bool = _default("whole_words")
    cursor: str | None = _default("cursor")
    places: tuple[Place, ...] | None = None
    root_ids: tuple[int, ...] = ()
    globs: tuple[str, ...] = _default("globs")
    languages: tuple[str, ...] = _default("languages")
    kinds: tuple[Kind, ...] = _default("kinds")
    modified_after: int | None = _default("modified_after")
    modified_before: int | None = _default("modified_before")
    group: Literal["chunk", "file"] = _default("group")
    context_lines: int = _default("context_lines")
    max_snippet_chars: int = _default("max_snippet_chars")
    max_chars: int | None = _default("max_chars")
    facets: tuple[Facet, ...] = _default("facets")
    total: bool = _default("total")
    fresh: bool = _default("fresh")
    explain: bool = _default("explain")
    typing: bool = _default("typing")

    @classmethod
    def from_params(
        cls, params: Mapping[str, Any], places: tuple[Place, ...] | None = None, root_ids: tuple[int, ...] = ()
    ) -> SearchRequest:
        """Return the request of checked ``search`` or ``search/subscribe`` params. ``places`` and ``root_ids`` are
        their resolved ``path`` and ``roots``."""
        fields = {name: _value(name, params[name]) for name in cls.__struct_fields__ if name in params}
        return cls(**fields, places=places, root_ids=root_ids)

    def parsed(self) -> tuple[Query, bool]:
        """Return the query for the index, and whether only the first part of its text counts."""
        parsed = parse(self.query)
        query = replace(
            self.filters_only(),
            text=" ".join(parsed.words),
            unfinished=self.typing and not parsed.cut and ends_in_word(self.query),
            excluded=parsed.excluded,
            phrases=parsed.phrases,
            terms=parsed.terms,
        )
        return query, parsed.cut

    def text_as_typed(self, parsed: Query) -> str:
        """Return the text that files may have: the query without its terms, or all of it if it has none. ``parsed``: of
        `parsed`."""
        return bare(self.query) if parsed.terms else self.query.strip()

    def refuse_contradictions(self) -> None:
        """Raise InvalidParams for params that exclude each other."""
        if self.mode not in LINE_MODES:
            for name in ("letter_case", "whole_words", "cursor"):
                if getattr(self, name) != _default(name):
                    raise InvalidParams(f"{name} is for the modes exact and regex alone", {"field": name})
            if self.sort != "relevance" and (self.mode in ("semantic", "hybrid") or self.typing):
                what = "typing" if self.typing else f"mode {self.mode}"
                raise InvalidParams(f"sort must be relevance with {what}", {"field": "sort"})
        if self.cursor is not None and self.offset:
            raise InvalidParams("cursor and offset exclude each other", {"field": "cursor"})

    def filters_only(self) -> Query:
        """Return the query without its text: for a search whose text is one pattern."""
        return Query(
            places=self.places,
            root_ids=self.root_ids,
            globs=self.globs,
            languages=self.languages,
            kinds=self.kinds,
            modified_after=self.modified_after,
            modified_before=self.modified_before,
        )


def _value(name: str, value: Any) -> Any:
    if value is not None and _PARAMS[name].type == "time":
        return parse_time(value)
    return tuple(value) if isinstance(value, list) else value
