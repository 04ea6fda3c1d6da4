"""``livedex languages``: the languages of the indexed files, with their numbers of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.argument_values import wire_paths
from livedex_ipc.cli.context import Context, deadline_s
from livedex_ipc.constants import FRESH_TIMEOUT_MS

if TYPE_CHECKING:
    from livedex_ipc.client import Client
    from livedex_ipc.wire_results import HitFields, SearchResult


def languages(context: Context) -> int:
    """Print each language and how many files have it, the most first; exit code 1 if there is none."""
    with context.connect() as client:
        answer = counted(client, context.values)
    counts = answer.get("facets", {}).get("languages", {})
    if context.streams.json:
        state = {name: answer[name] for name in ("fresh", "reason") if name in answer}
        context.streams.write_json({"languages": counts, **state})
    elif counts:
        from livedex_ipc.cli.render.terminal_text import table, visible

        rows = [("FILES", "LANGUAGE"), *((f"{count:,}", visible(name)) for name, count in counts.items())]
        context.page("\n".join(table(rows, right=frozenset({0}))) + "\n")
    context.streams.flush()
    context.print_state(answer, answer["pending"], answer["warnings"])
    return 0 if counts else 1


def counted(client: Client, values: dict[str, object]) -> SearchResult[HitFields]:
    """Return the answer of a search for nothing, with its count of languages."""
    params = {name: value for name, value in values.items() if name != "paths"}
    paths = values.get("paths")
    scope = wire_paths(paths) if isinstance(paths, list) else {}
    request = {**params, **scope, "query": "", "limit": 1, "max_snippet_chars": 1, "facets": ["languages"]}
    answer: SearchResult[HitFields] = client.call("search", request, timeout_s=deadline_s(request, FRESH_TIMEOUT_MS))
    return answer
