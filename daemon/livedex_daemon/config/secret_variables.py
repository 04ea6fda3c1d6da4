"""Which variables of the environment hold keys, as far as the configuration says.

Invariant: pure. Every setting of an embedder or a plugin whose name ends in ``_env`` names such a variable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from livedex_daemon.config.settings import Config


def secret_variables(config: Config) -> frozenset[str]:
    """Return the variables that the embedder and plugins have their keys in."""
    found = set(variables_of_plugins(config, config.plugins.tables))
    return frozenset(found | {config.embedding.api_key_env} - {""})


def variables_of_plugins(config: Config, names: Collection[str]) -> frozenset[str]:
    """Return the variables that these plugins have their keys in."""
    return frozenset(name for plugin in names for name in _named_in(config.plugins.tables.get(plugin, {})))


def _named_in(settings: Mapping[str, object]) -> list[str]:
    return [value for name, value in settings.items() if name.endswith("_env") and isinstance(value, str)]
