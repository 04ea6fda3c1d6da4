"""Recognises what people put around the words that they look for when they write to a search as to somebody.

Invariant: pure; at least one word is left that says something.

    hey, where did I put the note about bread and salt?      bread salt
    how do I read a file again?                              read a file
"""

from __future__ import annotations

import re
from typing import Final

from livedex_indexing.query.query_terms import STOP_WORDS

_GREETING_WORDS: Final = "hello hey hi ok okay please so sorry um well"
_PEOPLE_WORDS: Final = "anybody anyone i i'd i'm i've me my our somebody someone us we you your"
_WISHING_WORDS: Final = """
can could did do give had have help i'd i'm know look looked looking need recall remember remind searching should show
think tried try trying want wanted will would
"""
_THING_WORDS: Final = "anything info information note notes something stuff thing things"
_PLACE_WORDS: Final = "bit entry file files line lines part place post text texts"
_SAYING_WORDS: Final = """
describes explains mention mentioned mentions read said say says talk talked talks write wrote writes written
"""
_QUESTION_WORDS: Final = "are can did do does how is what when where which who why"
_GREETINGS: Final = frozenset(_GREETING_WORDS.split())
_PEOPLE: Final = frozenset(_PEOPLE_WORDS.split())
_WISHES: Final = frozenset(_WISHING_WORDS.split())
_THINGS: Final = frozenset(_THING_WORDS.split())
_PLACES: Final = frozenset(_PLACE_WORDS.split())
_SAYING: Final = frozenset(_SAYING_WORDS.split())
_QUESTION: Final = frozenset(_QUESTION_WORDS.split())
# Words that only ask. The others are looked for, too, unless a word follows that says what a thing is about.
_ONLY_ASKING: Final = (STOP_WORDS | _GREETINGS | _PEOPLE | _WISHES | _THINGS | {"somewhere"}) - {"about"}
_ASKING: Final = _ONLY_ASKING | _PLACES | _SAYING | {"about", "put", "search", "see", "seen", "keep"}
_LONGEST: Final = 400  # characters; a longer text was pasted
_FEWEST: Final = 4  # words
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_CODE: Final = re.compile(r"[\"`(){}\[\]<>=;\n]")
_AFTER: Final = re.compile(
    r"[\s,]+(?:again|please|pls|thanks|thank you|thx|or so|or something)[\s?!.]*\Z", re.IGNORECASE
)
_AND: Final = re.compile(r",?\s+(?:and|or)\s+|,\s+", re.IGNORECASE)


def without_chat(text: str) -> str | None:
    """Return the words that a question to somebody is about, or the question without a greeting; None if nothing is put
    around them."""
    if len(text) > _LONGEST or _CODE.search(text):
        return None
    found = list(_WORD.finditer(text))
    words = [word[0].lower().replace("’", "'") for word in found]
    greetings = next((at for at, word in enumerate(words) if word not in _GREETINGS), len(words))
    asking = _asking(words)
    if len(words) < _FEWEST or max(asking, greetings) == len(words):
        return None
    if asking <= greetings and (not greetings or words[greetings] not in _QUESTION):
        return None
    rest = _AFTER.sub("", text[found[max(asking, greetings)].start() :]).rstrip(" ?!.,")
    rest = _AND.sub(" ", rest) if asking else rest
    return None if STOP_WORDS.issuperset(map(str.lower, _WORD.findall(rest))) else rest


def _asking(words: list[str]) -> int:
    """Return how many words ask, before those that are looked for; 0 if none does."""
    end, until = 0, set[str]()
    for at, word in enumerate(words, 1):
        if word not in _ASKING:
            break
        until.add(word)
        if (
            (word == "about" and until & (_THINGS | _PLACES | _SAYING))
            or (word == "on" and until & _THINGS)
            or (word == "with" and until & {"thing", "stuff"})
            or (word in _SAYING and until & (_THINGS | _PLACES) and until & {"that", "which", "where"})
            or (until <= _ONLY_ASKING and until & _PEOPLE and until & _WISHES)
        ):
            end = at
    return end
