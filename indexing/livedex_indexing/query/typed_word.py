"""Recognises the one word that a query asks for, for which a line may be looked for that declares it: a key with its
section, a script, a variable, an option, what a reference names.

Invariant: pure; what is found is a part of the typed text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from livedex_indexing.query.asking_words import ASKING
from livedex_indexing.query.key_path import key_path, values_path
from livedex_indexing.query.typed_name import AROUND, MOST_ASKING, name_inside, typed_name, without_prefix
from livedex_indexing.query.typed_reference import referred

_WORD: Final = re.compile(r"\w")
_PLAIN: Final = re.compile(r"[a-z]{4,}")
_OF_MACRO: Final = re.compile(r"\\\w+\{([^{}]+)\}")  # \index{name}
_SET_BEFORE: Final = re.compile(r"\s*([A-Z][A-Z\d_]+)=\S*\s+\S")  # NAME=value command
_SCRIPT: Final = re.compile(r"(?:(?:npm|pnpm|yarn|bun)(?: run| run-script)?|composer run(?:-script)?) (\S+)")
_OF_SHELL: Final = re.compile(r"\$\{?([A-Z][A-Z\d_]+)\}?")
_SECTION: Final = re.compile(  # [tool.x] key    tool.x.key    key in [tool.x]
    r"\[+([\w.:\"-]+)\]+\s+(\S+)|((?:[\w@/:.-]|\[[\d*]*\])*(?:[\w\"]|\[[\d*]*\]))\.([\w@/:-]+)|"
    r"(\S+) (?:in|of|under) \[+([\w.:\"-]+)\]+"
)


class TypedWord(NamedTuple):
    """A word that a query asks for, with the signs that belong to it. ``owner`` is the last part of the section of
    a key, ``section`` all of it; both are empty where none was typed. ``is_reference``: the text has signs of a markup
    around it that refer to a label."""

    text: str
    owner: str = ""
    section: str = ""
    is_reference: bool = False


def word_inside(text: str) -> TypedWord | None:
    """Return the only word of a text, or the only one of which the others are keywords or ask for it, if a line that
    declares it may be looked for: a lower-case word without signs is none."""
    label = referred(text)
    if label:
        return TypedWord(label, is_reference=True)
    above, _, key = key_path(values_path(text)).rpartition(".")
    if above:
        return TypedWord(key, above.rpartition(".")[2], above, is_reference=True)
    words = [word.strip(AROUND) or word for word in text.split()]
    script = _SCRIPT.fullmatch(" ".join(words))
    if script is not None:
        return TypedWord(script[1], "scripts", "scripts")
    section = _SECTION.fullmatch(" ".join(words))
    if section is not None:
        owner, key = filter(None, (*section.groups()[:4], section[6], section[5]))
        return TypedWord(key.partition("=")[0], re.split(r"[.\"]", owner.strip('"'))[-1], owner)
    words = [word for word in words if _WORD.search(word)]
    set_before = _SET_BEFORE.match(text)
    if set_before is not None:
        return TypedWord(set_before[1])
    wanted = [word for word in words if word.lower().lstrip("@\\#") not in ASKING]
    if len(wanted) != 1 or len(words) > MOST_ASKING:
        return None
    word = wanted[0].removesuffix("()").partition("=")[0].rstrip("({[:,;")
    macro = _OF_MACRO.fullmatch(wanted[0]) or _OF_SHELL.fullmatch(wanted[0])
    word = without_prefix(macro[1] if macro else word)
    return None if not word or (word.isalpha() and word.islower()) else TypedWord(word)


def plain_word(text: str) -> str:
    """Return the text if it is one lower-case word, without signs, that may be the name of a member; else nothing."""
    word = text.strip()
    return word if _PLAIN.fullmatch(word) and word not in ASKING else ""


def is_word(text: str) -> bool:
    """Whether a text is a name, or a word that a line may declare."""
    return typed_name(text) is not None or (word_inside(text) is not None and name_inside(text) is None)
