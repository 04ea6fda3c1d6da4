"""Searches as they come: words, sentences, names, misspelt words, and among them the commonest words there are.

Invariant: the same corpus and seed give the same queries.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench.corpus import text_files

SEED: Final = 21
EVERY: Final = 20  # one file in so many is read
HEAD_BYTES: Final = 20_000  # of each
COMMONEST: Final = 60  # words that common queries are made of
ALWAYS: Final = ("return self", "int i", "the", "static struct", "if return", "int", "struct", "a", "include", "0")
WORD: Final = re.compile(r"[a-z]{4,12}")
ANY_WORD: Final = re.compile(r"[A-Za-z0-9]+")
NAME: Final = re.compile(r"\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z]+)+\b")
SENTENCE: Final = re.compile(r"\b[A-Za-z]+(?: [a-z]+){4}\b")


def mixed(corpus: Path, count: int) -> list[str]:
    """``count`` queries, a fifth of each kind: common words, sentences of five words, names, pairs of words, typos."""
    chosen = random.Random(SEED)
    texts = [data[:HEAD_BYTES].decode("utf-8", "replace") for _path, data in sorted(text_files(corpus))[::EVERY]]
    held = Counter(word for text in texts for word in dict.fromkeys(ANY_WORD.findall(text.lower())))
    common = [word for word, _ in held.most_common(COMMONEST)]
    words = sorted({word for text in texts for word in WORD.findall(text)})
    names = sorted({name for text in texts for name in NAME.findall(text)}) or words
    sentences = sorted({line for text in texts for line in SENTENCE.findall(text)}) or words
    kinds: list[Callable[[], str]] = [
        lambda: " ".join(chosen.sample(common, chosen.randint(1, 4))),
        lambda: chosen.choice(sentences),
        lambda: chosen.choice(names),
        lambda: f"{chosen.choice(words)} {chosen.choice(words)}",
        lambda: f"{_misspelt(chosen.choice(words), chosen)} {chosen.choice(words)}",
    ]
    made = [kinds[number % len(kinds)]() for number in range(max(0, count - len(ALWAYS)))]
    queries = [*ALWAYS, *made][:count]
    chosen.shuffle(queries)
    return queries


def _misspelt(word: str, chosen: random.Random) -> str:
    """The word with two neighbouring letters exchanged."""
    at = chosen.randrange(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
