"""One standing query of the configuration: where its news begin, and which changes it was not compared with yet.

Invariant: nothing of a root is news before its first contents are noted. Used under the lock of ``StandingMessages``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from livedex_daemon.config.settings import StandingConfig
from livedex_daemon.subscriptions.subscription import Dirty, PendingFiles
from livedex_daemon.watch.root_table import Root, Roots
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.standing_query import FileKey, standing_query

FULL_REST_S: Final = 1.0  # before a topic that was full is tried again


class ConfiguredQuery(PendingFiles):
    """``number``: of the exchange, None until it was asked. ``known``: the paths of the roots whose first contents are
    noted. ``begun``: the ids of others whose first index is complete, so that changes are news from then on.

    ``fault``: why it could not publish the last time; None: it could.
    """

    def __init__(self, config: StandingConfig) -> None:
        super().__init__()
        request = SearchRequest(config.query, group="file")
        self.config = config
        self.query = standing_query(request)
        self.style = Style(request.max_snippet_chars, request.context_lines, explain=False, matches=True)
        self.number: int | None = None
        self.known: set[bytes] = set()
        self.begun: set[int] = set()
        self.fault: str | None = None
        self._rests_until = 0.0

    def known_ids(self, roots: Roots) -> set[int]:
        return {root.id for root in roots if root.path in self.known}

    def begin(self, root: Root) -> None:
        """Note that the first index of a root is complete."""
        if root.path not in self.known:
            self.begun.add(root.id)

    def to_note(self, roots: Roots) -> dict[int, bytes]:
        """Return the roots, id to path, whose first contents can be noted now."""
        if self.number is None:
            return {}
        return {root.id: root.path for root in roots if root.id in self.begun and is_complete(root)}

    def changed(self, roots: Roots, files: Iterable[FileKey], whole: Iterable[int], now: float) -> None:
        """Add what a commit changed, as far as it is news."""
        counted = self.known_ids(roots) | self.begun
        self.add_pending([key for key in files if key[0] in counted], counted.intersection(whole), now)

    def noted(self, roots: dict[int, bytes], now: float) -> None:
        """From now on, what is new in these roots can be published. They are compared as a whole, so that it does not
        matter what became of the pending files meanwhile."""
        self.known.update(roots.values())
        self.begun -= roots.keys()
        self.add_pending((), roots, now)

    def is_ready(self, roots: Roots, now: float) -> bool:
        if self.number is None or now < self._rests_until:
            return False
        known = self.known_ids(roots)
        return bool(self.pending.roots & known) or any(root_id in known for root_id, _ in self.pending.files)

    def take(self, roots: Roots, now: float) -> Dirty:
        """Return what is pending of the known roots; the rest stays."""
        self.retry(now)
        if not self.is_ready(roots, now):
            return Dirty()
        known, found = self.known_ids(roots), self.pending.take()
        taken = Dirty()
        taken.files = {key for key in found.files if key[0] in known}
        taken.roots = found.roots & known
        self.add_pending(found.files - taken.files, found.roots - known, now)
        return taken

    def rest(self, reason: str, now: float) -> None:
        """Publish nothing for a while: the topic is full."""
        self.fault, self._rests_until = reason, now + FULL_REST_S

    def next_at(self) -> float:
        """Return when to look again without a change, on the monotonic clock."""
        return min(self.retry_at, self._rests_until or float("inf"))

    def start_over(self, roots: Roots, now: float) -> None:
        """Compare all again: the index was rebuilt. Roots that are not known are indexed for the first time."""
        self.begun.clear()
        self.pending.take()
        self.add_pending((), self.known_ids(roots), now)


def is_complete(root: Root) -> bool:
    return root.state == "online"
