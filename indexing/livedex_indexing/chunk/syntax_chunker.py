"""Cut source code at the ends of nodes in its syntax tree.

Invariant: the cuts depend only on the bytes. Limits count bytes, nodes and work, never time. No step recurses, however
deeply the code is nested.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from livedex_indexing.chunk.elision import MIN_ELIDED, elidable_spans
from livedex_indexing.chunk.grammars import grammar
from livedex_indexing.chunk.nesting_depth import MAX_DEPTH, too_deep

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Range, Tree

MAX_BYTES = 1024 * 1024  # bytes; a tree takes about 30 times the source
MAX_NODES = 600_000
_WATCHED_FROM = 4 * 1024  # bytes; a smaller file cannot have enough nesting or errors to hurt
# The parser reports after every 100 steps. Real code takes 4 to 13 reports a KiB; one inside an error storm can take
# a hundred times as long as another, so there is little room above that.
_REPORTS_BASE = 300
_REPORTS_PER_KIB = 18
# The reports do not cover the look-ahead of a grammar's scanner: each unclosed opening makes it scan the rest of the
# text again. But the scanner must request that text piece by piece. Real code requests each piece 10 times, and up to
# 400 times more if one line crosses the border of two pieces.
_PIECE = 16 * 1024  # bytes
_READS_BASE = 1_000
_READS_PER_PIECE = 64
# If ``a<b`` may begin type arguments, the parser tries each one both ways: 700 bytes of memory per byte of text.
_FEWER_BYTES = {"typescript": 512 * 1024, "tsx": 512 * 1024}


class TooMuch(Exception):
    """The code passes a limit; the argument names it: ``bytes``, ``nodes``, ``depth`` or ``work``."""


class Limits(NamedTuple):
    """The limits past which a file is cut without its syntax: bytes, nodes and levels of nesting."""

    max_bytes: int = MAX_BYTES
    max_nodes: int = MAX_NODES
    max_depth: int = MAX_DEPTH


def parse(language: str, data: bytes, limits: Limits, block: int = 0) -> Tree:
    """Return the syntax tree of UTF-8 source in a language that has a grammar. Raise ``TooMuch``.

    Blocks of at most ``block`` bytes are parsed as empty if nothing inside matters (``elision.elidable_spans``).
    """
    if len(data) > min(limits.max_bytes, _FEWER_BYTES.get(language, limits.max_bytes)):
        raise TooMuch("bytes")
    if too_deep(language, data, limits.max_depth, watched=len(data) > _WATCHED_FROM):
        raise TooMuch("depth")
    parser = _parser(language)
    parser.included_ranges = _between(elidable_spans(language, data, block), len(data))
    tree = parser.parse(data) if len(data) <= _WATCHED_FROM else _watched(parser, data)
    if tree.root_node.descendant_count > limits.max_nodes:
        raise TooMuch("nodes")
    return tree


def _between(left_out: list[tuple[int, int]], size: int) -> list[Range]:
    """Return the ranges to parse if some of ``size`` bytes are left out; empty for all bytes. Rows are unused: 0."""
    from tree_sitter import Range

    if not left_out:
        return []
    edges = [0, *chain.from_iterable(left_out), size]
    return [Range((0, start), (0, end), start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _watched(parser: Parser, data: bytes) -> Tree:
    """Parse, and count the parser's reports and reads. Raise ``TooMuch``."""
    reports = _REPORTS_BASE + _REPORTS_PER_KIB * (len(data) // 1024)
    reads = _READS_BASE + _READS_PER_PIECE * (len(data) // _PIECE)

    def too_long(_offset: int, _has_error: bool) -> bool:
        nonlocal reports
        reports -= 1
        return reports < 0 or reads < 0

    # The library never releases its input (tree-sitter 0.26.1), so pass views and release them afterwards.
    views = [memoryview(b"")]

    def read(at: int, _point: object) -> memoryview:
        nonlocal reads
        reads -= 1
        if at >= len(data) or reads < 0:  # the text seems to end, so that the scanner gives up and the parser reports
            return views[0]
        views.append(memoryview(data)[at : (at // _PIECE + 1) * _PIECE])
        return views[-1]

    try:
        tree = parser.parse(read, progress_callback=too_long)
    except ValueError as error:  # raised by the parser when the callback stops it
        parser.reset()
        raise TooMuch("work") from error
    finally:
        for view in views:
            view.release()
    if reads < 0:
        raise TooMuch("work")
    return tree


def cut(root: Node, size: int, limit: int, glue: frozenset[int]) -> list[int]:
    """Return the ends of the pieces of ``size`` bytes, packed up to ``limit`` bytes along the tree.

    A node that does not fit begins a new piece. A node longer than a whole piece is entered, at once if little comes
    before it. A piece is longer than ``limit`` only if a single token is. ``glue`` are the kinds of nodes (comments)
    that stay with the next node.
    """
    ends: list[int] = []
    start, most = 0, limit
    children = root.children
    starts = [child.start_byte for child in children]
    todo: list[tuple[list[Node], list[int], int]] = []
    i = 0
    while True:
        if i >= len(children):
            if not todo:
                break
            children, starts, i = todo.pop()
            continue
        j = bisect_right(starts, most, i) - 1
        if j >= i and children[j].end_byte <= most:
            i = j + 1  # all up to here fits
            continue
        j = max(i, j)
        begin = children[j - 1].end_byte + 1 if j else 0
        if start < begin <= starts[j] - MIN_ELIDED and starts[j] <= begin + limit:  # an elided span lies between
            ends.append(begin)
            start, most, i = begin, begin + limit, j
            continue
        begin = _glued(children, starts, i, j, glue)
        begin = begin if begin > start else starts[j]
        enter = begin - start <= limit // 4 and children[j].end_byte - starts[j] > limit
        inner = children[j].children if enter or begin <= start else []
        if begin > start and not inner:
            ends.append(begin)
            start, most, i = begin, begin + limit, j
        elif inner:
            todo.append((children, starts, j + 1))
            children, starts, i = inner, [child.start_byte for child in inner], 0
        else:
            i = j + 1
    if start < size:
        ends.append(size)
    return ends


def _glued(children: list[Node], starts: list[int], first: int, at: int, glue: frozenset[int]) -> int:
    """Return the start of the run of comments before child ``at``."""
    while at > first and children[at - 1].kind_id in glue:
        at -= 1
    return starts[at]


@cache
def glue_kinds(language: str) -> frozenset[int]:
    """Return the kinds of nodes that belong to the next node: comments and attributes."""
    found = grammar(language)
    return kind_ids(found, ("comment", "line_comment", "block_comment", "attribute_item")) if found else frozenset()


def kind_ids(language: Language, names: tuple[str, ...]) -> frozenset[int]:
    """Return the ids of named kinds, without those that the grammar lacks."""
    ids = (language.id_for_node_kind(name, True) for name in names)
    return frozenset(found for found in ids if found)


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Parser

    found = grammar(language)
    assert found is not None
    return Parser(found)
