"""SQL that several queries share, each written once.

Invariant: plain text without parameters; the table aliases are named next to each constant.
"""

from __future__ import annotations

from typing import Final

# The chunks ``c`` of the content ``t``: their ids are consecutive, and the primary key finds a range of them.
IN_CONTENT: Final = "c.id BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1"
# The number of the last commit that changed something a search can see.
GENERATION: Final = "SELECT value FROM state WHERE name = 'generation'"
# How often a content was written again under its id, because its rows may have been damaged.
REWRITTEN: Final = "SELECT value FROM state WHERE name = 'rewritten'"
