"""``livedex roots add``, ``remove`` and ``list``: changes and shows the watched folders."""

from __future__ import annotations

from typing import Any

from livedex_ipc.cli.context import Context


def add(context: Context) -> int:
    """Watch each path of the command line; return the highest exit code of the refusals."""
    params = {"ignore": context.values["ignore"]} if "ignore" in context.values else {}
    return _change(context, "roots/add", params)


def remove(context: Context) -> int:
    """Stop watching each path of the command line; return the highest exit code of the refusals."""
    return _change(context, "roots/remove", {})


def show(context: Context) -> int:
    """Print the roots."""
    with context.connect() as client:
        result = client.call("roots/list", timeout_s=60)
    context.show(result, lambda answer: _table(context, answer))
    return 0


def _change(context: Context, method: str, params: dict[str, Any]) -> int:
    last: list[dict[str, Any]] = []

    def remember(answer: dict[str, Any]) -> str:
        last[:] = [answer]
        return ""

    code = context.each_path(method, params, remember)
    if last and not context.streams.json:
        # Each answer lists all roots, so only the last one shows the current state.
        context.streams.write(_table(context, last[0]))
    return code


def _table(context: Context, answer: dict[str, Any]) -> str:
    from livedex_ipc.cli.render.status_text import roots_text

    return roots_text(answer["roots"], colour=context.streams.out_colour)
