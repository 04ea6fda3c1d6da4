"""How much of the index is read for a pasted text depends on the rarest of its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.model import Query
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.piece_places import ROWS_READ, chunks_with_row
from livedex_indexing.rank.postings import RowCounts


@pytest.mark.parametrize(("rarest", "found"), [(ROWS_READ // 20, 1), (ROWS_READ, 0)])
def test_a_common_word_among_rarer_ones_costs_nothing(tmp_path: Path, rarest: int, found: int) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.c", 'warn("failed to send message: %d");\n')
        index.write("root/b.c", "to(failed, message, send);\n")
        counts = RowCounts(lambda word: rarest if word == "message" else ROWS_READ, lambda _: None)
        with index.pool.connection() as reader, reader.snapshot():
            filters = build_filters(reader, Query(""), index.roots, None)
            resolved = resolve_filters(reader, filters, 0, 0)
            view = IndexView(reader, resolved, lambda _: {}, counts)
            assert len(chunks_with_row(view, "failed to send message: 140", 10)) == found
