"""Hits as text: in order, in as few lines as show the match, and without harmful characters of a file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.cli.render.hit_lines import Line, cut_line
from livedex_ipc.cli.render.search_text import (
    Blocks,
    View,
    correction_text,
    facets_text,
    hit_text,
    hits_text,
    total_text,
)
from livedex_ipc.cli.render.terminal_text import display_width

LONG = View(form="long")
SHORT = View(form="short")
MANY = "\n".join(f"line {number} with one" for number in range(1, 10)) + "\nthe two and one\nlast"


def hit(**fields: Any) -> Any:
    base = {"path": "/r/a.md", "heading": None, "symbol": None, "snippet": "one two", "snippet_line": 3}
    return {**base, "highlights": [(4, 7)], **fields}


def marked(text: str, *words: str) -> Any:
    """A hit with every occurrence of the words highlighted."""
    spans = [(at, at + len(word)) for word in words for at in range(len(text)) if text.startswith(word, at)]
    return hit(snippet=text, snippet_line=1, highlights=sorted(spans))


def test_a_hit_is_its_number_its_place_and_what_matched() -> None:
    text = hits_text([hit(heading="Top > Sub", symbol="f")], View(colour=True))
    assert text.splitlines() == [
        "1  \x1b[35m/r/a.md\x1b[0m:\x1b[32m3\x1b[0m  \x1b[2mTop > Sub · f\x1b[0m",
        "   \x1b[32m3\x1b[0m:one \x1b[1;31mtwo\x1b[0m",
    ]


def test_a_hit_takes_three_lines_at_most_those_with_most_of_the_words() -> None:
    text = hits_text([marked(MANY, "one", "two", "line 3")], View())
    assert text.splitlines() == ["1  /r/a.md:3", "   3:line 3 with one", "   10:the two and one"]
    assert len(hits_text([marked(MANY)], View()).splitlines()) == 2, "without a match: the first line"
    assert hits_text([hit(snippet="", highlights=[])], View()) == "1  /r/a.md\n", "an empty file"


def test_numbers_go_on_from_page_to_page_and_are_aligned() -> None:
    lines = hits_text([hit()] * 10, View(), first=95).splitlines()
    assert lines[0] == " 95  /r/a.md:3"
    assert lines[1] == "     3:one two"
    assert lines[-2] == "104  /r/a.md:3"


def test_the_long_form_has_all_lines_and_the_context() -> None:
    around = {"context_before": "a\nb\n", "context_after": "c\n"}
    text = hits_text([hit(snippet="one two\nthree four\nfive", highlights=[(4, 13)], **around)], LONG)
    assert [line.strip() for line in text.splitlines()[1:]] == "1-a 2-b 3:one_two 4:three_four 5-five 6-c".replace(
        "_", "\0"
    ).replace(" ", "|").replace("\0", " ").split("|")


def test_lines_around_those_that_show_why_are_shown_on_request() -> None:
    shown = hits_text([marked(MANY, "two")], View(around=1)).splitlines()[1:]
    assert shown == ["   9-line 9 with one", "   10:the two and one", "   11-last"]
    grep = hits_text([marked(MANY, "two"), hit()], View(form="short", around=1)).splitlines()
    assert grep == [
        "/r/a.md-9-line 9 with one",
        "/r/a.md:10:the two and one",
        "/r/a.md-11-last",
        "--",
        "/r/a.md:3:one two",
    ]


def line_hit(text: str, number: int, around: int) -> Any:
    """The hit of one line of a text whose matching lines are those with an m."""
    lines = text.splitlines(keepends=True)
    before, after = lines[max(number - 1 - around, 0) : number - 1], lines[number : number + around]
    fields = {"context_before": "".join(before), "context_after": "".join(after)}
    return hit(snippet=lines[number - 1].rstrip(), snippet_line=number, highlights=[(0, 1)], **fields)


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 3), st.sampled_from(["\n", "\r\n"]), st.integers(1, 3))
def test_hits_that_touch_are_one_block_whatever_the_pages(
    matching: list[bool], around: int, end: str, page: int
) -> None:
    text = "".join(("m" if matches else "a") + end for matches in matching)
    numbers = [number for number, matches in enumerate(matching, 1) if matches]
    shown = [at for at in range(1, len(matching) + 1) if any(abs(at - number) <= around for number in numbers)]
    expected: list[str] = []
    for at, before in zip(shown, [None, *shown], strict=False):
        expected += ["--"] if around and before is not None and before + 1 < at else []
        expected.append(f"/r/a.md:{at}:m" if matching[at - 1] else f"/r/a.md-{at}-a")
    view = View(form="short", around=around)
    hits = [line_hit(text, number, around) for number in numbers]
    assert hits_text(hits, view).splitlines() == expected
    blocks = Blocks(view)
    parts = [hits_text(hits[at : at + page], view, at, blocks) for at in range(0, len(hits), page)]
    assert "".join([*parts, blocks.rest()]).splitlines() == expected


def test_hits_of_two_files_are_two_blocks() -> None:
    other: Any = {**line_hit("a\nm\n", 2, 1), "path": "/r/b.md"}
    shown = hits_text([line_hit("m\na\n", 1, 1), other], View(form="short", around=1)).splitlines()
    assert shown == ["/r/a.md:1:m", "/r/a.md-2-a", "--", "/r/b.md-1-a", "/r/b.md:2:m"]


def test_the_short_form_is_a_line_a_hit() -> None:
    hits = [hit(heading="Top"), hit(snippet="one\ntwo", highlights=[]), hit(also_at=["/r/b"], also_at_total=1)]
    assert hits_text(hits, SHORT).splitlines() == ["/r/a.md:3:one two", "/r/a.md:3:one", "/r/a.md:3:one two"]


def test_a_path_below_the_working_folder_is_shown_relative_to_it() -> None:
    for folder, path, shown in (
        ("/r", "/r/a.md", "a.md"),
        ("/", "/r/a.md", "r/a.md"),
        ("/other", "/r/a.md", "/r/a.md"),
        ("/r", "/rest/a.md", "/rest/a.md"),
        ("/r", "/r/-n", "./-n"),
        ("", "/r/a.md", "/r/a.md"),
    ):
        assert hits_text([hit(path=path)], View(form="short", folder=folder)) == f"{shown}:3:one two\n"


def test_copies_are_counted_and_the_long_form_names_one() -> None:
    copies = {"also_at": ["/r/b\ufffd.md", "/r/c.md"], "also_at_b64": ["L3Iv/2IubWQ=", None], "also_at_total": 2}
    assert hits_text([hit(**copies)], View()).splitlines()[0] == "1  /r/a.md:3  2 copies"
    assert hits_text([hit(**copies)], LONG).splitlines()[-1] == "   also at /r/\\xffb.md and 1 more"
    exact = {"also_at": ["/r/c.md", "/r/b\ufffd.md"], "also_at_b64": [None, "L3Iv/2IubWQ="], "also_at_total": 2}
    assert hits_text([hit(**exact)], LONG).splitlines()[-1] == "   also at /r/c.md and 1 more"


@given(st.text(st.sampled_from("a\x1b\u202e\u200b\r\n\x9b"), max_size=20), st.data())
def test_no_text_of_a_file_and_no_name_reaches_the_terminal_raw(text: str, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(text)))
    right = data.draw(st.integers(left, len(text)))
    entry = hit(path="/" + text, snippet=text, highlights=[[left, right]], heading=text, symbol=text, also_at=[text])
    entry |= {"context_before": text, "context_after": text}
    for form in ("short", "normal", "long"):
        for width in (None, 30):
            view = View(form=form, around=1, width=width, links="file")
            shown = hits_text([entry], view) + hit_text(entry, view, "+")
            links = shown.count("\x1b]8;;file://")
            assert shown.count("\x1b") == 4 * links
            assert not set(shown) & set("\u202e\u200b\r\x9b")


@given(st.text(st.sampled_from("ab 豆\t\x1b"), max_size=80), st.data())
def test_a_line_is_cut_to_the_width_and_keeps_its_first_match(text: str, data: st.DataObject) -> None:
    columns = data.draw(st.integers(20, 60))
    left = data.draw(st.integers(0, len(text)))
    line = Line(1, text, [(left, left + 1)] if left < len(text) else [], True)
    cut = cut_line(line, columns)
    shown = hits_text([hit(snippet=text, highlights=line.spans)], View(form="short", width=columns + len("/r/a.md:3:")))
    assert display_width(shown.rstrip("\n").replace("\t", " " * 8)) <= columns + len("/r/a.md:3:")
    assert cut.text.strip("…") in text
    assert not line.spans or cut.text[slice(*cut.spans[0])] == text[left]


def test_links_lead_to_the_file_whatever_its_name() -> None:
    text = hits_text([hit(path="/r/a b\x1b\udce9.md")], View(form="short", links="code"))
    assert text == "\x1b]8;;vscode://file/r/a%20b%1B%E9.md:3\x1b\\/r/a b\\e\\xe9.md:3\x1b]8;;\x1b\\:one two\n"


def test_facets_have_a_line_each() -> None:
    shown = facets_text({"languages": {"python": 12, "c\x1b": 3}, "kinds": {}}, colour=False)
    assert shown == "\nlanguages  python 12  c\\e 3\nkinds  -\n"
    assert facets_text({}, colour=False) == ""


@pytest.mark.parametrize(
    ("shown", "offset", "fields", "said"),
    [
        (0, 0, {"total": {"hits": 0, "files": 0}}, ""),
        (1, 0, {"total": {"hits": 1, "files": 1}}, "1 hit in 1 file\n"),
        (3, 0, {"total": {"hits": 3, "files": 2}}, "3 hits in 2 files\n"),
        (10, 0, {"total": {"hits": 2140, "files": 31}, "next_offset": 10},
         "10 of 2,140 hits in 31 files; more with --offset 10\n"),
        (4, 10, {"total": {"hits": 14, "files": 3}}, "11 to 14 of 14 hits in 3 files\n"),
        (10, 0, {"next_offset": 10}, "10 hits; more with --offset 10\n"),
        (2, 10, {}, "hits 11 to 12\n"),
        (2, 0, {"total": {"hits": 9, "files": 9}, "omitted": 7}, "2 of 9 hits in 9 files; --max-chars left out 7\n"),
    ],
)  # fmt: skip
def test_the_last_line_counts_the_hits(shown: int, offset: int, fields: Any, said: str) -> None:
    result: Any = {"hits": [hit()] * shown, "next_offset": None, **fields}
    assert total_text(result, shown, offset) == said


@pytest.mark.parametrize(
    ("typed", "meant", "said"),
    [
        ("zither", "either", 'no "zither"; showing "either"'),
        ("the zither lang:c", "the either lang:c", 'no "zither"; showing "either"'),
        ("zithr lemn", "zither lemon", 'no "zithr", "lemn"; showing "zither", "lemon"'),
        ('he said "no"', "he said no", "showing: he said no"),
    ],
)
def test_a_correction_names_the_word_that_is_missing(typed: str, meant: str, said: str) -> None:
    assert correction_text(typed, meant) == said
