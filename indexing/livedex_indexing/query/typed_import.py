"""Recognises a line that imports something, in the form of any common language: what it names, and from where.

Invariant: pure; whether there is such a module is for the index to say. Prose that begins with such a word is none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_LONGEST: Final = 400  # characters
_MOST: Final = 4  # names of one line
_NAME: Final = r"[^\W\d]\w*"
_LIST: Final = rf"{_NAME}(?:\s+as\s+\w+)?(?:\s*,\s*{_NAME}(?:\s+as\s+\w+)?)*\s*,?"
# from a.b import C    from .b import (C, D as E)
_FROM: Final = re.compile(
    rf"from\s+(?P<module>\.*(?:{_NAME}(?:\.{_NAME})*)?)\s+import\s+(?:(?P<names>{_LIST})|\(\s*(?P<more>{_LIST})\s*\)|\*)"
)
# import a.b.C    import a.b as c    import static a.b.C.m;    import a.b.*;    import qualified A.B as C (d)
_IMPORT: Final = re.compile(
    rf"import\s+(?P<static>static\s+)?(?:qualified\s+)?(?P<module>{_NAME}(?:\.{_NAME})*)(?P<all>\.\*)?"
    r"(?:\s+as\s+\w+|\s+qualified)?(?:\s*\([^()]*\))?\s*(?P<end>;?)"
)
# use a::b::{C, D};    pub use crate::b::C;    use A::B;
_USE: Final = re.compile(
    rf"(?:pub(?:\([a-z ]+\))?\s+)?use\s+(?:::)?(?P<module>{_NAME}(?:::{_NAME})*)"
    r"(?:::(?:\{\s*(?P<names>[\w\s,:]+)\}|\*))?(?:\s+as\s+\w+)?\s*;?"
)
# use A\B\C;    use function A\b;
_NAMESPACE: Final = re.compile(
    rf"use\s+(?:function\s+|const\s+)?\\?(?P<module>{_NAME}(?:\\{_NAME})+)(?:\s+as\s+\w+)?\s*;?"
)
# #include <a/b.h>    #include "b.h"
_INCLUDE: Final = re.compile(
    r"#?\s*(?:include|import)(?:\s*<(?P<path>[\w./+-]+)>|\s*\"(?P<near>[\w./+-]+\.\w+)\"|\s+(?P<bare>[\w./+-]+\.h(?:pp)?))"
)
_QUOTED: Final = r"[\"'`](?:node:|package:)?(?P<path>[@~\w.$-][\w@.$/+-]*)[\"'`]"
# const { A, b: c } = require('./x');    import A, { B } from './x'    export * from "x"    import("x")
_SCRIPT: Final = re.compile(
    rf"(?:(?:export|import)\s+(?:type\s+)?(?P<what>[\w\s,$*{{}}:]*?)\s*\bfrom\s*|import\s*\(?\s*|"
    rf"(?:(?:const|let|var|local)\s+)?(?:(?P<taken>{_NAME}|\{{[^{{}}]*\}})\s*=\s*)?(?:await\s+)?(?:require|import)\s*\(?\s*)"
    rf"{_QUOTED}\s*\)?(?:\.(?P<member>{_NAME}))?\s*;?"
)
# require_relative 'x'    load "x"    import "net/http"    import name "net/http"    @use "mixins/grid" as g;
_OTHER: Final = re.compile(
    rf"(?P<word>require_relative|load|import\s+{_NAME}|@(?:import|use|forward))\s+{_QUOTED}(?:\s+as\s+[\w*]+)?\s*;?"
)
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_HERE: Final = frozenset({"crate", "self", "super"})
_SUFFIX: Final = re.compile(r"\.(?:c?[hc]|[hc](?:h|pp|xx|\+\+)|[cm]?[jt]sx?|json|py|rb|s?css|vue|svelte|dart)")
_SCRIPT_FILE: Final = re.compile(r"\.[cm]?[jt]sx?\Z")


class TypedImport(NamedTuple):
    """One way to read a line that imports something. ``folders`` are those of the ``module``, outermost first, which
    has a suffix where one was typed; ``names`` are imported from it, empty for the module itself. ``up``: how many
    folders it is above the file with the line, None where it is not relative to that. ``is_namespace``: its first
    folders may be called otherwise, or not exist. ``is_plain``: it could be two words of prose. ``suffix``: that of the
    language that has this form; empty where several have it."""

    module: str
    folders: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    up: int | None = None
    is_namespace: bool = False
    is_plain: bool = False
    suffix: str = ""


@lru_cache(maxsize=32)  # a search asks several times
def typed_imports(text: str) -> tuple[TypedImport, ...]:
    """Return the ways to read a text that is one import and nothing else, the likeliest first; none for any other."""
    line = text.strip()
    if len(line) > _LONGEST:
        return ()
    if (found := _FROM.fullmatch(line)) is not None:
        return _in(".py", _from(found["module"], _names(found["names"] or found["more"] or "")))
    if (found := _IMPORT.fullmatch(line)) is not None:
        return _dotted(found)
    if (found := _NAMESPACE.fullmatch(line)) is not None:
        return _in(".php", _either(found["module"].split("\\"), is_namespace=True))
    if (found := _USE.fullmatch(line)) is not None and ("::" in found["module"] or found["names"]):
        return _in(".rs", _used(found["module"].split("::"), found["names"]))
    if (found := _INCLUDE.fullmatch(line)) is not None:
        return (_of_path(found["path"] or found["near"] or found["bare"], is_near=found["near"] is not None),)
    if (found := _OTHER.fullmatch(line)) is not None:
        is_near = found["word"] == "require_relative" or found["word"][0] == "@"
        return (_of_path(found["path"], is_near=is_near)._replace(suffix=".go" * found["word"].startswith("import")),)
    found = _SCRIPT.fullmatch(line)
    return () if found is None else _scripted(found)


def _in(suffix: str, readings: tuple[TypedImport, ...]) -> tuple[TypedImport, ...]:
    return tuple(each._replace(suffix=suffix) for each in readings)


def _from(module: str, names: tuple[str, ...]) -> tuple[TypedImport, ...]:
    path = module.lstrip(".")
    dots = len(module) - len(path)
    up = dots - 1 if dots else None
    *folders, last = path.split(".")
    modules = [TypedImport(name, tuple(filter(None, (*folders, last))), up=up) for name in names]
    of_module = TypedImport(last, tuple(folders), names, up)
    return (*modules[:1], of_module) if last or not names else tuple(modules[:1])


def _dotted(found: re.Match[str]) -> tuple[TypedImport, ...]:
    parts = found["module"].split(".")
    if found["static"]:
        return (TypedImport(parts[-2], tuple(parts[:-2]), (parts[-1],)),) if len(parts) > 1 else ()
    if len(parts) == 1:
        return (TypedImport(parts[0], is_plain=not found["end"]),)
    return _either(parts) if found["all"] is None else (TypedImport(parts[-1], tuple(parts[:-1])),)


def _used(parts: list[str], names: str | None) -> tuple[TypedImport, ...]:
    here = len([part for part in parts if part in _HERE])
    parts = parts[here:]
    if names is None:
        return _either(parts, is_namespace=here > 0) if parts else ()
    taken = [each.strip() for each in names.split(",")]
    first = next((each for each in taken if each not in ("", "self")), "")
    if "::" in first:  # use a::{b::C, d}
        return _used([*parts, *first.split("::")], None)
    if not parts:
        return _either([first], is_namespace=True) if first else ()
    own = tuple(each.partition(" ")[0] for each in taken if each not in ("", "self") and "::" not in each)[:_MOST]
    return (TypedImport(parts[-1], tuple(parts[:-1]), own, is_namespace=here > 0),)


def _either(parts: list[str], *, is_namespace: bool = False) -> tuple[TypedImport, ...]:
    """Read the last part as a module, or as a name in the one before."""
    *above, last = parts
    of_type = (last,) if last[0].isupper() else ()  # its file may have more in front
    own = TypedImport(last, tuple(above), of_type, is_namespace=is_namespace)
    if not above:
        return (own,)
    return own, TypedImport(above[-1], tuple(above[:-1]), (last,), is_namespace=is_namespace)


def _scripted(found: re.Match[str]) -> tuple[TypedImport, ...]:
    line, what = found[0], found["what"] or found["taken"] or ""
    braces = _BRACES.search(what)
    names = _names(braces[1].replace(":", " as ")) if braces else (found["member"],) if found["member"] else ()
    path = found["path"]
    if "/" not in path and "." in path and not _SUFFIX.search(path):  # require "a.b" of Lua
        path = path.replace(".", "/")
    is_near = path.startswith(".")
    is_go = line.startswith('import "') and not is_near
    is_ruby = line.startswith("require ")
    one = _of_path(path, is_near=is_near)._replace(suffix=".go" if is_go else ".rb" if is_ruby else "")
    return (one._replace(names=names), one) if names else (one,)


def _of_path(path: str, *, is_near: bool) -> TypedImport:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    up = parts.count("..")
    parts = [part for part in parts if part not in ("..", "@", "~")]
    if not parts:
        return TypedImport("index", up=up)
    is_alias = path.startswith(("@/", "~/"))
    return TypedImport(parts[-1], tuple(parts[:-1]), up=up if is_near else None, is_namespace=is_alias)


def _names(listed: str) -> tuple[str, ...]:
    each = (part.removeprefix("type ").split() for part in listed.replace("type ", "").split(","))
    return tuple(words[0] for words in each if words)[:_MOST]


def is_script(name: str) -> bool:
    """Whether a name is that of a file of JavaScript or TypeScript, of which a build makes one another."""
    return _SCRIPT_FILE.search(name) is not None


def stem_of(module: str) -> str:
    """Return a module without the suffix of a source."""
    found = _SUFFIX.fullmatch(module[module.rfind(".") :]) if "." in module else None
    return module if found is None else module[: module.rfind(".")]
