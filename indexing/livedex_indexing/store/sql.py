"""SQL that several queries share, each written once.

Invariant: plain text without parameters of its own; the table aliases are named next to each constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

# The chunks ``c`` of the content ``t``: their ids are consecutive, and the primary key finds a range of them.
IN_CONTENT: Final = "c.id BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1"
# Those words of a JSON array that texts have as they are written, each with the number of contents that have it.
WRITTEN_WORDS: Final = "SELECT w.term, w.doc FROM json_each(?) m CROSS JOIN temp.written w ON w.term = m.value"
# The number of the last commit that changed something a search can see.
GENERATION: Final = "SELECT value FROM state WHERE name = 'generation'"
# How often a content was written again under its id, because its rows may have been damaged.
REWRITTEN: Final = "SELECT value FROM state WHERE name = 'rewritten'"


def any_true(tests: Sequence[str]) -> str:
    """Return a condition that is true if one of the tests is, in parentheses; it is false without a test.

    SQLite refuses an expression deeper than 1,000, and `a OR b OR c` nests once more for each test. Halves nest ten
    times for a thousand.
    """
    if len(tests) < 2:
        return f"({tests[0] if tests else 0})"
    middle = len(tests) // 2
    return f"({any_true(tests[:middle])} OR {any_true(tests[middle:])})"
