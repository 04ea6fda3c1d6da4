"""A folder of 20 files among 23,000 gives its full top 10 with every filter that selects it, alone and combined."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from helpers.indexed_folder import SIGNATURE, Indexed, WireAnswer, chunked
from helpers.support import examples, share_of
from livedex_indexing.model import FileRow, FileState

FILES = 23_000
FEW = 20
THEN, LATER = 1_700_000_000, 1_800_000_000  # when the many were written, and the few
TOP = "---\ndraft:\n  of: walrus\ntags: [few]\n---\n"
# Each selects the few files and no other. ``root`` is filled in later.
FILTERS: dict[str, dict[str, Any]] = {
    "path": {"path": "{root}/few"},
    "roots": {"roots": ["{root}"]},
    "globs of a folder": {"globs": ["/few/*"]},
    "globs of an ending": {"globs": ["*.md"]},
    "globs that exclude": {"globs": ["!*.c"]},
    "languages": {"languages": ["Markdown", "cobol"]},
    "kinds": {"kinds": ["markdown_text", "markdown_table"]},
    "after": {"modified_after": "2027-01-15T08:00:00Z"},
    "between": {"modified_after": "2027-01-15T08:00:00Z", "modified_before": "2027-01-15T08:00:20Z"},
    "path:": {"terms": "path:few"},
    "path: as a glob": {"terms": "path:/few/*.md"},
    "ext:": {"terms": "ext:md"},
    "lang:": {"terms": "lang:markdown"},
    "kind:": {"terms": "kind:markdown_text"},
    "meta:": {"terms": "meta:draft.of=Walrus"},
    "meta: of a name": {"terms": "meta:draft"},
    "tag:": {"terms": "tag:few"},
    "-lang:": {"terms": "-lang:c"},
    "-ext:": {"terms": "-ext:c"},
}
# The commonest words, which all files contain; in the many they are more frequent and closer together.
QUERIES = ("walrus", "walrus tusk", "the red walrus", '"red walrus"', "walr*", "walrus tsuk", "walrus -badger")
FACETED = ("walrus", '"red walrus"', "")


class Large:
    """An index of ``FILES`` files; only the few are on disk, and no other may be shown."""

    def __init__(self, folder: Path) -> None:
        self.index = Indexed(folder, ("many", "few-of-them"))
        for number in range(FEW):
            text = f"{TOP}{'other words ' * 9}\nred walrus\na long tusk {number}\n"
            self.index.write(f"few-of-them/few/f{number}.md", text, mtime=LATER + number)
        known = [self._content(number) for number in range(11_500)]
        rows = [self._row(number, *known[number % len(known)]) for number in range(FILES - FEW)]
        with self.index.store.transaction():
            self.index.store.put_files(rows)

    def _content(self, number: int) -> tuple[int, bytes]:
        data = f"int walrus_tusk(walrus, tusk);\nred walrus tusk {number}\nthe red walrus\n".encode()
        digest = hashlib.blake2b(data, digest_size=16).digest()
        return self.index.store.add_content(digest, SIGNATURE, len(data), chunked(data, "c")), digest

    def _row(self, number: int, content_id: int, digest: bytes) -> FileRow:
        path = f"walrus/tusk{number % 100}/red_walrus_tusk{number}.c".encode()
        state = FileState(50, (THEN + number) * 1_000_000_000, 0, 1_000_000 + number)
        return FileRow(1, path, state, "indexed", None, content_id, digest, SIGNATURE, "c", 0.0, settled=True)

    @property
    def root(self) -> str:
        """Return the root of the few files."""
        return os.fsdecode(self.index.roots[2])

    def ask(self, query: str, *names: str, **params: Any) -> WireAnswer:
        """Return the answer with all the filters of these names."""
        for name in names:
            filters = _in(self.root, FILTERS[name])
            query += f" {filters.pop('terms', '')}"
            params |= filters
        answer = self.index.ask(query.strip(), **params)
        assert not answer.stale, "none of the many was even looked at"
        return answer

    def hits(self, query: str, *names: str, **params: Any) -> list[dict[str, Any]]:
        return self.ask(query, *names, **params).hits


def _in(root: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in(root, one) for key, one in value.items()}
    return [_in(root, one) for one in value] if isinstance(value, list) else value.replace("{root}", root)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    made = Large(tmp_path_factory.mktemp("large"))
    with made.index:
        yield made


@pytest.mark.parametrize(("query", "group"), [("walrus", "file"), *((query, "chunk") for query in QUERIES)])
def test_every_filter_gives_the_full_answer(large: Large, query: str, group: str) -> None:
    """Ten of ten and twenty of twenty, ranked, and in the same order whichever filter selects them."""
    by_path = [hit["path"] for hit in large.hits(query, "path", limit=1000, group=group)]
    assert len(set(by_path)) == len(by_path) == FEW
    for name in share_of(FILTERS, QUERIES.index(query)):
        hits = large.hits(query, name, group=group)
        assert len(hits) == 10, name
        assert all(hit["score"] > 0 for hit in hits), name
        assert [hit["path"] for hit in hits] == by_path[:10], name
        assert [hit["path"] for hit in large.hits(query, name, group=group, limit=1000)] == by_path, name


def test_any_two_filters_too(large: Large) -> None:
    for names in Random(3).sample(list(combinations(FILTERS, 2)), examples(40)):
        hits = large.hits("walrus tusk", *names)
        assert len(hits) == 10, names
        assert all(hit["score"] > 0 for hit in hits), names


def test_without_words_and_line_by_line_too(large: Large) -> None:
    for name, filters in FILTERS.items():
        assert len(large.hits("", name)) == 10, name
        if "terms" not in filters:  # a pattern is all of its query
            for query, mode in (("red walrus", "exact"), (r"^red w[a-z]lrus$", "regex")):
                hits = large.hits(query, name, mode=mode, limit=1000)
                assert len(hits) == FEW, (name, mode)
                assert {hit["start_line"] for hit in hits} == {7}


@pytest.mark.parametrize("query", FACETED)
def test_facets_count_all_of_them_and_no_others(large: Large, query: str) -> None:
    counts = {"languages": {"markdown": FEW}, "kinds": {"markdown_text": FEW}, "roots": {large.root: FEW}}
    for name in share_of(FILTERS, FACETED.index(query)):
        assert large.ask(query, name, facets=list(counts)).extras["facets"] == counts, name
