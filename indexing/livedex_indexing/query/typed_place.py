"""Recognises the places that a query names: a file, and a line of it, as compilers, debuggers, tools and pages write
them.

Invariant: pure; whether there is such a file is for the index to say.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MOST: Final = 8  # places of a text that are tried, …
_CHARACTERS: Final = 4096  # … of so many of its characters
_LINE: Final = r"[1-9][0-9]{0,6}"
_INSIDE: Final = r"[^\s:\"'`‘’“”()<>\[\]{}|;=]"  # of a path among other words
_PATH: Final = rf"(?<!{_INSIDE})(?:[a-z]{{2,9}}://)?{_INSIDE}*[^\s:\"'`‘’“”()<>\[\]{{}}|;=,./\\?]"
# a.c:12  a.c:12:3  a.c:12-20  a.c:[12,3]  a.c:line 12  a.c: (12, 3)    a.c: 12: not found    a.c(12)  a.c(12,3)
# a.c#L12  a.c#L12-L20  a.c#lines-12  a.c?L12  a.R#12    a.c, line 12  a.c: line 12  a.c (line 12)  a.c on line 12
# a.c +12  a.c L12    a.c, and 12: at the beginning of the next line
_BEHIND: Final = rf"""
    \??:(?:L|\[|line\s|\s\()?(?P<a>{_LINE})(?:(?:[:.-]|,\s?)[0-9]+)*(?!\w)
  | :\s(?P<i>{_LINE}):(?!\S)
  | \((?P<b>{_LINE})(?:[:,-]\s?[0-9]+)*\)
  | (?:(?:\?[^\s\#]{{0,300}})?\#(?:L|lines-)|(?<=\.[rR])\#|\?L)
    (?P<c>{_LINE})(?:C[0-9]+)?(?:[-:]L?[0-9]+(?:C[0-9]+)?)?(?!\w)
  | ["'`’”]?[,:]?\s+\(?(?:(?:on|at)\s+)?(?:lines?|ln|l\.)\s+(?P<d>{_LINE})(?:[:,-]\s?[0-9]+)*(?!\w)
  | \s+(?:L|\+(?=[0-9]+\Z))(?P<e>{_LINE})(?!\w)
  | :?\n\s*(?P<j>{_LINE}):(?:[0-9]+(?!\w))?"""
# line 12 of a.c    +12 a.c
_BEFORE: Final = rf"""
    (?<!\S)(?:lines?\s+(?P<f>{_LINE})(?:-[0-9]+)?\s+(?:of|in)\s+(?:the\s+)?(?:file\s+)?|\+(?P<g>{_LINE})\s+)"""
_HUNK: Final = rf"\+\+\+\ (?:b/)?(?P<new>\S+)(?:\t.{{0,99}})?\n@@\ -\S+\ \+(?P<k>{_LINE})"
# File "a.ml", line 12    {file,"a.erl"},{line,12}
_PLACE: Final = re.compile(
    rf"""\b(?:File|file)[\s,]"(?P<quoted>[^"\n]+)"(?:,\sline\s|\}},\{{line,)(?P<h>{_LINE})
       | {_HUNK}
       | (?P<path>{_PATH})(?:{_BEHIND})
       | {_BEFORE}["'`‘“]?(?P<after>{_PATH})["'`’”]?""",
    re.VERBOSE,
)
_LINES: Final = "abcdefghijk"
# at java.base/java.io.Reader.read(Reader.java:12): the packages are the folders of the file
_FRAME: Final = re.compile(r"(?:^|[\s/])((?:[a-z_]\w*\.)+)[A-Z][\w$]*\.[\w$<>]+\(\Z")
_OF_FRAMES: Final = (".java", ".kt", ".scala", ".groovy")
_WHOLE: Final = re.compile(rf"(?P<path>[^\s:\"'`#]*[^\s:\"'`#./?]):(?P<line>{_LINE})(?::[0-9]+)?:?")
_FILE: Final = re.compile(rf"(?<!{_INSIDE}){_INSIDE}+/{_INSIDE}*\.\w+(?!{_INSIDE}*/)")
_DIFF: Final = re.compile(r"(?:diff --git a/(\S+) b/\1|(?:---|\+\+\+) (?:[ab]/)?(\S+)(?:\t.*)?)")
_MARKS: Final = re.compile(r"[`'(<\[]?([^\s`'()<>\[\]]*[/.][^\s`'()<>\[\]]*[^\s`'()<>\[\].,;:])[`')>\].,;:]*")
_MODULE: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_INNERMOST_LAST: Final = "Traceback (most recent call last)"


class TypedPlace(NamedTuple):
    """A file, and a line of it, 0 where none was typed. ``text``: the query with the path alone where the place is.
    ``contents``: of the indexed files with that line that are called most like it, once they are known. ``heading``:
    what a link names in the file, as typed, with other signs and in any case. ``option``: of the command that the file
    is about. ``folders``: how many of the typed folders are above an indexed file of that name, at most."""

    path: str
    line: int
    text: str
    contents: frozenset[int] = frozenset()
    heading: str = ""
    option: str = ""
    folders: int = 0

    @property
    def shown_line(self) -> int:
        """The line that a hit shows; 0 where words tell it."""
        return 0 if self.option else self.line

    @property
    def is_whole(self) -> bool:
        """Whether the query names the place and nothing else."""
        return self.text == self.path


def typed_places(query: str) -> list[TypedPlace]:
    """Return the places that a query names, the likeliest first: the innermost call of a traceback. A query of one word
    without a line may be the name of a file."""
    text = query.strip()[:_CHARACTERS]
    found = _WHOLE.fullmatch(text)
    if found is not None:
        path = _slashes(found["path"])
        return [TypedPlace(path, int(found["line"]), path)]
    places = [place for match in _PLACE.finditer(text) if not (place := _place(match, text)).path.isdigit()]  # a time
    if _INNERMOST_LAST in text:
        places.reverse()
    return places[:_MOST] or _files(text)


def module_files(query: str) -> list[TypedPlace]:
    """Return the files that a query may name which is a module with its packages, as in ``email.mime.text``."""
    name = query.strip()
    if not _MODULE.fullmatch(name):
        return []
    path = name.replace(".", "/")
    return [TypedPlace(each, 0, each) for each in (path, f"{path}/__init__")]


def _place(found: re.Match[str], text: str) -> TypedPlace:
    line = next(int(found[name]) for name in _LINES if found[name])
    path = _slashes(found["quoted"] or found["new"] or found["path"] or found["after"])
    before, after = text[: found.start()], text[found.end() :]
    frame = _FRAME.search(before) if path.endswith(_OF_FRAMES) else None
    path = path if frame is None else frame[1].replace(".", "/") + path
    is_whole = not any(character.isalnum() for character in before + after)
    return TypedPlace(path, line, path if is_whole else f"{before} {path} {after}".strip())


def _files(text: str) -> list[TypedPlace]:
    """Return the files that a text without a line may name: itself, or the paths with a folder among its words."""
    diff = _DIFF.fullmatch(text)
    if diff is not None:
        path = diff[1] or diff[2]
    elif len(text.split()) == 1:
        marked = _MARKS.fullmatch(text)
        path = _slashes(text if marked is None else marked[1])
    else:
        return [TypedPlace(path, 0, text) for path in _FILE.findall(text)[:_MOST]]
    return [TypedPlace(path, 0, path)]


def _slashes(path: str) -> str:
    """Return a path of Windows as it is written elsewhere."""
    return path.replace("\\", "/")
