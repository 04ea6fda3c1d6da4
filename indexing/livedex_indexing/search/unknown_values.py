"""Says which languages and kinds of a query no file can have, with the nearest that there is.

Invariant: a warning only explains: it changes no hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from livedex_indexing.hits.answer_json import warning
from livedex_indexing.language_names import names_of, same_language
from livedex_indexing.model import KINDS
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.params import nearest, shown
from livedex_ipc.wire_results import AnswerWarning

_LANGUAGES = "SELECT name FROM languages"
_MOST = 8


def unknown_values(reader: Reader, request: SearchRequest) -> list[AnswerWarning]:
    """Return a warning for each language and kind that the request names and no indexed file has."""
    terms = () if request.mode in ("exact", "regex") else request.parsed()[0].terms
    languages = [*request.languages, *(term.value for term in terms if term.name == "lang")]
    kinds = [term.value for term in terms if term.name == "kind"]
    if not languages and not kinds:
        return []
    warnings = [*_languages(reader, languages), *map(_kind, _unknown_kinds(kinds))]
    return warnings[:_MOST]


def _languages(reader: Reader, names: Iterable[str]) -> Iterator[AnswerWarning]:
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
