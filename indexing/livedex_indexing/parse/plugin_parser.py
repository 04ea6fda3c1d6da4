"""Load a plugin's parser by its name, in the child that uses it.

Invariant: only the plugin that owns the parser is loaded: another one, which may hang, costs no document anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from livedex_indexing.parse.converters import Markdown
from livedex_indexing.plugins import plugin_loader, plugin_source
from livedex_indexing.plugins.registry import PARSER, Registry


def plugin_parser(
    name: str, owner: str, folders: Sequence[str], config: Mapping[str, object]
) -> Callable[[str], Markdown]:
    """Return the parser of a plugin as a function of a document's path. Raises PluginUnavailable."""
    sources = [one for one in plugin_source.find(folders, frozenset((owner,))) if one.name == owner]
    parser = plugin_loader.load_sources(sources, Registry()).registry.create(PARSER, name, config)

    def convert(path: str) -> Markdown:
        text = parser.convert(path)
        if not isinstance(text, str):
            raise TypeError(type(text).__name__)
        return Markdown(text, [])

    return convert
