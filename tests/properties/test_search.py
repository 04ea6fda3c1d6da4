"""Searches compared with a model that reads the files: filters select what they say, and no query ever fails."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import LANGUAGES, Indexed
from helpers.support import examples
from livedex_indexing.model import KINDS

WORDS = ["walrus", "tusk", "getFooBar", "snd_soc", "Größe", "日本語", "the", "running", "x"]
SUFFIXES = ["py", "md", "c", "txt", "PY"]
START = 1_700_000_000


class Corpus:
    """Random files, and the model of each."""

    def __init__(self, folder: Path) -> None:
        chance = random.Random(5)
        self.index = Indexed(folder, ("one", "two", "two/inner"))
        self.files: dict[str, tuple[str, int]] = {}
        for number in range(120):
            root = chance.choice(["one", "two", "two/inner"])
            inside = "/".join(chance.choices(["a", "b", "deep", "src"], k=chance.randrange(3)))
            name = f"{chance.choice(['alpha', 'beta', 'walrus'])}{number}.{chance.choice(SUFFIXES)}"
            path = "/".join(filter(None, (root, inside, name)))
            lines = [" ".join(chance.choices(WORDS, k=3)) for _ in range(chance.randrange(1, 30))]
            text = "\n".join([f"unique{number}", *lines]) + "\n"
            self.index.write(path, text, mtime=START + number)
            self.files[path] = (text, START + number)

    def holds(self, path: str, word: str) -> bool:
        """Return whether a plain word is in a file, or in its path below the root, where it may be part of a word."""
        rel = os.fsdecode(self.index.root_of(path)[1]).lower()
        return word in re.findall(r"[a-z0-9]+", f"{self.files[path][0].lower()} {rel}") + re.findall(r"[a-z]+", rel)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    made = Corpus(tmp_path_factory.mktemp("corpus"))
    with made.index:
        yield made


def found(corpus: Corpus, query: str, params: dict[str, Any]) -> set[str]:
    hits = corpus.index.search(query, limit=1000, **params)
    return {str(Path(hit["path"]).relative_to(corpus.index.folder)) for hit in hits}


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "path": st.sampled_from(["", "one", "one/a", "one/a/b", "two", "two/inner", "two/inner/src", "one/nothing"]),
        "roots": st.lists(st.sampled_from(["one", "two", "two/inner"]), min_size=1, max_size=2),
        "languages": st.lists(st.sampled_from(["python", "C", "markdown", "cobol"]), min_size=1, max_size=2),
        "kinds": st.lists(st.sampled_from(KINDS), min_size=1, max_size=3),
        "globs": st.sampled_from([["*.py"], ["!*.py"], ["a/**"], ["*.{c,md}", "!alpha*"]]),
        "modified_after": st.integers(0, 130),
        "modified_before": st.integers(0, 130),
    },
)
TERMS = st.lists(
    st.sampled_from(["ext:py", "ext:C", "-ext:md", "path:a", "-path:walrus", "path:/a", "lang:python", "-lang:c",
                     "kind:code", "-kind:plain", "ext:txt", "path:*.md", "-tusk"]),
    max_size=3, unique=True,
)  # fmt: skip


def admits(corpus: Corpus, path: str, query: str, params: dict[str, Any]) -> bool:
    root_id, rel_bytes = corpus.index.root_of(path)
    root, rel = os.fsdecode(corpus.index.roots[root_id]), os.fsdecode(rel_bytes)
    full, when = f"{corpus.index.folder}/{path}", corpus.files[path][1]
    suffix = path.rpartition(".")[2]
    language = LANGUAGES.get(suffix)
    kind = {"python": "code", "c": "code", "markdown": "markdown_text"}.get(language or "", "plain")
    inside = params.get("path")
    tests = [
        inside is None or full.startswith(inside.rstrip("/") + "/"),
        # A file belongs to the innermost root that contains it, so a root inside the named one is another root.
        "roots" not in params or root in params["roots"],
        "languages" not in params or language in {name.lower() for name in params["languages"]},
        "kinds" not in params or kind in params["kinds"],
        "globs" not in params or _glob(rel, params["globs"]),
        when >= _seconds(params.get("modified_after"), 0),
        when < _seconds(params.get("modified_before"), 1 << 40),
    ]
    wanted: dict[str, list[bool]] = {}
    for term in query.split():
        if term == "-tusk":
            tests.append(not corpus.holds(path, "tusk"))
        elif ":" in term:
            name, value = term.lstrip("-").split(":")
            value = value.lower()
            fits = {
                "ext": suffix.lower() == value,
                "lang": language == value,
                "kind": kind == value,
                "path": rel.endswith(".md") if value == "*.md" else _inside(rel, value),
            }[name]
            if term.startswith("-"):
                tests.append(not fits)
            else:
                wanted.setdefault(name, []).append(fits)
    return all(tests) and all(any(values) for values in wanted.values())


def _inside(rel: str, value: str) -> bool:
    return rel.startswith(value[1:]) if value.startswith("/") else value in rel


def _glob(rel: str, globs: list[str]) -> bool:
    return {
        "*.py": rel.endswith(".py"),
        "!*.py": not rel.endswith(".py"),
        "a/**": rel.startswith("a/"),
        "*.{c,md}": rel.endswith((".c", ".md")) and not rel.rpartition("/")[2].startswith("alpha"),
    }[globs[0]]


def _seconds(text: str | None, otherwise: int) -> float:
    from livedex_ipc.params import parse_time

    return otherwise if text is None else parse_time(text) / 1e9


@given(
    FILTERS, TERMS, st.sampled_from(["", "walrus", "tusk", "unique7 tusk", "zebra"]), st.sampled_from(["chunk", "file"])
)
@example({}, ["path:a", "path:/a"], "walrus", "file")  # a slash is no sign of code
@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_filters_equal_a_model(
    corpus: Corpus, params: dict[str, Any], terms: list[str], words: str, group: str
) -> None:
    for name in ("modified_after", "modified_before"):
        if name in params:
            params[name] = f"2023-11-14T22:{13 + (20 + params[name]) // 60}:{(20 + params[name]) % 60:02}Z"
    if "path" in params:
        params["path"] = f"{corpus.index.folder}/{params['path']}"
    if "roots" in params:
        params["roots"] = [f"{corpus.index.folder}/{name}" for name in params["roots"]]
    query = " ".join([words, *terms])
    expected = {
        path
        for path in corpus.files
        if admits(corpus, path, query, params)
        and (not words or any(corpus.holds(path, word) for word in words.split()))
    }
    assert found(corpus, query, {**params, "group": group}) == expected


PIECES = st.sampled_from(
    [*WORDS, '"', "-", "*", " ", " ", "\t", ":", "path:", "ext:", "lang:", "kind:", "(", ")", "NEAR(", "AND", "OR",
     "NOT", "^", "{", "}", "'", "\\", "\0", "🙂", "\u0301", "\ud800", ",", "+", "C++", "a.b", "wal*", "x*", "-tusk",
     '"the walrus"',
     "\u200b", "ﬁ", "İ", "ß", "\uffff", "\U0010ffff", "5", "0x1F", "--", "->", "/", "**", "[a", "!"]
)  # fmt: skip


PIECED = st.lists(PIECES, max_size=25)


@given(
    st.one_of(st.text(max_size=60), PIECED.map("".join), PIECED.map(" ".join)),
    st.integers(1, 20), st.integers(0, 50), st.sampled_from(["chunk", "file"]), st.integers(1, 500), st.integers(0, 3),
)  # fmt: skip
@example("ß", 1, 20, "chunk", 19, 0)  # a match that begins where the snippet of its line ends
@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_fails(
    corpus: Corpus, query: str, limit: int, offset: int, group: str, chars: int, context: int
) -> None:
    params: dict[str, Any] = {"limit": limit, "offset": offset, "group": group, "max_snippet_chars": chars}
    answer = corpus.index.ask(query, **params, context_lines=context, explain=True)
    assert len(answer.hits) <= limit
    assert answer.stale == {}
    scores = [hit["score"] for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in answer.hits:
        check_hit(corpus, hit, chars)


def check_hit(corpus: Corpus, hit: dict[str, Any], chars: int) -> None:
    data = Path(hit["path"]).read_bytes()
    snippet = hit["snippet"]
    encoded = snippet.encode()
    assert len(snippet) <= chars
    assert data[hit["snippet_byte"] : hit["snippet_byte"] + len(encoded)] == encoded
    assert hit["snippet_line"] == data[: hit["snippet_byte"]].count(b"\n") + 1
    assert hit["start_line"] == data[: hit["start_byte"]].count(b"\n") + 1
    assert hit["start_byte"] <= hit["snippet_byte"] <= hit["end_byte"]
    at = 0
    for start, end in hit["highlights"]:
        assert at <= start < end <= len(snippet)
        at = end
    if hit.get("context_before"):
        before = data[: hit["snippet_byte"]].rpartition(b"\n")[0] + b"\n"
        assert before.decode().endswith(hit["context_before"])


@given(
    TERMS, st.sampled_from(["", "walrus", "tusk getFooBar", "walrus5 the", '"tusk walrus"', 'walrus -"x x"', "日本語"])
)
@example(["ext:C", "path:a", "path:*.md"], "tusk getFooBar")  # in one root alone, lines have the text as typed
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_facet_is_what_its_filter_would_find(corpus: Corpus, terms: list[str], words: str) -> None:
    query = " ".join([words, *terms])
    answer = corpus.index.ask(query, facets=["roots", "kinds", "languages"])
    facets = answer.extras["facets"]
    mode = "keyword" if answer.mode == "keyword" else "auto"  # a filter may leave only lines with the text
    for name, counts in facets.items():
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
        for value, count in counts.items():
            hits = corpus.index.search(query, limit=1000, group="file", mode=mode, **{name: [value]})
            assert count == sum(1 + hit.get("also_at_total", 0) for hit in hits), (name, value)
    every = {"kinds": KINDS, "languages": ["python", "markdown", "c"]}
    for name, values in every.items():
        for value in set(values) - set(facets[name]):
            filtered = corpus.index.ask(query, mode=mode, **{name: [value]})
            assert filtered.hits == [] or "did_you_mean" in filtered.extras  # of corrected words


@given(
    st.sampled_from(["walrus", "tusk the", '"walrus tusk"', "getFooBar wal*", "", "ext:py", "-tusk", "wlarus tsuk"]),
    st.integers(4, 40),
    st.sampled_from(["chunk", "file"]),
)
@example("walrus tusk", 1, "file")
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_neither_overlap_nor_leave_out(corpus: Corpus, query: str, limit: int, group: str) -> None:
    whole = corpus.index.search(query, limit=1000, group=group)
    pages: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        answer = corpus.index.ask(query, limit=limit, offset=offset, group=group)
        pages += answer.hits
        assert answer.next_offset is None or answer.next_offset == offset + limit
        offset = answer.next_offset
    assert pages == whole
    keys = [(hit["path"], hit["start_byte"]) for hit in whole]
    assert len(set(keys)) == len(keys)


@given(
    st.lists(
        st.sampled_from(["walrsu", "tsuk", "runing", "getFoBar", "snd_socc", "grösse", "tusk", "x", '"x tusk"']),
        max_size=4,
    ),
    TERMS,
)
@example(["getFoBar", "walrsu", "tsuk", '"x tusk"'], [])  # corrected, it is a message with a value in quotes
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_said_to_be_meant_needs_no_repair(corpus: Corpus, words: list[str], terms: list[str]) -> None:
    query = " ".join([*words, *terms])
    said = corpus.index.ask(query, limit=1000).extras.get("did_you_mean")
    if said is not None:
        assert "did_you_mean" not in corpus.index.ask(said["query"]).extras
        assert found(corpus, said["query"], {}) <= found(corpus, query, {})


@given(st.sampled_from(["walrus tusk", "tusk getFooBar", "running the walrus"]))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_phrase_finds_what_a_reader_would(corpus: Corpus, phrase: str) -> None:
    pattern = re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, phrase.split())) + r"(?![^\W_])", re.IGNORECASE)
    expected = {path for path, (text, _) in corpus.files.items() if pattern.search(text)}
    assert found(corpus, f'"{phrase}"', {}) == expected
