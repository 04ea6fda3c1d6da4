"""The patterns of one ignore file, arranged so that few of them are tried on each name.

Invariant: the last pattern of the file that matches an entry decides, and the answer is the same as if every pattern
were tried in turn. Plain names, beginnings and endings are looked up; pathspec tries the other patterns together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from pathspec import PathSpec

from livedex_indexing.ignore.git_pattern import FOLDER, MAX_PATTERN, SPECIAL, GitPattern, parse_lines

MAX_PATTERNS = 200_000
_KEY = 4  # bytes of a beginning or ending that are looked up
_BUCKET = 16  # more patterns than this under one key are tried together
# pathspec passes a whole list to one re2.Set, which has 8 MiB and cannot work without its automaton. If 8 MiB are too
# little, the set does not compile, or answers "no match". These bounds keep it below half of the size that works.
_BATCH_CHARS = 32_000
_LONG = 2_000
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_STARS = re.compile(r"[*?]")


class _Edge(NamedTuple):
    """A pattern indexed by the beginning or end of its names. ``pattern`` is None if these two define it fully."""

    number: int
    folders_only: bool
    head: bytes
    tail: bytes
    length: int
    pattern: GitPattern | None


class Batch:
    """The patterns that pathspec tries together on one subject."""

    __slots__ = ("_indexes", "_spec")

    def __init__(self, numbered: Sequence[tuple[int, GitPattern]], backend: str) -> None:
        self._indexes = [index for index, _ in numbered]
        self._spec = PathSpec([pattern for _, pattern in numbered], backend=backend)

    def last(self, subject: str) -> int:
        """Return the number of the last pattern that matches the subject, -1 for none."""
        found = self._spec.check_file(subject, ()).index
        return -1 if found is None else self._indexes[found]


def batches(numbered: Iterable[tuple[int, GitPattern]]) -> list[Batch]:
    """Group the patterns into few lists for pathspec, the last patterns first. Drop those that match nothing."""
    made: list[Batch] = []
    waiting: list[tuple[int, GitPattern]] = []
    size = 0
    for index, pattern in numbered:
        if not pattern.prepare() or pattern.regex is None:
            continue
        length = len(pattern.regex.pattern)
        if waiting and (size + length > _BATCH_CHARS or length > _LONG):
            made.append(Batch(waiting, "re2"))
            waiting, size = [], 0
        if length > _LONG:
            made.append(Batch([(index, pattern)], "simple"))
        else:
            waiting.append((index, pattern))
            size += length
    if waiting:
        made.append(Batch(waiting, "re2"))
    return made[::-1]


class NameIndex:
    """The patterns that match an entry's name alone."""

    __slots__ = ("_batches", "_exact", "_heads", "_tails", "_widths")

    def __init__(self, numbered: Iterable[tuple[int, GitPattern]]) -> None:
        # The last pattern for each name: for any entry, for a folder.
        self._exact: dict[bytes, tuple[int, int]] = {}
        self._heads: dict[bytes, list[_Edge]] = {}
        self._tails: dict[bytes, list[_Edge]] = {}
        rest: list[tuple[int, GitPattern]] = []
        for index, pattern in numbered:
            first = SPECIAL.search(pattern.glob)
            if first is None:
                name = pattern.glob.encode("latin-1")
                anything = self._exact.get(name, (-1, -1))[0] if pattern.folders_only else index
                self._exact[name] = (anything, index)
            elif not self._add_edge(index, pattern, first.start()):
                rest.append((index, pattern))
        for table in (self._heads, self._tails):
            for key in [key for key, bucket in table.items() if len(bucket) > _BUCKET]:
                rest += [(edge.number, edge.pattern) for edge in table[key] if edge.pattern is not None]
                table[key] = [edge for edge in table[key] if edge.pattern is None]
        rest.sort(key=itemgetter(0))
        self._batches = batches(rest)
        self._widths = (_widths(self._heads), tuple(-width for width in _widths(self._tails)))

    def _add_edge(self, index: int, pattern: GitPattern, first: int) -> bool:
        glob = pattern.glob
        head = glob[:first].encode("latin-1")
        simple = "[" not in glob and "\\" not in glob
        tail = _STARS.split(glob)[-1].encode("latin-1") if simple else b""
        if not head and not tail:
            return False
        alone = simple and "?" not in glob and glob.count("*") == 1
        if not alone and not pattern.prepare():
            return True  # a malformed pattern matches nothing and is not stored
        edge = _Edge(index, pattern.folders_only, head, tail, len(head) + len(tail), None if alone else pattern)
        if len(head) >= len(tail):
            self._heads.setdefault(head[:_KEY], []).append(edge)
        else:
            self._tails.setdefault(tail[-_KEY:], []).append(edge)
        return True

    def last(self, name: bytes, is_dir: bool) -> int:
        """Return the number of the last pattern that matches the name, -1 for none."""
        exact = self._exact.get(name)
        best = exact[is_dir] if exact is not None else -1
        heads, tails = self._widths
        for width in heads:
            if bucket := self._heads.get(name[:width]):
                best = _last_edge(bucket, name, is_dir, best)
        for width in tails:
            if bucket := self._tails.get(name[width:]):
                best = _last_edge(bucket, name, is_dir, best)
        if self._batches:
            best = max(best, last_in(self._batches, subject_of(name, is_dir)))
        return best


def _widths(table: dict[bytes, list[_Edge]]) -> tuple[int, ...]:
    return tuple(sorted({len(key) for key in table}))


