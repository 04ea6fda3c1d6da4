"""Places as compilers, debuggers, tools and pages write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.query.typed_place import TypedPlace, typed_places

ALONE = [
    "tcp.c:123",
    "tcp.c:123:7:",
    "tcp.c:123-130",
    "tcp.c(123)",
    "tcp.c(123,7)",
    "tcp.c#L123",
    "tcp.c#L123-L130",
    "tcp.c, line 123",
    '"tcp.c", line 123',
    "`tcp.c` line 123",
    "tcp.c on line 123",
    "tcp.c:123.",
    "tcp.c +123",
    "tcp.c L123",
    "+123 tcp.c",
    "line 123 of tcp.c",
    "lines 123-130 of the file 'tcp.c'",
    "tcp.c:L123",
    "tcp.c:[123,7]",
    "tcp.c:line 123",
    "tcp.c: line 123",
    "tcp.c (line 123)",
    "tcp.c: (123, 7)",
    "tcp.c, l. 123",
    "tcp.c ln 123",
    "tcp.c#lines-123",
    "tcp.c?L123",
    "tcp.c?:123:7",
    "tcp.c\n123:7",
]


@pytest.mark.parametrize("text", ALONE)
def test_a_place_alone(text: str) -> None:
    assert typed_places(text) == [TypedPlace("tcp.c", 123, "tcp.c")]
    assert typed_places(f" {text}\n") == typed_places(text)


@pytest.mark.parametrize(
    ("text", "path", "line", "rest"),
    [
        ("net/ipv4/tcp.c:12:9: error: 'x' undeclared", "net/ipv4/tcp.c", 12, "net/ipv4/tcp.c : error: 'x' undeclared"),
        ("tcp.c:12:static int x;", "tcp.c", 12, "tcp.c :static int x;"),
        ("at run (/srv/app/run.js:3:14)", "/srv/app/run.js", 3, "at run ( /srv/app/run.js )"),
        ('{ship,go,2,[{file,"src/ship.erl"},{line,12}]}', "src/ship.erl", 12, "{ship,go,2,[{ src/ship.erl }]}"),
        ("3: go(.data) at ship.R#12", "ship.R", 12, "3: go(.data) at  ship.R"),
        ("kernel BUG at fs/mbcache.c:222!", "fs/mbcache.c", 222, "kernel BUG at  fs/mbcache.c !"),
        ("PHP Warning: odd in /var/www/a.php on line 7", "/var/www/a.php", 7, "PHP Warning: odd in  /var/www/a.php"),
        ("Makefile:12: *** missing separator.  Stop.", "Makefile", 12, "Makefile : *** missing separator.  Stop."),
        ('File "/my own/run.py", line 12, in main', "/my own/run.py", 12, "/my own/run.py , in main"),
        ("where does tcp.c:123 end", "tcp.c", 123, "where does  tcp.c  end"),
        ("./run.sh: 12: odd: not found", "./run.sh", 12, "./run.sh  odd: not found"),
        ("in C:\\src\\App.cs:line 12, no more", "/src/App.cs", 12, "in C: /src/App.cs , no more"),
        ("src/a.ts\n  12:7  error  Unexpected", "src/a.ts", 12, "src/a.ts   error  Unexpected"),
        (
            "--- a/x/a.go\n+++ b/x/a.go\n@@ -9,3 +12,5 @@ func f() {",
            "x/a.go",
            12,
            "--- a/x/a.go\n x/a.go ,5 @@ func f() {",
        ),
    ],
)
def test_a_place_among_words(text: str, path: str, line: int, rest: str) -> None:
    assert typed_places(text) == [TypedPlace(path, line, rest)]
    assert not typed_places(text)[0].is_whole


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        (
            "https://example.com/ada/app/blob/main/src/a.c?plain=1#L12-L20",
            "https://example.com/ada/app/blob/main/src/a.c",
            12,
        ),
        ("src\\net\\a.c:12", "src/net/a.c", 12),
        ("src\\net\\a.c", "src/net/a.c", 0),
        ("--- a/src/a.c", "src/a.c", 0),
        ("+++ b/src/a.c\t2026-11-01", "src/a.c", 0),
        ("diff --git a/src/a.c b/src/a.c", "src/a.c", 0),
        ("(src/a.c),", "src/a.c", 0),
        ("`a.c`", "a.c", 0),
        ("[id].tsx:12", "[id].tsx", 12),
        ("vendor,board.yaml:3", "vendor,board.yaml", 3),
    ],
)
def test_a_path_in_another_form(text: str, path: str, line: int) -> None:
    assert typed_places(text) == [TypedPlace(path, line, path)]


@pytest.mark.parametrize("text", ["README", "tcp.c:0", "foo()", "std::vector", "e"])
def test_a_word_may_be_a_file(text: str) -> None:
    assert typed_places(text) == [TypedPlace(text, 0, text)]


def test_paths_among_words() -> None:
    text = "see docs/a.md and (src/b.c), not c.d nor e/f"
    assert typed_places(text) == [TypedPlace("docs/a.md", 0, text), TypedPlace("src/b.c", 0, text)]


@pytest.mark.parametrize("text", ["", "two words", "see the notes.", "a.b, c.d", "there are 3 lines in it"])
def test_no_place(text: str) -> None:
    assert typed_places(text) == []


def test_a_time_is_no_place() -> None:
    text = "12:13:14 failed in src/a.go"
    assert typed_places(text) == [TypedPlace("src/a.go", 0, text)]


def test_a_number_between_a_command_and_a_path() -> None:
    assert [(place.path, place.line) for place in typed_places("vim +12 a.go")] == [("a.go", 12)]


def test_the_innermost_call_of_a_traceback_comes_first() -> None:
    frames = '  File "a.py", line 1, in f\n    g()\n  File "b.py", line 2, in g\n    h()'
    found = typed_places(f"Traceback (most recent call last):\n{frames}\nValueError: no")
    assert [(place.path, place.line) for place in found] == [("b.py", 2), ("a.py", 1)]
    assert [place.path for place in typed_places("at f (a.js:1:1)\nat g (b.js:2:2)")] == ["a.js", "b.js"]


@given(st.text("ab1.:/\\()#L\"'` \n+-,é", max_size=60))
def test_any_text(text: str) -> None:
    for place in typed_places(text):
        assert place.path
        assert place.path in place.text
        assert place.line >= 0
