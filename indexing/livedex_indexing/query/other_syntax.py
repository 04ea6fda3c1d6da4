"""Reads what people type for other tools as this query language has it: a glob alone, as for a shell or a picker; the
qualifiers of code searches and of note-taking programs, as ``language:go`` or ``symbol:walk``.

Invariant: pure; whether there is such a file or language is for the index to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from livedex_indexing.model import Term, TermName

_GLOB: Final = re.compile(r"(?=[^*\s]*\*)[\w.*?/@+~-]*(?:[\[{][\w,.*-]+[\]}][\w.*?/@+~-]*)*", re.ASCII)
_OF_FILES: Final = re.compile(r"/|[\w\]*?]\.[\w*?{\[]|\A\*\.\w|\A\.\w")  # a folder or a suffix
_OTHER: Final = re.compile(r"\A/\*|\*/\Z|\w\.?\*+\Z|//|\A\*+/?\Z")  # comments, beginnings, expressions, addresses
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_MOST_ALTERNATIVES: Final = 8
_QUALIFIER: Final = re.compile(r"(?P<dash>-?)(?P<name>[a-z]+):(?P<value>\"[^\"]+\"|[^\s\":/]\S*)")
_TERMS: Final[Mapping[str, str]] = {
    "extension": "ext",
    "file": "path",
    "filename": "path",
    "filepath": "path",
    "lang": "lang",
    "language": "lang",
}
_OF_NAMES: Final = ("symbol", "sym", "def")


class OtherSyntax(NamedTuple):
    """What a query means: ``query`` in this language. ``terms``: those that it has for what was typed."""

    query: str
    terms: tuple[Term, ...] = ()


def typed_glob(text: str) -> OtherSyntax | None:
    """Return the files that a glob alone names, None for any other text."""
    glob = text.strip()
    if not _GLOB.fullmatch(glob) or not _OF_FILES.search(glob) or _OTHER.search(glob):
        return None
    found = _BRACES.search(glob)
    parts = [""] if found is None else found[1].split(",")
    globs = [glob if found is None else f"{glob[: found.start()]}{part}{glob[found.end() :]}" for part in parts]
    if len(globs) > _MOST_ALTERNATIVES or any("{" in each for each in globs):
        return None
    terms = tuple(Term("path", each.removeprefix("./").replace("**", "*", each.endswith("/**"))) for each in globs)
    return OtherSyntax(" ".join(f"path:{term.value}" for term in terms), terms)


def qualified(text: str) -> OtherSyntax | None:
    """Return the query that qualifiers of other tools mean, None for a text without one. A file alone, or a symbol, is
    looked for by its name."""
    words: list[str] = []
    terms: list[Term] = []
    for word in text.split():
        found = _QUALIFIER.fullmatch(word)
        name = "" if found is None else found["name"]
        if found is not None and name in _OF_NAMES and not found["dash"]:
            words.append(found["value"])
        elif found is not None and name in _TERMS:
            terms.append(Term(cast("TermName", _TERMS[name]), found["value"].strip('"'), bool(found["dash"])))
            words.append(f"{found['dash']}{_TERMS[name]}:{found['value']}")
        else:
            words.append(word)
    if len(words) == 1 and terms and terms[0].name == "path" and not terms[0].excluded:
        return OtherSyntax(terms[0].value)
    meant = " ".join(words)
    return None if meant == " ".join(text.split()) else OtherSyntax(meant, tuple(terms))
