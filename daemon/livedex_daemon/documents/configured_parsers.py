"""The parsers of a configuration: what converts which documents, and what it names and the installation lacks.

Invariant: the same for the same configuration, plugins and installed packages. A name that cannot be used is reported
to the plugin host, whose faults are warnings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from livedex_daemon.config.setting_values import thawed
from livedex_daemon.config.settings import Config
from livedex_daemon.documents.lane import ParseSettings
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_indexing.parse import parsers
from livedex_indexing.parse.parsers import Missing
from livedex_indexing.plugins import PARSER, PluginUnavailable


def parsers_of(config: Config, plugins: PluginHost) -> Mapping[str, str]:
    """Return the identity of the parser of each suffix. A suffix in ``chunking.pipelines`` is not converted: its own
    text is cut. Runs factories of plugins: not for the event loop."""
    parsing = config.parsing
    names = {parsing.default, *parsing.overrides.values()}
    foreign: dict[str, str] = {}
    for name in sorted(names.intersection(plugins.registry.names(PARSER))):
        made = plugins.obtain(PARSER, name)
        if made is None:
            continue
        try:
            foreign[name] = f"{plugins.text_of(PARSER, name, made, 'version')} {_stamp(plugins, name)}"
        except PluginUnavailable as fault:
            plugins.report(PARSER, name, str(fault))
    found = parsers.chosen(parsing.default, parsing.overrides, foreign, frozenset(config.chunking.pipelines))
    lacking = {each.name: each for each in found.missing}
    for name in sorted(names - set(plugins.registry.names(PARSER))):
        each = lacking.get(name)
        plugins.report(PARSER, name, None if each is None else _in_words(each))
    plugins.used(PARSER, names)
    return found.by_suffix


def parse_settings(config: Config, plugins: PluginHost, parser: str) -> ParseSettings:
    """Return what a lane needs to have a document converted by the parser of this name."""
    timeout_s = config.parsing.timeout_s
    owner = plugins.registry.owner(PARSER, parser)
    if owner is None:
        return ParseSettings(timeout_s)
    own = {name: thawed(value) for name, value in plugins.config_for(PARSER, parser).items()}
    return ParseSettings(timeout_s, owner, tuple(config.plugins.paths), own)


def _in_words(each: Missing) -> str:
    return f"the parser {each.name} for {', '.join(each.suffixes)} {each.reason}: {each.remedy}"


def _stamp(plugins: PluginHost, name: str) -> str:
    """Return what changes with the plugin that has this parser; a hash, since its settings may be secret."""
    return hashlib.blake2b(plugins.identity(PARSER, name).encode(), digest_size=8).hexdigest()
