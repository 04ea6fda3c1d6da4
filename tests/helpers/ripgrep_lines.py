r"""Lines that match a pattern: livedex's answer, ripgrep's, and by which rules the two may differ.

Invariant: nothing is left out of the comparison but by one of these rules:

- a file in an encoding that ripgrep does not know (all but UTF-8, and UTF-16 with a mark): it reads bytes there;
- a line with a carriage return inside: ripgrep's versions differ in whether ``.`` and ``$`` take it for a line's end;
- a line with other letters than ASCII's, where the pattern has ``\b`` or ``\B``: to google-re2 a border of ASCII words;
- where a pattern matches nothing at some place: ripgrep counts bytes there, livedex characters;
- the places in a line where whole words are wanted: ripgrep before 14 takes the first one for a character shorter.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

RG = ["rg", "-S", "--crlf", "--json", "--text", "--no-ignore", "--hidden", "--no-config", "--no-messages"]
WINDOW = 10_000
PAGE = 700
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")

Spans = tuple[tuple[int, int], ...]  # bytes of the line in UTF-8
Found = dict[tuple[bytes, int], Spans]  # (path below the root, line)


class Pattern(NamedTuple):
    text: str
    mode: str  # exact or regex
    flags: str = ""  # of ripgrep: i, s and w

    @property
    def borders(self) -> bool:
        return self.mode == "regex" and re.search(r"\\[bB]", self.text) is not None


class Files:
    """The files of a folder that both programs read alike, and their lines."""

    def __init__(self, root: Path, indexed: Callable[[bytes], bool]) -> None:
        self._root = root
        self._indexed = indexed
        self._lines: dict[bytes, list[bytes] | None] = {}

    def lines(self, name: bytes) -> list[bytes] | None:
        """Return the lines in UTF-8, without their ends; None for a file that is left out."""
        if name not in self._lines:
            self._lines[name] = _lines((self._root / os.fsdecode(name)).read_bytes()) if self._indexed(name) else None
        return self._lines[name]

    def alike(self, pattern: Pattern, name: bytes, number: int) -> bool:
        lines = self.lines(name)
        if lines is None:
            return False
        line = lines[number - 1]
        return b"\r" not in line and (line.isascii() or not pattern.borders)


def _lines(data: bytes) -> list[bytes] | None:
    if data.startswith(WIDE_MARKS):
        encoding = "utf-16-le" if data.startswith(WIDE_MARKS[0]) else "utf-16-be"
        text = data[2:].decode(encoding, "replace").encode("utf-8", "replace")
    else:
        text = data.removeprefix(b"\xef\xbb\xbf")
        try:
            text.decode()
        except UnicodeDecodeError:
            return None
    return [line.removesuffix(b"\r") for line in text.split(b"\n")]


def by_ripgrep(root: Path, pattern: Pattern) -> Found:
    """Return every line that ripgrep finds, with its non-empty matches. Raises ValueError if it refuses."""
    fixed = ["-F"] if pattern.mode == "exact" else []
    flags = [f"-{flag}" for flag in pattern.flags]
    done = subprocess.run([*RG, *flags, *fixed, "-e", pattern.text, "."], cwd=root, capture_output=True, check=False)
    if done.returncode == 2 and done.stderr:
        raise ValueError(done.stderr.decode())
    found: Found = {}
    for record in done.stdout.splitlines():
        if record.startswith(b'{"type":"match"'):
            data = json.loads(record)["data"]
            spans = tuple((one["start"], one["end"]) for one in data["submatches"] if one["start"] < one["end"])
            found[_bytes(data["path"]).removeprefix(b"./"), data["line_number"]] = spans
    return found


def _bytes(value: Mapping[str, str]) -> bytes:
    return b64decode(value["bytes"]) if "bytes" in value else value["text"].encode()


def by_livedex(
    search: Callable[..., dict[str, Any]], root: Path, pattern: Pattern, most: int = WINDOW
) -> tuple[Found, bool]:
    """Return the first ``most`` lines of livedex, page by page, and whether these are all.

    ``search`` calls the method. Asserts the form of each hit.
    """
    found: Found = {}
    offset: int | None = 0
    last: tuple[bytes, int] = (b"", 0)
    while offset is not None:
        page = {"limit": min(PAGE, most - offset), "offset": offset, "max_snippet_chars": 1_000_000}
        flags: dict[str, object] = {"whole_words": True} if "w" in pattern.flags else {}
        if case := pattern.flags.strip("w"):
            flags["letter_case"] = {"i": "ignore", "s": "sensitive"}[case]
        answer = search({"query": pattern.text, "mode": pattern.mode, **flags, **page})
        assert not answer["warnings"], answer["warnings"]
        for hit in answer["hits"]:
            name = b64decode(hit["path_b64"]) if "path_b64" in hit else hit["path"].encode()
            name = name.removeprefix(os.fsencode(root) + b"/")
            place = name, hit["start_line"]
            assert last < place, "hits come by path and line, each line once"
            last = place
            found[place] = _spans(hit)
        offset = answer["next_offset"]
        if offset is not None and offset >= most:
            return found, False
    return found, len(found) < WINDOW


def _spans(hit: Mapping[str, Any]) -> Spans:
    text, spans = hit["snippet"], hit["highlights"]
    assert hit["end_line"] == hit["start_line"] == hit["snippet_line"] and hit["snippet_byte"] == hit["start_byte"]
    assert spans == sorted(spans) and hit["score"] == 1.0
    return tuple((len(text[:a].encode()), len(text[:b].encode())) for a, b in spans if a < b)


def differences(pattern: Pattern, ours: tuple[Found, bool], theirs: Found, files: Files) -> list[str]:
    """Return the differences of the answers; if an answer fills the window, compare only up to its end."""
    found, whole = ours
    wanted = {place: spans for place, spans in theirs.items() if files.alike(pattern, *place)}
    given = {place: spans for place, spans in found.items() if files.alike(pattern, *place)}
    if not whole:
        end = max(found)
        wanted = {place: spans for place, spans in wanted.items() if place <= end}
    reported = [f"{pattern}: only ripgrep has {place}" for place in sorted(wanted.keys() - given.keys())]
    reported += [f"{pattern}: only livedex has {place}" for place in sorted(given.keys() - wanted.keys())]
    both = sorted(wanted.keys() & given.keys())
    reported += [
        f"{pattern}: {place}: {given[place]}, ripgrep {wanted[place]}"
        for place in both
        if given[place] != wanted[place] and "w" not in pattern.flags
    ]
    return reported


def patterns(lines: list[str], count: int, seed: int) -> Iterator[Pattern]:
    """Return patterns made of pieces of these lines, which both read alike; the first are the ``FIXED`` ones."""
    yield from FIXED[:count]
    chance = random.Random(seed)
    makers = (
        _piece,
        _piece,
        _words,
        _word,
        _inside,
        _changed,
        _anchored,
        _either,
        _classes,
        _repeated,
        _bordered,
        _gap,
    )
    for _ in range(max(0, count - len(FIXED))):
        line = ""
        while len(line.strip()) < 8:
            line = chance.choice(lines)
        yield chance.choice(makers)(line, chance)


_REGEXES = r"""
^$  ^\s+$  \s+$  x*y  (?i)TODO  (?-i)todo  k  \x{17F}  \x{212A}  ß  İ  straße  größe  GRÖSSE  ÉCOLE  école
привет  Привет  日本
\w+é\w*  ^[^a-z]+$  [[:upper:]]{3,}  \p{Lu}{2}\d  \p{Greek}+  \d{6,}  \x41\x{42}  a.c  (foo|bar|baz)_  \t\t\S  \s{3,}\S
\bint\b  ^#include\s+<  [.,;:]$  \(\)  \[\]  q[^u]  (?s)a.b  a{2}  z{2,3}  (ab|cd)+  \W{6}  0x[0-9a-fA-F]+  [^\x00-\x7f]
\.(py|md)\b  ^.{200}  .{80}$  (a|b|c)(d|e|f)(g|h|i)  [k-m]{4}  e(?:r|n)+s?\b
"""
_TEXTS = (
    "->",
    "()",
    "[]",
    "\\",
    "a.c",
    "  ",
    "\t",
    "İ",
    "ſ",
    "ﬁ",
    "K",
    "==",
    "::",
    "é",
    "//",
    "$",
    "^",
    "*",
    "e\u0301",
)
_WITH_FLAGS = (
    ("INT", "i"), ("int", "s"), ("Int", "s"), ("int", "w"), ("IN", "iw"), ("straße", "w"), ("größe", "iw"),
    ("(x)", "w"), ("->", "w"),
    ("one|two|three", "w"), ("\\w+", "sw"), ("[^ ]+", "w"), ("^.", "w"), ("K", "i"), ("foo_bar", "w"),
)  # fmt: skip
FLAGGED = tuple(Pattern(text, "regex" if set(text) & set("|\\[^") else "exact", flags) for text, flags in _WITH_FLAGS)
FIXED = (*(Pattern(text, "regex") for text in _REGEXES.split()), *(Pattern(text, "exact") for text in _TEXTS))


def _piece(line: str, chance: random.Random) -> Pattern:
    """Any piece of the line."""
    start = chance.randrange(len(line) - 2)
    return Pattern(line[start : start + chance.randint(3, 40)], "exact")


def _words(line: str, chance: random.Random) -> Pattern:
    """Some words of the line with anything between them."""
    found = list(re.finditer(r"\S+", line))
    first = chance.randrange(len(found))
    last = min(len(found) - 1, first + chance.randint(1, 4))
    return Pattern(line[found[first].start() : found[last].end()], "exact")


def _word(line: str, chance: random.Random) -> Pattern:
    return Pattern(chance.choice(re.findall(r"\w+", line) or ["and"]), chance.choice(("exact", "regex")))


def _inside(line: str, chance: random.Random) -> Pattern:
    """A piece of a word."""
    word = max(re.findall(r"\w+", line) or ["and"], key=len)
    start = chance.randrange(max(1, len(word) - 3))
    return Pattern(word[start : start + chance.randint(2, 6)], chance.choice(("exact", "regex")))


def _changed(line: str, chance: random.Random) -> Pattern:
    """A piece in another case: found or not according to smart case."""
    piece = _words(line, chance).text
    return Pattern(chance.choice((piece.upper(), piece.lower(), piece.swapcase())), "exact")


def _anchored(line: str, chance: random.Random) -> Pattern:
    size = chance.randint(3, 20)
    return Pattern(chance.choice((f"^{quoted(line[:size])}", f"{quoted(line[-size:])}$", f"^{quoted(line)}$")), "regex")


def _either(line: str, chance: random.Random) -> Pattern:
    words = [quoted(_inside(line[at:], chance).text) for at in (0, len(line) // 2)] + [quoted(_word(line, chance).text)]
    return Pattern(chance.choice(("({})", "(?:{})\\S", "{}", "x({})?")).format("|".join(words)), "regex")


def _classes(line: str, chance: random.Random) -> Pattern:
    """Some characters as classes that contain them."""
    piece = _piece(line, chance).text
    return Pattern("".join(_class_of(char) if chance.random() < 0.3 else quoted(char) for char in piece), "regex")


def _class_of(char: str) -> str:
    if char.isdigit():
        return "[0-9]" if char.isascii() else "\\d"
    if char.isalpha():
        return f"[{char.lower()}{char.upper()}]" if len(char.lower() + char.upper()) == 2 else "."
    return "\\s" if char.isspace() else f"[{quoted(char)}-]"


def _repeated(line: str, chance: random.Random) -> Pattern:
    piece = _inside(line, chance).text
    at = chance.randrange(len(piece))
    count = chance.choice(("+", "*", "?", "{1,3}", "{2}", "{1,}", "+?", "*?"))
    return Pattern(quoted(piece[:at]) + quoted(piece[at]) + count + quoted(piece[at + 1 :]), "regex")


def _bordered(line: str, chance: random.Random) -> Pattern:
    word = quoted(_word(line, chance).text)
    return Pattern(
        chance.choice((f"\\b{word}\\b", f"\\b{word}", f"{word}\\b", f"\\b{word}\\s*[(=]", f"\\w{word}")), "regex"
    )


def _gap(line: str, chance: random.Random) -> Pattern:
    """Two words and what may be between them."""
    words = re.findall(r"\w+", line) or ["and"]
    left, right = chance.choice(words), chance.choice(words)
    between = chance.choice((".*", ".{0,20}", "\\s+", "\\W+", "[^,]*", "\\s*.\\s*"))
    return Pattern(f"{quoted(left)}{between}{quoted(right)}", "regex")


def quoted(text: str) -> str:
    """Escape text so that both syntaxes take it literally."""
    return "".join(f"\\{char}" if char in "\\.+*?()|[]{}^$#&-~" else char for char in text)
