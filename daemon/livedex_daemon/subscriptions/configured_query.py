"""One standing query of the configuration: where its news begin, and which changes it was not compared with yet.

Invariant: nothing of a root is news before its first contents are noted. Used under the lock of ``StandingMessages``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from livedex_daemon.config.settings import StandingConfig
from livedex_daemon.subscriptions.subscription import Dirty, PendingFiles
from livedex_daemon.watch.root_table import Root, Roots
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.standing_query import FileKey, standing_query

FULL_REST_S: Final = 1.0  # before a topic that was full is tried again


class ConfiguredQuery(PendingFiles):
    """``number``: of the exchange, None until it was asked.

    ``known``: the paths of the roots whose first contents are noted. ``begun``: the ids of others whose first index is
    complete, so that changes are news from then on, each with the files that changed since and the hash of the bytes
    that the file had then; None: it was not there.

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
        self.begun: dict[int, dict[FileKey, bytes | None]] = {}
        self._resumed: dict[int, dict[FileKey, bytes | None]] = {}  # the same, if the exchange knows the query
        self.fault: str | None = None
        self._rests_until = 0.0

    def known_ids(self, roots: Roots) -> set[int]:
        return {root.id for root in roots if root.path in self.known}

    def begin(self, root: Root) -> None:
        """Note whether the first index of a root is complete.

        If the exchange knows the query, it may have been complete when the daemon was killed, before it was noted: what
        changed since is news then. For a new query it was there before.
        """
        if root.path in self.known:
            return
        if root.first_indexed and self.number is None:
            self._resumed.setdefault(root.id, {})
        if is_complete(root):
            self.begun.setdefault(root.id, {})

    def numbered(self, number: int, *, is_old: bool) -> None:
        """Take the number that the exchange gives the query, and whether it knew it before."""
        self.number = number
        if is_old:
            self.begun |= self._resumed
        self._resumed = {}

    def to_note(self, roots: Roots) -> dict[int, bytes]:
        """Return the roots, id to path, whose first contents can be noted now."""
        if self.number is None:
            return {}
        return {root.id: root.path for root in roots if root.id in self.begun and is_complete(root)}

    def changed(self, roots: Roots, files: Mapping[FileKey, bytes | None], whole: Iterable[int], now: float) -> None:
        """Add what a commit changed, as far as it is news. ``files``: each with the hash of its bytes before."""
        for begun in (self.begun, self._resumed):
            for key, before in files.items() if begun else ():
                if key[0] in begun:
                    begun[key[0]].setdefault(key, before)
        known = self.known_ids(roots)
        self.add_pending([key for key in files if key[0] in known], known.intersection(whole), now)

    def changed_in(self, roots: Iterable[int]) -> dict[FileKey, bytes | None]:
        """Return the files of begun roots that changed since, with the hash of the bytes that each had then."""
        return {key: before for root_id in roots for key, before in self.begun[root_id].items()}

    def noted(self, roots: dict[int, bytes], now: float) -> None:
        """From now on, what is new in these roots can be published. They are compared as a whole, so that it does not
        matter what became of the changed files meanwhile."""
        self.known.update(roots.values())
        self.forget_begun(roots)
        self.add_pending((), roots, now)

    def forget_begun(self, roots: Iterable[int]) -> None:
        for root_id in roots:
            self.begun.pop(root_id, None)

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
        self.begun, self._resumed = {}, {}
        self.pending.take()
        self.add_pending((), self.known_ids(roots), now)


def is_complete(root: Root) -> bool:
    return root.state == "online"
