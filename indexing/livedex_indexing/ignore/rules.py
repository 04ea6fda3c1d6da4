"""Decide which entries of a root to index: git's rules, livedex's own, the built-in ones, and their order of rank.

Invariant: an entry is judged by its own name and path only after every folder above it was let through. The first of
these sources with a rule for the entry decides: entries that no rule can let in, the root's ``ignore``, likely secrets,
``.livedexignore``, ``.gitignore``, ``info/exclude``, the user's ``core.excludesFile``, the defaults.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence

from livedex_indexing import relpath
from livedex_indexing.disk import tree
from livedex_indexing.disk.beneath import check_relative
from livedex_indexing.ignore.defaults import FOLDER_MARKERS, IGNORE_FILES, MARKER_NAMES, VerdictKind
from livedex_indexing.ignore.external_files import UNREADABLE, Lines, Source, lines_at, lines_beneath, users_lines
from livedex_indexing.ignore.folder_rules import BUILT_IN, RULE_NAMES, DirRules, Folder, Link, Links, Stamp, Verdict
from livedex_indexing.ignore.git_config import user_excludes
from livedex_indexing.ignore.git_pattern import parse_line
from livedex_indexing.ignore.outside_sources import OutsideSources
from livedex_indexing.ignore.rule_file import MAX_PATTERNS, RuleFile
from livedex_indexing.ignore.rule_inodes import RuleInodes
from livedex_indexing.ignore.worktree import tops_above, work_tree
from livedex_indexing.model import FileState, Stat
from livedex_indexing.path_text import display_path

__all__ = ["BUILT_IN", "RULE_NAMES", "DirRules", "RuleTree", "Verdict", "is_marker_name", "is_rule_file", "reach"]

MAX_IGNORE_FILE = 16 << 20  # bytes; git itself gives up at 100 MiB
MAX_TOTAL_PATTERNS = 400_000  # in all ignore files of a root: bounds the memory that a hostile checkout can use
MAX_CACHED = 16_384  # folders; past this, all are forgotten and read again when requested


def is_rule_file(name: bytes) -> bool:
    """Tell whether an entry of this name (an ignore file, ``.git``) affects the rules of its folder."""
    return name in IGNORE_FILES or name == b".git"


def is_marker_name(name: bytes) -> bool:
    """Tell whether adding or removing an entry of this name may change the verdict on its parent or a sibling."""
    return name in MARKER_NAMES


_DECIDES_ABOUT_OTHERS = IGNORE_FILES | MARKER_NAMES | {b".git"}


def reach(path: bytes) -> bytes:
    """Return the path whose verdict, and that of everything below it, may change with an entry at ``path``.

    It is the entry itself, but the folder of an ignore file, of ``.git`` and of a marker.
    """
    folder, _, name = path.rpartition(b"/")
    return folder if name in _DECIDES_ABOUT_OTHERS else path


class RuleTree:
    """The rules of one root, read when a folder is requested, then cached.

    ``root`` is absolute and resolved. ``user_patterns`` are the root's ``ignore``; ``user_file`` and ``user_lines``
    (one for each pattern, or none) give their location for ``why``. ``own_folders`` are absolute paths that are never
    entered. ``environ`` locates the user's git configuration. Safe to use from several threads.
    """

    def __init__(
        self,
        root: bytes,
        user_patterns: Sequence[str] = (),
        *,
        own_folders: Collection[bytes] = (),
        user_file: str = "config.toml",
        user_lines: Sequence[int] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.root = root
        self._base = root.rstrip(b"/")
        self._fold = sys.platform == "darwin"  # git's own default on a case-insensitive filesystem
        self._environ = environ
        self._own = {os.path.realpath(path).rstrip(b"/") for path in own_folders}
        self._user = self._user_rules(user_file, user_patterns, user_lines)
        self._excludes: bytes | None = None  # core.excludesFile, None until it was looked up
        self._lock = threading.RLock()
        self._folders: dict[bytes, DirRules] = {}
        self._loaded: dict[bytes, RuleFile] = {}
        self._pattern_count = 0  # patterns in these files
        self._faulty: dict[bytes, RuleFile] = {}  # those of these files that do not count in full
        self._denied: set[bytes] = set()  # ignore files without permission, there or not, to be tried again
        self.inodes = RuleInodes(root)
        self._outside = OutsideSources()

    @property
    def outside_version(self) -> int:
        """Another number whenever ``outside_sources`` may differ, in any tree."""
        return self._outside.version

    def rules(self, rel_dir: bytes, names: Collection[bytes] | Mapping[bytes, Stat] | None = None) -> DirRules:
        """Return the rules for the entries of a folder.

        ``names`` are the names that a scan of the folder just found. They save look-ups of files that do not exist.
        Rules that depend on another state of the folder's ignore files are read again: a mapping compares the states,
        names alone compare presence. Raise ReadFailed if an ignore file or what decides about it cannot be read: it
        counts neither as absent nor as empty.
        """
        found = self._folders.get(rel_dir)
        if found is not None and (names is None or found.is_current_for(names)):
            return found
        with self._lock:
            if found is not None:
                self.invalidate(rel_dir)
            if max(len(self._folders), len(self.inodes)) >= MAX_CACHED:
                self._forget_files()
            try:
                return self._make(rel_dir, names)
            except OSError as error:  # the table of mounts
                raise tree.ReadFailed(error) from error

    def explain(self, rel: bytes, is_dir: bool) -> Verdict | None:
        """Return the rule that shuts out the entry or a folder above it, judged from the top down; None: let through.

        The root itself and the folders above it are not judged: the user has named the root. Raise ValueError for a
        path that is not relative, and ReadFailed as ``rules`` does.
        """
        check_relative(rel)
        if self._is_own(b""):
            return Verdict("own", BUILT_IN, 0, display_path(self.root))
        if not rel:
            return None
        folder, _, name = rel.rpartition(b"/")
        rules = self._folders.get(folder)
        # New rules replace these as soon as those of a folder above change: the verdict on the folder is valid as
        # long as these rules are.
        if rules is None or not rules.is_let_through:
            with self._lock:
                verdict = self._ignored_above(folder)
                if verdict is not None:
                    return verdict
                rules = self.rules(folder)
                # A folder with an everyday name is checked each time: its markers come and go.
                rules.is_let_through = FOLDER_MARKERS.keys().isdisjoint(folder.split(b"/"))
        return rules.decide(name, is_dir)

    def _ignored_above(self, folder: bytes) -> Verdict | None:
        """Return the rule that shuts out a folder or one above it, from the top down; None: let through."""
        above = b""
        for name in folder.split(b"/") if folder else ():
            verdict = self.rules(above).decide(name, True)
            if verdict is not None:
                return verdict
            above = relpath.join(above, name)
        return None

    def invalidate(self, rel_dir: bytes | None = None) -> None:
        """Forget the rules of the folder and all folders below it; None or the root: all rules, outside files too."""
        with self._lock:
            if not rel_dir:
                self._forget_files()
                self._outside.clear()
                return
            below = rel_dir + b"/"
            if rel_dir in self._folders:  # else none below it is known: rules are made from the top down
                for folder in [key for key in self._folders if key == rel_dir or key.startswith(below)]:
                    del self._folders[folder]
            for path in [path for path in self._loaded if path.startswith(self._absolute(below))]:
                self._pattern_count -= len(self._loaded.pop(path).patterns)
                self._faulty.pop(path, None)
            self._outside.forget_below(rel_dir)

    def invalidate_all(self, folders: Collection[bytes]) -> None:
        """Forget the rules of many folders below the root and of all folders below them, in one pass."""
        with self._lock:
            known = frozenset(folder for folder in folders if folder in self._folders)
            for folder in [key for key in self._folders if relpath.is_at_or_below(key, known)] if known else []:
                del self._folders[folder]
            for folder in folders:
                self.invalidate(folder)

    def forget_folder(self, rel: bytes) -> None:
        """Forget the rules of an entry that is no folder. Costs a look-up if it was none before."""
        if rel in self._folders:
            self.invalidate(rel)

    def _forget_files(self) -> None:
        self._folders.clear()
        self._loaded.clear()
        self._faulty.clear()
        self.inodes.clear()
        self._pattern_count = 0

    def outside_sources(self) -> set[Source]:
        """Return the files that the rules read so far depend on and that no scan of the root sees.

        They are ignore files and ``.git`` above the root, ``info/exclude``, the user's git configuration,
        ``core.excludesFile``, whether they exist or not, and markers inside folders that they shut out. Raise
        ReadFailed as ``rules`` does.
        """
        with self._lock:
            self.rules(b"")
            return self._outside.sources()

    def outside_changed(
        self, below: bytes = b"", *, doubtful: bool = False, mark: Callable[[bytes], None] = lambda _folder: None
    ) -> set[bytes]:
        """Return the folders within ``below`` whose rules depend on an outside source that has changed.

        Forget these rules; call ``mark`` with each folder first, as in ``allow_again``. ``doubtful``: a file that had
        just changed when it was read counts as changed. The root (``b""``) means all. Costs one stat for each source,
        cheap enough for a call every few seconds. Raise ReadFailed as ``rules`` does.
        """
        with self._lock:
            self.rules(b"")
            changed = self._outside.owners_of_changed(below, doubtful=doubtful)
            changed = {b""} if b"" in changed else changed
            for folder in changed:
                mark(folder)
                self.invalidate(folder)
            return changed

    def allow_again(self, mark: Callable[[bytes], None]) -> None:
        """Forget the rules of each folder with an ignore file whose permission was missing and has returned.

        It may return without an event. ``mark`` is called with the folder first: a caller that gets no more fault must
        find that its files are to be compared again.
        """
        with self._lock:
            allowed = {path for path in self._denied if tree.may_read(b"/", path.lstrip(b"/"))}
        top = self._base + b"/"
        folders = {relpath.parent(path[len(top) :]) if path.startswith(top) else b"" for path in allowed}
        for folder in folders:
            mark(folder)
        with self._lock:
            self._denied -= allowed
            for folder in folders:
                self.invalidate(folder)

    def faults(self) -> dict[str, str]:
        """Return the ignore files read so far that do not count in full: path to reason. It never waits."""
        files = (*self._faulty.values(), self._user)
        return {file.label: file.fault for file in files if file.fault is not None}

    def _user_rules(self, label: str, patterns: Sequence[str], lines: Sequence[int]) -> RuleFile:
        numbered = zip(patterns, itertools.chain(lines, itertools.repeat(0)), strict=False)
        parsed = (parse_line(os.fsencode(text), line) for text, line in numbered)
        return RuleFile(label, [pattern for pattern in parsed if pattern is not None], fold=self._fold)

    def _absolute(self, rel: bytes) -> bytes:
        return self._base + b"/" + rel if rel else self._base

    def _is_own(self, rel: bytes) -> bool:
        path = self._absolute(rel)
        return any(relpath.is_within(path, own) for own in self._own)

    def _make(self, rel_dir: bytes, names: Collection[bytes] | Mapping[bytes, Stat] | None) -> DirRules:
        """Read the rules of the folder, and of the folders above it that are not cached."""
        missing = [rel_dir]
        while missing[-1] and missing[-1] not in self._folders:
            missing.append(relpath.parent(missing[-1]))
        made = self._folders.get(missing[-1])
        if made is not None:
            missing.pop()
        for folder in reversed(missing):
            made = self._folder(folder, made, self._present(folder, names if folder == rel_dir else None))
            self._folders[folder] = made
        assert made is not None
        return made

    def _folder(self, rel: bytes, above: DirRules | None, found: Mapping[bytes, Stat]) -> DirRules:
        base = self._absolute(rel)
        if above is None:
            links = self._above_root()
        else:
            links = above.links
        if b".git" in found and (top := work_tree(base)) is not None:
            for path in top.pointers[1:]:
                self._depend_on(path, rel)
            links = links._replace(git=(), tail=self._tail(base, top.exclude, rel))
        if b".livedexignore" in found:
            links = links._replace(own=(Link(self._read(rel, b".livedexignore"), base), *links.own))
        if b".gitignore" in found:
            links = links._replace(git=(Link(self._read(rel, b".gitignore"), base), *links.git))
        for name in found.keys() & IGNORE_FILES:
            self.inodes.note(relpath.join(rel, name), found[name].ino)
        return DirRules(
            Folder(self.root, rel, base),
            links,
            stamps={name: Stamp.of(found[name]) for name in found},
            never=self._never(base),
            on_marker=self._depend_on_marker,
        )

    def _never(self, base: bytes) -> dict[bytes, VerdictKind]:
        """Return the names in the folder that are livedex's own, or the user's ignore file for all work trees."""
        kinds: dict[bytes, VerdictKind] = dict.fromkeys(self._own, "own")
        if self._excludes is not None:
            kinds[self._excludes] = "ignore_file"
        return {relpath.name_of(path): kind for path, kind in kinds.items() if relpath.parent(path) == base}

    def _present(self, rel: bytes, names: Collection[bytes] | Mapping[bytes, Stat] | None) -> dict[bytes, Stat]:
        """Return the current stats of the folder's ignore files and ``.git``.

        Raise ReadFailed, also if they are denied: who cannot look does not know that there are none.
        """
        if isinstance(names, Mapping):
            return {name: names[name] for name in RULE_NAMES if name in names}
        wanted = RULE_NAMES if names is None else [name for name in RULE_NAMES if name in names]
        try:
            return tree.stat_names(self.root, rel, wanted) if wanted else {}
        except tree.Missing:
            return {}
        except tree.Denied as error:
            raise tree.ReadFailed(PermissionError(error.errno, str(error))) from error

    def _read(self, rel: bytes, name: bytes) -> RuleFile:
        """Read an ignore file inside the root. As in git, it counts only if it is a regular file, not a link."""
        path = relpath.join(rel, name)
        return self._load(self._absolute(path), lines_beneath(self.root, path, MAX_IGNORE_FILE))

    def _load(self, path: bytes, content: Lines) -> RuleFile:
        made = RuleFile.parse(
            display_path(path),
            content.data,
            content.fault,
            fold=self._fold,
            most=max(0, min(MAX_PATTERNS, MAX_TOTAL_PATTERNS - self._pattern_count)),
        )
        if content.fault == UNREADABLE:
            self._denied.add(path)
        if made.patterns or made.fault is not None:
            self._loaded[path] = made
            self._pattern_count += len(made.patterns)
        if made.fault is not None:
            self._faulty[path] = made
        return made

    def _depend_on(self, path: bytes, rel: bytes, *, users: bool = False) -> None:
        self._outside.add(Source(path, users, rel))

    def _depend_on_marker(self, rel: bytes, path: bytes, state: FileState) -> None:
        with self._lock:
            self._outside.add_in_state(Source(self._absolute(path), False, rel), state)

    def _tail(self, base: bytes, exclude: bytes | None, rel: bytes) -> tuple[Link, ...]:
        """Return links to a work tree's lowest-ranking files, based at its top: ``info/exclude``, the user's own."""
        links = []
        if exclude is not None:
            self._depend_on(exclude, rel)
            links.append(Link(self._load(exclude, lines_at(exclude, MAX_IGNORE_FILE)), base))
        user = user_excludes(self._environ)
        for path in user.sources:
            self._depend_on(path, b"", users=True)
        self._excludes = user.path
        if user.path is not None:
            self._depend_on(user.path, b"", users=True)
            links.append(Link(self._load(user.path, users_lines(user.path, MAX_IGNORE_FILE)), base))
        return tuple(links)

    def _above_root(self) -> Links:
        """Return the links that the root inherits."""
        above = tops_above(self._base)
        git: list[Link] = []
        for folder in above:  # nearest first: it ranks highest
            path = folder + b"/.gitignore"
            self._depend_on(path, b"")
            git.append(Link(self._load(path, lines_at(path, MAX_IGNORE_FILE)), folder))
        folder = self._base
        while folder:
            folder = relpath.parent(folder)
            self._depend_on(folder + b"/.git", b"")
        top = above[-1] if above else self._base
        found = work_tree(top) if above else None
        if found is not None:
            for path in found.pointers:
                self._depend_on(path, b"")
        tail = self._tail(top, found.exclude if found is not None else None, b"")
        return Links(Link(self._user, self._base), (), tuple(git), tail)
