"""Recognises the line that routes a path of a web application, given as it stands there: ``/lamps/{id}/edit``.

Invariant: pure; a line is judged by itself. One that asks for the path, as clients and tests do, routes nothing.
"""

from __future__ import annotations

import re
from typing import Final

_METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
_OTHERS: Final = (
    "all",
    "any",
    "apiresource",
    "combo",
    "group",
    "handle",
    "handlefunc",
    "resource",
    "route",
    "use",
    "websocket",
)
# The words that stand before a path that is routed.
_BEFORE: Final = (
    *_METHODS,
    *_OTHERS,
    *(name for method in _METHODS for name in (f"{method}mapping", f"http{method}", f"map{method}")),
    *("path", "prefix", "requestmapping", "value"),
)
_VERB: Final = rf"(?:{'|'.join((*_METHODS, *_OTHERS))})"
# @GetMapping(    @PostMapping(path = {    @app.route(    #[get(    [HttpGet(
_MARK: Final = (
    rf"[ \t]*(?:@|\#\[|\[)(?:\w+[.:]+)*(?:{_VERB}|\w+mapping|http\w+|path)\((?:(?:path|value)[ \t]*=[ \t]*)?\{{?[ \t]*"
)
# app.get(    m.Group(    Route::get(    app.MapGet(    mux.HandleFunc(    path(
_CALL: Final = (
    rf"[^\n]*?\b(?:(?:\w*(?:app|blueprint|bp|group|mux|router|routes?|server|web)|[a-z])(?:\.|::)(?:map)?{_VERB}|"
    r"(?:re_)?path|handle(?:func)?)\([ \t]*"
)
_HANDLED: Final = r"[ \t]*,(?![ \t]*(?:\w+[ \t]*=|\{))"  # by what follows, which is no option of a request
_CHAINED: Final = r"[^\n]*\.(?:combo|route)\([ \t]*"  # …).get(walk)
_PREFIX: Final = r"[^\n]*\bprefix[ \t]*=[ \t]*"
_OF_RUBY: Final = r"[ \t]*(?:=>|,[ \t]*to\b)"  # get "/lamps", to: "lamps#index"


def words_of_route(path: str) -> tuple[tuple[str, ...], ...]:
    """Return alternatives, each of rows of words that a chunk has which routes the path. Few chunks have the words of
    a path with two parts; for the one word of another, that before it is looked for, too, which takes longer."""
    return ((path,),) if "/" in path.strip("/") else tuple((f"{before} {path}",) for before in _BEFORE)


def lines_of_route(path: str, method: str = "") -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds the path in quotes, which is soon done, and what finds a line that routes it, for requests with
    the ``method`` if there is one."""
    quoted = rf"[\"'`]/?{re.escape(path.strip('/'))}/?[\"'`]"
    forms = (
        _MARK + quoted,
        _CALL + quoted + _HANDLED,
        rf"[ \t]*{_VERB}[ (]+{quoted}{_OF_RUBY}",
        rf"{_CHAINED}{quoted}[ \t]*\)",
        _PREFIX + quoted,
    )
    of_method = rf"(?=[^\n]*{method})" if method else ""
    line = re.compile(rf"^{of_method}(?:{'|'.join(forms)})", re.MULTILINE | re.IGNORECASE)
    return re.compile(quoted), line
