"""``livedex list``, ``retrieve``, ``why`` and ``forget``: shows and changes single files of the index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from livedex_ipc.cli.argument_values import wire_path, wire_paths
from livedex_ipc.cli.context import Context, deadline_s
from livedex_ipc.client import Client
from livedex_ipc.constants import FRESH_TIMEOUT_MS

if TYPE_CHECKING:
    from livedex_ipc.file_results import (
        ChunkFields,
        ExplainResult,
        FileFields,
        FileFindResult,
        FileListResult,
        FoundFileFields,
        RetrieveResult,
    )
    from livedex_ipc.wire_results import AnswerWarning, FreshFields, IndexRunResult, PathFields

    Page = FileListResult[PathFields] | FileFindResult[PathFields]

S = TypeVar("S", bound="FreshFields")

_PAGE = 10_000


def show(context: Context) -> int:
    """Print every file that matches the filters, all pages; exit code 1 if there is none."""
    params = {name: value for name, value in context.values.items() if name not in ("paths", "limit")}
    params.update(wire_paths(context.values.get("paths", [])))
    if "root" in params:
        params.update(wire_path(params["root"], "root"))
    with context.connect() as client:
        result = _all_pages(client, "files/list", params, context.values.get("limit", sys.maxsize))
    if not result["files"]:
        context.streams.hint("livedex: no files")

    def render(answer: FileListResult[FileFields]) -> str:
        from livedex_ipc.cli.render.files_text import files_text

        return files_text(answer, colour=context.streams.out_colour)

    _print(context, result, render, result.get("warnings", ()))  # a daemon of an earlier version has none
    return 0 if result["files"] else 1


def _all_pages(client: Client, method: str, params: Mapping[str, object], limit: int) -> Any:
    """Return the first ``limit`` files of all pages as one result; its other fields are the first stale page's, or the
    last page's."""
    timeout_s = deadline_s(params, FRESH_TIMEOUT_MS)
    files: list[PathFields] = []
    shown: Page | None = None
    while True:
        part = {**params, "limit": min(_PAGE, limit - len(files)), "offset": len(files)}
        page: Page = client.call(method, part, timeout_s=timeout_s)
        files += page["files"]
        if shown is None or shown["fresh"]:
            shown = page
        if not page["files"] or len(files) >= min(limit, page["total"]):
            return {**shown, "files": files, "total": page["total"]}


def find(context: Context) -> int:
    """Print the paths that match, the best first; exit code 1 if there is none."""
    from livedex_ipc.cli.render.shown_paths import shown_path
    from livedex_ipc.cli.render.terminal_text import visible
    from livedex_ipc.cli.render.vimgrep import one_line

    given = context.values
    params = {name: value for name, value in given.items() if name not in ("limit", "null", "typing")}
    params["query"] = " ".join(given.get("query", ()))
    found: FileFindResult[FoundFileFields]
    with context.connect() as client:
        found = _all_pages(client, "files/find", params, given.get("limit", sys.maxsize))
    if context.streams.json:
        context.streams.write_json(found)
    elif given.get("null"):
        context.streams.write("".join(shown_path(file) + "\0" for file in found["files"]))
    else:
        shown = visible if context.streams.out_is_terminal else one_line
        context.streams.write("".join(shown(shown_path(file)) + "\n" for file in found["files"]))
    context.streams.flush()
    context.print_state(found, warnings=found.get("warnings", ()), hints=False)
    return 0 if found["files"] or given.get("typing") else 1


def retrieve(context: Context) -> int:
    """Print all chunks of one file, or of some lines what the chunks have of them; as JSON, the chunks are whole."""
    params = {**context.values, **wire_path(context.values["path"])}
    with context.connect() as client:
        result: RetrieveResult[ChunkFields] = client.call(
            "files/retrieve", params, timeout_s=deadline_s(params, FRESH_TIMEOUT_MS)
        )

    def render(answer: RetrieveResult[ChunkFields]) -> str:
        from livedex_ipc.chunk_lines import within_lines
        from livedex_ipc.cli.render.files_text import chunks_text

        return chunks_text(within_lines(answer, params), colour=context.streams.out_colour)

    _print(context, result, render)
    return 0


def why(context: Context) -> int:
    """Explain for each path why it is, or is not, in the index."""
    params = {name: value for name, value in context.values.items() if name != "paths"}

    stale: list[str] = []

    def render(answer: ExplainResult) -> str:
        from livedex_ipc.cli.render.files_text import why_text
        from livedex_ipc.cli.render.shown_paths import shown_path
        from livedex_ipc.cli.render.terminal_text import visible

        if not answer["fresh"] and params.get("fresh", True):
            stale.append(visible(shown_path(answer)))
        return why_text(answer, colour=context.streams.out_colour)

    code = context.each_path("files/explain", params, render)
    context.streams.flush()
    for path in stale:
        context.streams.message(f"livedex: not fresh: {path} may have changed since")
    return code


def forget(context: Context) -> int:
    """Forget each path; with --undo, index them again."""
    from livedex_ipc.cli.render.files_text import deleted_text, remembered_text

    if not context.values.get("undo"):
        paths = " ".join(quote(os.fsdecode(path)) for path in context.values["paths"])
        code = context.each_path("files/delete", {}, deleted_text)
        context.streams.hint(f"livedex: to undo: livedex forget --undo {paths}")
        return code
    params = {**wire_paths(context.values["paths"]), "force": True}
    with context.connect() as client:
        result: IndexRunResult = client.call("index/run", params)
    context.show(result, remembered_text)
    return 0


def _print(context: Context, result: S, render: Callable[[S], str], warnings: Iterable[AnswerWarning] = ()) -> None:
    if context.streams.json:
        context.streams.write_json(result)
    else:
        context.page(render(result))
    context.streams.flush()
    context.print_state(result, warnings=warnings)
