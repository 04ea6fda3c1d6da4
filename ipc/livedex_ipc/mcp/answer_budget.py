"""Makes an agent's answer from a method's result: the fields that an agent needs, in a bounded number of characters.

Invariant: an answer is never longer than its budget, and says what was left out and how to get it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from livedex_ipc.mcp.mcp_tools import Tool

MAX_CHARS = 25_000  # of the text of one answer; hosts cut longer ones without a word
_NOTE_CHARS = 300  # characters for what is said about what was left out
_WARNINGS_CHARS = 8_000  # characters for the warnings

Answer = dict[str, object]


def as_text(answer: Mapping[str, object] | Sequence[object]) -> str:
    """Return an answer as JSON: this text is what most hosts show to the model."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def shortened(tool: Tool, arguments: Mapping[str, object], result: Mapping[str, object]) -> Answer:
    """Return what an agent gets of ``result``, at most ``MAX_CHARS`` characters as text."""
    answer: Answer = {name: value for name, value in result.items() if name in tool.output and value not in ([], None)}
    for name in tool.required:
        answer.setdefault(name, result[name])
    warnings = answer.get("warnings")
    if isinstance(warnings, list):
        answer["warnings"] = _that_fit(warnings, _WARNINGS_CHARS)
    entries = result.get(tool.items)
    if not isinstance(entries, list | dict):
        return answer
    budget = MAX_CHARS - _NOTE_CHARS - len(as_text({**answer, tool.items: []}))
    if isinstance(entries, dict):
        answer[tool.items] = _that_fit([_entry(tool, entries)], budget)[0]
        if answer[tool.items] != _entry(tool, entries):
            answer["more"] = f"the {tool.items} was cut: it is longer than an answer"
        return answer
    kept = [_entry(tool, entry) for entry in entries]
    answer[tool.items] = shown = _that_fit(kept, budget)
    if len(shown) < len(kept) or shown != kept[: len(shown)]:
        before = result.get("omitted")
        answer["omitted"] = len(kept) - len(shown) + (before if isinstance(before, int) else 0)
        cut = "" if shown[0] == kept[0] else "the entry was cut; "
        answer["more"] = cut + _more(tool, arguments, kept, len(shown))
    elif answer.get("omitted"):
        answer["more"] = "ask again with offset next_offset, or with a larger max_chars"
    if "next_offset" in tool.output and len(shown) < len(kept):  # also of the daemon's last page
        answer["next_offset"] = _offset(arguments) + len(shown)
    return answer


def _entry(tool: Tool, entry: Mapping[str, object]) -> Answer:
    if not tool.kept:
        return dict(entry)
    return {name: entry[name] for name in tool.kept if entry.get(name) is not None}


def _that_fit(entries: Sequence[Answer], budget: int) -> list[Answer]:
    """Return the first entries that fit; of the first alone at least a part."""
    shown: list[Answer] = []
    left = budget
    for entry in entries:
        left -= len(as_text(entry)) + 1
        if left < 0:
            break
        shown.append(entry)
    if entries and not shown:
        shown = [_cut(entries[0], budget)]
    return shown


def _cut(entry: Answer, budget: int) -> Answer:
    """Return an entry whose long values are cut, so that it fits."""
    limit = budget
    cut = entry
    while len(as_text(cut)) > budget and limit > 0:
        limit = limit * 3 // 4
        cut = {name: _beginning(value, limit) for name, value in entry.items()}
    return cut


def _beginning(value: object, limit: int) -> object:
    """Return the beginning of a text or a list, in at most ``limit`` characters; an object is whole or empty."""
    if isinstance(value, str):
        return value[:limit]
    if isinstance(value, list):
        return value[: next((n for n in range(len(value)) if len(as_text(value[: n + 1])) > limit), len(value))]
    return {} if isinstance(value, dict) and len(as_text(value)) > limit else value


def _more(tool: Tool, arguments: Mapping[str, object], entries: Sequence[Answer], shown: int) -> str:
    if tool.name == "retrieve":
        return _next_lines(arguments, entries[min(shown, len(entries) - 1)].get("start_line"))
    if tool.name == "read":
        return f"ask again with after_id {entries[max(0, shown - 1)].get('id')}"
    if "offset" in tool.params:
        return f"ask again with offset {_offset(arguments) + shown}, or narrow it by path"
    return "the rest is left out"


def _next_lines(arguments: Mapping[str, object], line: object) -> str:
    """Say how to get the rest of a file that begins in ``line``; of a line longer than an answer there is no rest."""
    first = arguments.get("start_line", 1)
    if isinstance(line, int) and isinstance(first, int) and line <= first:
        rest = f"ask again with start_line {first + 1} for the lines after it"
        return f"line {first} is longer than an answer: find places in it with a search that has its path; {rest}"
    return f"ask again with start_line {line}"


def _offset(arguments: Mapping[str, object]) -> int:
    offset = arguments.get("offset")
    return offset if isinstance(offset, int) else 0
