"""Split a Markdown text into blocks: prose under its heading, fenced code, tables, images.

Invariant: the blocks tile the text, and the work is linear in its length. A line of ``_LONGEST`` characters or more is
never a marker, so that no pattern runs on a long subject. After ``MOST_BLOCKS`` blocks the rest is one block of text.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

from livedex_indexing.model import Kind

MOST_BLOCKS = 50_000  # each costs a chunk: with a million, a file takes a minute and the index twenty times its size
_LONGEST = 4096  # characters; a line this long or longer is never a marker
_HEADING_CHARS = 200
_PARAGRAPH_LINES = 3  # the most lines that an underline can turn into a heading

_FENCE = re.compile(r"([ \t]{0,12})(`{3,}|~{3,})([^\r\n]*)")
_DELIMITER = re.compile(r"[ \t]{0,12}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+([^\r\n]*))?\r?")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*\r?")
_NOT_PARAGRAPH = re.compile(r"[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])|    |\t")
_IMAGE = re.compile(
    r"[ \t]*(?P<link>\[)?!\[(?P<alt>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
    r"\([ \t]*(?P<src><[^<>]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'))?[ \t]*\)"
    r"(?(link)\]\([^()]*(?:\([^()]*\)[^()]*)*\))[ \t]*\r?"
)
# HTML whose content is not Markdown: a comment or one of these elements opens it.
_RAW = re.compile(r" {0,3}<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))", re.IGNORECASE)
_INFO = re.compile(r"\{?\s*\.?([^\s{},=]+)")


class Block(NamedTuple):
    """Characters ``start`` to ``end`` of the text. ``language`` is the one that a fence names, None without one.

    ``fallback``: why this block is all the rest of the text, None if it is not.
    """

    kind: Kind
    start: int
    end: int
    language: str | None = None
    alt: str | None = None
    src: str | None = None
    fallback: str | None = None


class Heading(NamedTuple):
    """A heading. ``start`` is the first character of its line; ``chain`` is the headings above it and its own title."""

    start: int
    level: int
    title: str
    chain: str


def blocks(text: str, begin: int = 0) -> tuple[list[Block], list[Heading]]:
    """Return the blocks from character ``begin`` (the start of a line) on, and the headings in them."""
    scan = _Scan(text, begin)
    scan.run()
    return scan.blocks, scan.headings


class _Scan:
    """One pass over the lines. ``first`` is the first line of the current block of prose."""

    def __init__(self, text: str, begin: int) -> None:
        body = text[begin:] if begin else text
        self.lines = body.split("\n")
        self.at = [begin, *accumulate((len(line) + 1 for line in self.lines), initial=begin)][1:]
        self.at[-1] = len(text)
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []
        self.first = 0
        self._above: list[tuple[int, str]] = []

    def run(self) -> None:
        i, count = 0, len(self.lines)
        while i < count and len(self.blocks) < MOST_BLOCKS:
            line = self.lines[i]
            if not line or len(line) >= _LONGEST:
                i += 1
            else:
                i = self._marker(i, line)
        self._flush(count, "blocks" if i < count else None)

    def _marker(self, i: int, line: str) -> int:
        """Handle line ``i`` and return the next line to scan."""
        head = line.lstrip(" \t")[:1]
        if head in ("`", "~") and (fence := _FENCE.match(line)) and not (head == "`" and "`" in fence[3]):
            return self._fence(i, fence)
        if head == "#" and (atx := _ATX.fullmatch(line)):
            title = _CLOSING_HASHES.sub("", (atx[2] or "").strip())
            return self._heading(i, i, len(atx[1]), title)
        if head in ("=", "-") and (under := _SETEXT.fullmatch(line)):
            opened = self._paragraph(i)
            if opened is not None:
                title = " ".join(part.strip() for part in self.lines[opened:i])
                return self._heading(opened, i, 1 if under[1][0] == "=" else 2, title)
        if head == "<" and (raw := _RAW.match(line)):
            return self._raw_end(i, "-->" if raw[1] else f"</{raw[2].lower()}>")
        if "![" in line and (images := _images(line)):
            return self._images(i, images)
        if "|" in line and self._is_table(i, line):
            return self._table(i)
        return i + 1

    def _flush(self, upto: int, fallback: str | None = None) -> None:
        if self.at[upto] > self.at[self.first]:
            self.blocks.append(Block("markdown_text", self.at[self.first], self.at[upto], fallback=fallback))
        self.first = upto

    def _heading(self, opened: int, last: int, level: int, title: str) -> int:
        self._flush(opened)
        title = title[:_HEADING_CHARS].strip()
        self._above = [above for above in self._above if above[0] < level]
        if title:
            self._above.append((level, title))
            chain = " > ".join(name for _, name in self._above)
            self.headings.append(Heading(self.at[opened], level, title, chain))
        return last + 1

    def _paragraph(self, under: int) -> int | None:
        """Return the first line of the paragraph that the underline in line ``under`` makes a heading, or None."""
        i = under
        while i > self.first and under - i <= _PARAGRAPH_LINES:
            line = self.lines[i - 1]
            if not line.strip() or len(line) >= _LONGEST or _ATX.fullmatch(line) or _SETEXT.fullmatch(line):
                break
            if _NOT_PARAGRAPH.match(line):
                return None
            i -= 1
        return i if 0 < under - i <= _PARAGRAPH_LINES else None

    def _fence(self, i: int, fence: re.Match[str]) -> int:
        self._flush(i)
        indent, mark = len(fence[1]), fence[2]
        j = i + 1
        while j < len(self.lines):
            line = self.lines[j]
            if len(line) < _LONGEST:
                bare = line.strip(" \t\r")
                if len(bare) >= len(mark) and bare == mark[0] * len(bare) and _indent(line) <= indent + 3:
                    break
            j += 1
        j = min(j + 1, len(self.lines))
        info = _INFO.match(fence[3].strip())
        self.blocks.append(Block("markdown_code", self.at[i], self.at[j], info[1].lower() if info else None))
        self.first = j
        return j

    def _raw_end(self, i: int, closing: str) -> int:
        """Return the line after an HTML block whose content is not Markdown.

        A block without its end covers the rest of the text.
        """
        while i < len(self.lines) and closing not in self.lines[i].lower():
            i += 1
        return i + 1

    def _images(self, i: int, images: list[re.Match[str]]) -> int:
        self._flush(i)
        starts = [self.at[i] + image.start() for image in images]
        starts[0] = self.at[i]
        for image, start, end in zip(images, starts, [*starts[1:], self.at[i + 1]], strict=True):
            block = Block("markdown_image", start, end, None, image["alt"], image["src"].strip("<>"))
            self.blocks.append(block)
        self.first = i + 1
        return i + 1

    def _is_table(self, i: int, line: str) -> bool:
        under = self.lines[i + 1] if i + 1 < len(self.lines) else ""
        return (
            "-" in under
            and "|" in under
            and len(under) < _LONGEST
            and _DELIMITER.fullmatch(under) is not None
            and _cells(line) == _cells(under)
        )

    def _table(self, i: int) -> int:
        self._flush(i)
        j = i + 2
        while j < len(self.lines) and "|" in self.lines[j] and not _FENCE.match(self.lines[j]):
            j += 1
        self.blocks.append(Block("markdown_table", self.at[i], self.at[j]))
        self.first = j
        return j


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _cells(row: str) -> int:
    row = row.replace("\\|", "").strip()
    return row.removeprefix("|").removesuffix("|").count("|")


def _images(line: str) -> list[re.Match[str]]:
    """Return the images that make up the whole line; none if it contains anything else."""
    found: list[re.Match[str]] = []
    at = 0
    while at < len(line):
        match = _IMAGE.match(line, at)
        if match is None:
            return []
        found.append(match)
        at = match.end()
    return found
