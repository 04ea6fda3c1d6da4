"""Ask for the conversion of a document once its row is stored, and take back what no longer waits.

Invariant: a conversion is asked for only after the commit after which the document's old text is not served. Runs on
the worker's thread only.
"""

from __future__ import annotations

from collections.abc import Callable

from livedex_daemon.documents.conversions import Conversions, Document
from livedex_daemon.write.outcomes import Outcome, Waiting


def note_document(conversions: Conversions, outcome: Outcome, admits: Callable[[int, bytes], bool]) -> bool:
    """Note what a stored outcome means for the path's conversion. ``admits``: whether the rules let the path in. Return
    True if the path must be read again: the conversion that it was to wait for has just ended."""
    work, result = outcome.work, outcome.result
    if not isinstance(result, Waiting) or work.cancelled or not admits(*work.key):
        conversions.settled(work.key)
    elif outcome.content_hash is not None and outcome.plan is not None:
        document = Document(work.root, work.path, result.parser, result.suffix, work.force)
        return conversions.request((outcome.content_hash, outcome.plan.signature), document)
    return False
