"""Keeps a heavy library out of memory until something in it is really used.

Invariant: a deferred module behaves as the real one from its first attribute on; the classes that were named for
annotations do not count as use, and until then have no instances. (``importlib.util.LazyLoader`` does not serve: before
Python 3.12 the next plain ``import`` of the module loads it.)
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
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


def defer(name: str, *, annotations: Iterable[str] = ()) -> None:
    """Puts a stand-in for a top-level module in place. One that is loaded already, or not installed, is left.

    ``annotations`` names classes that others put into annotations, which Python evaluates while it loads them: the
    stand-in has an empty class for each.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is not None:
        stand_in = _Deferred(name)
        stand_in.__spec__ = spec
        if spec.submodule_search_locations is not None:
            stand_in.__path__ = list(spec.submodule_search_locations)
        stand_in.__dict__.update({held: type(held, (), {}) for held in annotations})
        sys.modules[name] = stand_in
