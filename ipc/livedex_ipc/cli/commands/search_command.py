"""``livedex search``: sends one query to the daemon and prints hits, paths or lines for an editor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.argument_values import wire_path, wire_paths
from livedex_ipc.cli.context import Context, deadline_s, print_state
from livedex_ipc.constants import FRESH_TIMEOUT_MS
from livedex_ipc.errors import InvalidParams

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields, SearchResult

# The most that the method accepts: --vimgrep prints every matched line, and the column of a cut line is not known.
_WHOLE_HIT = 1_000_000
_FORMS = ("files", "vimgrep", "exact", "regex")  # options that are no params of the method


def search(context: Context) -> int:
    """Print the hits; exit code 1 if there are none."""
    params = _params(context.values)
    with context.connect() as client:
        result: SearchResult[HitFields] = client.call("search", params, timeout_s=deadline_s(params, FRESH_TIMEOUT_MS))
    streams = context.streams
    if streams.json:
        streams.write_json(result)
    elif context.values.get("files") or context.values.get("vimgrep"):
        from livedex_ipc.cli.render import vimgrep

        hits = result["hits"]
        of_lines = result["mode"] in ("exact", "regex")
        found = vimgrep.file_lines(hits) if context.values.get("files") else vimgrep.vimgrep(hits, of_lines=of_lines)
        _write_lines(context, list(found))
    else:
        from livedex_ipc.cli.render.search_text import hits_text

        streams.write(hits_text(result["hits"], result.get("facets"), colour=streams.out_colour))
    streams.flush()
    _print_notes(context, result)
    return 0 if result["hits"] else 1


def _print_notes(context: Context, result: SearchResult[HitFields]) -> None:
    """Print on stderr, for people, that there are no hits or more of them, and what was left out or corrected."""
    streams = context.streams
    meant = result.get("did_you_mean")
    if not streams.json and meant:
        label = "searched for" if meant["applied"] else "did you mean"
        streams.message(f"livedex: {label}: {meant['query']}")
    if not streams.json and not result["hits"]:
        # Generation 0: nothing was ever committed, so this may be a first search without a root.
        why = "" if result["generation"] else ": nothing is indexed yet, run `livedex up FOLDER`"
        streams.message(f"livedex: nothing found{why}")
    elif not streams.json and result["next_offset"] is not None:
        streams.message(f"livedex: more with --offset {result['next_offset']}")
    if not streams.json and result.get("omitted"):
        streams.message(f"livedex: --max-chars left out {result['omitted']} hits of this page")
    if not streams.json and context.values.get("vimgrep"):
        without_line = sum(not hit["highlights"] for hit in result["hits"])
        if without_line:
            streams.message(f"livedex: {without_line} hits have no line that matches by itself: --files names them")
    print_state(streams, result, result["pending"], result["warnings"])


def _params(values: Mapping[str, Any]) -> dict[str, object]:
    params: dict[str, object] = {name: value for name, value in values.items() if name not in _FORMS}
    if values.get("files") and values.get("vimgrep"):
        raise InvalidParams("--files and --vimgrep are two forms of one answer: give one", {"field": "--vimgrep"})
    params["query"] = " ".join(values["query"])
    modes = [name for name in ("exact", "regex") if values.get(name)]
    if "mode" in values:
        modes.append(values["mode"])
    if len(set(modes)) > 1:
        raise InvalidParams("-F, -e and --mode each say how to search: give one", {"field": "--mode"})
    if modes:
        params["mode"] = modes[0]
    if values.get("files"):
        params.setdefault("group", "file")
    if values.get("vimgrep"):
        params.setdefault("max_snippet_chars", _WHOLE_HIT)
    if "path" in values:
        params.update(wire_path(values["path"]))
    if "roots" in values:
        del params["roots"]
        params.update(wire_paths(values["roots"], "roots"))
    return params


def _write_lines(context: Context, lines: list[str]) -> None:
    if context.streams.out_is_terminal:
        from livedex_ipc.cli.render.terminal_text import visible

        lines = [visible(line) for line in lines]
    context.streams.write("".join(line + "\n" for line in lines))
