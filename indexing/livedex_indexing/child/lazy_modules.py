"""Keep a heavy library out of memory until its first real use.

Invariant: a deferred module behaves like the real one from the first access to an attribute. Access to a class named
for annotations is not a use; until the real module is loaded, such a class has no instances. Of a named function the
first call is the use, not its import. Nor is the import of a module inside a deferred package a use of the package.
(``importlib.util.LazyLoader`` does not work here: before Python 3.12 the next plain ``import`` loads the module.)
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from functools import partial
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)  # the import system asks for these; a module without them is still deferred
        return getattr(_load(self), name)


def _load(placeholder: _Deferred) -> ModuleType:
    name = placeholder.__name__
    if sys.modules.get(name) is placeholder:
        del sys.modules[name]
    real = importlib.import_module(name)
    inside = {key: value for key, value in placeholder.__dict__.items() if sys.modules.get(f"{name}.{key}") is value}
    real.__dict__.update(inside)  # what was imported before is not set again
    placeholder.__dict__.update(real.__dict__)
    return real


def _call(placeholder: _Deferred, function: str, *args: Any, **options: Any) -> Any:
    return getattr(_load(placeholder), function)(*args, **options)


def defer(name: str, *, annotations: Iterable[str] = (), functions: Iterable[str] = ()) -> None:
    """Install a stand-in for a module or package. Do nothing if it is already loaded, or is not installed.

    Defer a package before those inside it.

    ``annotations`` names classes that other modules use in annotations, which Python evaluates at their import: the
    stand-in has an empty class for each. ``functions`` names what other modules import by name and call later.
    """
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is not None:
        placeholder = _Deferred(name)
        placeholder.__spec__ = spec
        if spec.submodule_search_locations is not None:
            placeholder.__path__ = list(spec.submodule_search_locations)
        placeholder.__dict__.update({attribute: type(attribute, (), {}) for attribute in annotations})
        placeholder.__dict__.update({function: partial(_call, placeholder, function) for function in functions})
        sys.modules[name] = placeholder
