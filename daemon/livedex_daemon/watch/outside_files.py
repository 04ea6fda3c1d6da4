"""Finds the folders to watch for files outside the roots, so that no later state of such a file goes unnoticed.

Invariant: a file changes, comes or goes only with an event in one of the folders of its trail, or after an event at one
of the points of its trail; then the trail is followed again. A folder on the trail is a real one, never a link.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.ignore.external_files import Source
from livedex_indexing.relpath import is_below

_LINKS = 40  # as many links as the kernel follows


class Trail(NamedTuple):
    """The way to a file as it is now, from folder to folder and from link to target, as far as it exists.

    ``points``: the entries on the way; ``folders``: those that contain the entries.
    """

    points: frozenset[bytes]
    folders: frozenset[bytes]


def trail(path: bytes, start: bytes = b"/", *, follow: bool = True) -> Trail:
    """Follow the way to an absolute path from ``start``, a real folder above it; ``follow``: through links too."""
    points: set[bytes] = set()
    folders: set[bytes] = set()
    here, links = start, 0
    names = deque(path.removeprefix(start).split(b"/"))
    while names:
        name = names.popleft()
        if name in (b"", b"."):
            continue
        if name == b"..":
            here = os.path.dirname(here)
            continue
        entry = os.path.join(here, name)
        folders.add(here)
        points.add(entry)
        try:
            mode = REMOTE.run(entry, b"", partial(os.lstat, entry)).st_mode
            target = REMOTE.run(entry, b"", partial(os.readlink, entry)) if stat.S_ISLNK(mode) else b""
        except OSError:  # what does not exist, or cannot be seen, is noticed by its folder
            break
        if target and follow and links < _LINKS:
            links += 1
            here = b"/" if target.startswith(b"/") else here
            names.extendleft(reversed(target.split(b"/")))
        elif stat.S_ISDIR(mode):
            here = entry
        else:
            break
    return Trail(frozenset(points), frozenset(folders))


class OutsideFiles:
    """The trails of the files that one root, or the configuration, depends on.

    ``touched`` and ``owners`` are called by the watcher's thread, ``follow`` by one other thread.
    """

    def __init__(self) -> None:
        self.version = -1  # of the sources that were followed last
        self._trails: dict[Source, Trail] = {}
        self._points: dict[bytes, frozenset[bytes]] = {}  # point to the folders whose rules depend on it
        self._touched: set[bytes] = set()

    @property
    def folders(self) -> set[bytes]:
        return {folder for known in self._trails.values() for folder in known.folders}

    @property
    def is_touched(self) -> bool:
        return bool(self._touched)

    def touch(self, path: bytes) -> frozenset[bytes]:
        """Return the folders whose rules may depend on the changed path; follow the trails over it again."""
        owners = self._points.get(path, frozenset())
        if owners:
            self._touched.add(path)
        return owners

    def follow(self, root: bytes, sources: Iterable[Source], watch: Callable[[bytes], object]) -> bool:
        """Follow new trails and those that were touched, and ``watch`` their folders. Return True if there were any."""
        touched: set[bytes] = set()
        while self._touched:
            touched.add(self._touched.pop())
        trails: dict[Source, Trail] = {}
        fresh: dict[Source, Trail] = {}
        for source in sources:
            known = self._trails.get(source)
            if known is None or not touched.isdisjoint(known.points):
                known = fresh[source] = _trail_of(source, root)
            trails[source] = known
        if fresh or trails.keys() != self._trails.keys():
            self._trails = trails
            self._points = _owners_by_point(trails)  # first: an event may arrive as soon as there is a watch
        for folder in {folder for known in fresh.values() for folder in known.folders}:
            watch(folder)
        for source, known in fresh.items():
            if _trail_of(source, root) != known:  # it changed before the watches were there
                self._touched |= known.points
        return bool(fresh)


def _owners_by_point(trails: Mapping[Source, Trail]) -> dict[bytes, frozenset[bytes]]:
    points: dict[bytes, set[bytes]] = {}
    for source, known in trails.items():
        for point in known.points:
            points.setdefault(point, set()).add(source.owner)
    return {point: frozenset(owners) for point, owners in points.items()}


def _trail_of(source: Source, root: bytes) -> Trail:
    """Return the trail of a source. The root's own watches report what happens above the folder that depends on it."""
    owner = os.path.join(root, source.owner) if source.owner else root
    inside = not source.users and is_below(source.path, owner)
    return trail(source.path, owner if inside else b"/", follow=source.users)
