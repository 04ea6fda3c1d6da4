"""The rules of one folder, ready to judge its entries one after another.

Invariant: a value here never changes. It depends on the states of the ignore files in its ``stamps`` and is discarded
as a whole when one of them has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from livedex_indexing import relpath
from livedex_indexing.disk import tree
from livedex_indexing.disk.settled import is_settled
from livedex_indexing.ignore.defaults import FOLDER_MARKERS, IGNORE_FILES, VerdictKind, builtin
from livedex_indexing.ignore.rule_file import Applied, RuleFile
from livedex_indexing.ignore.secret_names import secrets_inside
from livedex_indexing.model import EntryKind, FileState, Stat
from livedex_indexing.path_text import display_path

BUILT_IN = "built-in"
RULE_NAMES = (b".livedexignore", b".gitignore", b".git")


class Verdict(NamedTuple):
    """The reason why an entry is shut out, or, of the kind ``let_in``, is not.

    ``file`` is the ignore file's path (the configuration's for a root's ``ignore``) and ``line`` its 1-based line; they
    are ``built-in`` and 0 for a rule that comes from no file.
    """

    kind: VerdictKind
    file: str
    line: int
    pattern: str


class Link(NamedTuple):
    """An ignore file that applies to a folder, and the absolute path ("" for ``/``) its patterns are relative to."""

    file: RuleFile
    base: bytes


class Stamp(NamedTuple):
    """A value that differs between states of an ignore file or of ``.git``. Only the inode counts for a folder."""

    kind: EntryKind
    state: FileState

    @classmethod
    def of(cls, stat: Stat) -> Stamp:
        return cls(stat.kind, FileState(0, 0, 0, stat.ino) if stat.kind == "folder" else stat.state)


class Links(NamedTuple):
    """The ignore files that a folder's subfolders inherit; in each tuple the highest-ranking file comes first.

    ``user`` is the root's ``ignore``, ``own`` are for ``.livedexignore``, ``git`` for ``.gitignore``, ``tail`` for the
    lowest-ranking files.
    """

    user: Link
    own: tuple[Link, ...]
    git: tuple[Link, ...]
    tail: tuple[Link, ...]


class Folder(NamedTuple):
    """A folder: its root, its path relative to the root, and its absolute path ("" for ``/``)."""

    root: bytes
    rel: bytes
    base: bytes


class DirRules:
    """Judge the entries of one folder. ``links``: the ignore files in and above it."""

    __slots__ = (
        "_base", "_inside", "_layers", "_never", "_on_marker", "_rel", "_root", "_settled", "_stamps", "_user",
        "is_let_through", "links",
    )  # fmt: skip

    def __init__(
        self,
        folder: Folder,
        links: Links,
        *,
        stamps: dict[bytes, Stamp],
        never: Mapping[bytes, VerdictKind],
        on_marker: Callable[[bytes, bytes, FileState], None],
    ) -> None:
        """``on_marker`` is called with this folder, and the path and state of a marker inside one of its folders that
        it shuts out: no scan of the root sees it any more.
        """
        self.is_let_through = False  # whether the rules above are known not to shut the folder out
        self._root, self._rel, self._base = folder
        self.links = links
        self._stamps = stamps
        now = time.time()
        self._settled = all(is_settled(stamp.state, now) for stamp in stamps.values())
        self._never = never
        self._on_marker = on_marker
        self._inside = secrets_inside(relpath.name_of(folder.base))
        self._user = _applied((links.user,), folder.base)
        self._layers = _applied((*links.own, *links.git, *links.tail), folder.base)

    def is_current_for(self, names: Collection[bytes] | Mapping[bytes, Stat]) -> bool:
        """Tell whether these rules were read from the folder's present ignore files.

        Compare the states of the files if ``names`` is a mapping, else only their presence. Files that had just changed
        when they were read are never current: they are read again.
        """
        stamps = self._stamps
        if isinstance(names, Mapping):
            if not self._settled:
                return False
            for name in RULE_NAMES:
                stat = names.get(name)
                if (Stamp.of(stat) if stat is not None else None) != stamps.get(name):
                    return False
            return True
        return all((name in names) == (name in stamps) for name in RULE_NAMES)

    def decide(self, name: bytes, is_dir: bool) -> Verdict | None:
        """Return the rule that shuts the entry out; None lets it through. A link never counts as a folder.

        Raises ReadFailed if the markers that decide about a folder cannot be looked for.
        """
        if name == b".git":
            return Verdict("vcs", BUILT_IN, 0, ".git")
        if name in IGNORE_FILES and not is_dir:
            return Verdict("ignore_file", BUILT_IN, 0, display_path(name))
        if name in self._never:
            return Verdict(self._never[name], BUILT_IN, 0, display_path(self._base + b"/" + name))
        for applied in self._user:
            if (number := applied.last(name, is_dir)) >= 0:
                return _verdict(applied, number)
        found = builtin(name, is_dir)
        if found is not None and found.kind == "secret":
            return Verdict("secret", BUILT_IN, 0, found.pattern)
        if self._inside and name.lower() in self._inside:
            folder = relpath.name_of(self._base)
            return Verdict("secret", BUILT_IN, 0, display_path(folder + b"/" + name))
        for applied in self._layers:
            if (number := applied.last(name, is_dir)) >= 0:
                return _verdict(applied, number)
        if found is not None:
            return Verdict(found.kind, BUILT_IN, 0, found.pattern)
        return self._by_marker(name) if is_dir and name in FOLDER_MARKERS else None

    def let_in(self, name: bytes, is_dir: bool) -> Verdict | None:
        """Return the negated pattern that lets in an entry which ``decide`` lets through; None if there is none."""
        for applied in (*self._user, *self._layers):
            if (number := applied.last(name, is_dir)) >= 0:
                pattern = applied.file.patterns[number]
                return Verdict("let_in", applied.file.label, pattern.line, pattern.source)
        return None

    def _by_marker(self, name: bytes) -> Verdict | None:
        """Leave out a folder with an everyday name only if a marker next to it or inside it shows its purpose."""
        markers = FOLDER_MARKERS[name]
        folder = relpath.join(self._rel, name)
        for where, wanted, text in (
            (self._rel, markers.siblings, "{0}/ next to {1}"),
            (folder, markers.inside, "{0}/{1}"),
        ):
            try:
                there = tree.stat_names(self._root, where, wanted)
            except tree.Missing:
                continue
            except tree.Denied as error:
                if where == self._rel:
                    raise tree.ReadFailed(PermissionError(error.errno, str(error))) from error
                continue  # a folder that may not be entered shows nothing, and is not entered either
            for marker, stat in there.items():
                if where == folder:
                    self._on_marker(self._rel, relpath.join(folder, marker), Stamp.of(stat).state)
                return Verdict("default", BUILT_IN, 0, text.format(display_path(name), display_path(marker)))
        return None


def _applied(links: tuple[Link, ...], base: bytes) -> tuple[Applied, ...]:
    """Return the parts of the ignore files that can match an entry of the folder ``base``, in the files' order."""
    found = (link.file.at(base[len(link.base) + 1 :]) for link in links)
    return tuple(applied for applied in found if applied is not None)


def _verdict(applied: Applied, number: int) -> Verdict | None:
    pattern = applied.file.patterns[number]
    return Verdict("ignored", applied.file.label, pattern.line, pattern.source) if pattern.include else None
