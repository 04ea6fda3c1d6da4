"""Words that people put around what they look for: they ask for a definition, for uses, or for a section.

Invariant: pure; a word is compared in lower case.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from livedex_indexing.model import Query
from livedex_indexing.query.query_terms import STOP_WORDS

_KINDS: Final = """
class const constant def define defined definition enum fn func function interface macro method mixin struct trait type
"""
_ASKING: Final = """
alias annotation attribute code column component config configuration constructor control css declaration declared
decorator default docs documentation enable enumerator environment export field getter help hook implementation
implemented implements include internally is_enabled key label live lives located look looking man manual mean meaning
means member module namespace option page parameter please prop property read ref see selector set setter setting source
style styled subroutine symbol table target tell typedef undeclared union value variable variant work working works
"""
_OF_USES: Final = "call called caller callers calling calls reference references usage usages used user users uses"
_OF_SECTIONS: Final = """
chapter chapters describe described describes docs documentation documented documents example examples explained
explanation guide heading howto know learn manual mean means overview page pages paragraph please read section
sections see tell topic tutorial understand work works
"""
KINDS: Final = frozenset(_KINDS.split())  # of definitions
ASKING: Final = STOP_WORDS | KINDS | frozenset(_ASKING.split())
ASKING_FOR_USES: Final = frozenset(_OF_USES.split())
ASKING_FOR_SECTIONS: Final = STOP_WORDS | frozenset(_OF_SECTIONS.split())
_WORD: Final = re.compile(r"\w+")


def with_quoted_words(query: Query) -> Query:
    """Return a query whose words only ask for what it has in quotes with the words in quotes instead: these rank the
    files that have the phrases. Any other query is returned as it is."""
    words = _WORD.findall(query.text.lower())
    if not words or not query.phrases or not ASKING_FOR_SECTIONS.issuperset(words):
        return query
    return replace(query, text=" ".join(word for phrase in query.phrases for word in _WORD.findall(phrase)))
