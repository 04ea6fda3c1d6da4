"""The path of each key of a configuration is read from its lines."""

from __future__ import annotations

import pytest

from livedex_indexing.query.key_path import is_below, key_at, key_path, keys, values_path


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a:\n  b: 1\n  c:\n    d: 2\ne: 3\n", ["a", "a.b", "a.c", "a.c.d", "e"]),
        ("a:\n- b: 1\n  c: 2\n- b: 3\nd: x\n", ["a", "a.b", "a.c", "a.b", "d"]),
        ("a:\n  - - b: 1\n      c: 2\n", ["a", "a.b", "a.c"]),
        ('{\n  "a": {\n    "b": [\n      {"c": 1}\n    ]\n  },\n  "d": 2\n}\n', ["a", "a.b", "d"]),
        ('x = 1\n[a."b"]\n  c = 2\n[[d]]\ne.f = 3\n', ["x", "a.b", "a.b.c", "d", "d.e.f"]),
        ("# a: 1\nhttp://example.com\nb=c:d\nstd::move\n", ["b"]),
    ],
)
def test_a_key_has_all_that_it_is_below(text: str, paths: list[str]) -> None:
    assert [path for _, path in keys(text)] == paths


def test_a_key_is_where_its_line_begins() -> None:
    assert list(keys("a:\n\n  b: 1\n")) == [(0, "a"), (4, "a.b")]


@pytest.mark.parametrize("typed", ["a.b.c", ".a.b.c", "a[0].b[*].c", "a.0.b.c", 'a."b".c'])
def test_a_typed_path_has_no_places_of_lists(typed: str) -> None:
    assert key_path(typed) == "a.b.c"


def test_a_path_ends_in_whole_keys() -> None:
    assert is_below("a.b.c", "b.c")
    assert is_below("a.b", "a.b")
    assert not is_below("a.bb.c", "b.c")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (".Values.image.tag", "image.tag"),
        ("$.Values.image.tag", "image.tag"),
        ("{{ .Values.image.tag | quote }}", "image.tag"),
        ("{{- if .Values.image.tag }}", "image.tag"),
        ("{{- toYaml .Values.image.tag | nindent 4 }}", "image.tag"),
        ("--set image.tag=1", "image.tag"),
        ("helm install ship ./ship --set-string 'image.tag=1'", "image.tag"),
        ("image.tag", ""),
        (".Values.image", ""),
        ("Values are set", ""),
        ("git config --set image", ""),
    ],
)
def test_the_path_that_a_template_of_helm_reads(text: str, path: str) -> None:
    assert values_path(text) == path


def test_of_equal_keys_that_with_most_of_the_keys_above_it() -> None:
    text = "a:\n  tag: 1\nb:\n  tag: 2\n"
    assert key_at(text, "b.tag") == (text.rindex("tag"), text.rindex("tag") + 3)
    assert key_at(text, "x.tag") == (text.index("tag"), text.index("tag") + 3)
    assert key_at(text, "a.c") is None
