"""Groups known row ids into a few spans to walk through in a full-text table.

Invariant: the spans cover every id, do not overlap, and are in order; the statement rejects other rows in them.

Starting at a row costs FTS5 some microseconds, and as much again for each word; moving to the next row with one of the
words costs a hundredth of that. So ids near each other share a span, and how near depends on how common the words are.
Neither rare nor common words cost more than they must: half of the better of the two plain ways, one row after the
other or all rows of the words (71,000 rows examined for 500 mixed searches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.query_terms import QueryTerm
from livedex_indexing.store.database import as_json

_BEGIN_US: Final = 10.0  # to start a span, and
_BEGIN_WORD_US: Final = 10.0  # for each word there (half of it in an index that was just merged)
ROW_US: Final = 0.05  # for one more row of a word

# Goes before a SELECT … FROM spans CROSS JOIN the table, whose rowid is BETWEEN low AND high.
WITH_SPANS: Final = """WITH spans (low, high) AS MATERIALIZED
                       (SELECT value ->> 0, value ->> 1 FROM json_each(?))"""


class Spans(NamedTuple):
    """``json`` is for `WITH_SPANS`. ``cost_us`` is the estimated time of a walk through all spans."""

    json: str
    cost_us: float


def spans(ids: Iterable[int], terms: Sequence[QueryTerm], last: int) -> Spans:
    """Return the spans in which to look for the terms. ``last``: approximate maximum id of the table."""
    begin_us = _BEGIN_US + _BEGIN_WORD_US * len(terms)
    id_us = ROW_US * sum(min(term.rows, last) for term in terms) / max(1, last)
    # FTS5 gathers a prefix from all its words again for each span: seconds if it has many.
    reach = float("inf") if id_us == 0 or any(term.prefix for term in terms) else begin_us / id_us
    bounds: list[list[int]] = []
    for row in sorted(ids):
        if bounds and row - bounds[-1][1] <= reach:
            bounds[-1][1] = row
        else:
            bounds.append([row, row])
    covered = sum(high - low for low, high in bounds)
    return Spans(as_json(bounds), begin_us * len(bounds) + id_us * covered)