def subject_of(path: bytes, is_dir: bool) -> str:
    """Return a path or name as the text that patterns match."""
    text = path.decode("latin-1")
    return text + FOLDER if is_dir else text


def _last_edge(bucket: list[_Edge], name: bytes, is_dir: bool, best: int) -> int:
    for edge in reversed(bucket):
        number, folders_only, head, tail, length, pattern = edge
        if number <= best:
            break
        if (
            (is_dir or not folders_only)
            and len(name) >= length
            and name.startswith(head)
            and name.endswith(tail)
            and (pattern is None or pattern.match_file(subject_of(name, is_dir)) is not None)
        ):
            return number
    return best


def last_in(made: Sequence[Batch], subject: str) -> int:
    """Return the number of the last pattern in any of the batches that matches, -1 for none."""
    for batch in made:
        if (index := batch.last(subject)) >= 0:
            return index
    return -1


class Applied(NamedTuple):
    """The part of an ignore file that can match an entry of one folder.

    ``prefix`` is the folder's path from the file's own folder with a slash at its end, "" for that folder itself. The
    numbers are indexes into ``file.patterns``.
    """

    file: RuleFile
    names: tuple[NameIndex, ...]
    paths: tuple[list[Batch], ...]
    prefix: bytes
    fold: bool

    def last(self, name: bytes, is_dir: bool) -> int:
        """Return the number of the last pattern that matches the entry, -1 for none."""
        if self.fold:
            name = name.lower()
        best = -1
        for index in self.names:
            best = max(best, index.last(name, is_dir))
        if self.paths:
            subject = subject_of(self.prefix + name, is_dir)
            for made in self.paths:
                best = max(best, last_in(made, subject))
        return best


class RuleFile:
    """The patterns of an ignore file (or of a root's ``ignore``).

    ``label`` is its name in messages. ``fault`` says why it does not count in full (None: it does). With ``fold``, the
    case of ASCII letters makes no difference, as in git on a case-insensitive filesystem. Only the first ``most``
    patterns count.
    """

    def __init__(
        self,
        label: str,
        patterns: Iterable[GitPattern],
        fault: str | None = None,
        *,
        fold: bool = False,
        most: int = MAX_PATTERNS,
    ) -> None:
        self.label = label
        self.fault = fault
        self._fold = fold
        self.patterns = list(islice(patterns, most + 1))
        if len(self.patterns) > most:
            self.patterns.pop()
            self.fault = f"has too many patterns: only the first {most:,} apply"
        if fold:
            for pattern in self.patterns:
                pattern.glob = pattern.glob.translate(_LOWER).replace("[:upper:]", "[:alpha:]")
        everywhere: list[tuple[int, GitPattern]] = []
        # Patterns by their literal folder, and the indexes made from them when that folder is first requested.
        self._here: dict[bytes, list[tuple[int, GitPattern]]] = {}
        self._deep: dict[bytes, list[tuple[int, GitPattern]]] = {}
        self._names_here: dict[bytes, NameIndex] = {}
        self._paths_deep: dict[bytes, list[Batch]] = {}
        for number, pattern in enumerate(self.patterns):
            if not pattern.anchored:
                everywhere.append((number, pattern))
            else:
                self._place(number, pattern)
        self._everywhere = NameIndex(everywhere) if everywhere else None

    @classmethod
    def parse(
        cls, label: str, data: bytes, fault: str | None = None, *, fold: bool = False, most: int = MAX_PATTERNS
    ) -> RuleFile:
        """Return the rules in the bytes of an ignore file."""
        if fault is None and any(len(line) > MAX_PATTERN for line in data.split(b"\n")):
            fault = f"has patterns of more than {MAX_PATTERN:,} bytes, which do not apply"
        return cls(label, parse_lines(data), fault, fold=fold, most=most)

    def _place(self, number: int, pattern: GitPattern) -> None:
        if pattern.glob.startswith("/"):
            return  # the line began with two slashes, and no path begins with one
        folder, _, name = pattern.glob.rpartition("/")
        if "**" not in name and SPECIAL.search(folder) is None:
            # the folder part is literal: within that folder the pattern matches names
            if name:
                self._here.setdefault(folder.encode("latin-1"), []).append((number, pattern.for_names(name)))
        else:
            literal = SPECIAL.split(pattern.glob, maxsplit=1)[0].rpartition("/")[0]
            self._deep.setdefault(literal.encode("latin-1"), []).append((number, pattern))

    def at(self, folder: bytes) -> Applied | None:
        """Return the part that applies to a folder, given by its path from the file's own folder; None for nothing."""
        if self._fold:
            folder = folder.lower()
        names = [self._everywhere] if self._everywhere is not None else []
        if folder in self._here:
            if folder not in self._names_here:
                self._names_here[folder] = NameIndex(self._here[folder])
            names.append(self._names_here[folder])
        paths = [self._batches(start) for start in _starts(folder) if start in self._deep] if self._deep else []
        if not names and not paths:
            return None
        return Applied(self, tuple(names), tuple(paths), folder + b"/" if folder else b"", self._fold)

    def _batches(self, literal: bytes) -> list[Batch]:
        if literal not in self._paths_deep:
            self._paths_deep[literal] = batches(self._deep[literal])
        return self._paths_deep[literal]


def _starts(folder: bytes) -> list[bytes]:
    """Return the folder and all folders above it, ``b""`` first."""
    return [b"", *(folder[: slash.start()] for slash in re.finditer(b"/", folder)), *([folder] if folder else [])]
