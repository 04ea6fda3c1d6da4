"""Cuts an answer of ``files/retrieve``, whose chunks touch the lines that are wanted, to these lines alone."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livedex_ipc.file_results import ChunkFields, RetrieveResult


def within_lines(result: RetrieveResult[ChunkFields], params: Mapping[str, Any]) -> RetrieveResult[ChunkFields]:
    """Return the result without the lines before ``start_line`` and after ``end_line`` of the method's params."""
    first, last = params.get("start_line", 1), params.get("end_line", sys.maxsize)
    chunks = [_cut(chunk, max(first, chunk["start_line"]), min(last, chunk["end_line"])) for chunk in result["chunks"]]
    return {**result, "chunks": chunks}


def _cut(chunk: ChunkFields, first: int, last: int) -> ChunkFields:
    lines = io.StringIO(chunk["text"], newline="\n").readlines()[first - chunk["start_line"] :]
    return {**chunk, "start_line": first, "end_line": last, "text": "".join(lines[: last - first + 1])}
