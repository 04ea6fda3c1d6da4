"""Every line that a pattern matches contains the pattern's required literals, and its content is a candidate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed, chunked
from helpers.support import examples
from livedex_indexing.lines.candidates import candidates
from livedex_indexing.lines.expression import BadPattern, read
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.required_literals import RequiredLiterals, required_literals
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.model import Chunk, ChunkedContent, ChunkTerms

LETTERS = "abAk_ -é"
REPEATS = ("?", "*", "+", "{2}", "{0,2}", "{1,}", "{0}", "*?", "+?")
ATOMS = st.one_of(
    st.text(LETTERS, min_size=1, max_size=4).map(lambda text: text.replace("-", "\\-")),
    st.sampled_from(
        [".", "[ab]", "[^a]", "\\s", "\\w", "^", "$", "\\b", "[aA]", "[ _]", "(?i)", "\\S", "\u017f", "\u212a", "е"]
    ),
)


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(REPEATS)).map(lambda two: f"(?:{two[0]}){two[1]}"),
    )


PATTERNS = st.recursive(ATOMS, _more, max_leaves=12)
LINES = st.text(LETTERS, max_size=24)


def holds(required: RequiredLiterals, line: str) -> bool:
    """All separators of words are the same for a literal, in any number: one blank here."""
    if required.strings:
        return any(_plain(string) in line for string in required.strings)
    parts = [holds(part, line) for part in required.parts]
    return (any(parts) if required.any_of else all(parts)) if parts else True


def _plain(text: str) -> str:
    return re.sub(" +", " ", "".join(char.lower() if char.isalnum() else " " for char in text))


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("ab*c", [{"a"}, {"c"}]), ("ab+c", [{"ab"}, {"bc"}]), ("ab?c", [{"ac", "abc"}]),
        ("a(b|c)d", [{"abd", "acd"}]),
        ("(foo|.*)x", [{"x"}]), ("^ab$", [{"\nab\n"}]), ("(ab){2}c", [{"ababc"}]), ("a{0}b", [{"b"}]),
        ("x*", []), (".", []),
        ("[Ab]c", [{"ac", "bc"}]), ("[^a]c", [{"c"}]), ("a\\s+b", [{"a b"}]), ("a\\s*b", [{"ab", "a b"}]),
        ("a[ ,]{2,9}b", [{"a b"}]), ("(a )+b", [{"a "}, {"a b"}]), ("a( |-){0}b", [{"ab"}]),
        ("a(, )*b", [{"ab", "a, b"}]),
        ("a{2,}b", [{"aa"}, {"ab"}]),
        ("->", []),
    ],
)  # fmt: skip
def test_what_a_pattern_needs(pattern: str, needed: list[set[str]]) -> None:
    required = required_literals(read(pattern))
    parts = required.parts or ((required,) if required else ())
    assert [set(part.strings) for part in parts] == needed


@given(PATTERNS, st.lists(LINES, min_size=1, max_size=4))
def test_a_line_that_matches_holds_what_is_needed(text: str, lines: list[str]) -> None:
    try:
        pattern = Pattern(text, exact=False)
    except BadPattern:
        return
    found = {line.number for line in pattern.lines("\n".join(lines).encode(), 100, bool)}
    if any(char in text for char in "\u017f\u212a"):  # their other cases are those of ASCII: only the index knows that
        return
    for number in found:
        assert holds(required_literals(read(text)), _plain(f"\n{lines[number - 1]}\n")), lines[number - 1]


TEXTS = (
    "foo_bar baz\nint main(void)\n", "getHTTPResponse x86_64\n\tab  cd\n", "größe GRÖSSE straße ẞ\n",
    "Kelvin \u212a k \u017fo so SO\n", "привет Привет ᲀ В в\n", "ά Ά ᾳ αι Ι ͅ ι\n", "日本語のテキスト 検索\n",
    "e\u0301cole école ÉCOLE ecole\n", "İstanbul istanbul ısı\n", "a" * 5000 + " tail\n", "word " * 400 + "\n",
    "x\0y nul\n", "last line", "ab\r\ncd\r\n", "½ ² ①\n", "\ufeffmark\n", "aa bb aa_bb\n",
    "ꙋ Ꙋ ᲈ Ა ა ꭰ Ꭰ\n", "ﬁ fi\n",
)  # fmt: skip
SINGLE = {" ", ".", "\\W", "é", "o"}
WORDS = st.sampled_from(sorted({word for text in TEXTS for word in text.split() if len(word) < 40} | SINGLE))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(Path(tmp_path_factory.mktemp("candidates"))) as made:
        for number, text in enumerate(TEXTS):
            made.write(f"root/{number}.txt", text)
        yield made


@st.composite
def piece_patterns(draw: st.DrawFn) -> str:
    """Patterns from pieces of words of the texts, whole or cut, with changed case."""
    parts = []
    for word in draw(st.lists(WORDS, min_size=1, max_size=3)):
        start = draw(st.integers(0, max(0, len(word) - 1)))
        piece = word[start : start + draw(st.integers(1, 12))] if draw(st.booleans()) else word
        piece = draw(st.sampled_from([piece, piece.lower(), piece.upper(), piece.swapcase()]))
        form = draw(st.sampled_from(["{}", "{}", "({}|zzz)", "{}?", "(?i){}", "[{}]+", "^{}", "{}$", "{} ?"]))
        parts.append(form.format(piece))
    return draw(st.sampled_from(["", ".*", " ", "\\s*"])).join(parts)


@given(piece_patterns())
def test_what_matches_is_a_candidate(index: Indexed, text: str) -> None:
    try:
        pattern = Pattern(text, exact=False)
    except BadPattern:
        return
    with index.pool.connection() as reader:
        found = candidates(reader, pattern.required, Vocabulary().words(reader))
        for number, data in enumerate(TEXTS):
            if found is not None and any(pattern.lines(data.encode(), 100, bool)):
                row = reader.one("SELECT content_id FROM files WHERE name = ?", (f"{number}.txt".encode(),))
                assert row in found, data[:40]


PROSE = (
    "static int ret = of_this(function);\nthe red  fox, a_red_fox and\tthe red\u00a0fox\n",
    "一个struct result {\nindex成员的struct result\n在struct\u200bresult ｘstruct result é-struct result\n"
    "长monkey business\n",
    "relational generalization of ties; dying dies tied\nthe ties died, its generalizations of the ties\n",
    "naïve struct no\u0308w a naive struct, ΣΑΣ σας The End\nü\0ü result\nmy cat ι dog\n",
)  # fmt: skip


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, int], tuple[Indexed, int]]]:
    """Return indexes of each text, cut as usual (0) and after every n characters: by text and size."""
    made: dict[tuple[str, int], tuple[Indexed, int]] = {}
    for size in (0, 1, 4, 9):
        index = Indexed(tmp_path_factory.mktemp("parted"))
        for text in PROSE:
            data = text.encode()
            digest = hashlib.blake2b(data, digest_size=16).digest()
            content = chunked(data) if size == 0 else _cut(text, size)
            made[text, size] = index, index.store.add_content(digest, b"any", len(data), content)
    yield made
    for index in {id(index): index for index, _ in made.values()}.values():
        index.__exit__()


def _cut(text: str, size: int) -> ChunkedContent:
    chunks: list[Chunk] = []
    for at in range(0, len(text), size):
        piece, line = text[at : at + size], text.count("\n", 0, at) + 1
        last = line + piece.count("\n") - piece.endswith("\n")
        first = len(text[:at].encode())
        end = first + len(piece.encode())
        chunks.append(Chunk(len(chunks), piece, "", "plain", None, None, None, line, last, first, end, {}))
    return ChunkedContent("plain", None, "utf-8", False, chunks, [ChunkTerms("", "", "")] * len(chunks))


@given(st.data(), st.sampled_from(PROSE), st.sampled_from([0, 1, 4, 9]))
@settings(max_examples=examples(200))
def test_words_side_by_side_are_found_over_the_borders_of_chunks(
    parted: dict[tuple[str, int], tuple[Indexed, int]], data: st.DataObject, text: str, size: int
) -> None:
    line = data.draw(st.sampled_from(text.splitlines()))
    start = data.draw(st.integers(0, len(line) - 1))
    wanted = line[start : start + data.draw(st.integers(1, 40))]
    wanted = data.draw(st.sampled_from([wanted, wanted.lower()]))
    loose = data.draw(st.booleans())
    words = re.split(r"\s+", wanted) if loose else [wanted]
    pattern = Pattern(r"\s+".join(map(re2.escape, words)) if loose else wanted, exact=not loose)
    if not any(pattern.lines(text.encode(), 100, bool)):
        return
    index, content_id = parted[text, size]
    with pytest.MonkeyPatch.context() as patch, index.pool.connection() as reader:
        patch.setattr("livedex_indexing.lines.candidates.MANY", 0)
        patch.setattr("livedex_indexing.lines.candidates.FEW", 0)
        patch.setattr("livedex_indexing.lines.candidates.ALTERNATIVES", 0.01)
        found = candidates(reader, pattern.required, Vocabulary().words(reader))
    assert found is None or content_id in found
