"""Searches for the file that has the name which was typed, but for its suffix: ``tcp.c`` for ``tcp.h``.

Invariant: a query is replaced only where no file is called so, and no text has that name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from livedex_indexing.chunk.language_detection import by_name
from livedex_indexing.rank.postings import phrase
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader

_FILE: Final = re.compile(r"(?P<stem>[\w-]{2,}(?:\.[\w-]+)*)\.(?P<suffix>[a-z][a-z\d]{0,5})")
_NAMED: Final = "SELECT DISTINCT d.name FROM paths p JOIN files d ON d.id = p.rowid WHERE paths MATCH ? LIMIT 500"


def with_other_suffix(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for the name of a file with another suffix, or for what several have in common; any other
    request as it is."""
    text = request.query.strip()
    found = _FILE.fullmatch(text)
    if found is None or request.typing or by_name(f"x.{found['suffix']}".encode()) is None:
        return request
    tokens = reader.tokens(found["stem"])
    rows = reader.rows(_NAMED, (f"name : {phrase(tokens)}",)) if tokens else ()
    names = [name.decode("utf-8", "replace") for (name,) in rows]
    others = sorted({name for name in names if os.path.splitext(name)[0].lower() == found["stem"].lower()})
    if not others or text.lower() in map(str.lower, names) or is_pasted(text):
        return request
    return replace(request, query=others[0] if len(others) == 1 else found["stem"])
