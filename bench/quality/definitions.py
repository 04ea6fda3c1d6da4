"""What the files of a folder define, as the questions of navigation need it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bench.corpus import text_files
from livedex_indexing.chunk.grammars import grammar
from livedex_indexing.chunk.symbols import definitions

_LANGUAGES: Final = {".py": "python", ".c": "c", ".h": "c", ".js": "javascript", ".ts": "typescript"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
NOWHERE: Final = -1
_LONGEST_LINE: Final = 1_000  # bytes: a longer one was written by a program


class Definition(NamedTuple):
    """``path`` is relative to the corpus; ``line`` is `NOWHERE` where it is too long to be a place."""

    name: str
    qualified: str
    path: str
    line: int


class Sources(NamedTuple):
    texts: Mapping[str, str]
    found: list[Definition]  # the only one of their name
    names: Counter[str]  # all definitions


def defined(root: Path, languages: Mapping[str, str]) -> Iterator[Definition]:
    """The definitions in the files of a corpus. ``languages``: by suffix."""
    for path, text in _texts(root).items():
        yield from _definitions(path, text, languages)


def _texts(root: Path) -> dict[str, str]:
    return {path[len(str(root)) + 1 :]: data.decode("utf-8", "replace") for path, data in sorted(text_files(root))}


def read(root: Path) -> Sources:
    texts = _texts(root)
    every = [one for path, text in texts.items() for one in _definitions(path, text, _LANGUAGES)]
    names = Counter(one.name for one in every)
    return Sources(texts, [one for one in every if names[one.name] == 1 and _NAME.fullmatch(one.name)], names)


def _definitions(path: str, text: str, languages: Mapping[str, str]) -> Iterator[Definition]:
    language = languages.get(Path(path).suffix)
    found = grammar(language)
    if language is None or found is None or len(text) > 1 << 20:
        return
    from tree_sitter import Parser

    data = text.encode()
    for one in definitions(language, Parser(found).parse(data).root_node, data):
        body = data[one.start : one.end]
        place = re.search(rb"(?<!\w)" + re.escape(one.own.rpartition(".")[2].encode()) + rb"(?!\w)", _uncommented(body))
        start = one.start + (place.start() if place else 0)
        end = data.find(b"\n", start)
        long = (len(data) if end < 0 else end) - data.rfind(b"\n", 0, start) > _LONGEST_LINE
        line = NOWHERE if long else data.count(b"\n", 0, start) + 1
        yield Definition(one.own.rpartition(".")[2], one.name, path, line)


def _uncommented(body: bytes) -> bytes:
    """The body with blanks in place of the comments in front of it."""
    front = re.match(rb"(?:\s+|#[^\n]*\n|//[^\n]*\n|/\*.*?\*/)*", body, re.DOTALL)
    size = front.end() if front else 0
    return b" " * size + body[size:]


def parts_of_name(name: str) -> list[str]:
    """The words that a name is made of, in lower case."""
    return [part.lower() for part in PARTS.findall(name)]
