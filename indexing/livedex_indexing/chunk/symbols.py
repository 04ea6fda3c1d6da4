"""Find the definitions in a syntax tree and their names.

Invariant: only nodes that can contain a definition are entered, no step recurses, and the definitions are in the order
of their beginnings, a container before its content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from livedex_indexing.chunk.definitions import RULES
from livedex_indexing.chunk.grammars import grammar
from livedex_indexing.chunk.syntax_chunker import glue_kinds, kind_ids

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_NAME = 200  # bytes; a longer one is code that was misread
_MAX_LEVELS = 60  # of nodes entered
_MAX_PARTS = 8  # of a qualified name
_JOINTS = re.compile(r"::|->|#|:|\\")
_BLANKS = re.compile(r"\s+")
_ARGUMENTS = re.compile(r"<.*", re.DOTALL)
_THROUGH = 1
_COMMENT = 2

# A name bound to one of these values counts as a definition.
_VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class", "class_expression", "object"}
)


class Definition(NamedTuple):
    """A definition: bytes ``start`` to ``end``, with the comments in front. ``name`` is qualified: ``Class.method``."""

    start: int
    end: int
    name: str
    own: str


def definitions(language: str, root: Node, data: bytes) -> list[Definition]:
    """Return the definitions in a file's tree, in the order of their beginnings; none if the language has no rules.

    ``data`` is the parsed source: the library itself would ask the parser's reader for a node's text piece by piece.
    """
    actions, closed = _actions(language)
    if not actions:
        return []
    found: list[Definition] = []
    # Each entry: the nodes still to visit, and the qualified name around them.
    todo: list[tuple[Iterator[Node], str]] = [(iter(root.children), "")]
    lead = -1  # where the comments in front of the next node begin
    while todo:
        nodes, scope = todo[-1]
        for node in nodes:
            action = actions.get(node.kind_id)
            if action is None:
                lead = -1
            elif action == _COMMENT:
                lead = lead if lead >= 0 else node.start_byte
            else:
                break
        else:
            todo.pop()
            lead = -1
            continue
        if action != _THROUGH:
            own = action(node, data)  # type: ignore[operator]
            if own:
                begin = lead if lead >= 0 else node.start_byte
                name = f"{scope}.{own}" if scope and scope.count(".") < _MAX_PARTS else own
                found.append(Definition(begin, node.end_byte, name, own))
                scope = name
            lead = -1
        if node.kind_id not in closed and len(todo) < _MAX_LEVELS:
            todo.append((iter(node.children), scope))
    return found


@cache
def _actions(language: str) -> tuple[dict[int, object], frozenset[int]]:
    """Return the action for each kind of node, and the kinds not to enter. Skip kinds without an action whole."""
    rules, found = RULES.get(language), grammar(language)
    if rules is None or found is None:
        return {}, frozenset()
    actions: dict[int, object] = dict.fromkeys(glue_kinds(language), _COMMENT)
    for kinds, action in (
        (rules.through, _THROUGH),
        (rules.named, _receiver if language == "go" else _named),
        (rules.declared, _declared),
        (rules.bound, _bound),
        (rules.bodied, _bodied),
        (rules.typed, _typed),
    ):
        actions.update(dict.fromkeys(kind_ids(found, tuple(kinds.split())), action))
    return actions, kind_ids(found, tuple(rules.closed.split()))


def _text(node: Node | None, data: bytes) -> str | None:
    """Return a node's text as one name; None if there is no node or the text cannot be a name."""
    if node is None:
        return None
    start, end = node.byte_range
    if end - start > _MAX_NAME:
        return None
    name = data[start:end].decode("utf-8", "replace")
    if name.isidentifier():
        return name
    return _BLANKS.sub(" ", _JOINTS.sub(".", name)).strip(".'\" ") or None


def _named(node: Node, data: bytes) -> str | None:
    return _text(node.child_by_field_name("name"), data)


def _receiver(node: Node, data: bytes) -> str | None:
    """Return a Go name; a method has its receiver's type in front."""
    name, receiver = _named(node, data), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return name
    kind = data[receiver.start_byte : receiver.end_byte].decode("utf-8", "replace").strip("()").split("[")[0].split()
    return f"{kind[-1].lstrip('*')}.{name}" if kind else name


def _declared(node: Node, data: bytes) -> str | None:
    inner: Node | None = node.child_by_field_name("declarator")
    last = inner
    while inner is not None:
        last = inner
        inner = inner.child_by_field_name("declarator")
        if inner is None and last.type in ("parenthesized_declarator", "reference_declarator", "attributed_declarator"):
            inner = last.named_child(0)
    return _text(last, data)


def _bound(node: Node, data: bytes) -> str | None:
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is None or value.type not in _VALUES:
        return None
    for field in ("name", "left", "property", "key"):
        target = node.child_by_field_name(field)
        if target is not None:
            name = _text(target, data)
            return name.removeprefix("module.exports.").removeprefix("exports.") if name else None
    return None


def _bodied(node: Node, data: bytes) -> str | None:
    return _named(node, data) if node.child_by_field_name("body") is not None else None


def _typed(node: Node, data: bytes) -> str | None:
    name = _text(node.child_by_field_name("type"), data)
    return _ARGUMENTS.sub("", name) if name else None


def outline(found: list[Definition], edges: list[int], first_lines: list[int]) -> list[tuple[str | None, list[str]]]:
    """Return a symbol, and the own names of the definitions around and inside, for each piece between two ``edges``.

    ``first_lines`` gives the end of each piece's first line with text. The symbol is the definition that begins on that
    line, else the innermost one around it, else the first that begins in the piece; None without any.
    """
    pieces: list[tuple[str | None, list[str]]] = []
    around: list[Definition] = []
    at = 0
    for (start, end), first_line in zip(pairwise(edges), first_lines, strict=True):
        around = [one for one in around if one.end > start]
        begun = at
        while at < len(found) and found[at].start < end:
            at += 1
        inside = found[begun:at]
        if inside and (inside[0].start <= first_line or not around):
            symbol: str | None = inside[0].name
        else:
            symbol = around[-1].name if around else None
        pieces.append((symbol, [one.own for one in around] + [one.own for one in inside]))
        around += [one for one in inside if one.end > end]
    return pieces
