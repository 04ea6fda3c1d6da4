"""Formats the entries of agent memory for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.render.terminal_text import Style, size_text, table, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from livedex_ipc.knowledge_results import EntriesResult, HotResult, KnowledgeStatsResult
    from livedex_ipc.memory_entry import EntryFields


def entries_text(answer: EntriesResult, *, colour: bool) -> str:
    """Format each entry: a line that describes it, then its text."""
    return "".join(_entry_text(entry, Style(colour)) for entry in answer["entries"])


def memory_text(entries: Iterable[EntryFields], *, colour: bool) -> str:
    """Format the entries that a search of files found, too, with an empty line behind each."""
    return "".join(_entry_text(entry, Style(colour)) + "\n" for entry in entries)


def hot_memory(answer: HotResult) -> str:
    """Return the text of hot memory, with a last line break if there is a text."""
    return _text(answer["text"])


def stats_text(answer: KnowledgeStatsResult, *, colour: bool) -> str:
    """Format the number of entries of each domain."""
    style = Style(colour)
    rows = [("ENTRIES", "DOMAIN")]
    rows += [(f"{count:,}", visible(domain)) for domain, count in answer["domains"].items()]
    head, *body = table(rows, right=frozenset((0,)))
    lines = [style.dim(head), *body] if body else []
    total = f"{answer['entries']} {'entry' if answer['entries'] == 1 else 'entries'}"
    return "\n".join([*lines, f"{total}, {size_text(answer['db_bytes'])} ({visible(answer['backend'])})"]) + "\n"


def _entry_text(entry: EntryFields, style: Style) -> str:
    words = [f"#{entry['id']}", visible(entry["domain"])]
    if entry["kind"] == "finding":
        words.append("finding")
    if entry["created_at"] is not None:
        words.append(entry["created_at"])
    if entry["source"] is not None:
        words.append(f"from {visible(entry['source'])}")
    heading = "" if entry["heading"] is None else style.strong(visible(entry["heading"])) + "\n"
    return style.dim(" · ".join(words)) + "\n" + heading + _text(entry["content"])


def _text(text: str) -> str:
    shown = visible(text.replace("\r\n", "\n"), "\t\n")
    return shown if shown.endswith("\n") or not shown else shown + "\n"
