"""Load a plugin's parser by its name, in the child that uses it.

Invariant: no other plugin's code runs than what the same folders and packages give the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from livedex_indexing.parse.converters import Markdown
from livedex_indexing.plugins import plugin_loader
from livedex_indexing.plugins.registry import PARSER, Registry


def plugin_parser(name: str, folders: Sequence[str], config: Mapping[str, object]) -> Callable[[str], Markdown]:
    """Return the parser as a function of a document's path. Raises PluginUnavailable."""
    parser = plugin_loader.load(folders, Registry()).registry.create(PARSER, name, config)

    def convert(path: str) -> Markdown:
        text = parser.convert(path)
        if not isinstance(text, str):
            raise TypeError(type(text).__name__)
        return Markdown(text, [])

    return convert
