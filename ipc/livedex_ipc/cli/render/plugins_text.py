"""The text of ``livedex plugins``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.terminal_text import table, visible

if TYPE_CHECKING:
    from livedex_ipc.wire_results import PluginFields, PluginsResult


def plugins_text(answer: PluginsResult) -> str:
    """Return a table: a line for each plugin, with what it provides or why it does not."""
    rows = [["STATE", "PLUGIN", "PROVIDES", "SOURCE"]]
    for plugin in answer["plugins"]:
        provides = plugin.get("reason") or _provided(plugin)
        rows.append([plugin["state"], *map(visible, (plugin["name"], provides, plugin["source"]))])
    return "\n".join(table(rows)) + "\n"


def _provided(plugin: PluginFields) -> str:
    kinds: dict[str, list[str]] = {}
    for part in plugin["provides"]:
        kinds.setdefault(part["kind"].replace("_", " "), []).append(part["name"])
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in kinds.items()) or "nothing"
