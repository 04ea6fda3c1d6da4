"""Replaces a query by what files have instead of it: a line that a program cut short or put a sign of a diff in front
of, the name that a program printed, and the like.

Invariant: what a file has as it was typed stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from msgspec.structs import replace

from livedex_indexing.model import Query
from livedex_indexing.query.asking_words import ASKING
from livedex_indexing.query.chat_words import without_chat
from livedex_indexing.query.environment_variable import variable_read
from livedex_indexing.query.printed_name import printed_name
from livedex_indexing.query.query_parser import PlainReading
from livedex_indexing.query.setting_read import setting_read
from livedex_indexing.query.typed_import import typed_imports
from livedex_indexing.query.typed_name import may_be_pasted, typed_text
from livedex_indexing.query.typed_pattern import text_of_pattern
from livedex_indexing.rank.postings import phrase
from livedex_indexing.search.other_suffix import with_other_suffix
from livedex_indexing.search.other_tools import in_this_syntax
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.shortened_file import with_whole_path
from livedex_indexing.search.written_date import with_written_date
from livedex_indexing.search.written_number import with_written_number
from livedex_indexing.store.read_pool import Reader

_JOINT: Final = re.compile(r":::?|->|[.#\\/]")
_TAG: Final = re.compile(r"\s*(?i:tag|tags|tagged):? +#?(?P<tag>[^\W\d]\w*(?:[-/]\w+)+)\s*")
_LINKS_TO: Final = re.compile(
    r"\s*(?:what |which (?:notes?|files?|pages?) )?(?:(?:back)?links? to|backlinks(?: of)?):? "
    r"(?:\[\[)?(?P<note>[^\[\]|\"]*[^\[\]|\"\s])(?:\]\])?\s*\??",
    re.IGNORECASE,
)
_CO_AUTHORS: Final = re.compile(r"(?P<author>\b[^\W\d]+),? et al\b\.?,? ?", re.IGNORECASE)
_CUT: Final = re.compile(r"(?:\.{3}|…)?(?P<line>.*?)(?:\.{3}|…)?", re.DOTALL)
_QUOTED: Final = re.compile(r"\"[^\"]*\"")
_MESSAGE: Final = 3  # words in a row around a value in quotes, at least …
_TELLING: Final = 5  # … and their number with those again that do not only ask
_OF_DIFF: Final = re.compile(r"\s*[+-](?![+-])(?P<line>[^\n]*\w[^\n]*)\n?")


def is_plain_text(
    reader: Reader, typed: str, query: Query, plain: PlainReading, is_pasted: Callable[[str], bool]
) -> bool:
    """Whether the quotes and dashes of a query, ``typed`` so, are punctuation. ``is_pasted``: whether a file has
    a text of several words as it was typed."""
    if plain.is_sentence or typed_imports(typed):
        return True
    return bool(query.excluded and is_pasted(typed)) or _is_message(reader, typed, query.phrases)


def _is_message(reader: Reader, typed: str, phrases: Collection[str]) -> bool:
    """Whether a file has a row of words that is around the quotes of a query, and no chunk with that row has what is
    quoted: they are around a value in a message."""
    for part in _QUOTED.split(typed) if phrases else ():
        tokens = reader.tokens(part)
        content = [token for token in tokens if token not in ASKING]
        if len(tokens) >= _MESSAGE and len(tokens) + len(content) >= _TELLING:
            row = phrase(tokens)
            if reader.has_chunk(f"body : {row}"):
                return not reader.has_chunk(f"body : ({' '.join([row, *(phrase(reader.tokens(p)) for p in phrases)])})")
    return False


def as_written(
    reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool], is_name: Callable[[str], bool]
) -> SearchRequest:
    """Return the request for what files have instead of what was typed: a question without what is put around it, a
    line without the ellipsis where it was cut, or the sign of a diff, what a regular expression looks for, a variable
    of the environment alone, a tag or a link without the word, the name in what a program printed, a date in another
    form, what was typed as for another tool, the file with another suffix or by its whole path; any other request as
    it is. ``is_pasted``: as for `is_plain_text`; ``is_name``: as for `with_whole_path`."""
    request = in_this_syntax(reader, request, is_pasted)
    request = with_other_suffix(reader, request, is_pasted)
    request = with_whole_path(reader, request, is_name)
    request = _without_chat(reader, request, is_pasted)
    request = _without_ellipsis(reader, request, is_pasted)
    request = _without_sign_of_diff(reader, request, is_pasted)
    request = _as_looked_for(reader, request, is_pasted)
    request = _as_tag(reader, request)
    request = _as_link(reader, request, is_pasted)
    request = _without_co_authors(reader, request)
    request = with_written_date(reader, _with_printed_name(reader, request, is_pasted))
    return with_written_number(reader, request)


def _without_chat(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for what a question to somebody is about (``hey, where is the note about bread and salt?``),
    unless a file has the question; any other request as it is."""
    words = without_chat(request.query)
    if words is None or is_pasted(request.query.strip()):
        return request
    return replace(request, query=words)


