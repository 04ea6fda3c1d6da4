"""The one table of methods: each one's name, params and result. Server, client, command and docs all read it.

Invariant: a method or param that is not in the table does not exist, and everything in the table is implemented.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livedex_ipc.common_params import FRESH, LIMIT_DOC, MAX_WAIT_MS, SCOPE, SCOPES, STATE, SUPERSEDES
from livedex_ipc.constants import (
    CASES,
    FACETS,
    GROUPS,
    KINDS,
    LINE_MODES,
    MODES,
    ORDERS,
    SEARCH_WINDOW,
    SYNC_TIMEOUT_MS,
)
from livedex_ipc.errors import InvalidParams, MethodNotFound
from livedex_ipc.exchange_methods import EXCHANGE
from livedex_ipc.file_methods import FILES
from livedex_ipc.knowledge_methods import KNOWLEDGE
from livedex_ipc.method_types import Field, Method
from livedex_ipc.params import MAX_INTEGER, Param, check, nearest, path_bytes, path_params, paths_bytes, shown

__all__ = ["METHODS", "check_params", "method_named", "path_bytes", "paths_bytes"]

PROTOCOL = 1  # incremented when a client of the previous version would misread an answer


def check_params(method: str, params: object, methods: Mapping[str, Method] | None = None) -> dict[str, Any]:
    """Return checked ``params`` for a handler; a param that was not sent has its default, or None without one.

    Raises MethodNotFound, or InvalidParams with ``data.field`` (and ``data.nearest`` for an unknown name).
    """
    known = method_named(method, methods)
    checked = check(method, known.params, params)
    if known.window is not None and checked["offset"] + checked["limit"] > known.window:
        raise InvalidParams(
            f"offset plus limit must be at most {known.window}: narrow the query instead", {"field": "offset"}
        )
    return checked


def method_named(name: str, methods: Mapping[str, Method] | None = None) -> Method:
    """Return the method called ``name``. Raises MethodNotFound with the nearest known name."""
    table = METHODS if methods is None else methods
    known = table.get(name)
    if known is None:
        is_dollar = name.startswith("$/")  # such a request of LSP is none of ours
        like = None if is_dollar else nearest(name, table)
        hint = f"; did you mean {like!r}?" if like else "; a notification has no id" if is_dollar else ""
        raise MethodNotFound(f"no method {shown(name)}{hint}", {"nearest": like})
    return known


_COUNTED = "done, total, done_bytes, total_bytes"
_PROGRESS = Param("progress_token", "token", "asks for `$/progress` notifications under this token")

_FILTERS = (
    *SCOPE,
    *SCOPES,
    Param(
        "globs", "strings", "as ripgrep's -g, relative to each root; ! excludes, the last that matches wins", default=[]
    ),
    Param("languages", "strings", "any of these languages", default=[]),
    Param("kinds", "strings", "any of these kinds of chunk", default=[], choices=KINDS),
    *path_params("roots", "any of these roots", many=True, default=[]),
    Param("modified_after", "time", "inclusive"),
    Param("modified_before", "time", "exclusive"),
)
_OF_LINES = (
    Param(
        "letter_case",
        "string",
        "of exact and regex; smart: ignored without an upper case",
        default="smart",
        choices=CASES,
    ),
    Param("whole_words", "boolean", "exact and regex: no letter or digit next to a match", default=False),
    Param("cursor", "string", "exact and regex: go on after this place", minimum=1, maximum=20_000),
)

_SEARCH_PARAMS = (
    Param("query", "string", 'words, "phrases", prefix*, -without and terms such as lang:python', required=True),
    Param("typing", "boolean", "the last word is still being typed: words that begin with it match", default=False),
    Param("limit", "integer", LIMIT_DOC, default=10, minimum=1, maximum=1000),
    Param("offset", "integer", "how many to leave out first", default=0, minimum=0, maximum=SEARCH_WINDOW),
    Param("mode", "string", "by words, meaning, both; exact, regex: whole lines", default="auto", choices=MODES),
    Param("sort", "string", "best first, last modified first, or by path", default="relevance", choices=ORDERS),
    *_OF_LINES,
    *_FILTERS,
    Param("group", "string", "a hit for each chunk, or each file's best", default="chunk", choices=GROUPS),
    Param("context_lines", "integer", "whole lines before and after the snippet", default=0, minimum=0, maximum=50),
    Param("max_snippet_chars", "integer", "length of one snippet", default=400, minimum=1, maximum=1_000_000),
    Param("max_chars", "integer", "length of all snippets together", minimum=1, maximum=MAX_INTEGER),
    Param("facets", "strings", "count the files that match by these", default=[], choices=FACETS),
    Param("total", "boolean", "count the hits of all pages, and their files", default=False),
    *FRESH,
    SUPERSEDES,
    Param("explain", "boolean", "explain each score", default=False),
    Param("knowledge", "boolean", "search agent memory, too", default=False),
    Param("domains", "strings", "search agent memory, too, but only these domains", default=[]),
)

# A standing query is about matching, not rank: it has no pages and no scores, and nothing is left out of it.
_NOT_STANDING = (
    *("typing", "offset", "mode", "facets", "total", "explain", "max_chars"),
    *("sort", "letter_case", "whole_words", "cursor", "knowledge", "domains"),
)
_SUBSCRIBE_PARAMS = (
    *(param for param in _SEARCH_PARAMS if param.name not in _NOT_STANDING),
    Param("mode", "string", "words, phrases and terms: either", default="auto", choices=("auto", "keyword")),
)

_MATCHING_FILES_PARAMS = (
    Param("query", "string", "a text, or a regular expression", required=True),
    Param("mode", "string", "how to read the query", default="exact", choices=LINE_MODES),
    *_OF_LINES,
    Param("sort", "string", "by path, or last modified first", default="path", choices=("path", "modified")),
    Param("count", "boolean", "count the lines of each file that match", default=False),
    Param("limit", "integer", LIMIT_DOC, default=10_000, minimum=1, maximum=100_000),
    *_FILTERS,
    *FRESH,
    SUPERSEDES,
)

HIT = (
    Field("path", "string", "absolute; with replacement characters where it is not UTF-8"),
    Field("path_b64", "string", "the path's bytes, where it is not UTF-8", optional=True),
    Field("root", "string", "the root that contains it"),
    Field("relative_path", "string", "relative to the root"),
    Field("kind", "string", "the kind of chunk"),
    Field("language", "string?", "lower-case Linguist name"),
    Field("heading", "string?", "the chain of headings joined by ` > `"),
    Field("symbol", "string?", "qualified name of the definition"),
    Field("start_line", "integer", "first line of the chunk, 1-based"),
    Field("end_line", "integer", "last line, inclusive"),
    Field("start_column", "integer", "1-based, in bytes"),
    Field("start_byte", "integer", "offset into the file"),
    Field("end_byte", "integer", "offset, exclusive"),
    Field("score", "number", "higher is better"),
    Field("snippet", "string", "a verbatim slice of the file's text"),
    Field("snippet_line", "integer", "line at which the snippet begins"),
    Field("snippet_byte", "integer", "byte at which the snippet begins"),
    Field("highlights", "array", "[start, end) code point offsets into the snippet"),
    Field("line", "integer", "line of the query as typed, else of the first match or the snippet's start"),
    Field("column", "integer", "its column, 1-based, in bytes of UTF-8"),
    Field("text", "string", "that line; of one over 2,000 characters the part in the snippet"),
    Field("content_hash", "string", "hex BLAKE2b-128 of the file's bytes"),
    Field("modified_at", "string", "RFC 3339"),
    Field("metadata", "object", "frontmatter, alt, src, encoding, lossy, fallback, parsed_by, page where they apply"),
    Field("matches", "integer", "chunks of the file that match, where grouped by file", optional=True),
    Field("also_at", "array", "other files with the same content, at most 20", optional=True),
    Field("also_at_b64", "array", "their paths' bytes, null for those that are UTF-8", optional=True),
    Field("also_at_total", "integer", "how many there are", optional=True),
    Field("context_before", "string", "whole lines before the snippet", optional=True),
    Field("context_after", "string", "whole lines after the snippet", optional=True),
    Field("context_cut", "boolean", "true: one of these lines was cut after 2,000 characters", optional=True),
    Field("explain", "object", "{total, parts: [{name, value}], ranks?}", optional=True),
)

_SEARCH_FIELDS = (
    Field("hits", "array", "best first"),
    Field("fresh", "boolean", "every write before the request is reflected"),
    Field("generation", "integer", "state of the index that answered"),
    Field("pending", "integer", "changes in the search's scope that are not reflected yet"),
    Field("mode", "string", "the mode that was used"),
    Field("took_ms", "number", "milliseconds in the daemon"),
    Field("next_offset", "integer?", "`offset` of the next page; null at the end"),
    Field("warnings", "array", "{code, message, remedy}"),
    Field("reason", "string", "why not fresh", optional=True),
    Field("facets", "object", "{languages: {python: 3}, …}: files that match, on all pages", optional=True),
    Field("total", "object", "{hits, files}: of all pages", optional=True),
    Field("omitted", "integer", "hits left out for max_chars or 12 MiB: they come on the next page", optional=True),
    Field("documents_pending", "integer", "documents not converted yet, if there are any", optional=True),
    Field("did_you_mean", "object", "{query, applied}: the query corrected, or as plain text", optional=True),
    Field("vectors_pending", "integer", "chunks without a vector yet, with an embedder", optional=True),
    Field("knowledge", "array", "entries of agent memory, if asked for: as `knowledge/search`", optional=True),
    Field("next_cursor", "string", "of lines: `cursor` of the next page, if there is one", optional=True),
)
_MATCHING_FILES_FIELDS = (
    Field("files", "array", "{path, matches?}, in order"),
    Field("next_cursor", "string?", "`cursor` of the next page; null at the end"),
    Field("generation", "integer", "state of the index that answered"),
    Field("pending", "integer", "changes in the search's scope that are not reflected yet"),
    Field("took_ms", "number", "milliseconds in the daemon"),
    Field("warnings", "array", "{code, message, remedy}"),
    *STATE,
)
_STATUS_FIELDS = (
    Field("state", "string", "starting, indexing, ready or degraded"),
    Field("version", "string", "of livedex"),
    Field("pid", "integer", "of the daemon"),
    Field("uptime_s", "number", "seconds since it started"),
    Field("generation", "integer", "grows with each change that a search can see"),
    Field("pending", "integer", "changes that are not indexed yet"),
    Field("pending_bytes", "integer", "size of the files that were found to be read for them"),
    Field("files", "integer", "indexed files"),
    Field("chunks", "integer", "their chunks"),
    Field("skipped", "integer", "files left out by kind"),
    Field("failed", "integer", "files that could not be indexed"),
    Field("db_path", "string", "the index"),
    Field("db_bytes", "integer", "its size on disk"),
    Field("backend", "string", "the storage engine"),
    Field("embedder", "string?", "null: none"),
    Field("vectors_pending", "integer", "chunks without a vector yet"),
    Field("documents_pending", "integer", "conversions under way"),
    Field("gateways", "array", "{host, bytes_sent}: where texts are sent to be embedded, since the start"),
    Field("work", "object", "since the start: files_read, bytes_done, files_chunked, files_parsed, chunks_embedded"),
    Field("roots", "array", "{path, state, watching, files, pending, overflows, last_reconciled}"),
    Field("freshness", "object", "{p50_ms, p99_ms, samples}, from event to commit"),
    Field("warnings", "array", "{code, message, remedy}"),
)
_ROOTS_FIELDS = (Field("roots", "array", "the roots, as in status"),)

_TABLE = (
    Method(
        "server/info",
        "Who answers, and what it can do.",
        (),
        (
            Field("name", "string", "livedex"),
            Field("version", "string", "of livedex"),
            Field("protocol", "integer", "of this table"),
            Field("pid", "integer", "of the daemon"),
            Field("config_path", "string", "of the configuration that it uses"),
            Field("capabilities", "object", "{barrier: exact or best_effort}"),
        ),
    ),
    Method("server/ping", "Answers at once."),
    Method("server/reload", "Reads the configuration again; a broken one is refused with its faults."),
    Method("server/shutdown", "Ends the daemon."),
    Method(
        "server/restart",
        "Ends the daemon once it is idle, so that the next client starts the version that is installed.",
        (),
        (Field("ending", "boolean", "whether it ends now; else it is busy"),),
    ),
    Method("rpc.discover", "The OpenRPC document of all methods."),
    Method("search", "Ranked hits.", _SEARCH_PARAMS, _SEARCH_FIELDS, cancel_on_close=True, window=SEARCH_WINDOW),
    Method(
        "search/files",
        "The files that have a line which matches: all of them, page by page.",
        _MATCHING_FILES_PARAMS,
        _MATCHING_FILES_FIELDS,
        cancel_on_close=True,
    ),
    Method(
        "search/subscribe",
        "A standing query: its hits now, then `search/changed` notifications of its changes.",
        _SUBSCRIBE_PARAMS,
        (
            Field("subscription", "integer", "names it in `search/changed` and `search/unsubscribe`"),
            Field("hits", "array", "its newest hits"),
            Field("generation", "integer", "state of the index"),
            Field("pending", "integer", "changes in its scope that are not reflected yet"),
            Field("warnings", "array", "{code, message, remedy}"),
            *STATE,
        ),
        cancel_on_close=True,
    ),
    Method(
        "search/unsubscribe",
        "Ends a standing query of this connection.",
        (Param("subscription", "integer", "as it was answered", required=True, minimum=1, maximum=MAX_INTEGER),),
    ),
    Method(
        "sync",
        "Returns once the index reflects every write that came before it.",
        (
            Param(
                "timeout_ms", "integer", "milliseconds to wait", default=SYNC_TIMEOUT_MS, minimum=0, maximum=MAX_WAIT_MS
            ),
        ),
        (
            Field("synced", "boolean", "false: the time ran out"),
            Field("pending", "integer", "changes not reflected yet"),
            Field("generation", "integer", "state of the index"),
            Field("waited_ms", "number", "milliseconds"),
        ),
        cancel_on_close=True,
    ),
    Method("status", "What is indexed, pending and failing, and how fresh it is.", (), _STATUS_FIELDS),
    Method("roots/list", "The watched folders.", (), _ROOTS_FIELDS),
    Method(
        "roots/add",
        "Watches a folder from now on; the configuration file keeps its comments.",
        (
            *path_params("path", "absolute path of a folder", required=True),
            Param("ignore", "strings", "gitignore patterns that rank above the ignore files; `!…` lets in", default=[]),
        ),
        _ROOTS_FIELDS,
    ),
    Method(
        "roots/remove",
        "Stops watching a folder; its files leave the answers.",
        path_params("path", "absolute path of a root", required=True),
        _ROOTS_FIELDS,
    ),
    Method(
        "index/run",
        "Compares the paths, or all roots, with the index now and applies what differs.",
        (
            *path_params("paths", "absolute paths of files or folders; none: everything", many=True),
            Param("force", "boolean", "ignore hashes and forgotten marks", default=False),
            Param("backend", "string", "switch to this backend, once it has everything", minimum=1, maximum=100),
            _PROGRESS,
        ),
        (
            Field("scanned", "integer", "files examined"),
            Field("indexed", "integer", "files read and indexed"),
            Field("unchanged", "integer", "files that were up to date"),
            Field("skipped", "integer", "files left out by kind"),
            Field("removed", "integer", "files that were gone"),
            Field("failed", "array", "{path, stage, message}"),
            Field("documents_pending", "integer", "documents of the paths that are still to be converted"),
            Field("took_ms", "number", "milliseconds"),
        ),
    ),
    Method(
        "index/audit",
        "Reads every file and reports where the index differs from the disk.",
        (
            *path_params("paths", "absolute paths of files or folders; none: everything", many=True),
            Param("repair", "boolean", "repair the differences", default=False),
            _PROGRESS,
        ),
        (
            Field("checked", "integer", "files compared"),
            Field("differences", "array", "{path, what}: missing, extra, stale, damaged or misplaced"),
            Field("repaired", "integer", "differences repaired"),
        ),
    ),
    *FILES,
    Method(
        "plugins/list",
        "What plugins there are, and which are loaded; first what livedex provides itself.",
        (),
        (Field("plugins", "array", "{name, source, state, provides: [{kind, name}], reason?}"),),
    ),
    *EXCHANGE,
    *KNOWLEDGE,
)

# Messages the daemon sends unasked, described like methods: ``fields`` are their params.
NOTIFICATIONS = (
    Method(
        "search/changed",
        "The hits added to a standing query and removed from it; a hit whose text changed is in both.",
        (),
        (
            Field("subscription", "integer", "as `search/subscribe` answered it"),
            Field("added", "hits", "what came"),
            Field("removed", "array", "{path, root, relative_path, kind, start_line, end_line, content_hash}"),
            Field("generation", "integer", "state of the index"),
            Field("fresh", "boolean", "what the first answer lacked was sent", optional=True),
        ),
    ),
    Method(
        "$/progress",
        "How far a request has come that was sent with a `progress_token`.",
        (),
        (
            Field("token", "string", "the request's `progress_token`"),
            Field("value", "object", f"{{kind: begin, report or end, message, percentage, {_COUNTED}, path}}"),
        ),
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _TABLE}
