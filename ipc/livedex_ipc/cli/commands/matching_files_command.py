"""``livedex search -F`` or ``-e`` with ``-l`` or ``-c``: the paths of the files that have a matching line, all of them.

Invariant: exit codes are grep's: 0 for a file, 1 for none; 4 for none only as far as the time allowed to look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from livedex_ipc.cli.context import Context, deadline_s, is_unsure
from livedex_ipc.cli.render.shown_paths import relative, working_folder
from livedex_ipc.constants import FRESH_TIMEOUT_MS

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.client import Client
    from livedex_ipc.file_results import MatchesResult, MatchingFile

    Result = MatchesResult[MatchingFile]

# Of the params of a search, those of the method.
_PARAMS = (
    *("query", "mode", "letter_case", "whole_words", "limit", "paths", "paths_b64", "globs", "languages", "kinds"),
    *("roots", "roots_b64", "modified_after", "modified_before", "fresh", "timeout_ms"),
)
_PAGE = 30_000  # files: a few MiB


def print_matching_files(context: Context, client: Client, search: Mapping[str, Any]) -> int:
    """Print a line for each file, each page as it arrives. ``search``: the params of a search. Return the exit code."""
    params = {name: value for name, value in search.items() if name in _PARAMS}
    params["count"] = context.values["form"] == "count"
    if search.get("sort", "relevance") != "relevance":
        params["sort"] = search["sort"]
    pages: list[Result] = []
    found = unsure = False
    for page in _pages(context, client, params):
        found |= bool(page["files"])
        unsure |= is_unsure(page)
        if context.streams.json:
            pages.append(page)
        else:
            _print(context, page)
    if pages:
        context.streams.write_json({**pages[-1], "files": [file for page in pages for file in page["files"]]})
        context.streams.flush()
    return 0 if found else 4 if unsure else 1


def _pages(context: Context, client: Client, params: Mapping[str, object]) -> Iterator[Result]:
    timeout_s = deadline_s(params, FRESH_TIMEOUT_MS)
    most = params.get("limit")
    part = params if most is not None else {**params, "limit": _PAGE}
    while True:
        page: Result = context.call_patiently(client, "search/files", part, timeout_s)
        yield page
        if most is not None or page["next_cursor"] is None or not page["files"]:
            return
        part = {**part, "cursor": page["next_cursor"]}


def _print(context: Context, page: Result) -> None:
    from livedex_ipc.cli.render.shown_paths import path_text
    from livedex_ipc.cli.render.terminal_text import visible
    from livedex_ipc.cli.render.vimgrep import one_line

    streams, null, folder = context.streams, bool(context.values.get("null")), working_folder()
    lines: list[str] = []
    for file in page["files"]:
        path = relative(path_text(file), folder)
        if not null:
            path = visible(one_line(path)) if streams.out_is_terminal else one_line(path)
        count = f"{file['matches']}\n" if "matches" in file else ""
        lines.append(f"{path}{chr(0) if null else ':' if count else chr(10)}{count}")
    streams.write("".join(lines))
    streams.flush()
    context.print_state(page, page["pending"], page["warnings"], hints=False)
