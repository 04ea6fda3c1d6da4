"""Questions of people who know what they look for: names, pieces of names, files, messages, pasted lines, titles.

Invariant: the same folder and seed give the same questions; an answer is a place that the folder's own text defines.
"""

from __future__ import annotations

import ast
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from bench.quality.definitions import NOWHERE, PARTS, Sources, parts_of_name, read
from bench.quality.mistakes import misspelt
from bench.quality.product import Engine
from bench.quality.sets import Half, half_of
from bench.quality.shortened import shortened_names, shortened_paths
from livedex_indexing.query.query_terms import STOP_WORDS

SEED: Final = 17
EACH: Final = 150  # questions of a kind, at most, and as many of the other half
_PROSE: Final = (".md", ".rst", ".txt")
_WORD: Final = re.compile(r"[A-Za-z]{4,}")
_MARKDOWN: Final = re.compile(r"^#{1,3} (\S.{8,70})$", re.MULTILINE)
_UNDERLINED: Final = re.compile(r"^(\w.{7,70})\n[=*~^-]{8,}$", re.MULTILINE)
_DOCSTRING: Final = re.compile(r'"""(.*?)"""', re.DOTALL)
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_VARIABLE: Final = re.compile(r"%[rsdi]|\{[^{}]*\}")
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w-])")
_REFERENCE: Final = re.compile(r"(?<![\w.])[a-z]\w{2,}(?:\.|->)[a-z]\w{3,}(?![\w.(])")
_ASKED: Final = ("where is {} defined", "what does {} do", "{} definition", "def {}", "function {}")
_AT: Final = (
    "{0.path}:{0.line}:9: error: {0.name} undeclared",
    "{0.path}({0.line})",
    "{0.path}, line {0.line}",
    "{0.path}:{0.line}-99999",
    "at {0.name} (/srv/app/{0.path}:{0.line}:3)",
    "#3  0x00007ffff7a5 in {0.name} (a=0x0) at {0.path}:{0.line}",
    "kernel BUG at {0.path}:{0.line}!",
    "https://example.com/app/blob/main/{0.path}#L{0.line}",
)
_FILLINGS: Final = ("'colour'", "42", "'/tmp/report.txt'", "None", "7", "'width'")


class Navigation(NamedTuple):
    """One question. ``wanted``: the lines that answer it, by path relative to the corpus; 0: any line of the file."""

    kind: str
    text: str
    wanted: Mapping[str, int]
    shown: str = ""  # must be in the text of the first hit

    @property
    def half(self) -> Half:
        return half_of(self.text)


class Result(NamedTuple):
    """How one question was answered. ``shares``: whether the first file is right, its reciprocal rank, whether the
    lines of the first hit have the place, and whether its snippet shows the name."""

    kind: str
    shares: tuple[float, float, float, float]
    ms: float


def answer(question: Navigation, livedex: Engine) -> Result:
    """Search for one question."""
    begin = time.perf_counter()
    hits = livedex.search(question.text, 10).hits
    took = (time.perf_counter() - begin) * 1000
    files = list(dict.fromkeys(hit.relative_path for hit in hits))
    place = next((number for number, path in enumerate(files, 1) if path in question.wanted), 0)
    line = question.wanted.get(hits[0].relative_path) if hits else None
    at_line = line is not None and (line == 0 or hits[0].start_line <= line <= hits[0].end_line)
    shown = bool(hits) and question.shown in hits[0].snippet
    return Result(question.kind, (float(place == 1), 1 / place if place else 0.0, float(at_line), float(shown)), took)


def answer_with_files(question: Navigation, search: Callable[[str, int], list[str]]) -> Result:
    """Ask an engine that answers with files: no line and no snippet is known."""
    begin = time.perf_counter()
    files = search(question.text, 10)
    took = (time.perf_counter() - begin) * 1000
    place = next((number for number, path in enumerate(files, 1) if path in question.wanted), 0)
    return Result(question.kind, (float(place == 1), 1 / place if place else 0.0, 0.0, 0.0), took)


