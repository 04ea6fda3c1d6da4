"""Names and paths as people shorten them for the pickers of editors: ``ThPoEx``, ``baeve``, ``asyncio/base_ev``.

Invariant: as for navigation: what is shortened is the only one of its name.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from bench.quality.definitions import Definition, Sources, parts_of_name

_VOWELS: Final = re.compile(r"[aeiou]")
_LEAST: Final = 5  # letters that are typed
_LEFT: Final = 8  # letters of a name that lacks two of them, at least


def shortened_names(sources: Sources, chance: random.Random) -> Iterator[tuple[str, Definition]]:
    """Names of two to five parts, each cut to two or three letters, in lower case or with a capital."""
    for one in sources.found:
        parts = parts_of_name(one.name)
        if len(parts) in range(2, 6) and min(map(len, parts)) > 2 and not one.name.isupper():
            cut = [part[: chance.randint(2, 3)] for part in parts]
            text = "".join(cut) if chance.random() < 0.5 else "".join(part.capitalize() for part in cut)
            if len(text) >= _LEAST and parts[0] != "test":
                yield text, one


def shortened_paths(sources: Sources, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Files whose name without its suffix is the only one, in each way in which it can be shortened."""
    stems = Counter(Path(path).stem.lower() for path in sources.texts)
    for path in sources.texts:
        name = Path(path)
        if stems[name.stem.lower()] == 1 and name.stem.isascii():
            forms = [form for make in _FORMS if len(form := make(name, chance)) >= _LEAST]
            if forms:
                yield chance.choice(forms), path


def _beginnings(name: Path, chance: random.Random) -> str:
    parts = parts_of_name(name.stem)
    if len(parts) not in range(2, 5) or min(map(len, parts)) < 3:
        return ""
    return "".join(part[: chance.randint(2, 4)] for part in parts)


def _joined(name: Path, _chance: random.Random) -> str:
    joined = "".join(parts_of_name(name.stem))
    return joined if joined != name.stem.lower() else ""


def _with_letters_left_out(name: Path, chance: random.Random) -> str:
    letters = list(name.stem.lower())
    if len(letters) < _LEFT or len(parts_of_name(name.stem)) == 1:
        return ""
    for _ in range(2):
        letters.pop(chance.randrange(1, len(letters)))
    return "".join(letters)


def _consonants(name: Path, _chance: random.Random) -> str:
    stem = name.stem.lower()
    return stem[0] + _VOWELS.sub("", stem[1:]) if stem.isalpha() else ""


def _begun(name: Path, _chance: random.Random) -> str:
    return name.stem[:-3] if len(parts_of_name(name.stem)) > 1 else ""


def _in_folder(name: Path, _chance: random.Random) -> str:
    return f"{name.parent.name}/{name.stem[:-3]}" if len(name.stem) > _LEAST and len(name.parts) > 1 else ""


def _misspelt(name: Path, chance: random.Random) -> str:
    stem = name.stem
    if len(stem) < _LEFT or not name.suffix:
        return ""
    at = chance.randrange(1, len(stem) - 1)
    return f"{stem[:at]}{stem[at + 1]}{stem[at]}{stem[at + 2 :]}{name.suffix}"


_FORMS: Final[tuple[Callable[[Path, random.Random], str], ...]] = (
    _beginnings,
    _joined,
    _with_letters_left_out,
    _consonants,
    _begun,
    _in_folder,
    _misspelt,
)
