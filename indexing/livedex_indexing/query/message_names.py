"""Recognises the names that a message or a line of code is about: quoted, called or declared.

Invariant: pure; whether such a name is defined anywhere is for the index to say. Prose that mentions names is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.query.sentence import is_prose
from livedex_indexing.query.typed_name import IN_PARTS, TypedName, typed_name

_MOST: Final = 4  # names of a text that are looked up, …
_CHARACTERS: Final = 400  # … in so many of its characters: a longer text is a log or a page
_NAME: Final = r"[^\W\d]\w+[!?]?"
_WITH_OWNER: Final = rf"(?:\w+(?:\.|::|->|\\))*{_NAME}"
_QUOTED: Final = re.compile(rf"""(?<!\w)["'`‘“]{{1,2}}({_WITH_OWNER})(?:\([^()"'`‘’“”]*\))?["'`’”]{{1,2}}(?!\w)""")
_OF_ERLANG: Final = re.compile(r"(?<![\w:/])([a-z]\w*):([a-z]\w*)/\d{1,2}\b")  # lists:map/2
# value run is not a member of a.b.Tree
_NOT_MEMBER: Final = re.compile(r"\b(?:method|type|value) (\w+) is not a member of (?:object |class |\w+\.)*(\w+)")
# FAILED tests/test_a.py::TestB::test_c[1] - why, also without the path
_IN_FILE: Final = re.compile(r"(?:\.\w{1,5}|(?<!\S))::(?:\w+::)*([^\W\d]\w+)")
# no member named 'n'    has no attribute 'n'    does not contain a definition for 'n'    undefined symbol: n
_NOUN: Final = (
    r"\b(?:attribute|class|constant|definition (?:for|of)|field|function|identifier|import|member|method|name|named|"
    r"property|reference to|symbol|value|variable)"
)
_MEMBER: Final = re.compile(_NOUN + r"\W{0,3}\Z", re.IGNORECASE)
# undefined symbol: n    bash: n: command not found    method n()    n undefined    ReferenceError: n is not defined
_NOT_QUOTED: Final = re.compile(
    rf"(?:{_NOUN}|:)[ \t]+({_WITH_OWNER})(?=\(|:\s|\s(?:is|was|has|found|does)\b|\s*(?:\n|\Z))|"
    rf"\A({_WITH_OWNER})\s(?=cannot|redeclared|unde)",
    re.IGNORECASE,
)
# 'o' object    on type 'o'    from 'o'    'o' does not contain
_OWNER_BEFORE: Final = re.compile(
    r"\b(?:class|enum|from|in|instance of|interface|module|object|on|package|struct|trait|type)\W{0,3}\Z", re.IGNORECASE
)
# thread 'main' panicked    Exception in thread "main"
_OF_RUN: Final = re.compile(r"\b(?:host|process|thread|user)\W{0,2}\Z", re.IGNORECASE)
# what is said of names, so that a plain word in quotes is one
_OF_NAMES: Final = re.compile(
    r"\b(?:cannot|declared|defined|found|un(?:declared|defined|resolved|used))\b", re.IGNORECASE
)
_OWNER_BEHIND: Final = re.compile(r"\W{0,3}(?:object|does not contain|has no)\b", re.IGNORECASE)
_MODIFIERS: Final = (
    r"(?:(?:abstract|async|await|bool|char|const|constexpr|declare|defer|double|export|extern|final|float|go|inline|int|"
    r"internal|local|long|open|override|private|protected|pub(?:\([a-z]+\))?|public|readonly|return|sealed|static|"
    r"struct|suspend|throw|unsafe|unsigned|virtual|void|yield|\w+[*&])[ \t]+)*(?:[A-Z]\w*[ \t]+)?"
)
_DECLARING: Final = (
    r"(?:class|const|def|enum|extension|fn|fun|func|function|import|interface|let|macro|mod|module|namespace|new|"
    r"object|proc|protocol|record|struct|sub|CREATE TABLE|trait|type|typedef|union|use|val|var|\#[ \t]*define)"
)
_BEGUN: Final = r"\((?!\)\s+[a-z]+\s+[a-z])"  # no prose behind it: run() does nothing
_BEHIND: Final = rf"(?![\w.:\\])(?=\s*(?:\Z|{_BEGUN}|[{{\[<;=,}}]|(?:extends|implements)\b|from\s*[\"']|:\s|:\Z))"
_DECLARED: Final = (
    re.compile(rf"impl\b.*\bfor[ \t]+({_WITH_OWNER}){_BEHIND}"),
    re.compile(rf"{_MODIFIERS}{_DECLARING}[ \t]+[{{*&]?[ \t]*({_WITH_OWNER})(?:{_BEHIND}|(?=\s*:(?!:)))"),
    re.compile(rf"from[ \t]+\S+[ \t]+import[ \t]+\(?({_NAME})(?=\s*(?:\Z|,|\)|as\b))"),
    re.compile(rf"{_MODIFIERS}(?:\S+[ \t]*=[ \t]*(?:await[ \t]+|new[ \t]+)?)?({_WITH_OWNER}){_BEGUN}"),
)
# class Walk extends Tree    class Walk(Tree):    class Walk : Tree {
_INHERITED: Final = re.compile(r"(?:\b(?:extends|implements)[ \t]+|\(|:[ \t]+)([A-Z]\w+)(?=[\w\s,<>.]*\)?:?\s*\{?\Z)")
_FAULT: Final = re.compile(
    r"(?:error|exception|fatal|warning)(?:\[\w+\]|\s[A-Z]+\d+)?:\s|unresolved reference\b|undefined\b.*:\s|"
    r":\scommand not found|(?-i:\b[A-Z]\w+(?:\.|::)[A-Z]\w+:\s)",
    re.IGNORECASE,
)
_BEGINS_AS_FAULT: Final = re.compile(
    r"(?:call to|cannot|implicit|no \w+ named|undefined|uninitialized|unknown|unresolved)\b|"
    r"\S+\s(?:cannot be|redeclared|undeclared|undefined)\b|\S+ \S+ is not a member of\b",
    re.IGNORECASE,
)
_IN_WORDS: Final = re.compile(r"(?<!\S)[a-z]+ [a-z]+ [a-z]+(?!\S)")
_SHAPED: Final = re.compile(rf"(?<![\w-]){IN_PARTS}(?![\w-])")
_FAULT_NAME: Final = re.compile(r"(?:Error|Exception|Warning)\Z")
_LACKING: Final = 2  # rank of what should have a name
_VALUES: Final = frozenset({"false", "nil", "none", "null", "self", "this", "true"})
LEVELS: Final = frozenset({"error", "fatal", "info", "note", "warning"})
_NO_NAMES: Final = STOP_WORDS | LEVELS | _VALUES


@lru_cache(maxsize=32)  # a search asks several times
def names_in_message(text: str) -> tuple[TypedName, ...]:
    """Return the names that a message or a line of code of several words is about, the likeliest first: those
    with their file, as test runners write them, or in quotes, or that it declares or calls, then other words of a
    message that are written as names are."""
    if len(text) > _CHARACTERS or len(text.split()) == 1:
        return ()
    lacking = _NOT_MEMBER.search(text)
    if lacking is not None:
        return TypedName(lacking[1], lacking[2]), TypedName(lacking[2])
    text = _OF_ERLANG.sub(r"\1.\2", text)
    found = _IN_FILE.findall(text) or list(_quoted(text)) or list(_declared(text.strip()))
    if _is_fault(text):
        shaped = sorted(_SHAPED.findall(text), key=lambda name: _FAULT_NAME.search(name) is not None)
        found += shaped if found else [*(a or b for a, b in _NOT_QUOTED.findall(text)), *shaped]
    names = [typed_name(name) for name in dict.fromkeys(found) if name.lower() not in _NO_NAMES]
    known = [name for name in names if name is not None][:_MOST]
    owner = _owner_lacking(text) if len(known) > 1 and not known[0].owner else ""
    return tuple([known[0]._replace(owner=owner), *known[1:]] if owner else known)


def is_doubtful(text: str) -> bool:
    """Whether the first name of a message may be a value or a word of it: a plain word in quotes, or no quotes."""
    if _IN_FILE.search(text):
        return False
    first = next(_quoted(text), "")
    return _is_plain(first) if first else not any(_declared(text.strip()))


def is_message(text: str) -> bool:
    """Whether a text says something of a name in words, as messages do: it is no line of code that has it."""
    return _is_fault(text) or (_IN_WORDS.search(text) is not None and not any(_declared(text.strip())))


def is_mention(text: str) -> bool:
    """Whether a text only mentions its names: prose that reports neither a fault nor a test, and no line of code."""
    is_report = _IN_FILE.search(text) is not None or _is_fault(text)
    return is_prose(text) and not is_report and not any(_declared(text.strip()))


def _is_fault(text: str) -> bool:
    return _says_fault(text) or _BEGINS_AS_FAULT.match(text) is not None


def has_plain_name(text: str) -> bool:
    """Whether the first name of a message is a plain word, which may rather be a value of it: the message does not call
    it a member of something."""
    members = {found[1] for found in _QUOTED.finditer(text) if _MEMBER.search(text[: found.start()])}
    return any(_is_plain(name.name) and name.name not in members for name in names_in_message(text)[:1])


def _quoted(text: str) -> Iterator[str]:
    """Yield the names in quotes: first those that a message calls a member of something, last what should have it."""
    found = [match for match in _QUOTED.finditer(text) if _may_be_name(match, text)]
    for match in sorted(found, key=lambda match: _rank(text[: match.start()], text[match.end() :])):
        whole = match[1]
        yield whole if "." in whole else re.split(r"::|->", whole)[-1]


def _owner_lacking(text: str) -> str:
    """Return the only type in quotes that a message says lacks the first name in quotes; empty where it says none."""
    found = [match for match in _QUOTED.finditer(text) if _may_be_name(match, text)]
    ranks = [_rank(text[: match.start()], text[match.end() :]) for match in found]
    owners = [match[1] for match, rank in zip(found, ranks, strict=True) if rank == _LACKING]
    is_only = len(owners) == 1 and min(ranks) < _LACKING and owners[0].isidentifier() and owners[0][0].isupper()
    return owners[0] if is_only else ""


def _may_be_name(quoted: re.Match[str], text: str) -> bool:
    """Whether what is in quotes may be a name: a plain word needs quotes of code, or a message about names."""
    if _OF_RUN.search(text[: quoted.start()]):
        return False
    if not _is_plain(quoted[1]) or quoted[0][0] == "`" or "(" in quoted[0]:
        return True
    is_of_names = _OF_NAMES.search(text) is not None or _says_fault(text)
    return is_of_names or _MEMBER.search(text[: quoted.start()]) is not None


def _is_plain(word: str) -> bool:
    return word.isalnum() and word.islower()


def _says_fault(text: str) -> bool:
    return ":" in text and _FAULT.search(text) is not None


def _rank(before: str, behind: str) -> int:
    if _MEMBER.search(before):
        return 0
    return _LACKING if _OWNER_BEFORE.search(before) or _OWNER_BEHIND.match(behind) else 1


def _declared(text: str) -> Iterator[str]:
    """Yield the name that a line of code declares or calls."""
    found = next((match for pattern in _DECLARED if (match := pattern.match(text)) is not None), None)
    if found is not None:
        yield found[1].rpartition("::")[2].rpartition("\\")[2]
        yield from _INHERITED.findall(text, found.end())
