"""The blocks of a Markdown text, its headings and its frontmatter."""

from __future__ import annotations

import pytest

from livedex_indexing.chunk import frontmatter, markdown
from livedex_indexing.chunk.markdown import Block, Heading, blocks


def kinds(text: str) -> list[tuple[str, str]]:
    found, _ = blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == text
    return [(block.kind.removeprefix("markdown_"), text[block.start : block.end]) for block in found]


def chains(text: str) -> list[str]:
    return [heading.chain for heading in blocks(text)[1]]


def test_a_small_file_falls_apart_by_kind() -> None:
    text = "# Title\n\nWords.\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![A cat](img/cat.png)\n"
    found, headings = blocks(text)
    assert [block.kind for block in found if text[block.start : block.end].strip()] == [
        "markdown_text",
        "markdown_code",
        "markdown_table",
        "markdown_image",
    ]
    assert headings == [Heading(0, 1, "Title", "Title")]
    code, image = found[1], found[-1]
    assert code.language == "python"
    assert (image.alt, image.src) == ("A cat", "img/cat.png")


@pytest.mark.parametrize(
    ("fence", "language"),
    [
        ("```c#\nx\n```\n", "c#"),
        ("~~~rust\nx\n~~~\n", "rust"),
        ("````md\n```\ninner\n```\n````\n", "md"),
        ("~~~\n```\n~~~\n", None),
        ("```{.haskell .numberLines}\nx\n```\n", "haskell"),
        ("``` Python title=x\nx\n`````\n", "python"),
        ("  ```js\n  x\n  ```\n", "js"),
        ("```\r\nx\r\n```\r\n", None),
        ("```text\n| a |\n|---|\n# no\n```\n", "text"),
        ("```\n```x\n~~~\n", None),
    ],
)
def test_fences(fence: str, language: str | None) -> None:
    text = "before\n" + fence
    found, headings = blocks(text)
    assert found[1:] == [Block("markdown_code", 7, len(text), language)]
    assert not headings


def test_what_follows_a_fence_is_text_again() -> None:
    assert kinds("```\na\n```\n# b\n") == [("code", "```\na\n```\n"), ("text", "# b\n")]


def test_an_inline_span_opens_no_fence() -> None:
    assert kinds("``` a ``` b\n# c\n")[0][0] == "text"


@pytest.mark.parametrize(
    "table",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a | b\n--|--\n1 | 2\n",
        "| a |\n|:-:|\n",
        "a|b\r\n:-|-:\r\n1|2\r\n",
        "  | a \\| b | c |\n  |---|---|\n",
    ],
)
def test_tables(table: str) -> None:
    assert kinds("x\n\n" + table) == [("text", "x\n\n"), ("table", table)]


@pytest.mark.parametrize("text", ["a | b\n---\n", "a | b\n|---|\n", "a\n|-|-|\n", "a | b\nc | d\n", "|\n"])
def test_what_only_looks_like_a_table(text: str) -> None:
    assert all(kind == "text" for kind, _ in kinds(text))


@pytest.mark.parametrize(
    ("line", "alt", "src"),
    [
        ("![](a.png)", "", "a.png"),
        ('  ![a [b] c](<x y.png> "title")', "a [b] c", "x y.png"),
        ("![a](b_(c).png)", "a", "b_(c).png"),
        ("[![badge](b.svg)](https://example.org/x)", "badge", "b.svg"),
    ],
)
def test_images(line: str, alt: str, src: str) -> None:
    text = f"words\n{line}\nwords\n"
    image = blocks(text)[0][1]
    assert (image.kind, image.alt, image.src) == ("markdown_image", alt, src)
    assert text[image.start : image.end] == line + "\n"


def test_a_line_of_images_gives_one_each_and_one_inside_a_sentence_none() -> None:
    assert kinds("![a](b) ![c](d)\n") == [("image", "![a](b) "), ("image", "![c](d)\n")]
    assert kinds("see ![a](b) there\n") == [("text", "see ![a](b) there\n")]


