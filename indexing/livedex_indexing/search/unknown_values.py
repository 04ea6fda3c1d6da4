"""Says which languages, kinds and paths of a query no file can have, with the nearest that there is.

Invariant: a warning only explains: it changes no hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from livedex_indexing import relpath
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.ignore.globs import PathTerm
from livedex_indexing.language_names import names_of, same_language
from livedex_indexing.model import KINDS, Place, Term
from livedex_indexing.path_text import display_path
from livedex_indexing.query.scope import within
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.params import nearest, shown
from livedex_ipc.wire_results import AnswerWarning

_LANGUAGES = "SELECT name FROM languages"
_LISTED = "SELECT 1 FROM files d WHERE {} LIMIT 1"
_INDEXED = "SELECT 1 FROM files d WHERE {} AND d.content_id IS NOT NULL LIMIT 1"
_PATHS = "SELECT folder, name FROM files WHERE content_id IS NOT NULL"
_MOST = 8


def unknown_values(
    reader: Reader, request: SearchRequest, roots: Mapping[int, bytes], *, found: bool
) -> list[AnswerWarning]:
    """Return a warning for each language, kind and path that the request names and no indexed file has. ``found``:
    there are hits."""
    terms = () if request.mode in ("exact", "regex") else request.parsed()[0].terms
    languages = [*request.languages, *(term.value for term in terms if term.name == "lang")]
    kinds = [term.value for term in terms if term.name == "kind"]
    warnings = [*_languages(reader, languages), *map(_kind, _unknown_kinds(kinds))]
    if not found:
        warnings += _named_roots(reader, [term for term in terms if term.name == "path"], roots)
    warnings += islice(_empty_places(reader, request.places or (), roots, "indexed file", _INDEXED), _MOST)
    return warnings[:_MOST]


def places_without_a_file(reader: Reader, places: Iterable[Place], roots: Mapping[int, bytes]) -> list[AnswerWarning]:
    """Return a warning for each place at or below which there is no file of any status, of a missing root neither."""
    return list(islice(_empty_places(reader, places, roots, "file", _LISTED), _MOST))


def _empty_places(
    reader: Reader, places: Iterable[Place], roots: Mapping[int, bytes], wanted: str, sql: str
) -> Iterator[AnswerWarning]:
    for place in places:
        is_inside = place.path and place.root_id in roots  # a root itself may be empty, or missing
        if is_inside and not _has_files(reader, place, sql):
            shown_path = display_path(relpath.absolute(roots[place.root_id], place.path))
            message = f"no {wanted} is at or below {shown_path}"
            yield warning("query_unknown", message, "`livedex why` shows the reason")


def _named_roots(reader: Reader, terms: Iterable[Term], roots: Mapping[int, bytes]) -> Iterator[AnswerWarning]:
    """Yield a warning for each term with the name of a root, if no file has it in its path below the root."""
    for term in terms:
        name = term.value.strip("/").partition("/")[0].lower()
        named = [root for root in roots.values() if display_path(relpath.name_of(root)).lower() == name]
        if term.excluded or not named:
            continue
        admits = PathTerm(term.value).admits
        if not any(admits(relpath.join(folder, file)) for folder, file in reader.rows(_PATHS)):
            message = f"no indexed file has {shown(term.value)} in its path below a root"
            yield warning("query_unknown", message, f"{display_path(named[0])} is a root: limit roots to it")


def _has_files(reader: Reader, place: Place, sql: str) -> bool:
    condition, values = within([place])
    return bool(reader.rows(sql.format(condition), values))


def _languages(reader: Reader, names: Sequence[str]) -> Iterator[AnswerWarning]:
    if not names:
        return
    known = {same_language(name) for (name,) in reader.rows(_LANGUAGES)}
    for name in dict.fromkeys(names):
        if same_language(name) not in known:
            alike = nearest(name.lower(), {each for language in known for each in names_of(language)}, cutoff=0.7)
            yield _warning(f"no indexed file has the language {shown(name)}", alike, "livedex languages")


def _unknown_kinds(values: Iterable[str]) -> list[str]:
    return [value for value in dict.fromkeys(values) if value.lower() not in KINDS]


def _kind(value: str) -> AnswerWarning:
    containing = [kind for kind in KINDS if value.lower() in kind]
    return _warning(
        f"no kind of chunk is called {shown(value)}",
        containing[0] if containing else nearest(value.lower(), KINDS),
        f"there are {', '.join(KINDS)}",
    )


def _warning(message: str, alike: str | None, otherwise: str) -> AnswerWarning:
    return warning("query_unknown", message, f"did you mean {alike}?" if alike else otherwise)