def questions(corpus: Path) -> list[Navigation]:
    """The questions of every kind, of both halves, in a fixed order."""
    sources = read(corpus.resolve())
    made: list[Navigation] = []
    for kind, make in _KINDS.items():
        chance = random.Random(f"{SEED} {kind}")
        found = list(make(sources, chance))
        times = Counter(question.text for question in found)
        once = [question for question in found if times[question.text] == 1]
        chance.shuffle(once)
        once = [question for question in once if NOWHERE not in question.wanted.values()]
        for half in ("dev", "test"):
            made += [question for question in once if question.half == half][:EACH]
    return made


def _names(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    for one in sources.found:
        yield Navigation("exact name", one.name, {one.path: one.line}, one.name)


def _decorated(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    named: defaultdict[str, list[str]] = defaultdict(list)
    for path in sources.texts:
        named[Path(path).name].append(path)
    for one in sources.found:
        forms = [f"{one.name}()", f"{one.path}:{one.line}", f"{Path(one.path).name}:{one.line}"]
        owner, dot, _ = one.qualified.rpartition(".")
        if dot:
            forms += [f"{owner.rpartition('.')[2]}.{one.name}", f"{owner.rpartition('.')[2]}::{one.name}"] * 2
        chosen = chance.choice(forms)
        alike = named[Path(one.path).name] if chosen == forms[2] else [one.path]  # the message names one of them
        yield Navigation("decorated", chosen, dict.fromkeys(alike, one.line))


def _places(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for one in sources.found:
        yield Navigation("place in a message", chance.choice(_AT).format(one), {one.path: one.line})


def _as_words(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    spelt = Counter(tuple(parts_of_name(name)) for name in sources.names)
    for one in sources.found:
        words = parts_of_name(one.name)
        if len(words) > 1 and spelt[tuple(words)] == 1 and any(word not in STOP_WORDS for word in words):
            yield Navigation("name as words", " ".join(words), {one.path: one.line})


def _pieces(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    beginnings: defaultdict[str, set[str]] = defaultdict(set)
    places = {one.name: one for one in sources.found}
    for name in sources.names:
        for at in range(1, len(name)):
            beginnings[name[:at].lower()].add(name)
    for one in sources.found:
        ends = [found.end() for found in PARTS.finditer(one.name)][:-1]
        fitting = [
            one.name[:end] for end in ends if end >= 6 and len(beginnings[one.name[:end].lower()]) <= 3
        ]  # the piece itself is no name
        fitting = [piece for piece in fitting if sources.names[piece] == 0]
        if fitting:
            piece = chance.choice(fitting)
            piece = piece[:1].lower() + piece[1:] if chance.random() < 0.3 else piece
            meant = sorted(name for name in beginnings[piece.lower()] if name in places)
            wanted = {places[name].path: places[name].line for name in meant}
            yield Navigation("part of a name", piece, wanted)


def _files(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    bases = Counter(Path(path).name for path in sources.texts)
    stems = Counter(Path(path).stem.lower() for path in sources.texts)
    for path in sources.texts:
        name = Path(path)
        forms = [name.name] if bases[name.name] == 1 else []
        is_only = stems[name.stem.lower()] == 1 and name.stem not in bases  # walk.js is no name for walk.js.map
        forms += [name.stem] if is_only and len(name.stem) > 3 else []
        forms += ["/".join(name.parts[-2:])] if len(name.parts) > 2 else []
        if forms:
            yield Navigation("file name", chance.choice(forms), {path: 0})


def _messages(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for path, text in sources.texts.items():
        if not path.endswith(".py"):
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = _template(node.exc.args[0])
                if len(message.split()) >= 4 and message.isprintable():
                    filled = _VARIABLE.sub(lambda _found: chance.choice(_FILLINGS), message)
                    yield Navigation("error message", filled, {path: node.lineno})


def _template(node: ast.expr) -> str:
    """The text of a message, with ``{}`` for its variable parts; empty where it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return _template(node.left) if isinstance(node, ast.BinOp) else ""


def _lines(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    times = Counter(line.strip() for text in sources.texts.values() for line in text.splitlines())
    for path, text in sources.texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            pasted = line.strip()
            if (
                25 <= len(pasted) <= 90
                and times[pasted] == 1
                and path.endswith((".py", ".c", ".js"))
                and number % 37 == 0
            ):
                yield Navigation("pasted line", pasted, {path: number})


def _typing_errors(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    for one in sources.found:
        wrong = misspelt(one.name)
        if wrong != one.name and len(one.name) > 6:
            yield Navigation("typing error", wrong, {one.path: one.line})


def _remembered(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for path, text in sources.texts.items():
        if path.endswith((*_PROSE, ".py")):
            yield from _words_of("half-remembered", path, _PARAGRAPH.split(text), chance)


def _remembered_prose(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    """The same of paragraphs that people write for people: in pages, and in docstrings."""
    for path, text in sources.texts.items():
        if path.endswith(_PROSE):
            yield from _words_of("half-remembered prose", path, _PARAGRAPH.split(text), chance)
        elif path.endswith(".py"):
            found = [part for one in _DOCSTRING.finditer(text) for part in _PARAGRAPH.split(one[1])]
            yield from _words_of("half-remembered prose", path, found, chance)


def _words_of(kind: str, path: str, paragraphs: list[str], chance: random.Random) -> Iterator[Navigation]:
    for paragraph in chance.sample(paragraphs, min(2, len(paragraphs))):
        words = [word for word in _WORD.findall(paragraph) if word.lower() not in STOP_WORDS]
        if len(words) >= 12 and len(set(words)) > 8:
            yield Navigation(kind, " ".join(chance.sample(words, chance.randint(3, 5))), {path: 0})


def _titles(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    for path, text in sources.texts.items():
        if path.endswith(_PROSE):  # in a plain text, `#` begins a comment
            for found in (*(() if path.endswith(".txt") else _MARKDOWN.finditer(text)), *_UNDERLINED.finditer(text)):
                if len(found[1].split()) > 1:
                    yield Navigation("title", found[1].strip(), {path: text.count("\n", 0, found.start()) + 1})


def _questions(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for one in sources.found:
        yield Navigation("question for a name", chance.choice(_ASKED).format(one.name), {one.path: one.line})


def _other_conventions(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    spelt = Counter(tuple(parts_of_name(name)) for name in sources.names)
    for one in sources.found:
        words = parts_of_name(one.name)
        if len(words) > 1 and spelt[tuple(words)] == 1:
            camel = words[0] + "".join(word.capitalize() for word in words[1:])
            yield Navigation("other convention", camel if "_" in one.name else "_".join(words), {one.path: one.line})


def _options(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    return _in_one_file("option", _OPTION, sources)


def _references(sources: Sources, _chance: random.Random) -> Iterator[Navigation]:
    for one in _in_one_file("reference", _REFERENCE, sources):
        if not next(iter(one.wanted)).endswith(_PROSE):
            yield one


def _shortened_names(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for text, one in shortened_names(sources, chance):
        yield Navigation("shortened name", text, {one.path: one.line})


def _shortened_paths(sources: Sources, chance: random.Random) -> Iterator[Navigation]:
    for text, path in shortened_paths(sources, chance):
        yield Navigation("shortened path", text, {path: 0})


def _in_one_file(kind: str, pattern: re.Pattern[str], sources: Sources) -> Iterator[Navigation]:
    """What a pattern finds in one file only."""
    places: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for path, text in sources.texts.items():
        for found in pattern.finditer(text):
            places[found[0]][path] = 0
    for text, wanted in places.items():
        if len(wanted) == 1:
            yield Navigation(kind, text, wanted)


_KINDS: Final[Mapping[str, Callable[[Sources, random.Random], Iterable[Navigation]]]] = {
    "exact name": _names,
    "decorated": _decorated,
    "place in a message": _places,
    "name as words": _as_words,
    "part of a name": _pieces,
    "file name": _files,
    "error message": _messages,
    "pasted line": _lines,
    "typing error": _typing_errors,
    "half-remembered": _remembered,
    "half-remembered prose": _remembered_prose,
    "title": _titles,
    "question for a name": _questions,
    "other convention": _other_conventions,
    "option": _options,
    "reference": _references,
    "shortened name": _shortened_names,
    "shortened path": _shortened_paths,
}
