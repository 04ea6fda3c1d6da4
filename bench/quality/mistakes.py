"""Spelling mistakes in questions: one letter too many, too few, wrong, or two exchanged.

Invariant: the same question is always misspelt alike, and one without a long enough word stays as it is.
"""

from __future__ import annotations

import random
import re
import string
from typing import Final

from livedex_indexing.query.query_terms import STOP_WORDS

SEED: Final = 11
_WORD: Final = re.compile(r"(?<![^\W_])[A-Za-z]{5,}(?![^\W_])")


def misspelt(question: str) -> str:
    """The question with one mistake in one of its words that count."""
    chance = random.Random(f"{SEED} {question}")
    words = [found for found in _WORD.finditer(question) if found[0].lower() not in STOP_WORDS]
    if not words:
        return question
    word = chance.choice(words)
    return question[: word.start()] + _mistake(word[0], chance) + question[word.end() :]


def _mistake(word: str, chance: random.Random) -> str:
    while True:
        at = chance.randrange(len(word))
        letter = chance.choice(string.ascii_lowercase)
        before, after = word[:at], word[at:]
        changed = chance.choice(
            (
                before + after[1:],
                before + letter + after,
                before + letter + after[1:],
                before + after[1:2] + after[:1] + after[2:],
            )
        )
        if changed.lower() != word.lower():
            return changed
