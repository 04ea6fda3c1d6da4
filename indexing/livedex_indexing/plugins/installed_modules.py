"""Imports the module of an entry point, of the package as it is installed now.

Invariant: a package that was installed again since its import is imported again, as a whole; until then its modules
stay as they are. A package that others may write to is not imported.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from types import ModuleType

from livedex_indexing.plugins import owned_files
from livedex_indexing.plugins.plugin_source import PluginSource

_imported: dict[tuple[str, str], PluginSource] = {}  # by distribution and package: what it was imported from


def load(name: str, source: PluginSource) -> ModuleType:
    """Return the module. Raises Refused, and whatever its import raises."""
    package = name.partition(".")[0]
    key = source.stamp.rpartition("-")[0], package
    former = _imported.get(key, source)
    invalidate_caches()  # a folder that changed within the resolution of its time seems to be the same
    if (former.stamp, former.installed) != (source.stamp, source.installed):
        _forget(name)
    _imported[key] = source
    _check_package(package)
    return import_module(name)


def _forget(name: str) -> None:
    """Drop the loaded modules of the package that has the module, also if it is not loaded: its import may have failed
    after that of some of its modules. A namespace package may be that of others, too."""
    parts = name.split(".")
    prefixes = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    whole = next((prefix for prefix in prefixes if not _is_namespace(prefix)), name)
    for loaded in list(sys.modules):
        if loaded == whole or loaded.startswith(f"{whole}."):
            del sys.modules[loaded]


def _is_namespace(name: str) -> bool:
    return name in sys.modules and getattr(sys.modules[name], "__file__", None) is None


def _check_package(name: str) -> None:
    """Check the file from which a package begins, wherever an editable installation keeps it. Raises Refused."""
    spec = find_spec(name)
    for path in (spec.origin, *(spec.submodule_search_locations or ())) if spec is not None else ():
        if path is not None and os.path.exists(path):
            owned_files.check_path(path)
