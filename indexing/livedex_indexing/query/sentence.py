"""Recognises questions and descriptions in whole sentences, as people write them who do not know the words of the text.

Invariant: pure; what looks like code, and what is a list of words, is no sentence.

    how do I stop a process that does not answer any more    a sentence
    add missing includes to the parser                       a title, or the subject of a commit
"""

from __future__ import annotations

import re
from typing import Final

from livedex_indexing.query.asking_words import ASKING_FOR_SECTIONS
from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.text.terms import is_letter

_LEAST_WORDS: Final = 5
_LEAST_STOP_WORDS: Final = 3
_LEAST_LOOKED_FOR: Final = 3  # of two, a title or a name is meant: `tell me more about access control`
_LONGEST: Final = 400  # characters; a longer text was pasted
_CODE: Final = re.compile(r"[\"`(){}\[\]<>=;\\|\n]|\w[_:/]+\w|[a-z][A-Z]")
_WORD: Final = re.compile(r"[^\W_]+")


def is_sentence(text: str) -> bool:
    """Whether a query is prose of several words, with stop words among them and no sign of code."""
    return _CODE.search(text) is None and is_prose(text)


def is_prose(text: str) -> bool:
    """Whether a text is of several words, with stop words among them; it may have signs of code."""
    if len(text) > _LONGEST:
        return False
    words = _WORD.findall(text.lower())
    stops = sum(word in STOP_WORDS or is_letter(word) for word in words)
    looked_for = sum(word not in ASKING_FOR_SECTIONS and not is_letter(word) for word in words)
    return len(words) >= _LEAST_WORDS and stops >= _LEAST_STOP_WORDS and looked_for >= _LEAST_LOOKED_FOR
