"""The part of the table of methods about files: ``files/…``.

Invariant: as for the table itself.
"""

from __future__ import annotations

from livedex_ipc.common_params import FRESH, LIMIT_DOC, OFFSET, SCOPE, SCOPES, STATE, SUPERSEDES
from livedex_ipc.constants import ORDERS, STATUSES
from livedex_ipc.method_types import Field, Method
from livedex_ipc.params import MAX_INTEGER, Param, path_params

FILES = (
    Method(
        "files/list",
        "Indexed, pending, skipped and failed files, by path.",
        (
            *path_params("root", "only this root"),
            *SCOPE,
            *SCOPES,
            Param("glob", "string", "as ripgrep's -g, relative to the root"),
            Param("status", "string", "only files of this status", choices=STATUSES),
            Param("limit", "integer", LIMIT_DOC, default=1000, minimum=1, maximum=10_000),
            OFFSET,
            *FRESH,
        ),
        (
            Field("files", "array", "{path, status, size, chunks, language, content_hash, indexed_at, reason?}"),
            Field("total", "integer", "files that match, on all pages"),
            Field("warnings", "array", "{code, message, remedy}"),
            *STATE,
        ),
        cancel_on_close=True,
    ),
    Method(
        "files/find",
        "Indexed and skipped files by pieces of their paths, as a picker needs them.",
        (
            Param("query", "string", "pieces: letters in order, in the path or its root's name", default=""),
            Param("sort", "string", "best first, last modified first, or by path", default="relevance", choices=ORDERS),
            Param("limit", "integer", LIMIT_DOC, default=100, minimum=1, maximum=10_000),
            OFFSET,
            *FRESH,
            SUPERSEDES,
        ),
        (
            Field("files", "array", "{path, root, relative_path, status}, best first"),
            Field("total", "integer", "files that match, on all pages"),
            Field("warnings", "array", "{code, message, remedy}"),
            *STATE,
        ),
        cancel_on_close=True,
    ),
    Method(
        "files/explain",
        "Why a path is or is not in the index.",
        (*path_params("path", "absolute path of anything", required=True), *FRESH),
        (
            Field("path", "string", "the path"),
            Field("status", "string", "indexed, pending, skipped, failed, ignored or outside"),
            Field("reason", "string?", "why"),
            Field("rule", "object?", "{file, line, pattern} that decided"),
            STATE[0],
        ),
        cancel_on_close=True,
    ),
    Method(
        "files/retrieve",
        "All chunks of one file, or those that touch some lines.",
        (
            *path_params("path", "absolute path of a file", required=True),
            Param("start_line", "integer", "first line, 1-based", minimum=1, maximum=MAX_INTEGER),
            Param("end_line", "integer", "last line, inclusive", minimum=1, maximum=MAX_INTEGER),
            *FRESH,
        ),
        (
            Field("path", "string", "the path"),
            Field("path_b64", "string", "the path's bytes, where it is not UTF-8", optional=True),
            Field("content_hash", "string", "hex BLAKE2b-128 of the file's bytes"),
            Field(
                "chunks",
                "array",
                "{ordinal, text, context, kind, language, heading, symbol, start_line, end_line, start_byte, end_byte,"
                " metadata}",
            ),
            *STATE,
        ),
        cancel_on_close=True,
    ),
    Method(
        "files/delete",
        "Forgets the files there now, each until its content or path changes.",
        path_params("path", "absolute path of a file or folder", required=True),
        (Field("deleted", "integer", "number of files"),),
    ),
)
