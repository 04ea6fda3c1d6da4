"""Adds a root to a configuration's text, changes or removes one, sets a text, and leaves every other byte unchanged.

Invariant: the returned text parses to the old content with exactly that root or text changed; all functions are
pure. tomlkit writes only the new table: it loses comments and moves tables when an element of an array of tables is
deleted, and does not round-trip a text in which such an array is not contiguous.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import tomlkit
from tomlkit.items import InlineTable, Table

from livedex_daemon.config.key_positions import Layout, Path, Span
from livedex_daemon.config.settings_schema import ROOTS
from livedex_ipc.errors import InternalError


def with_root(text: str, path: str, ignore: Sequence[str]) -> str:
    """Return the text with one more root, after the existing ones. ``text`` is valid, with ``roots`` as a list."""
    layout = Layout(text)
    if (ROOTS,) in layout.values:
        changed = _element_added(text, layout, _filled(tomlkit.inline_table(), path, ignore))
    else:
        changed = _table_added(text, layout, _filled(tomlkit.table(), path, ignore))
    expected = tomllib.loads(text)
    entry = {"path": path, **({"ignore": list(ignore)} if ignore else {})}
    return _proven(changed, {**expected, ROOTS: [*expected.get(ROOTS, []), entry]})


def with_ignore(text: str, index: int, added: Sequence[str]) -> str:
    """Return the text with more patterns in the ``ignore`` of the root at ``index``, behind those that are there."""
    layout = Layout(text)
    new = ", ".join(tomlkit.item(pattern).as_string() for pattern in added)
    array = layout.values.get((ROOTS, index, "ignore"))
    known = _spans_in(layout, (ROOTS, index, "ignore"))
    if known:
        changed = f"{text[: known[-1].end]}, {new}{text[known[-1].end :]}"
    elif array is not None:
        changed = f"{text[: array.start]}[{new}]{text[array.end :]}"
    else:
        path = layout.values[(ROOTS, index, "path")]
        if (ROOTS,) in layout.values:
            changed = f"{text[: path.end]}, ignore = [{new}]{text[path.end :]}"
        else:
            at, newline = layout.line_end(path.end), _newline(text)
            before = text[:at] if text[:at].endswith("\n") else text[:at] + newline
            changed = f"{before}ignore = [{new}]{newline}{text[at:]}"
    expected = tomllib.loads(text)
    roots = list(expected[ROOTS])
    roots[index] = {**roots[index], "ignore": [*roots[index].get("ignore", []), *added]}
    return _proven(changed, {**expected, ROOTS: roots})


def without_root(text: str, index: int) -> str:
    """Return the text without the root at ``index``; comments before and after it stay."""
    layout = Layout(text)
    if (ROOTS,) in layout.values:
        changed = _element_removed(text, layout, index)
    else:
        changed = _table_removed(text, layout, index)
    expected = tomllib.loads(text)
    left = [*expected[ROOTS][:index], *expected[ROOTS][index + 1 :]]
    if left or (ROOTS,) in layout.values:
        return _proven(changed, {**expected, ROOTS: left})
    return _proven(changed, {key: value for key, value in expected.items() if key != ROOTS})


def with_text(text: str, table: str, name: str, value: str) -> str:
    """Return the text with ``name = "value"`` in a table, whether or not it is there."""
    layout = Layout(text)
    literal = tomlkit.item(value).as_string()
    span = layout.values.get((table, name))
    headers = [one for one in layout.statements if one.path == (table,)]
    if span is not None:
        changed = text[: span.start] + literal + text[span.end :]
    elif headers:
        at = layout.line_end(headers[0].span.end)
        before = text[:at] if text[:at].endswith("\n") else text[:at] + _newline(text)
        changed = f"{before}{name} = {literal}{_newline(text)}{text[at:]}"
    else:
        newline = _newline(text)
        before = text if not text or text.endswith("\n") else text + newline
        changed = f"{before}{newline if before else ''}[{table}]{newline}{name} = {literal}{newline}"
    expected = tomllib.loads(text)
    return _proven(changed, {**expected, table: {**expected.get(table, {}), name: value}})


def _proven(changed: str, expected: dict[str, object]) -> str:
    try:
        means = tomllib.loads(changed)
    except tomllib.TOMLDecodeError:
        means = {}
    if means != expected:
        raise InternalError("the configuration cannot be edited safely and was not changed: edit it by hand")
    return changed


def _filled(table: Table | InlineTable, path: str, ignore: Sequence[str]) -> str:
    table["path"] = path
    if ignore:
        table["ignore"] = list(ignore)
    return table.as_string().strip()


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _table_added(text: str, layout: Layout, body: str) -> str:
    newline = _newline(text)
    block = newline.join(["[[roots]]", *body.splitlines(), ""])
    tables = [statement for statement in layout.statements if statement.path[0] == ROOTS]
    at = _behind_comments(text, layout, tables[-1].span.end) if tables else len(text)
    before, behind = text[:at], text[at:]
    if before and not before.endswith("\n"):
        before += newline
    if before.strip() and not before.endswith((newline * 2, "\n\n")):
        before += newline
    if behind.strip() and not behind.lstrip(" \t").startswith(("\n", "\r")):
        block += newline
    return before + block + behind


def _behind_comments(text: str, layout: Layout, offset: int) -> int:
    """Return the start of the line after ``offset`` and after the comments that follow directly.

    Comments directly before the next header belong to that header and are not skipped.
    """
    at = behind = layout.line_end(offset)
    while text[behind:].lstrip(" \t").startswith("#"):
        behind = layout.line_end(behind)
    rest = text[behind : layout.line_end(behind)]
    return at if rest.strip() else behind


def _table_removed(text: str, layout: Layout, index: int) -> str:
    mine = [statement for statement in layout.statements if statement.path[:2] == (ROOTS, index)]
    start = layout.line_start(mine[0].span.start)
    end = layout.line_end(mine[-1].span.end)
    before, behind = text[:start], text[end:]
    blank_before = not before or before.endswith(("\n\n", "\n\r\n"))
    first = behind[: layout.line_end(end) - end]
    if blank_before and first and not first.strip():
        behind = behind[len(first) :]  # keep one of the blank lines above and below
    elif blank_before and not behind:
        before = before.removesuffix("\n").removesuffix("\r")
    return before + behind


def _elements(layout: Layout) -> list[Span]:
    return _spans_in(layout, (ROOTS,))


def _spans_in(layout: Layout, array: Path) -> list[Span]:
    """Return the places of an array's elements."""
    spans: list[Span] = []
    while (span := layout.values.get((*array, len(spans)))) is not None:
        spans.append(span)
    return spans


