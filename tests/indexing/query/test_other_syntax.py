"""Globs, and the qualifiers of other tools."""

from __future__ import annotations

import pytest

from livedex_indexing.query.other_syntax import qualified, typed_glob


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("*.service", "path:*.service"),
        (" test_*.py ", "path:test_*.py"),
        ("src/**/index.ts", "path:src/**/index.ts"),
        ("**/*.{ts,tsx}", "path:**/*.ts path:**/*.tsx"),
        ("docs/*", "path:docs/*"),
        ("docs/**", "path:docs/*"),
        ("Dockerfile.*dev", "path:Dockerfile.*dev"),
        ("[a-c]*.go", "path:[a-c]*.go"),
    ],
)
def test_a_glob_names_files(text: str, meant: str) -> None:
    found = typed_glob(text)
    assert found is not None and found.query == meant


@pytest.mark.parametrize(
    "text",
    [
        "index.ts",
        "read*limit",
        "walk*",
        "src/wal*",
        "self.*",
        "*",
        "**/",
        "*p",
        "a * b.c",
        "/* walk.c",
        "/*walk.c*/",
        "https://a.org/*.c",
        "*.{a,b,c,d,e,f,g,h,i}",
        "*.{a,{b,c}}",
        "x = *.py",
        "",
    ],
)
def test_another_text_is_no_glob(text: str) -> None:
    assert typed_glob(text) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("walk language:go", "walk lang:go"),
        ("language:go walk -extension:py", "lang:go walk -ext:py"),
        ('walk file:"src/walk.go"', 'walk path:"src/walk.go"'),
        ("file:walk.go", "walk.go"),
        ("filename:*.go", "*.go"),
        ("symbol:Walk", "Walk"),
        ("symbol:Walk language:go", "Walk lang:go"),
    ],
)
def test_qualifiers_are_terms_and_names(text: str, meant: str) -> None:
    found = qualified(text)
    assert found is not None and found.query == meant


@pytest.mark.parametrize("text", ["walk lang:go", "file: walk", "file:///srv/walk", "file:/srv", "repo:a/b", ""])
def test_another_text_has_no_qualifier(text: str) -> None:
    assert qualified(text) is None
