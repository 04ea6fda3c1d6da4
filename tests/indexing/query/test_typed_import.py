"""A line that imports something is recognised in the form of each language, and prose is not."""

from __future__ import annotations

import pytest

from livedex_indexing.query.typed_import import TypedImport, typed_imports


@pytest.mark.parametrize(
    ("text", "module", "folders", "names"),
    [
        ("from a.b import C", "b", ("a",), ("C",)),
        ("from a.b import (\n    C as D,\n    E,\n)", "b", ("a",), ("C", "E")),
        ("from .b import C", "b", (), ("C",)),
        ("import a.b as c", "b", ("a",), ()),
        ("import a.b.C;", "C", ("a", "b"), ("C",)),
        ("import static a.b.C.run;", "C", ("a", "b"), ("run",)),
        ("import a.b.*;", "b", ("a",), ()),
        ("import qualified Data.Map as M", "Map", ("Data",), ("Map",)),
        ("use a::b::{C, D as E};", "b", ("a",), ("C", "D")),
        ("use crate::{a::B, c};", "a", (), ("B",)),
        ("pub(crate) use super::b::C;", "b", (), ("C",)),
        ("use A\\B\\C;", "C", ("A", "B"), ("C",)),
        ("#include <net/tcp.h>", "tcp.h", ("net",), ()),
        ("include linux/sched/task.h", "task.h", ("linux", "sched"), ()),
        ('#include "../x.h"', "x.h", (), ()),
        ("const { A, b: c } = require('./x');", "x", (), ("A", "b")),
        ("import A, { type B } from '../lib/x.js'", "x.js", ("lib",), ("B",)),
        ("const run = require('./x').run;", "x", (), ("run",)),
        ('export * from "./x"', "x", (), ()),
        ("require_relative '../a/b'", "b", ("a",), ()),
        ('import "net/http"', "http", ("net",), ()),
        ('import web "net/http"', "http", ("net",), ()),
        ('@use "mixins/grid" as g;', "grid", ("mixins",), ()),
        ('local x = require "a.b"', "b", ("a",), ()),
    ],
)
def test_an_import_is_read(text: str, module: str, folders: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert (module, folders, names) in [(one.module, one.folders, one.names) for one in typed_imports(text)]


@pytest.mark.parametrize(
    "text",
    [
        "include/uv/win.h",
        "import.h",
        "use case",
        "import fails",
        "include the tests",
        "require login",
        "from here to there",
        "how to import a module",
        'the module "net/http"',
        "from a import b and run it",
    ],
)
def test_prose_is_no_import(text: str) -> None:
    """Two words may be one, which several files must have as a line."""
    assert all(one.is_plain for one in typed_imports(text))


@pytest.mark.parametrize(
    ("text", "up"),
    [("from ..b import C", 1), ("from . import c", 0), ("import A from '../../x'", 2), ('#include "x.h"', 0)],
)
def test_an_import_beside_the_file(text: str, up: int) -> None:
    assert {one.up for one in typed_imports(text)} == {up}


def test_the_module_of_an_alias_may_be_below_any_folder() -> None:
    assert typed_imports("import { A } from '@/parts/A'")[0] == TypedImport("A", ("parts",), ("A",), is_namespace=True)
