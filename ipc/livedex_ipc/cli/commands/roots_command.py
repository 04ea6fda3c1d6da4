"""``livedex roots add``, ``remove`` and ``list``: changes and shows the watched folders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from livedex_ipc.cli.context import Context

if TYPE_CHECKING:
    from livedex_ipc.wire_results import RootsResult


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
        result: RootsResult = client.call("roots/list", timeout_s=60)
    context.show(result, lambda answer: _table(context, answer))
    return 0


def _change(context: Context, method: str, params: Mapping[str, object]) -> int:
    last: list[RootsResult] = []

    def remember(answer: RootsResult) -> str:
        last[:] = [answer]
        return ""

    code = context.each_path(method, params, remember)
    if last and not context.streams.json:
        # Each answer lists all roots, so only the last one shows the current state.
        context.streams.write(_table(context, last[0]))
    return code


def _table(context: Context, answer: RootsResult) -> str:
    from livedex_ipc.cli.render.status_text import roots_text

    return roots_text(answer["roots"], colour=context.streams.out_colour)
