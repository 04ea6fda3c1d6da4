"""``livedex search``: sends one query to the daemon and prints hits, paths or lines for an editor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.argument_values import wire_path, wire_paths
from livedex_ipc.cli.context import Context, deadline_s, print_state
from livedex_ipc.constants import FRESH_TIMEOUT_MS

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, SearchResult

# The most that the method accepts: --vimgrep prints every matched line, and the column of a cut line is not known.
WHOLE_HIT = 1_000_000
_LINE_MODES = ("exact", "regex")
_FOR_PROGRAMS = ("files", "vimgrep")


def search(context: Context) -> int:
    """Print the hits; exit code 1 if there are none."""
    params = _params(context)
    with context.connect() as client:
        result: SearchResult[HitFields] = client.call("search", params, timeout_s=deadline_s(params, FRESH_TIMEOUT_MS))
    if context.streams.json:
        context.streams.write_json(result)
    elif context.values.get("form") in _FOR_PROGRAMS:
        _print_for_programs(context, result)
    else:
        _print_text(context, result)
    context.streams.flush()
    return 0 if result["hits"] else 1


def _print_for_programs(context: Context, result: SearchResult[HitFields]) -> None:
    """Print a line for each file or matching line; on stderr only what makes the answer another than was asked for."""
    from livedex_ipc.cli.render import vimgrep
    from livedex_ipc.cli.render.terminal_text import visible

    hits, streams = result["hits"], context.streams
    as_files = context.values["form"] == "files"
    for note in _corrections(context, result):
        streams.message(f"livedex: {note}")
    lines = vimgrep.file_lines(hits) if as_files else vimgrep.vimgrep(hits, of_lines=result["mode"] in _LINE_MODES)
    streams.write("".join((visible(line) if streams.out_is_terminal else line) + "\n" for line in lines))
    streams.flush()
    print_state(streams, result, result["pending"], result["warnings"], hints=False)


def _print_text(context: Context, result: SearchResult[HitFields]) -> None:
    """Print the hits between what was corrected and how many there are."""
    from livedex_ipc.cli.render.search_text import facets_text, hits_text, total_text

    streams = context.streams
    view = context.view()
    if result["mode"] in _LINE_MODES and "form" not in context.values:
        view = view._replace(form="short")
    offset: int = context.values.get("offset", 0)
    text = "".join(note + "\n" for note in _corrections(context, result))
    text += hits_text(result["hits"], view, offset + 1)
    text += facets_text(result.get("facets", {}), colour=view.colour)
    if view.form != "short" or streams.out_is_terminal:
        text += total_text(result, offset)
    context.page(text)
    streams.flush()
    if not result["generation"]:
        # Nothing was ever committed, so this may be a first search without a root.
        streams.message("livedex: nothing found: nothing is indexed yet, run `livedex up FOLDER`")
    elif not result["hits"]:
        streams.hint("livedex: nothing found")
    print_state(streams, result, result["pending"], result["warnings"], hints=streams.out_is_terminal)


def _corrections(context: Context, result: SearchResult[HitFields]) -> list[str]:
    """Say what was searched for instead of what was typed."""
    from livedex_ipc.cli.render.search_text import correction_text
    from livedex_ipc.cli.render.terminal_text import AS_LINES, visible

    notes = []
    meant = result.get("did_you_mean")
    if meant:
        note = correction_text(" ".join(context.values["query"]), meant["query"])
        notes.append(note if meant["applied"] else f"did you mean: {meant['query']}")
    if any(warning["code"] == AS_LINES for warning in result["warnings"]):
        notes.append("no words found; showing the lines with this text")
    return [visible(note) for note in notes]


def _params(context: Context) -> Mapping[str, Any]:
    values = context.values
    params = {name: value for name, value in values.items() if name != "form"}
    params["query"] = " ".join(values["query"])
    form = values.get("form")
    if form == "files":
        params.setdefault("group", "file")
    if form in ("vimgrep", "full"):
        params.setdefault("max_snippet_chars", WHOLE_HIT)
    if form not in _FOR_PROGRAMS and not context.streams.json:
        params["total"] = True
    if "path" in values:
        params.update(wire_path(values["path"]))
    if "roots" in values:
        del params["roots"]
        params.update(wire_paths(values["roots"], "roots"))
    return params
