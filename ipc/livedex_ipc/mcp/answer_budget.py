"""Makes an agent's answer from a method's result: the fields that an agent needs, in a bounded number of characters.

Invariant: an answer is never longer than its budget, and says what was left out and how to get it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from livedex_ipc.mcp.mcp_tools import Tool

MAX_CHARS = 25_000  # of the text of one answer; hosts cut longer ones without a word
_TEXT_CHARS = 2_000  # of one text, once only one entry is left and is too long
_NOTE_CHARS = 300  # characters for what is said about what was left out

Answer = dict[str, object]


def as_text(answer: Mapping[str, object]) -> str:
    """Return an answer as JSON: this text is what most hosts show to the model."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def shortened(tool: Tool, arguments: Mapping[str, object], result: Mapping[str, object]) -> Answer:
    """Return what an agent gets of ``result``, at most ``MAX_CHARS`` characters as text."""
    answer: Answer = {name: value for name, value in result.items() if name in tool.output and value not in ([], None)}
    for name in tool.required:
        answer.setdefault(name, result[name])
    entries = result.get(tool.items)
    if not isinstance(entries, list):
        return answer
    kept = [_entry(tool, entry) for entry in entries]
    shown = _as_many_as_fit(kept, MAX_CHARS - _NOTE_CHARS - len(as_text({**answer, tool.items: []})))
    answer[tool.items] = shown
    if len(shown) < len(kept) or shown != kept[: len(shown)]:
        before = result.get("omitted")
        answer["omitted"] = len(kept) - len(shown) + (before if isinstance(before, int) else 0)
        answer["more"] = _more(tool, arguments, kept, len(shown))
    elif answer.get("omitted"):
        answer["more"] = "ask again with offset next_offset, or with a larger max_chars"
    if "next_offset" in answer and len(shown) < len(kept):
        answer["next_offset"] = _offset(arguments) + len(shown)
    return answer


def _entry(tool: Tool, entry: Mapping[str, object]) -> Answer:
    if not tool.kept:
        return dict(entry)
    return {name: entry[name] for name in tool.kept if entry.get(name) is not None}


def _as_many_as_fit(entries: Sequence[Answer], budget: int) -> list[Answer]:
    """Return the first entries that fit; of the first alone at least a part."""
    shown: list[Answer] = []
    for entry in entries:
        budget -= len(as_text(entry)) + 1
        if budget < 0:
            break
        shown.append(entry)
    if entries and not shown:
        shown = [{name: _cut(value) for name, value in entries[0].items()}]
    return shown


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[:_TEXT_CHARS]
    return value[:20] if isinstance(value, list) else value


def _more(tool: Tool, arguments: Mapping[str, object], entries: Sequence[Answer], shown: int) -> str:
    if tool.name == "retrieve":
        line = entries[min(shown, len(entries) - 1)].get("start_line")
        return f"ask again with start_line {line}"
    if tool.name == "read":
        return f"ask again with after_id {entries[max(0, shown - 1)].get('id')}"
    if "offset" in tool.params:
        return f"ask again with offset {_offset(arguments) + shown}, or narrow it by path"
    return "the rest is left out"


def _offset(arguments: Mapping[str, object]) -> int:
    offset = arguments.get("offset")
    return offset if isinstance(offset, int) else 0
