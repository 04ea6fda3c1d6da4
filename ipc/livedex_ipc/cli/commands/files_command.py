"""``livedex list``, ``retrieve``, ``why`` and ``delete``: shows and changes single files of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from livedex_ipc.cli.argument_values import wire_path
from livedex_ipc.cli.context import Context, deadline_s, print_state
from livedex_ipc.client import Client
from livedex_ipc.constants import FRESH_TIMEOUT_MS

_PAGE = 10_000


def show(context: Context) -> int:
    """Print every file that matches the filters, all pages; exit code 1 if there is none."""
    params = dict(context.values)
    for name in ("path", "root"):
        if name in params:
            params.update(wire_path(params[name], name))
    with context.connect() as client:
        result = _all_pages(client, params)
    if not result["files"] and not context.streams.json:
        context.streams.message("livedex: no files")
    _print(context, result, "files_text")
    return 0 if result["files"] else 1


def _all_pages(client: Client, params: dict[str, Any]) -> dict[str, Any]:
    """Return the files of all pages as one result; its other fields are the first stale page's, or the last page's."""
    timeout_s = deadline_s(params, FRESH_TIMEOUT_MS)
    files: list[dict[str, Any]] = []
    state: dict[str, Any] = {}
    while True:
        page = client.call("files/list", {**params, "limit": _PAGE, "offset": len(files)}, timeout_s=timeout_s)
        files += page["files"]
        if state.get("fresh", True):
            state = page
        if not page["files"] or len(files) >= page["total"]:
            return {**state, "files": files, "total": page["total"]}


def retrieve(context: Context) -> int:
    """Print all chunks of one file."""
    params = {**context.values, **wire_path(context.values["path"])}
    with context.connect() as client:
        result = client.call("files/retrieve", params, timeout_s=deadline_s(params, FRESH_TIMEOUT_MS))
    _print(context, result, "chunks_text")
    return 0


def why(context: Context) -> int:
    """Explain for each path why it is, or is not, in the index."""
    params = {name: value for name, value in context.values.items() if name != "paths"}
    return context.each_path("files/explain", params, _renderer(context, "why_text"))


def delete(context: Context) -> int:
    """Forget each path."""
    return context.each_path("files/delete", {}, _renderer(context, "deleted_text"))


def _print(context: Context, result: dict[str, Any], renderer: str) -> None:
    context.show(result, _renderer(context, renderer))
    context.streams.flush()
    print_state(context.streams, result)


def _renderer(context: Context, name: str) -> Callable[[dict[str, Any]], str]:
    def render(answer: dict[str, Any]) -> str:
        from livedex_ipc.cli.render import files_text

        text: str = getattr(files_text, name)(answer, colour=context.streams.out_colour)
        return text

    return render
