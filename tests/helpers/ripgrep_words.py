"""Compares the files in which livedex and ripgrep find a word, and explains why they may differ.

Invariant: only what the tokenizer does to a text (case, diacritics, letters such as ł, ``_`` separates words) explains
a difference, and each explanation is verified in the file's text; one without an explanation is returned as such.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.chunk_coverage import MARKS, OTHERS
from helpers.disk_inventory import WAIT_MS, Record, path_params, raw_path
from livedex_indexing.text.letters import fold_letters

if TYPE_CHECKING:
    from livedex_ipc.client import Client

WORD = re.compile(r"\w+")
LONGEST = 60  # characters of a word to search for
PAGE = 1000
WINDOW = 10_000  # offset and limit together
RG = ["rg", "-w", "-F", "--text", "--no-ignore", "--hidden", "--no-config"]

_ALSO_IN_WORDS = ("Mn", "Mc", "Me", "Pc")  # for ripgrep, in addition to letters and digits; and the joiners
_UNSEGMENTED = ("CJK UNIFIED", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")  # scripts without spaces

Copies = Mapping[bytes, set[bytes]]
Texts = Callable[[bytes], str]


class Found(NamedTuple):
    """The files in which ripgrep finds a word in its written case, and in any case."""

    exact: set[bytes]
    any_case: set[bytes]


class Differences(NamedTuple):
    """For all words: files that both found, files that only one found by reason, and those without a reason."""

    words: int
    both: int
    explained: Counter[str]
    unexplained: list[str]


def texts(root: Path) -> Texts:
    """Return the text of a root's files: by their mark, as UTF-8, or else byte by byte."""

    def text_of(name: bytes) -> str:
        data = (root / os.fsdecode(name)).read_bytes()
        for mark, encoding in MARKS:
            if data.startswith(mark):
                return data[len(mark) :].decode(encoding, "replace")
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")

    return text_of


def sample(names: Iterable[bytes], text_of: Texts, count: int, seed: int, common: float = 0.5) -> list[str]:
    """Draw words from all distinct words, and a share of ``common`` from random places of random files.

    The second kind are words that many files contain. No two differ only in case.
    """
    chance = random.Random(seed)
    ordered = sorted(names)
    vocabulary: set[str] = set()
    for name in ordered:
        vocabulary.update(WORD.findall(text_of(name)))
    fit = sorted(word for word in vocabulary if len(word) <= LONGEST)
    chosen = dict.fromkeys(chance.sample(fit, min(round(count * (1 - common)), len(fit))))
    for _ in range(20 * count):
        if len(chosen) >= count:
            break
        words = sorted({word for word in WORD.findall(text_of(chance.choice(ordered))) if len(word) <= LONGEST})
        if words:
            chosen.setdefault(chance.choice(words))
    return list({word.casefold(): word for word in chosen}.values())


def by_ripgrep(root: Path, words: Iterable[str]) -> dict[str, Found]:
    """Run ripgrep once for all words.

    If its answer differs from ours, run it for the one word: with many patterns ripgrep 13 takes pieces of a line for
    words (``f`` and ``or`` of ``for``).
    """
    asked = {word.casefold(): word for word in words}
    found = {word: Found(set(), set()) for word in asked.values()}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as patterns:
        patterns.write("".join(f"{word}\n" for word in asked.values()))
        patterns.flush()
        command = [*RG, "-i", "-o", "-N", "--null", "--no-heading", "-f", patterns.name, "."]
        with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for line in process.stdout:
                name, _, match = line.rstrip(b"\n").partition(b"\0")
                text = match.decode("utf-8", "replace")
                word = asked.get(text.casefold())
                if word is not None:
                    found[word].any_case.add(name.removeprefix(b"./"))
                    if text == word:
                        found[word].exact.add(name.removeprefix(b"./"))
    return found


def by_ripgrep_alone(root: Path, word: str, *options: str) -> set[bytes]:
    """``rg -l -w -F WORD``."""
    command = [*RG, *options, "-l", "--null", "--", word, "."]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return {name.removeprefix(b"./") for name in done.stdout.split(b"\0") if name}


def by_livedex(client: Client, root: Path, query: str, copies: Copies) -> set[bytes]:
    """Return all files of a root that match, page by page; use ``copies`` if a hit names only 20 files with its
    content.

    A query that fills the window is repeated folder by folder.
    """
    found = _paged(client, root, root, query, copies)
    if found is not None:
        return found
    parts = [_paged(client, root, folder, query, copies) for folder in root.iterdir() if folder.is_dir()]
    assert all(part is not None for part in parts), f"{query} has more hits in one folder than can be paged to"
    return set().union(*(part for part in parts if part is not None))


def _paged(client: Client, root: Path, inside: Path, query: str, copies: Copies) -> set[bytes] | None:
    """Return None if there are more hits than pages can reach."""
    top = os.fsencode(root) + b"/"
    below = os.fsencode(inside.relative_to(root)) + b"/" if inside != root else b""
    found: set[bytes] = set()
    offset: int | None = 0
    generation = None
    while offset is not None:
        page: dict[str, Any] = {
            "group": "file",
            "mode": "keyword",
            "limit": min(PAGE, WINDOW - offset),
            "offset": offset,
            "timeout_ms": WAIT_MS,
        }
        answer = client.call("search", {"query": query, **page, **path_params(os.fsencode(inside))})
        assert answer["fresh"] and {one["code"] for one in answer["warnings"]} <= {"query_no_words"}, answer["warnings"]
        assert generation in (None, answer["generation"]), "the index changed between two pages"
        generation = answer["generation"]
        for hit in answer["hits"]:
            name = raw_path(hit).removeprefix(top)
            those = {name, *(os.fsencode(path).removeprefix(top) for path in hit.get("also_at", ()))}
            if len(those) <= hit.get("also_at_total", 0):
                those = {other for other in copies[name] if other.startswith(below)}
            assert len(those) == hit.get("also_at_total", 0) + 1, hit["path"]
            assert not those & found, f"{hit['path']} is on two pages"
            found |= those
        full = offset + page["limit"] >= WINDOW and len(answer["hits"]) == page["limit"]
        offset = answer["next_offset"]
        if full:
            return None
    return found


