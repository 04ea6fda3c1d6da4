"""Recognises the names that a query of a few words is about: one with its type or file, or one among plain words.

Invariant: pure; whether such a name is defined anywhere is for the index to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from typing import Final

from livedex_indexing.query.asking_words import ASKING
from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.query.typed_name import TypedName, typed_name

_CONTENT: Final = range(2, 5)  # words that do not just ask, …
_MOST: Final = 8  # … of so many words
_AROUND: Final = "?!,;\"'`"
_TYPE: Final = re.compile(r"[A-Z]\w*[a-z]\w*|\w*[a-z]_t")
_FILE: Final = re.compile(r"(?:.*/)?(\w+)\.[a-z]\w{0,4}")
_PLAIN: Final = re.compile(r"[^\W\d]\w+")
_SHAPED: Final = re.compile(r"(?=\w*(?:[^\W_]_[^\W_]|[a-z0-9][A-Z]|\(\)))_*[^\W\d]\w+(?:\(\))?")
_OF_CODE: Final = re.compile(r".*(?:[^\W_]_[^\W_].*|\(\))")  # run_task, run(): prose has names as RunTask, too


def members_among(text: str) -> Iterator[TypedName]:
    """Yield the names that two words of a query make together: a member with its type, as in ``paste method of Editor``
    and ``Editor paste``, or a name with its file, as in ``paste in editor.py``."""
    words = _content(text)
    for owner, member in permutations(words) if len(words) == 2 else ():
        file = _FILE.fullmatch(owner)
        if _PLAIN.fullmatch(member) and (file or _TYPE.fullmatch(owner)):
            yield TypedName(member, file[1] if file else owner)


def members_as_words(text: str, *, turned: bool = False) -> Iterator[TypedName]:
    """Yield the names, in any case, that a few words without signs may make together, with words that ask for it or
    without: a member behind its type or its file, as in ``queue put`` and ``how does queue put work``, or behind both,
    as in ``asyncio queue put``. ``turned``: of two words also the other way round."""
    words = [word.strip(_AROUND) for word in text.split()]
    if len(words) > _MOST or not all(map(_PLAIN.fullmatch, words)):
        return
    readings = [each for each in dict.fromkeys((tuple(words), tuple(_content(text)))) if len(each) in _CONTENT]
    readings += [each[::-1] for each in readings[-1:] if turned and len(each) == 2]
    places = [(each, begin, at) for each in readings for begin in range(2) for at in range(begin + 1, len(each))]
    for each, begin, at in places:
        owner, member = each[begin:at], each[at:]
        if not any(map(_says_nothing, each[:at])) and not all(map(_says_nothing, member)):
            yield TypedName(" ".join(member), " ".join(owner), any_case=True, package=" ".join(each[:begin]))


def names_among(text: str) -> list[TypedName]:
    """Return the words of a query of a few words that are written as names are, unlike prose: of two words any, of more
    those that only code has."""
    words = _content(text)
    shaped = [typed_name(w) for w in words if _SHAPED.fullmatch(w) and (len(words) == 2 or _OF_CODE.fullmatch(w))]
    return [name for name in shaped if name is not None]


def _says_nothing(word: str) -> bool:
    return len(word) == 1 or word.lower() in STOP_WORDS


def _content(text: str) -> list[str]:
    words = [word.strip(_AROUND) for word in text.split()]
    content = [word for word in words if word.lower() not in ASKING]
    return content if len(content) in _CONTENT and len(words) <= _MOST else []
