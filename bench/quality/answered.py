"""`python -m bench.quality.answered [FOLDER]`: does a pasted text find nothing though a file has a word of it?

Sentences, log lines and titles are made of the folder's own lines (default: the standard library of this Python), with
quotes, dashes and colons, and with words that no file has. Prints how many find nothing, and those.

Invariant: the same folder and count give the same texts.
"""

from __future__ import annotations

import argparse
import random
import re
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.corpus import text_files
from bench.quality.mistakes import misspelt
from bench.quality.product import engine

SEED: Final = 29
_EVERY: Final = 7  # one line in so many
_WORD: Final = re.compile(r"\w+")
_SPOKEN: Final = re.compile(r"[A-Za-z']+[,.]?(?: [A-Za-z']+[,.]?){3,24}")
_QUOTES: Final = (('"', '"'), ("“", "”"), ("'", "'"), ('"', ""))
_DASHES: Final = (" -", " - ", " -- ", " – ", " —", ' -"')
_COLONS: Final = (": ", ":", ":: ", " : ")
_LEVELS: Final = ("ERROR", "[warn]", "INFO:", "E:", "<3>")
_TITLES: Final = ("Chapter {0}: ", "{0}. ", "RFC {0} - ", "Re: ", "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.quality.answered", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--count", type=int, default=10_000, help="texts to search for (default: %(default)s)")
    options = parser.parse_args()
    corpus = options.folder.resolve()
    lines, words = _read(corpus)
    asked, empty = Counter[str](), Counter[str]()
    with (
        tempfile.TemporaryDirectory(prefix="livedex-answered-") as folder,
        engine(corpus, Path(folder) / "index.db") as livedex,
    ):
        for kind, text in texts(lines, options.count):
            if words.isdisjoint(_WORD.findall(text.lower())):
                continue
            asked[kind] += 1
            if not livedex.search(text, 1).hits:
                empty[kind] += 1
                print(f"nothing: {kind}: {text}")
    for kind, count in asked.items():
        print(f"{kind:<12} {count:>6} asked, {empty[kind]:>4} found nothing")
    return 1 if empty else 0


def texts(lines: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    """Yield texts of each kind by turns: the kind, and the text."""
    chance = random.Random(SEED)
    kinds = {"sentence": _sentence, "log line": _log_line, "title": _title}
    for number in range(count):
        kind = list(kinds)[number % len(kinds)]
        yield kind, kinds[kind](chance.choice(lines), chance)


def _read(corpus: Path) -> tuple[list[str], set[str]]:
    """Return runs of words in the files, and all words."""
    lines: list[str] = []
    words: set[str] = set()
    for _, data in sorted(text_files(corpus)):
        text = data.decode("utf-8", "replace")
        words.update(_WORD.findall(text.lower()))
        lines += [found[0] for line in text.splitlines()[::_EVERY] for found in _SPOKEN.finditer(line)]
    return lines, words


def _sentence(line: str, chance: random.Random) -> str:
    return _with_signs(misspelt(line) if chance.random() < 0.5 else line, chance, chance.randint(1, 3))


def _log_line(line: str, chance: random.Random) -> str:
    stamp = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02} 10:07:59,{chance.randint(0, 999)}"
    name = f"{chance.choice(('srv', 'db.pool', 'worker-3', 'x/y'))}[{chance.randint(1, 40_000)}]"
    return f"{stamp} {name} {chance.choice(_LEVELS)} {_with_signs(line, chance, 1)}: '/tmp/r{chance.randint(1, 999)}.q'"


def _title(line: str, chance: random.Random) -> str:
    words = line.split()
    begin = chance.randrange(len(words))
    short = " ".join(words[begin : begin + chance.randint(2, 7)])
    return chance.choice(_TITLES).format(chance.randint(1, 9_999)) + _with_signs(short.title(), chance, 2)


def _with_signs(text: str, chance: random.Random, count: int) -> str:
    """Put so many signs into a text."""
    for _ in range(count):
        words = text.split(" ")
        at = chance.randrange(len(words))
        sign: Callable[[list[str], int, random.Random], str] = chance.choice((_quoted, _dashed, _colon))
        text = sign(words, at, chance)
    return text


def _quoted(words: list[str], at: int, chance: random.Random) -> str:
    left, right = chance.choice(_QUOTES)
    end = at + chance.randint(1, 3)
    return " ".join([*words[:at], left + " ".join(words[at:end]) + right, *words[end:]])


def _dashed(words: list[str], at: int, chance: random.Random) -> str:
    return " ".join(words[:at]) + chance.choice(_DASHES) + " ".join(words[at:])


def _colon(words: list[str], at: int, chance: random.Random) -> str:
    return " ".join(words[:at]) + chance.choice(_COLONS) + " ".join(words[at:])


if __name__ == "__main__":
    raise SystemExit(main())