def copies_of(records: Mapping[bytes, Record]) -> Copies:
    """Return for each indexed file all files with the same bytes and the same chunks, including itself."""
    alike: dict[tuple[str, str | None], set[bytes]] = defaultdict(set)
    for name, record in records.items():
        if record["status"] == "indexed":
            alike[record["content_hash"], record["language"]].add(name)
    return {name: names for names in alike.values() for name in names}


def compare(
    client: Client, root: Path, words: Iterable[str], records: Mapping[bytes, Record], text_of: Texts
) -> Differences:
    """Search for each word as a phrase, which is taken literally, and compare its files with those of ripgrep."""
    indexed = {name for name, record in records.items() if record["status"] == "indexed"}
    copies = copies_of(records)
    both, count = 0, 0
    explained: Counter[str] = Counter()
    unexplained: list[str] = []
    for word, at_once in by_ripgrep(root, words).items():
        count += 1
        ours, theirs = by_livedex(client, root, f'"{word}"', copies), at_once
        if ours != theirs.any_case & indexed:
            theirs = Found(by_ripgrep_alone(root, word), by_ripgrep_alone(root, word, "-i"))
        both += len(ours & theirs.exact)
        explained["case"] += len(ours & theirs.any_case - theirs.exact)
        for name in ours - theirs.any_case:
            reason = why_found(word, text_of(name), _bytes(root, name))
            _count(explained, unexplained, reason, f"{word}: only livedex has {name!r}")
        for name in (theirs.exact & indexed) - ours:
            reason = why_missed(word, text_of(name), _bytes(root, name))
            _count(explained, unexplained, reason, f"{word}: only ripgrep has {name!r}")
    return Differences(count, both, explained, unexplained)


def _bytes(root: Path, name: bytes) -> bytes:
    return (root / os.fsdecode(name)).read_bytes()


def _count(explained: Counter[str], unexplained: list[str], reason: str | None, reported: str) -> None:
    if reason is None:
        unexplained.append(reported)
    else:
        explained[reason] += 1


def is_letter(char: str) -> bool:
    """Return whether the tokenizer takes a character as part of a word: letters, numbers, private use."""
    category = unicodedata.category(char)
    return category[0] in "LN" or category == "Co"


def folded(text: str) -> str:
    """Return the text without case and diacritics."""
    if text.isascii():
        return text.lower()
    return "".join(c for c in unicodedata.normalize("NFD", text).casefold() if not "\u0300" <= c <= "\u0331")


def why_found(word: str, text: str, raw: bytes) -> str | None:
    """Return why livedex finds a word in a text although ripgrep does not; None if nothing explains it."""
    if not _is_utf8(raw) and _stands_in_other_encoding(word, raw):
        return "the file is in an encoding that ripgrep does not know"
    lower = text.lower()
    places = [at for at in _places(lower, word.lower()) if _stands_free(lower, at, len(word))]
    if any(not _has_neighbour(lower, at, len(word)) for at in places):
        return None  # a whole word by ripgrep's own rule
    if places:
        return "a script without spaces, or a word joined to others by _ or a mark, which part words"
    plain, core = folded(text), folded(word)
    if any(_stands_free(plain, at, len(core)) for at in _places(plain, core)):
        return "diacritics"
    typed, asked = folded(fold_letters(text)), folded(fold_letters(word))
    if any(_stands_free(typed, at, len(asked)) for at in _places(typed, asked)):
        return "letters that people type as others"
    pattern = r"\s*".join(map(re.escape, re.findall(r"[^\W_]+|_+|\W", core)))
    if "_" in core and re.search(pattern, plain):
        return "blanks around the _ of a phrase"
    return None


def why_missed(word: str, text: str, raw: bytes) -> str | None:
    """Return why livedex does not find a word although ripgrep does; None if nothing explains it."""
    if not any(map(is_letter, word)):
        return "a word without a letter or digit"
    places = list(_places(text, word))
    if not places and not _is_utf8(raw):
        return "ripgrep reads bytes that are no UTF-8 as the end of a word"
    if places and not any(_stands_free(text, at, len(word)) for at in places):
        return "the word goes on behind a mark that ripgrep takes as its end"
    return None


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _stands_free(text: str, at: int, length: int) -> bool:
    """Return whether no letter of the tokenizer is directly before or after, or the script has no spaces."""
    if all(unicodedata.name(char, "").startswith(_UNSEGMENTED) for char in text[at : at + length]):
        return True
    before, after = text[at - 1 : at] if at else "", text[at + length : at + length + 1]
    return not (before and is_letter(before)) and not (after and is_letter(after))


def _has_neighbour(text: str, at: int, length: int) -> bool:
    """Return whether a character that ripgrep takes as part of a word is directly before or after."""
    around = text[max(at - 1, 0) : at] + text[at + length : at + length + 1]
    return any(c.isalnum() or unicodedata.category(c) in _ALSO_IN_WORDS or c in "\u200c\u200d" for c in around)


def _stands_in_other_encoding(word: str, raw: bytes) -> bool:
    for encoding in OTHERS:
        try:
            text = raw.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if any(_stands_free(text, at, len(word)) for at in _places(text, word)):
            return True
    return False


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
