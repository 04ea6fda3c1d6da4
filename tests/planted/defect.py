"""A planted defect: a small change of the product that breaks one promise, and the test that must fail for it.

Invariant: a defect names the exact text that it replaces, so that changed code is not mistaken for guarded code; and
what it puts there is still code, since any test notices a file that cannot be read.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Parser

from helpers.support import CHECKOUT
from livedex_indexing.chunk.grammars import grammar

EDITORS = "editors/"  # the clients of the editors: Lua, Lisp and JavaScript, in no package of the checkout


class Moved(Exception):
    """The text that a defect replaces is not in its module exactly once: the table must follow the code."""


class Defect(NamedTuple):
    """``says``: what is wrong with the defect, for people. ``test``: the node id of the test that must fail.

    ``edits``: (old, new) texts of ``module``, a path such as ``livedex_daemon/watch/inotify.py`` or
    ``editors/nvim/lua/livedex/follow.lua``; each old one is there exactly once. ``elsewhere``: (module, old, new) of
    other modules, for a promise that is guarded in two places.
    """

    name: str
    says: str
    module: str
    edits: tuple[tuple[str, str], ...]
    test: str
    elsewhere: tuple[tuple[str, str, str], ...] = ()

    def modules(self) -> list[str]:
        return list(dict.fromkeys([self.module, *(module for module, _, _ in self.elsewhere)]))

    def planted(self, module: str, source: str) -> str:
        """Return a module's source with the defect in it. Raises Moved; SyntaxError if the result is no code."""
        sound = source
        edits = [*self.edits] if module == self.module else []
        for old, new in edits + [(old, new) for where, old, new in self.elsewhere if where == module]:
            if source.count(old) != 1 or old == new:
                raise Moved(f"{self.name}: stands {source.count(old)} times in {module}:\n{old}")
            source = source.replace(old, new)
        check_syntax(module, source, sound)
        return source

    def plant(self, copy: Path) -> None:
        """Change the modules in a copy of the packages. Raises Moved."""
        for module in self.modules():
            path = copy / place_in_copy(module)
            path.write_text(self.planted(module, path.read_text()))


def place_in_copy(module: str) -> str:
    """Return where a copy has the module: the clients of the editors where a wheel has them."""
    return f"livedex_ipc/{module}" if module.startswith(EDITORS) else module


def check_syntax(module: str, source: str, sound: str) -> None:
    """Raise SyntaxError if ``source`` is no code. Where no grammar is at hand, its brackets must match as before."""
    language = Path(module).suffix
    if language == ".py":
        ast.parse(source)
    elif language == ".js":
        if Parser(grammar("javascript")).parse(source.encode()).root_node.has_error:
            raise SyntaxError(f"{module} with the defect is not JavaScript")
    elif any(surplus(pair, source) != surplus(pair, sound) for pair in ("()", "[]", "{}")):
        raise SyntaxError(f"{module} with the defect has brackets that do not match")


def surplus(pair: str, text: str) -> int:
    """Return how many more brackets are opened than closed."""
    return text.count(pair[0]) - text.count(pair[1])


def has_test(node_id: str) -> bool:
    """Return whether the named test exists. An id in brackets (one case of many) is ignored."""
    path, _, name = node_id.partition("::")
    function = re.sub(r"\[.*\]\Z", "", name)
    file = CHECKOUT / path
    return file.is_file() and function in _functions(file)


@cache
def _functions(file: Path) -> frozenset[str]:
    """The functions of a test file. Many defects name the same few files."""
    tree = ast.parse(file.read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
