"""Keeps a heavy library out of memory until something in it is really used.

Invariant: a deferred module behaves as the real one from its first attribute on. (``importlib.util.LazyLoader`` does
not serve: before Python 3.12 the next plain ``import`` of the module loads it.)
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # the import system asks for these; a module without them is still deferred
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        real = importlib.import_module(self.__name__)
        self.__dict__.update(real.__dict__)
        return getattr(real, name)


def defer(*names: str) -> None:
    """Put stand-ins for these top-level modules in place. One that is loaded already, or not installed, is left."""
    for name in names:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is not None:
            stand_in = _Deferred(name)
            stand_in.__spec__ = spec
            if spec.submodule_search_locations is not None:
                stand_in.__path__ = list(spec.submodule_search_locations)
            sys.modules[name] = stand_in
