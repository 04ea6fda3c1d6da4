"""Random queries and params, as people, scripts and hostile clients may send them to a search.

Invariant: the same seed makes the same requests, so that a failure can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

WORDS = (
    "walrus",
    "tusk",
    "getFooBar",
    "snd_soc",
    "Größe",
    "日本語",
    "本語",
    "ภาษา",
    "the",
    "running",
    "x",
    "C++",
    "a.b",
    "naïve",
    "0x1F",
    "walrsu",
    "unique7",
    "🙂",
    "ﬁ",
    "İ",
    "ß",
    "e\u0301",
)
SIGNS = (
    '"',
    "-",
    "*",
    ":",
    "(",
    ")",
    "^",
    "{",
    "}",
    "'",
    "\\",
    "\0",
    "\ud800",
    "\udfff",
    ",",
    "+",
    "->",
    "--",
    "/",
    "=",
    "#",
    "\u200b",
    "\u0301",
    "\uffff",
    "\U0010ffff",
    "\u2028",
    "NEAR(",
    "AND",
    "OR",
    "NOT",
    "body :",
    ";",
)
BLANKS = (" ", " ", " ", "", "\t", "\n", "\u3000")
LANGUAGES = ("python", "C", "markdown", "cobol", "", "\u0130")
KINDS = ("code", "plain", "markdown_text", "markdown_table")
TERMS = ("path", "ext", "lang", "kind", "meta", "tag", "PATH", "root", "file")
VALUES = (
    "a",
    "py",
    "python",
    "code",
    "status=done",
    "status",
    "a.b=c",
    "=",
    "x=",
    '"two words"',
    '"',
    "*.py",
    "[",
    "[a-z]",
    "/src",
    "**",
    "?",
    "Größe",
    "日本",
    "\ud800",
    "\0",
    "work",
    "#work",
    "x" * 300,
    "tags=home",
    "",
)
GLOBS = (
    "*.py",
    "!*.py",
    "a/**",
    "**/b",
    "[",
    "[!a]*",
    "{a,b}*",
    "{a",
    "}",
    "!",
    "/",
    "\\",
    "\\*",
    "\0",
    "x" * 5000,
    "",
    "#x",
    "?",
    "**",
    "!**",
    "a\nb",
    "[]",
    "[z-a]",
    "日*",
    "{,a}",
    "*" * 50,
    "{" * 60 + "}" * 60,
)
TIMES = (
    "2023-11-14T22:13:20Z",
    "1600-01-01T00:00:00+23:59",
    "9999-12-31T23:59:60Z",
    "2030-01-01T00:00:00.123456789-01:00",
)
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1.5,
    2**53,
    10**17,
    "",
    "x",
    [],
    {},
    [1],
    [None],
    "\ud800",
    ["\ud800"],
    "/nowhere",
    float(10**300),
)


class Fuzz:
    """Random requests. ``places`` are absolute paths of roots, folders and files for the ``path`` param."""

    def __init__(self, seed: int, places: Sequence[str], roots: Sequence[str]) -> None:
        self._chance = random.Random(seed)
        self._places = places
        self._roots = roots

    def query(self) -> str:
        chance = self._chance
        length = chance.choice((0, 1, 1, 2, 2, 3, 5, 9, 30, 200))
        pieces = [self._piece() for _ in range(length)]
        text = "".join(piece + chance.choice(BLANKS) for piece in pieces)
        return text * 40 if chance.random() < 0.01 else text

    def _piece(self) -> str:
        chance = self._chance
        kind = chance.random()
        if kind < 0.4:
            return chance.choice(WORDS)
        if kind < 0.5:
            return chance.choice(WORDS)[: chance.randrange(1, 5)] + "*"
        if kind < 0.62:
            inside = " ".join(chance.choice(WORDS + SIGNS) for _ in range(chance.randrange(4)))
            return chance.choice(("", "-")) + f'"{inside}"'
        if kind < 0.7:
            return "-" + chance.choice(WORDS)
        if kind < 0.85:
            return chance.choice(("", "", "-")) + chance.choice(TERMS) + ":" + chance.choice(VALUES)
        if kind < 0.97:
            return chance.choice(SIGNS)
        return "".join(chr(chance.randrange(0x11_0000)) for _ in range(chance.randrange(1, 6)))

    def params(self) -> dict[str, Any]:
        """Return some params of a search besides the query, each of its type and range; a glob may be invalid."""
        chance = self._chance
        makers: dict[str, Callable[[], Any]] = {
            "limit": lambda: chance.choice((1, 1, 2, 10, 10, 50, 1000)),
            "offset": lambda: chance.choice((0, 0, 1, 7, 100, 9000)),
            "path": lambda: chance.choice(self._places),
            "globs": lambda: chance.choices(GLOBS, k=chance.randrange(4)),
            "languages": lambda: chance.choices(
                ("python", "C", "markdown", "cobol", "", "\u0130"), k=chance.randrange(3)
            ),
            "kinds": lambda: chance.choices(
                ("code", "plain", "markdown_text", "markdown_table"), k=chance.randrange(3)
            ),
            "roots": lambda: chance.choices(self._roots, k=chance.randrange(3)),
            "modified_after": lambda: chance.choice(TIMES),
            "modified_before": lambda: chance.choice(TIMES),
            "group": lambda: chance.choice(("chunk", "file")),
            "context_lines": lambda: chance.choice((0, 1, 3, 50)),
            "max_snippet_chars": lambda: chance.choice((1, 2, 20, 400, 1_000_000)),
            "max_chars": lambda: chance.choice((1, 10, 300, 5000, 2**53 - 1)),
            "facets": lambda: chance.choices(("languages", "kinds", "roots"), k=chance.randrange(4)),
            "explain": lambda: chance.random() < 0.5,
        }
        chosen = {name: make() for name, make in makers.items() if chance.random() < 0.25}
        if chosen.get("offset", 0) + chosen.get("limit", 10) > 10_000:
            del chosen["offset"]
        return chosen

    def spoilt(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the params with one wrong value, or one param that does not exist."""
        name = self._chance.choice([*params, "limit", "facets", "globs", "timeout_ms", "roots_b64", "unknown"])
        return {**params, name: self._chance.choice(WRONG)}