def _without_ellipsis(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for a line that was cut short (``return self._find(na…``), unless a file has it with the
    ellipsis; any other request as it is. A line has a sign of code: prose is a quotation, whose pieces are found."""
    text = request.query.strip()
    found = _CUT.fullmatch(text)
    line = text if found is None else found["line"].strip()
    if line == text or len(line.split()) < 2 or not may_be_pasted(line) or is_pasted(text):
        return request
    return replace(request, query=line)


def _without_sign_of_diff(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for the line behind the sign of a diff, if a file has that line and none has the sign too; any
    other request as it is. A line has several words and, behind a dash, a sign of code: else a dash excludes a word."""
    found = _OF_DIFF.fullmatch(request.query)
    line = "" if found is None else found["line"].strip()
    if len(line.split()) < 2 or not may_be_pasted(line) or typed_text(line) is None:
        return request
    if is_pasted(request.query.strip()) or not is_pasted(line):
        return request
    return replace(request, query=line)


def _as_looked_for(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for what a regular expression looks for, or for the variable of the environment or the path
    of keys that a text reads, unless a file has the text itself; any other request as it is."""
    text = variable_read(request.query) or setting_read(request.query) or text_of_pattern(request.query)
    if not reader.tokens(text) or is_pasted(request.query.strip().strip('"')):
        return request
    return replace(request, query=text)


def _as_tag(reader: Reader, request: SearchRequest) -> SearchRequest:
    """Return the request for ``#some-tag`` instead of ``tag some-tag``, if a file has these words in a row; any other
    request as it is. A tag of one word may be any other word behind that."""
    found = _TAG.fullmatch(request.query)
    tokens = [] if found is None else reader.tokens(found["tag"])
    if found is None or not reader.has_chunk(f"body : {phrase(tokens)}"):
        return request
    return replace(request, query=f"#{found['tag']}")


def _as_link(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for ``"[[Some Note"`` instead of ``links to Some Note``, if a file has such a link; any other
    request as it is."""
    found = _LINKS_TO.fullmatch(request.query)
    link = "" if found is None else f"[[{found['note']}"
    if not link or not is_pasted(link):
        return request
    return replace(request, query=f'"{link}"')


def _without_co_authors(reader: Reader, request: SearchRequest) -> SearchRequest:
    """Return the request for ``Miller 2023`` instead of ``Miller et al. 2023``, unless a file has ``Miller et al``; any
    other request as it is."""
    found = _CO_AUTHORS.search(request.query)
    tokens = [] if found is None else reader.tokens(f"{found['author']} et al")
    if not tokens or reader.has_chunk(f"body : {phrase(tokens)}"):
        return request
    return replace(request, query=_CO_AUTHORS.sub(r"\g<author> ", request.query).strip())


def _with_printed_name(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for the name in a line that a program printed, or in a reference to it, if that is a name in
    the index; any other request as it is. A file with the line itself may be meant instead."""
    printed = printed_name(request.query)
    own = [] if printed is None else reader.tokens(_JOINT.split(printed.text)[-1])
    if printed is None or not own or not reader.has_chunk(f"symbols : {phrase(own)}"):
        return request
    if not printed.is_reference and is_pasted(request.query.strip()):
        return request
    return replace(request, query=f"{printed.text}/{printed.case}" if printed.case else printed.text)
