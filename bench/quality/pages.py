"""The pages of `help()` for a library's modules and classes, made of the source: nothing is imported.

Invariant: a docstring stands in one page alone, and the sentence that asks for a page does not stand in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Final, NamedTuple

from bench.quality.sources import modules, sentence

_LEAST_WORDS: Final = 30  # of a page that is asked for
_SENTENCE_END: Final = re.compile(r"\.?\s*")

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
    docstring = ast.get_docstring(documented) or ""
    asked = sentence(docstring)
    told = _without(docstring, asked) if asked is not None else docstring
    functions = (child for child in documented.body if isinstance(child, Function) and not child.name.startswith("_"))
    text = "\n\n".join(part for part in (title, told, *map(_described, functions)) if part)
    return Page(asked if len(text.split()) >= _LEAST_WORDS else None, text + "\n")


def _described(function: Function) -> str:
    """Name, parameters and docstring, as `help()` shows them."""
    signature = f"{function.name}({ast.unparse(function.args)})"
    return f"{signature}\n{indent(ast.get_docstring(function) or '', '    ')}".rstrip()


def _without(docstring: str, first: str) -> str:
    """``docstring`` after the words of ``first``, which it begins with."""
    spaced = re.match(r"\s*" + r"\s+".join(map(re.escape, first.split())), docstring)
    assert spaced is not None, first
    end = _SENTENCE_END.match(docstring, spaced.end())
    return docstring[end.end() if end is not None else spaced.end() :]
