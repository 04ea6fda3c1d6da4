"""Read the YAML block at the start of a Markdown file as plain text.

Invariant: nothing in the block is run, expanded or converted. Scalars stay as written, aliases are refused, and reading
is bounded in size and depth.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MAX_CHARS = 64 * 1024
MAX_DEPTH = 16
_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class Frontmatter(NamedTuple):
    """The block of a file. ``end`` is the character after it.

    ``values`` are strings, lists and mappings of strings; None if there is no usable block. ``fault`` says why a block
    is refused; else it is None.
    """

    end: int
    values: dict[str, Any] | None
    fault: str | None


class _RefusedError(Exception):
    """The block is refused; the argument says why."""


def read(text: str) -> Frontmatter:
    """Return the block at the very start of a text, or ``Frontmatter(0, None, None)`` without one."""
    if not text.startswith("---"):
        return Frontmatter(0, None, None)
    match = _BLOCK.match(text, 0, MAX_CHARS)
    if match is None:
        return Frontmatter(0, None, None)
    try:
        return Frontmatter(match.end(), _values(match[1]), None)
    except _RefusedError as refused:
        return Frontmatter(0, None, str(refused))


def _values(block: str) -> dict[str, Any]:
    # Import late: most files have no such block.
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _build(yaml, list(yaml.parse(block, Loader=loader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark is not None else ""
        raise _RefusedError(f"not YAML{where}") from None


def _build(yaml: Any, events: list[Any]) -> dict[str, Any]:
    """Return the mapping that the parser's events describe. No recursion: the depth costs no stack."""
    top: list[Any] = []
    stack: list[list[Any]] = [top]
    documents = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _RefusedError("anchors and aliases are not taken")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        elif isinstance(event, yaml.ScalarEvent):
            stack[-1].append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > MAX_DEPTH:
                raise _RefusedError("nested too deep")
            stack.append([])
        elif isinstance(event, yaml.SequenceEndEvent):
            items = stack.pop()
            stack[-1].append(items)
        elif isinstance(event, yaml.MappingEndEvent):
            pairs = stack.pop()
            stack[-1].append(_mapping(pairs))
    if documents > 1 or (top and not isinstance(top[0], dict)):
        raise _RefusedError("not a mapping of keys to values")
    return top[0] if top else {}


def _mapping(pairs: list[Any]) -> dict[str, Any]:
    keys = pairs[::2]
    if not all(isinstance(key, str) for key in keys):
        raise _RefusedError("a key is not text")
    return dict(zip(keys, pairs[1::2], strict=True))
