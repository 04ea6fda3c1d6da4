"""Moves documents up that have the words of a sentence in several of their sections: a page about what is asked for has
them in most, code only where it does it.

Invariant: pure; the parts of a score still sum up to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from livedex_indexing.rank.score import WEIGHTS, Ranked

_MORE, _COVER = (list(WEIGHTS).index(part) for part in ("more", "cover"))
_SHARES: Final = {_MORE: 1.0, _COVER: 0.5}  # of these parts, in addition
# Not all that is no code: what no grammar knows (types of Ruby, templates) has the texts of the code beside it.
_DOCUMENT: Final = re.compile(rb"\.(?:adoc|html?|markdown|mdx?|org|rdoc|rst|tex|textile|txt)$", re.IGNORECASE)


def all_sections_count(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the files in the order in which documents gain by their next best chunks and by all of their words."""
    return sorted(map(_with_sections, ranked), key=lambda file: (-file.score, file.copy.path, file.content_id))


def _with_sections(file: Ranked) -> Ranked:
    if not file.copy.prose or file.copy.news or not _DOCUMENT.search(file.copy.path):
        return file
    gains = {part: share * file.sums[part] for part, share in _SHARES.items()}
    sums = [value + gains.get(part, 0.0) for part, value in enumerate(file.sums)]
    return file._replace(score=file.score + sum(gains.values()) / file.total, sums=sums)
