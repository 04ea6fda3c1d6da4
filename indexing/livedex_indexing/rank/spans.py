"""Where in a full-text table to look for rows whose ids are known: in a few spans of ids, each walked through.

Invariant: the spans hold every id, do not overlap, and come in order; what else lies in them the statement refuses.

To begin at a row costs FTS5 some microseconds, and as much again for each word; to go on to the next row that holds one
of them a hundredth of that. So ids that are near each other, and how near depends on how common the words are, share a
span, and neither rare words nor common ones cost more than what is looked for: half of the better of the two ways, one
row after the other or all rows of the words (71,000 rows looked into for 500 mixed searches).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.query_terms import Unit
from livedex_indexing.store.database import as_json

_BEGIN_US: Final = 5.0  # a span, and
_BEGIN_WORD_US: Final = 5.0  # each word there
_ROW_US: Final = 0.05  # one more row of a word

# Before a SELECT … FROM spans CROSS JOIN the table, whose rowid is BETWEEN low AND high.
WITH_SPANS: Final = """WITH spans (low, high) AS MATERIALIZED
                       (SELECT value ->> 0, value ->> 1 FROM json_each(?))"""


class Spans(NamedTuple):
    """``json`` is for `WITH_SPANS`. ``cost_us`` is what a walk through all of them is likely to take."""

    json: str
    cost_us: float


def spans(ids: Iterable[int], units: Sequence[Unit], last: int) -> Spans:
    """The spans in which to look for the units, where the table has ids up to about ``last``."""
    begin_us = _BEGIN_US + _BEGIN_WORD_US * len(units)
    id_us = _ROW_US * sum(min(unit.rows, last) for unit in units) / max(1, last)
    # A prefix is gathered from all its words anew for each span: seconds, where many begin so.
    reach = float("inf") if id_us == 0 or any(unit.prefix for unit in units) else begin_us / id_us
    bounds: list[list[int]] = []
    for row in sorted(ids):
        if bounds and row - bounds[-1][1] <= reach:
            bounds[-1][1] = row
        else:
            bounds.append([row, row])
    covered = sum(high - low for low, high in bounds)
    return Spans(as_json(bounds), begin_us * len(bounds) + id_us * covered)
