"""Keep a heavy library out of memory until its first real use.

Invariant: a deferred module behaves like the real one from the first access to an attribute. Access to a class named
for annotations is not a use; until the real module is loaded, such a class has no instances.
(``importlib.util.LazyLoader`` does not work here: before Python 3.12 the next plain ``import`` loads the module.)
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
    """Install a stand-in for a top-level module. Do nothing if the module is already loaded, or is not installed.

    ``annotations`` names classes that other modules use in annotations, which Python evaluates at their import: the
    stand-in has an empty class for each.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is not None:
        placeholder = _Deferred(name)
        placeholder.__spec__ = spec
        if spec.submodule_search_locations is not None:
            placeholder.__path__ = list(spec.submodule_search_locations)
        placeholder.__dict__.update({attribute: type(attribute, (), {}) for attribute in annotations})
        sys.modules[name] = placeholder
