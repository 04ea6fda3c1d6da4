"""``livedex knowledge …``: adds to agent memory, finds, lists and deletes what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.commands.exchange_command import stdin_text
from livedex_ipc.cli.context import ANSWER_MS, Context, deadline_s

if TYPE_CHECKING:
    from livedex_ipc.knowledge_results import (
        AddedResult,
        DeletedResult,
        EntriesResult,
        EntryListResult,
        FoundEntriesResult,
        HotResult,
        KnowledgeStatsResult,
    )

_LIMIT = 100  # of `knowledge/list`


def add(context: Context) -> int:
    """Remember a text and print its id."""
    return _remember(context, "knowledge/add")


def finding(context: Context) -> int:
    """Remember a finding and print its id."""
    return _remember(context, "knowledge/finding")


def search(context: Context) -> int:
    """Print the entries that match; exit code 1 if there is none."""
    result: FoundEntriesResult = _call(context, "knowledge/search", {"query": " ".join(context.values["query"])})
    _show_entries(context, result)
    context.print_state({"fresh": True}, warnings=result["warnings"])
    return 0 if result["entries"] else 1


def show(context: Context) -> int:
    """Print entries, as many answers as they take; exit code 1 if there is none."""
    limit, offset = context.values.get("limit", _LIMIT), context.values.get("offset", 0)
    result: EntryListResult = _call(context, "knowledge/list")
    while len(result["entries"]) < min(limit, result["total"] - offset):
        found = len(result["entries"])
        more: EntryListResult = _call(context, "knowledge/list", {"limit": limit - found, "offset": offset + found})
        if not more["entries"]:
            break
        result = {"entries": [*result["entries"], *more["entries"]], "total": more["total"]}
    _show_entries(context, result)
    return 0 if result["entries"] else 1


def hot(context: Context) -> int:
    """Print the entries used last and most."""
    result: HotResult = _call(context, "knowledge/hot")

    def render(answer: HotResult) -> str:
        from livedex_ipc.cli.render.knowledge_text import hot_memory

        return hot_memory(answer)

    context.show(result, render)
    return 0


def delete(context: Context) -> int:
    """Delete an entry; exit code 1 if there is none."""
    result: DeletedResult = _call(context, "knowledge/delete")

    def render(answer: DeletedResult) -> str:
        number = context.values["id"]
        return f"entry {number} is deleted\n" if answer["deleted"] else f"there is no entry {number}\n"

    context.show(result, render)
    return 0 if result["deleted"] else 1


def stats(context: Context) -> int:
    """Print how many entries each domain has."""
    result: KnowledgeStatsResult = _call(context, "knowledge/stats")

    def render(answer: KnowledgeStatsResult) -> str:
        from livedex_ipc.cli.render.knowledge_text import stats_text

        return stats_text(answer, colour=context.streams.out_colour)

    context.show(result, render)
    return 0


def _remember(context: Context, method: str) -> int:
    given: str | None = context.values.get("content")
    content = stdin_text("content") if given in (None, "-") else given
    result: AddedResult = _call(context, method, {"content": content})

    def render(answer: AddedResult) -> str:
        verb = "is remembered" if answer["created"] else "was remembered before"
        return f"entry {answer['id']} {verb}\n"

    context.show(result, render)
    return 0


def _show_entries(context: Context, result: EntriesResult) -> None:
    def render(answer: EntriesResult) -> str:
        from livedex_ipc.cli.render.knowledge_text import entries_text

        return entries_text(answer, colour=context.streams.out_colour)

    context.show(result, render)


def _call(context: Context, method: str, given: dict[str, object] | None = None) -> Any:
    params = {**context.values, **(given or {})}
    with context.connect() as client:
        return client.call(method, params, timeout_s=deadline_s(params, ANSWER_MS))
