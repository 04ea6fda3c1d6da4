"""The pages of `help()` for a library's modules and classes, made of the source: nothing is imported.

Invariant: a docstring is in one page alone, and the sentence that asks for a page is not in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Final, NamedTuple

from bench.quality.sources import first_sentence, modules

_LEAST_WORDS: Final = 30  # of a page that is asked for

Documented = ast.Module | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Page(NamedTuple):
    """``sentence`` is the first one of the docstring, and no longer in ``text``; None where nothing is asked by it."""

    sentence: str | None
    text: str


def pages(library: Path) -> Iterator[Page]:
    """Of each public module: what it and its functions say; of each public class: what it and its methods say."""
    for path, _source, module in modules(library):
        name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        if not any(part.startswith("_") for part in name.split(".")):
            yield _page(name, module)
            for child in module.body:
                if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
                    yield _page(f"class {name}.{child.name}", child)


def _page(title: str, documented: Documented) -> Page:
    asked, reported = first_sentence(ast.get_docstring(documented) or "")
    functions = (child for child in documented.body if isinstance(child, Function) and not child.name.startswith("_"))
    text = "\n\n".join(part for part in (title, reported, *map(_shown, functions)) if part)
    return Page(asked if len(text.split()) >= _LEAST_WORDS else None, text + "\n")


def _shown(function: Function) -> str:
    """Name, parameters and docstring, as `help()` shows them."""
    signature = f"{function.name}({ast.unparse(function.args)})"
    return f"{signature}\n{indent(ast.get_docstring(function) or '', '    ')}".rstrip()
