"""``livedex plugins``: what is installed and loaded, or refused and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.context import Context

if TYPE_CHECKING:
    from livedex_ipc.wire_results import PluginsResult


def show(context: Context) -> int:
    """Print the plugins of the daemon, with what each provides."""
    with context.connect() as client:
        result: PluginsResult = client.call("plugins/list")

    def render(answer: PluginsResult) -> str:
        from livedex_ipc.cli.render.plugins_text import plugins_text

        return plugins_text(answer)

    context.show(result, render)
    return 0
