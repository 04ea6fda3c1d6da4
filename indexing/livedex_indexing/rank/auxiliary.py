"""Recognises by their path the files that are rarely meant: auxiliary code (tests, examples, vendored and generated
files, declarations of TypeScript), what a program made of other files, and news of versions.

Invariant: pure; only the folders below the root and the file's own name count, never the content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_FOLDERS: Final = re.compile(
    rb"(?:^|/)(?:__)?(?:tests?|testing|testdata|test[_-]data|selftests?|specs?|fixtures?|mocks?|"
    rb"examples?|samples?|demos?|vendor(?:ed)?|_vendor|third[_-]?party|(?:types?_)?generated)(?:__)?(?:/|$)",
    re.IGNORECASE,
)
_NAMES: Final = re.compile(
    rb"^(?:tests?|conftest)\.[^.]+$|^test[_-]|[_.-](?:tests?|spec)\.[^.]+$|^[A-Z].*(?:[a-z0-9])(?:Tests?|Spec)\.[^.]+$|"
    rb"_pb2(?:_grpc)?\.pyi?$|\.pb\.[^.]+$|[._-]generated\.[^.]+$|\.min\.(?:js|css)$|\.d\.[cm]?ts$"
)
_BEGIN: Final = (b"test_", b"test-")
_ENDS: Final = (
    b"test", b"tests", b"Test", b"Tests", b"spec", b"Spec",
    b"_pb2", b"_grpc", b".pb", b"generated", b".min", b".d",
)  # fmt: skip
_DERIVED: Final = re.compile(rb"\.(?:[cm]?[jt]s|css)\.map$|[.-]min\.(?:css|[cm]?js)$", re.IGNORECASE)
_NEWS: Final = re.compile(
    rb"(?:^|[_.-])(?:change(?:s|log)?|news|history|release[-_]?notes?|releases|whats[-_]?new)(?:[_.-]|$)", re.IGNORECASE
)
_NEWS_WORDS: Final = frozenset(
    [
        "change", "changed", "changelog", "changes", "history", "new", "news", "release", "releases", "version",
        "versions",
    ]
)  # fmt: skip
# Words that ask for such files.
_WORDS: Final = frozenset(
    [
        "conftest", "demo", "demos", "example", "examples", "fixture", "fixtures", "generated",
        "mock", "mocks", "pytest", "sample", "samples", "selftest", "selftests", "spec",
        "specs", "test", "testdata", "tested", "testing", "tests", "unittest", "unittests",
        "vendor", "vendored",
    ]
)  # fmt: skip


def auxiliary_degree(folder: bytes, name: bytes, *, is_code: bool) -> int:
    """Return 1 for code that is auxiliary, 2 for what was made of other files and has all of their text (a source map,
    minified code), 0 for any other file."""
    if name.endswith((b".map", b".js", b".css")) and _DERIVED.search(name):
        return 2
    return int(is_code and is_auxiliary(folder, name))


def is_auxiliary(folder: bytes, name: bytes) -> bool:
    """Whether a file is a test, an example, vendored or generated, by its path relative to its root."""
    if _is_auxiliary_folder(folder):
        return True
    # Most names have no such end: testing their ends takes a third of the pattern's time.
    return (name.startswith(_BEGIN) or name.rpartition(b".")[0].endswith(_ENDS)) and _NAMES.search(name) is not None


@lru_cache(maxsize=1_000)
def _is_auxiliary_folder(folder: bytes) -> bool:
    return _FOLDERS.search(folder) is not None


@lru_cache(maxsize=1_000)  # the next key that is typed finds mostly the same files
def is_news(name: bytes) -> bool:
    """Whether a file is about the changes of each version: such a file contains words of every question."""
    return _NEWS.search(name) is not None


def wants_news(words: Iterable[str]) -> bool:
    """Whether one of a query's words, in lower case, asks for what changed."""
    return not _NEWS_WORDS.isdisjoint(words)


def wants_auxiliary(words: Iterable[str]) -> bool:
    """Whether one of a query's words, in lower case, asks for such files."""
    return not _WORDS.isdisjoint(words)