def test_headings_make_chains() -> None:
    text = "# A #\n\n## B\nx\n### C ##\n## D\nTwo\nlines\n=====\n#### `e`\n# \n"
    assert chains(text) == ["A", "A > B", "A > B > C", "A > D", "Two lines", "Two lines > `e`"]


@pytest.mark.parametrize(
    "text",
    [
        "#no\n",
        "    # code\n",
        "- item\n---\n",
        "> quote\n---\n",
        "\n---\n",
        "---\n",
        "<!--\n# hidden\n-->\n",
        "<!-- never closed\n# hidden\n",
        "<pre>\n# hidden\n</pre>\n",
        "    code\n---\n",
        "####### seven\n",
        "a\nb\nc\nd\n---\n",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert chains(text) == []


def test_a_section_begins_at_its_heading() -> None:
    assert kinds("x\n\n# A\ny\n# B\n") == [("text", "x\n\n"), ("text", "# A\ny\n"), ("text", "# B\n")]


@pytest.mark.parametrize("piece", ["# Title\n", "```\nx = 1\n```\n", "|a|\n|-|\n\n", "![A cat](cat.png)\n", "A\n=\n"])
def test_after_very_many_blocks_the_rest_is_text(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MOST_BLOCKS", 5)
    text = piece * 9 + "Words at the end.\n"
    found, headings = blocks(text)
    assert "".join(text[block.start : block.end] for block in found) == text
    assert [block.fallback for block in found] == [None] * 5 + ["blocks"]
    assert found[-1].kind == "markdown_text"
    assert len(headings) <= 6


@pytest.mark.parametrize(
    "line", ["|a" * 3000, "![" * 4000, "![a](" * 2000, "[" * 9000, "a|" * 20_000 + "\n" + "-|" * 20_000]
)
def test_a_long_line_is_never_a_marker(line: str) -> None:
    assert [kind for kind, _ in kinds(line + "\n# h\n")] == ["text", "text"]


class TestFrontmatter:
    def test_scalars_stay_as_written(self) -> None:
        text = "---\ntitle: A\ndate: 2026-01-02\nn: 010\non: yes\nnone: ~\nq: '5'\ntags: [a, b]\nsub: {k: 1.0}\n---\nx"
        assert frontmatter.read(text) == (
            text.index("\nx") + 1,
            {
                "title": "A",
                "date": "2026-01-02",
                "n": "010",
                "on": "yes",
                "none": "~",
                "q": "5",
                "tags": ["a", "b"],
                "sub": {"k": "1.0"},
            },
            None,
        )

    @pytest.mark.parametrize("text", ["", "x", "--- \n", "----\na: b\n----\n", "\n---\na: b\n---\n", "---\na: b\n"])
    def test_there_is_none(self, text: str) -> None:
        assert frontmatter.read(text) == (0, None, None)

    @pytest.mark.parametrize(
        ("block", "fault"),
        [
            ("a: &x 1\nb: *x\n", "aliases"),
            ("a: &x 1\n", "aliases"),
            ("a: [1\n", "not YAML in line 3"),
            ("just words\n", "not a mapping"),
            ("- a\n- b\n", "not a mapping"),
            ("? [a]\n: b\n", "a key"),
            ("a: " + "[" * 20 + "]" * 20 + "\n", "too deep"),
        ],
    )
    def test_bad_ones_say_why(self, block: str, fault: str) -> None:
        end, values, why = frontmatter.read(f"---\n{block}---\ntext\n")
        assert (end, values) == (0, None)
        assert why is not None and fault in why

    def test_the_first_line_of_dashes_ends_it(self) -> None:
        assert frontmatter.read("---\na: 1\n... \n--- \n---\ntext\n") == (19, {"a": "1"}, None)

    def test_no_object_is_made(self) -> None:
        found = frontmatter.read("---\na: !!python/object/apply:os.abort []\nb: !!int 3\n---\n")
        assert found.values == {"a": [], "b": "3"}

    def test_a_huge_block_is_text(self) -> None:
        assert frontmatter.read("---\n" + "a: b\n" * 20_000 + "---\n") == (0, None, None)
