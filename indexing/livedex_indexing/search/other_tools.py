"""Searches for what a query means that was typed as for another tool: a glob, qualifiers of a code search, an action.

Invariant: a part of a query is replaced only where the index has such a file or language.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from livedex_indexing import relpath
from livedex_indexing.ignore.globs import PathTerm
from livedex_indexing.language_names import same_language
from livedex_indexing.model import Term
from livedex_indexing.query.other_syntax import qualified, typed_glob
from livedex_indexing.rank.postings import phrase
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.path_words import path_text

_LANGUAGES: Final = "SELECT name FROM languages"
_ACTION: Final = re.compile(r"(?P<controller>[a-z][a-z\d_]*(?:/[a-z\d_]+)*)#(?P<method>[a-z_]\w*[?!]?)")  # of Rails
_PARTIAL: Final = re.compile(  # render "boats/form"    <%= render partial: 'boats/form', boat: b %>
    r"(?:<%=?\s*)?render[ (]+(?:partial:\s*)?[\"'](?P<folder>[a-z][\w/]*)/(?P<name>\w+)[\"'][^\n]*"
)
_CONTROLLERS: Final = "SELECT 1 FROM paths WHERE paths MATCH ? LIMIT 1"
_FILES: Final = "SELECT folder, name FROM files WHERE content_id IS NOT NULL"


def in_this_syntax(reader: Reader, request: SearchRequest, is_pasted: Callable[[str], bool]) -> SearchRequest:
    """Return the request for the files of a glob, for the method of a controller or a partial of Rails, or with the
    terms and names that qualifiers mean, unless a file has those as typed; any other request as it is."""
    glob = typed_glob(request.query)
    if glob is not None:
        return replace(request, query=glob.query) if _has_file(reader, glob.terms) else request
    action = _ACTION.fullmatch(request.query.strip())
    if action is not None and _has_controller(reader, action["controller"]):
        return replace(request, query=f"{action['controller']}_controller#{action['method']}")
    partial = _PARTIAL.fullmatch(request.query.strip())
    path = "" if partial is None else f"{partial['folder']}/_{partial['name']}"
    if path and _has_file(reader, (Term("path", f"{path}."),)):
        return replace(request, query=path)
    other = qualified(request.query)
    if other is None or is_pasted(request.query.strip()):
        return request
    known = all(_is_known(reader, term) for term in other.terms if not term.excluded)
    return replace(request, query=other.query) if known else request


def _has_controller(reader: Reader, path: str) -> bool:
    name = phrase(reader.tokens(path_text(f"{path.rpartition('/')[2]}_controller".encode())))
    return reader.one(_CONTROLLERS, (f"name : {name}",)) is not None


def _is_known(reader: Reader, term: Term) -> bool:
    if term.name != "lang":
        return _has_file(reader, (term,))
    return any(same_language(name) == same_language(term.value) for (name,) in reader.rows(_LANGUAGES))


def _has_file(reader: Reader, terms: tuple[Term, ...]) -> bool:
    """Whether a file passes one of the terms, which are of paths or of suffixes."""
    ends = tuple(b"." + term.value.removeprefix(".").lower().encode() for term in terms if term.name == "ext")
    paths = [PathTerm(term.value) for term in terms if term.name == "path"]
    for folder, name in reader.rows(_FILES):
        path = relpath.join(folder, name)
        if path.lower().endswith(ends) or any(each.admits(path) for each in paths):
            return True
    return False
