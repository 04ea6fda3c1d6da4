"""Checks the spans that a pipeline returns for a text.

Invariant: what a conformance suite passes is what the daemon accepts: both use this check.
"""

from __future__ import annotations

from typing import Any

import msgspec

from livedex_indexing.model import KINDS
from livedex_indexing.plugins import Span

_METADATA_BYTES = 4096  # of one span


def span_fault(spans: object, text: str) -> str | None:
    """Return what is wrong with a pipeline's answer, None if it can be used. It may run code of the plugin."""
    if not isinstance(spans, list):
        return f"it returns {type(spans).__name__}, not a list"
    for span in spans:
        if not isinstance(span, Span):
            return f"it returns a list of {type(span).__name__}, not of Span"
        if type(span.start) is not int or type(span.end) is not int:
            return "a span's offsets are not numbers"
        if span.kind is not None and span.kind not in KINDS:
            return f"a span has the kind {str(span.kind)[:40]!r}, which is none of livedex's: {', '.join(KINDS)}"
        if not _is_small(span.metadata):
            return f"a span's metadata is no JSON of at most {_METADATA_BYTES} bytes"
    return _misplaced(spans, text)


def _misplaced(spans: list[Span], text: str) -> str | None:
    at = 0
    for span in spans:
        if not 0 <= span.start <= span.end <= len(text):
            return f"the span {span.start} to {span.end} is outside a text of {len(text)} characters"
        if span.start < at:
            return f"the span {span.start} to {span.end} overlaps the one before, which ends at {at}"
        at = span.end
    return None


def _is_small(metadata: Any) -> bool:
    if not isinstance(metadata, dict) or not all(isinstance(name, str) for name in metadata):
        return False
    try:
        return len(msgspec.json.encode(metadata)) <= _METADATA_BYTES
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return False
