"""The steps of a change on its way into the index, as one value.

Invariant: plain data; each step is made once and shared by all that use it.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.index_file.rebuild import Rebuilder
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit import Committer
from livedex_daemon.write.inspector import Inspector


class WriteSteps(NamedTuple):
    """The steps of a change on its way into the index, in order; ``rebuilder`` starts a new index file."""

    backlog: Backlog
    presence: Presence
    inspector: Inspector
    pool: Pool
    commit: Committer
    rebuilder: Rebuilder
    conversions: Conversions