def _element_added(text: str, layout: Layout, element: str) -> str:
    array = layout.values[(ROOTS,)]
    elements = _elements(layout)
    close = array.end - 1
    line = layout.line_start(close)
    own_line = line > array.start and not text[line:close].strip()
    if not elements:
        added = f"  {element},{_newline(text)}" if own_line else element
        at = line if own_line else close
        return text[:at] + added + text[at:]
    last = elements[-1]
    comma = "" if _comma_behind(text, layout, last.end) is not None else ","
    if own_line:
        indent_from = layout.line_start(last.start)
        indent = text[indent_from : last.start]
        added = f"{indent if not indent.strip() else '  '}{element},{_newline(text)}"
        return text[: last.end] + comma + text[last.end : line] + added + text[line:]
    gap = text[last.end : close]
    return text[: last.end] + comma + gap.rstrip(" ") + f" {element}" + text[close:]


def _element_removed(text: str, layout: Layout, index: int) -> str:
    elements = _elements(layout)
    start, end = elements[index]
    comma = _comma_behind(text, layout, end)
    if comma is not None:
        # A comment between the element and its comma stays.
        behind = text[end:comma] + text[comma + 1 :].removeprefix(" ")
    else:
        behind = text[end:]
        before = _comma_behind(text, layout, elements[index - 1].end) if index else None
        if before is not None and not text[elements[index - 1].end : start].strip(", "):
            start = elements[index - 1].end  # the last on its line: remove the comma before it too
    return _without_blank_line(text[:start], behind)


def _without_blank_line(before: str, behind: str) -> str:
    """Join the two, without the line between them if it is blank."""
    line = before[before.rfind("\n") + 1 :]
    rest, newline, following = behind.partition("\n")
    if newline and "\n" in before and not line.strip() and not rest.strip():
        return before[: len(before) - len(line)] + following
    return before + behind


def _comma_behind(text: str, layout: Layout, offset: int) -> int | None:
    """Return the offset of the comma after an element; None if the array ends first. Comments are skipped."""
    while offset < len(text):
        character = text[offset]
        if character == ",":
            return offset
        if character == "]":
            return None
        offset = layout.line_end(offset) if character == "#" else offset + 1
    return None
