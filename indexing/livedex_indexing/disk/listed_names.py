"""Whether a path is spelled as the disk lists it: some file systems open ``README.md`` by the name ``readme.md`` too.

Invariant: as for `tree`, nothing outside the root is reached, no link is followed, and a share that does not answer
delays nothing. An error proves nothing: the name then counts as it is.
"""

from __future__ import annotations

import math
import os
import time
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from livedex_indexing.disk import tree
from livedex_indexing.disk.beneath import folder
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import retry_stale
from livedex_indexing.model import Stat
from livedex_indexing.relpath import split

_LONGEST_NAME: Final = 255  # bytes
_MOST_FOLDERS: Final = 8


class _Listing(NamedTuple):
    """The names in a folder. ``begun_at``: seconds, monotonic."""

    begun_at: float
    names: frozenset[bytes]


class ListedNames:
    """Describes paths that are spelled as on the disk. Keeps the last listings; call it from one thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._listings: dict[tuple[bytes, bytes], _Listing] = {}

    def stat(self, root: bytes, rel: bytes, since: float = math.inf) -> Stat | None:
        """Describe an entry as `tree.stat` does; None if there is none, or if the disk spells its path in another way.

        ``since``: the time of the last change that is known of the path; an earlier listing does not count. Costs two
        system calls more where a name has one spelling; elsewhere a listing, which serves all paths in its folder.
        """
        found = tree.stat(root, rel)
        return found if found is None or self._is_as_listed(root, rel, since) else None

    def _is_as_listed(self, root: bytes, rel: bytes, since: float) -> bool:
        while rel:
            above, name = split(rel)
            if not _has_other_names(root, rel):
                return True  # and so have the folders above, unless a file system lies in one of another kind
            if not self._is_listed(root, above, name, since):
                return False
            rel = above
        return True

    def _is_listed(self, root: bytes, rel: bytes, name: bytes, since: float) -> bool:
        known = self._listings.get((root, rel))
        if known is not None and known.begun_at > since and name in known.names:
            return True
        begun_at = self._clock()
        try:
            names = REMOTE.run(root, rel, partial(retry_stale, partial(_names, root, rel)))
        except OSError:
            return True
        if len(self._listings) >= _MOST_FOLDERS:
            self._listings.clear()
        self._listings[root, rel] = _Listing(begun_at, names)
        return name in names


def stat_as_listed(root: bytes, rel: bytes) -> Stat | None:
    """Describe an entry as ``ListedNames.stat`` does, by a listing of now. Raises Denied, ReadFailed."""
    return ListedNames().stat(root, rel)


def _has_other_names(root: bytes, rel: bytes) -> bool:
    """Whether the entry is found by a name in another case or Unicode form too, be it another link to it."""
    above, name = split(rel)
    others = other_names(name).difference(REMOTE.inside(root, above))
    if not others:
        return False
    try:
        return REMOTE.run(root, rel, partial(_is_found_as, root, above, name, others))
    except OSError:
        return False


def other_names(name: bytes) -> frozenset[bytes]:
    """Return names that a file system which ignores case or Unicode forms takes for the same; none for a number."""
    spellings = {name.swapcase()}
    if not name.isascii():
        text = os.fsdecode(name)
        spellings |= {os.fsencode(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
        spellings.add(os.fsencode(text.swapcase()))
    return frozenset(other for other in spellings if other != name and len(other) <= _LONGEST_NAME)


def _is_found_as(root: bytes, rel: bytes, name: bytes, others: frozenset[bytes]) -> bool:
    with folder(root, rel) as fd:
        own = os.stat(name, dir_fd=fd, follow_symlinks=False)
        for other in others:
            try:
                found = os.stat(other, dir_fd=fd, follow_symlinks=False)
            except OSError:
                continue
            if (found.st_ino, found.st_dev) == (own.st_ino, own.st_dev):
                return True
    return False


def _names(root: bytes, rel: bytes) -> frozenset[bytes]:
    with folder(root, rel, listing=True) as fd:
        return frozenset(map(os.fsencode, os.listdir(fd)))
