"""Libraries that are loaded at the first use of a name in them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from livedex_indexing.child.lazy_modules import defer

HEAVY = """
LOADED = True
class Array: pass
def make(): return Array()
"""
USER = """
import heavy
def is_array(value: heavy.Array | None) -> bool: return isinstance(value, heavy.Array)
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "heavy_user.py").write_text(USER)
    for folder in ("wide", "wide/inner"):
        (tmp_path / folder).mkdir()
    (tmp_path / "wide/__init__.py").write_text(
        "LOADED = True\nfrom .inner import Part\nfrom . import light\n__all__ = ('Part',)\n"
    )
    (tmp_path / "wide/inner/__init__.py").write_text("LOADED = True\nfrom .part import Part\n")
    (tmp_path / "wide/inner/part.py").write_text("class Part: pass\n")
    (tmp_path / "wide/light.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in list(sys.modules):
        if name.partition(".")[0] in ("heavy", "heavy_user", "wide"):
            del sys.modules[name]


def is_loaded() -> bool:
    return "LOADED" in vars(sys.modules["heavy"])


def test_an_annotation_loads_nothing_and_nothing_is_an_instance_until_something_does() -> None:
    defer("heavy", annotations=("Array",))
    user = importlib.import_module("heavy_user")
    assert not user.is_array("text")
    assert not is_loaded()
    assert user.is_array(user.heavy.make())
    assert is_loaded()
    assert user.is_array(importlib.import_module("heavy").make())


def test_an_attribute_that_is_used_loads_the_module() -> None:
    defer("heavy")
    user = importlib.import_module("heavy_user")
    assert user.is_array.__annotations__  # such a use, which Python makes at the import, and from 3.14 on here
    assert is_loaded()
    assert user.is_array(user.heavy.make())


def test_a_function_that_is_imported_by_name_loads_the_module_when_it_is_called() -> None:
    defer("heavy", functions=("make",))
    make = importlib.import_module("heavy").make
    assert not is_loaded()
    made = make()
    assert is_loaded()
    assert isinstance(made, importlib.import_module("heavy").Array)


def test_a_module_that_is_loaded_or_not_there_is_left() -> None:
    real = importlib.import_module("heavy")
    defer("heavy", annotations=("Array",))
    assert sys.modules["heavy"] is real
    assert isinstance(real.make(), real.Array)
    defer("no_such_module_anywhere")
    assert "no_such_module_anywhere" not in sys.modules


def test_a_module_of_a_package_is_imported_without_the_package() -> None:
    for package in ("wide", "wide.inner"):
        defer(package)
    part = importlib.import_module("wide.inner.part")
    importlib.import_module("wide.light")
    assert not any("LOADED" in vars(sys.modules[package]) for package in ("wide", "wide.inner"))
    names: dict[str, object] = {}
    exec("from wide import *", names)
    assert names["Part"] is part.Part
    wide = importlib.import_module("wide")
    assert wide.LOADED and wide.inner.LOADED
    assert wide.inner.part is part and wide.light is sys.modules["wide.light"]
