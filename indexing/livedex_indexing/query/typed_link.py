"""Recognises the links of notes and pages: a file, and the heading in it that a link may name.

Invariant: pure; whether there is such a file or heading is for the index to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from livedex_indexing.query.typed_place import TypedPlace

_PATH: Final = r"(?:[a-z]{2,9}://)?[^\s\[\](){}<>|\"'`:#?]+"
# [[Note#Heading|text]]  ![[Note]]  [[file:a.org::*Heading][text]]    [text](a.md#heading)    a.md#heading
# file:a.org::*Heading    obsidian://open?vault=v&file=Note
_LINK: Final = re.compile(
    rf"""!?\[\[(?:file:)?(?P<note>[^\[\]|\#:\n]+)(?:(?:\#|::\*)(?P<a>[^\[\]|]+))?(?:\|[^\[\]]*|\]\[[^\[\]]*)?\]\]
       | !?\[[^\[\]]*\]\((?P<target>{_PATH})(?:\#(?P<b>[^()\s]+))?\)
       | (?:file:)?(?P<path>{_PATH})(?:\#|::\*)(?P<c>\w.*)
       | (?P<page>https?://[^\s\#?]+)
       | obsidian://open\?\S*?\bfile=(?P<file>[^&\s]+)\S*""",
    re.VERBOSE,
)
# open(2)    man open    man 2 open
_MANUAL: Final = re.compile(
    r"(?P<name>[\w.@:+-]+)\((?P<section>[1-9]\w{0,3})\)|man\s+(?:(?P<number>[1-9]\w{0,3})\s+)?(?P<page>[\w.@:+-]+)|"
    r"(?P<titled>[\w.@:+-]+)\s+man(?:ual)?\s?page"
)
# open(2) return value    dash ENVIRONMENT
_PART: Final = re.compile(
    r"(?P<name>[\w.@:+-]+)(?:\((?P<section>[1-9]\w{0,3})\)\s+(?P<part>[A-Za-z][\w -]{2,40})|"
    r"\s+(?P<capitals>[A-Z]{4}[A-Z ]{,36}))"
)
# localectl --no-convert    git commit --amend    pip install --no-deps option
_OPTION: Final = re.compile(
    r"(?P<tool>[a-z][\w.+-]*)(?:\s+(?P<verb>[a-z][\w-]*))?\s+(?P<option>--[a-z][\w-]*)(?:=\S+)?(?:\s+(?:flag|option|switch))?"
)
# #some-heading    id="some-heading"
_ANCHOR: Final = re.compile(r"(?:#|(?:id|name)=[\"'])(\w[\w-]*-[\w-]*)[\"']?")
_PAGES: Final = (".1", ".8")  # of the manual, about a command
_SECTIONS: Final = "18573246"  # the likeliest first
_SOURCES: Final = (".md", ".rst", ".org")  # of a page
_SUFFIX: Final = re.compile(r"\.[a-z]{1,4}")
_SIGNS: Final = re.compile(r"[\W_]+")


def typed_link(query: str) -> list[TypedPlace]:
    """Return the files that a query may name which is a link, an option of a command or a section of a manual page, and
    nothing else, the likeliest first, with the heading or the option; none for other queries."""
    manual = _MANUAL.fullmatch(query.strip())
    if manual is not None:
        name, sections = manual["name"] or manual["page"] or manual["titled"], manual["section"] or manual["number"]
        return [
            TypedPlace(f"{name}.{section}", 1, f"{name}.{section}")
            for section in (sections and [sections]) or _SECTIONS
        ]
    part = _PART.fullmatch(query.strip())
    if part is not None:
        heading = part["part"] or part["capitals"]
        return [
            TypedPlace(f"{part['name']}.{section}", 1, f"{part['name']}.{section} {heading}", option=f"SH {heading}")
            for section in ([part["section"]] if part["section"] else _SECTIONS)
        ]
    option = _OPTION.fullmatch(query.strip())
    if option is not None:
        return list(_of_option(option["tool"], option["verb"] or "", option["option"]))
    found = _LINK.fullmatch(query.strip())
    if found is None:
        return []
    heading = unquote(found["a"] or found["b"] or found["c"] or "").rpartition("#")[2]
    note, path = found["note"] or found["file"], found["target"] or found["path"] or found["page"]
    paths = _of_note(unquote(note)) if note else _of_page(unquote(path))
    return [TypedPlace(path, 0, f"{path} {heading}".strip(), heading=heading) for path in paths]


def _of_option(tool: str, verb: str, option: str) -> Iterator[TypedPlace]:
    """Yield the manual pages of a command of a tool, then those of the tool."""
    for name, rest in ((f"{tool}-{verb}", option), (tool, f"{verb} {option}")) if verb else ((tool, option),):
        yield from (TypedPlace(name + page, 0, f"{name}{page} {rest}", option=option) for page in _PAGES)


def typed_heading(query: str) -> str:
    """Return the heading that a link names, alone as in ``#some-heading`` or in its file; empty for other queries."""
    alone = _ANCHOR.fullmatch(query.strip())
    return alone[1] if alone is not None else next((place.heading for place in typed_link(query)), "")


def is_heading(heading: str, typed: str) -> bool:
    """Whether a heading is the typed one, whatever its signs and case: links to a page have hyphens and no signs."""
    return _SIGNS.sub("", heading.lower()) == _SIGNS.sub("", typed.lower())


def _of_note(note: str) -> list[str]:
    return [note] if note.endswith(_SOURCES) else [f"{note}.md", note]


def _of_page(path: str) -> list[str]:
    """Return a path, and for a page the texts that it may be made of."""
    path = path.rstrip("/")
    base = path.removesuffix(".html")
    is_page = "://" in path and (base != path or not _SUFFIX.search(path.rpartition("/")[2]))
    return [path, *(base + suffix for suffix in _SOURCES)] if is_page else [path]
