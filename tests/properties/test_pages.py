"""Every word that a reader of a page sees is in the converted text, in its order, however malformed the page is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.support import examples

pytest.importorskip("html_to_markdown", reason="the parsers of documents are not installed")
pages = pytest.importorskip("livedex_indexing.parse.pages")

WORD = re.compile(r"okapi\d+x")
NAMES = (
    "p", "div", "section", "article", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "h1", "h2", "h6", "pre", "code",
    "kbd", "samp", "b", "em", "strong", "i", "u", "s", "del", "sub", "sup", "q", "span", "figure", "figcaption", "form",
    "header", "footer", "nav", "aside", "main", "details", "summary", "label", "abbr", "mark", "cite", "address",
    "center", "font", "custom-element", "noscript", "p hidden", 'div style="display:none"', "p aria-hidden=true",
    'div class="cookie sidebar"', "a href=/b", 'a href="https://a.b/c?d" title=t', "a name=n",
)  # fmt: skip
PARTS = ("table", "thead", "tbody", "tr", "td", "th", "td colspan=3", "caption", "template", "select", "textarea")
WHOLE = (
    "<br>", "<br/>", "<hr>", "<wbr>", "<img src=a.png>", "<img src=data:image/png;base64,AA>", "<input type=checkbox>",
    "<script>if (a < b) f()</script>", "<style>p { }</style>", "<!-- c -->", "<!DOCTYPE html>", "<?php echo ?>",
    "&nbsp;", "&lt;b&gt;", "&#65;", "&#xD800;", "&nosuch;", "a_b", "*", "`", "```\n", "\\", "|", "# ", "- ", "1. ",
    "> ", " ", "\n", "\n\n", "\t", "</p>", "</br>", "< ", ">", "&", "<>", "</>", "\0", "é",
)  # fmt: skip


def end_of(name: str) -> str:
    return f"</{name.partition(' ')[0]}>"


def closed(name: str, inside: str) -> str:
    return f"<{name}>{inside}{end_of(name)}"


def table(cells: list[list[str]]) -> str:
    rows = ("".join(closed("td", cell) for cell in row) for row in cells)
    return closed("table", "".join(closed("tr", row) for row in rows))


PIECES = st.sampled_from(["{}", "{} ", " {}", *WHOLE])
TREES = st.recursive(
    st.lists(PIECES, max_size=4).map("".join),
    lambda inner: st.one_of(
        st.builds(closed, st.sampled_from(NAMES), inner),
        st.lists(st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=3).map(table),
        st.lists(inner, max_size=4).map("".join),
    ),
    max_leaves=20,
)
LOOSE = st.sampled_from([*NAMES, *PARTS]).flatmap(lambda name: st.sampled_from([f"<{name}>", end_of(name)]))
BODIES = st.lists(st.one_of(PIECES, LOOSE), max_size=50).map("".join)


def with_words(page: str) -> tuple[str, list[str]]:
    """Return the page with a word for each place, and the words."""
    places = page.split("{}")
    words = [f"okapi{number}x" for number in range(len(places) - 1)]
    return "".join(part for pair in zip(places, [*words, ""], strict=True) for part in pair), words


@given(TREES)
@example("<ul><li>{}<ol start=3><li>{}</ol></ul>{}")
@example("<table><tr><td>{}</td><td><table><tr><td>{}</table></table>{}")
@settings(max_examples=examples(400), deadline=None)
def test_a_page_has_its_words_in_order(page: str) -> None:
    text, words = with_words(page)
    found = WORD.findall(pages.page_text(text))
    if page.count("<table>") > 1:  # one in another may stand behind it
        found.sort(key=words.index)
    assert found == words


@given(BODIES)
@example("<title/>{}")
@example("<b>" * 2000 + "{}")
@settings(max_examples=examples(400), deadline=None)
def test_a_malformed_page_has_all_its_words(body: str) -> None:
    text, words = with_words(body)
    assert sorted(WORD.findall(pages.page_text(text))) == sorted(words)


def test_a_page_that_the_library_cannot_convert_has_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """A panic of Rust code as Python sees it."""

    def panic(*_: object) -> None:
        raise PanicException

    monkeypatch.setattr(pages, "convert", panic)
    assert pages.page_text("<title>All</title><style>p{}</style><p>about <b>okapis</b>") == "All\nabout\nokapis"
