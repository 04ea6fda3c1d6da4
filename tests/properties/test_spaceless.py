"""Any piece of text in a script without blanks is found where it is, with exact highlights, and nowhere else."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from helpers.support import examples

# A few characters of each script, including marks, so that the same rows occur often.
ALPHABETS = {
    "han": "日本語検索々",
    "kana": "カタガバナーひら",
    "hangul": "한국어검색을",
    "thai": "กาษ\u0e34\u0e48\u0e33ไท",
    "lao": "ກາວ\u0eb4\u0ec8ລ",
    "khmer": "កខ\u17d2\u17b6\u17c6រ",
    "burmese": "မြ\u1014\u103a\u102c\u1005",
    "tibetan": "བོད\u0f72ཡ",
    "rare": "\U00020000\U00020001\U0002f800\u3007",
}
BETWEEN = [" ", "\n", "，", "。", "Python", "x", "7", "_", "་", " the ", "・", "-"]
RUNS = re.compile("|".join(f"[{alphabet}]+" for alphabet in ["".join(ALPHABETS.values())]))
RARE = str.maketrans({"\U0002f800": "丽"})  # the same character


class Corpus:
    def __init__(self, folder: Path) -> None:
        chance = random.Random(3)
        self.index = Indexed(folder)
        self.texts: dict[str, str] = {}
        for number in range(40):
            pieces: list[str] = []
            for _ in range(chance.randrange(2, 9)):
                alphabet = ALPHABETS[chance.choice(sorted(ALPHABETS))]
                pieces += ["".join(chance.choices(alphabet, k=chance.randrange(1, 12))), chance.choice(BETWEEN)]
            self.texts[f"{number}.txt"] = text = "".join(pieces)
            self.index.write(f"root/{number}.txt", text)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    made = Corpus(tmp_path_factory.mktemp("corpus"))
    with made.index:
        yield made


@given(st.data())
@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_of_runs_are_found_exactly(corpus: Corpus, data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        run = data.draw(st.sampled_from([run for text in corpus.texts.values() for run in RUNS.findall(text)]))
        start = data.draw(st.integers(0, len(run) - 1))
        piece = run[start : start + data.draw(st.integers(1, 8))]
    else:
        alphabet = data.draw(st.sampled_from(sorted(ALPHABETS.values())))
        piece = data.draw(st.text(alphabet, min_size=1, max_size=8))
    expected = {}
    for path, text in corpus.texts.items():
        places = [match.span() for match in re.finditer(re.escape(piece.translate(RARE)), text.translate(RARE))]
        if places:
            expected[path] = places
    # What is nowhere is searched for by its pairs, unless it is in quotes.
    for query in (piece, f'"{piece}"') if expected else (f'"{piece}"',):
        hits = corpus.index.search(query, limit=1000)
        found = {
            hit["relative_path"]: [
                (start + offset, end + offset)
                for offset in [corpus.texts[hit["relative_path"]].index(hit["snippet"])]
                for start, end in hit["highlights"]
            ]
            for hit in hits
        }
        assert found == expected, query
    without = corpus.index.found(f"ext:txt -{piece}") if piece[0].isalnum() else None
    assert without is None or set(without) == corpus.texts.keys() - expected.keys()
