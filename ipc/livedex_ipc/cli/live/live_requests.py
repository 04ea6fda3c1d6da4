"""Makes calls of the daemon of what the terminal UI requests, and events of its answers.

Invariant: an answer of any shape that the protocol allows becomes one event, or none.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.argument_values import absolute_path, wire_paths
from livedex_ipc.cli.live.live_state import Changed, Event, Failed, Found, Page, Preview, Query, Search, place

if TYPE_CHECKING:
    from livedex_ipc.file_results import ExplainResult, RetrieveResult
    from livedex_ipc.wire_results import (
        AnswerWarning,
        HitFields,
        SearchChanged,
        SearchResult,
        StatusResult,
        SubscribeResult,
    )

MOST_HITS = 50  # for each key: twice as many, or a count of all, take the daemon twice the time
SNIPPET_CHARS = 400
BEFORE, AFTER = 200, 300  # lines of a preview around the line of the hit
CANCELLED = -32800
_MODES = {"words": "auto", "exact": "exact", "regex": "regex"}
_GLOB = frozenset("*?[")
_QUIET = frozenset(("files_failed", "query_as_lines"))

Params = dict[str, object]


def search_params(query: Query, now: float) -> Params:
    """Return the params of a search or, if the query says so, of a standing query. Raises ValueError."""
    params: Params = {"query": query.text, "limit": MOST_HITS, "max_snippet_chars": SNIPPET_CHARS, "supersedes": "live"}
    if not query.following:
        params.update(mode=_MODES[query.mode], typing=query.mode == "words")
    folders = [absolute_path(_expanded(each)) for each in query.paths if _is_folder(each)]
    params.update(wire_paths(folders))
    globs = [glob for each in query.paths if not _is_folder(each) for glob in _globs(each)]
    if globs:
        params["globs"] = globs
    if query.languages:
        params["languages"] = list(query.languages)
    if query.since:
        from livedex_ipc.cli.times import parse_time

        params["modified_after"] = parse_time(query.since, now)
    return params


def _is_folder(typed: str) -> bool:
    return typed.startswith(("/", "~", "./", "../")) or typed in (".", "..")


def _expanded(typed: str) -> str:
    from os.path import expanduser

    return expanduser(typed)


def _globs(typed: str) -> list[str]:
    """Return the globs of the paths that contain what was typed, unless it is a glob itself."""
    if _GLOB & set(typed):
        return [typed]
    text = typed.replace("\\", "\\\\").lstrip("!")
    return [f"**/*{text}*", f"**/*{text}*/**", f"**/*{text}**"] if "/" in text else [f"*{text}*", f"**/*{text}*/**"]


def show_params(hit: HitFields) -> Params:
    """Return the params that get the lines around a hit."""
    line = hit["line"]
    return {**_path(hit), "start_line": max(line - BEFORE, 1), "end_line": line + AFTER, "fresh": False}


def explain_params(hit: HitFields) -> Params:
    """Return the params that explain why the file of a hit is in the index."""
    return _path(hit)


def _path(hit: HitFields) -> Params:
    return {name: hit[name] for name in ("path", "path_b64") if name in hit}


def found(number: int, result: SearchResult[HitFields]) -> Found:
    """Return the event of the answer of a search."""
    note = "; ".join(_warnings(result["warnings"]))
    meant = result.get("did_you_mean")
    if meant is not None:
        note = f"searched for {meant['query']}" if meant["applied"] else f"did you mean {meant['query']}?"
    elif result["mode"] == "exact" and any(each["code"] == "query_as_lines" for each in result["warnings"]):
        note = "no words found; these are the lines with this text"
    return Found(number, tuple(result["hits"]), result["next_offset"] is not None, _fresh(result), note)


def followed(number: int, result: SubscribeResult[HitFields]) -> Found:
    """Return the event of the first answer of a standing query."""
    hits = tuple(result["hits"])
    return Found(number, hits, len(hits) >= MOST_HITS, _fresh(result), "; ".join(_warnings(result["warnings"])))


def changed(number: int, params: SearchChanged[HitFields]) -> Changed:
    """Return the event of a change of a standing query."""
    return Changed(number, tuple(params["added"]), tuple(params["removed"]), params.get("fresh", False))


def preview(hit: HitFields, result: RetrieveResult[Any]) -> Preview:
    """Return the lines that an answer of ``files/retrieve`` has."""
    chunks = result["chunks"]
    if not chunks:
        return Preview(place(hit), 1, (), "nothing to show")
    text = "".join(chunk["text"] for chunk in chunks)
    return Preview(place(hit), chunks[0]["start_line"], tuple(line.removesuffix("\r") for line in text.split("\n")))


def no_preview(hit: HitFields, message: str) -> Preview:
    """Return the preview of a file that cannot be shown."""
    return Preview(place(hit), 1, (), message)


def status_page(result: StatusResult) -> Page:
    """Return the page of the status: what the daemon does, and each warning with its remedy."""
    lines = [
        f"{result['state']}, version {result['version']}, pid {result['pid']}",
        f"{result['files']:,} files, {result['pending']:,} pending, {result['skipped']:,} skipped, "
        f"{result['failed']:,} failed",
        "",
    ]
    lines += [f"{root['path']}: {root['state']}, {root['files']:,} files" for root in result["roots"]]
    lines += ["", *_warnings(result["warnings"], frozenset())] if result["warnings"] else []
    return Page("status", tuple(lines))


def why_page(result: ExplainResult) -> Page:
    """Return the page that explains why a file is in the index."""
    rule = result["rule"]
    lines = [result["path"], "", result["status"] + (f": {result['reason']}" if result["reason"] else "")]
    if rule is not None:
        lines.append(f"{rule['file']}:{rule['line']}: {rule['pattern']}")
    if not result["fresh"]:
        lines += ["", "not fresh: it may have changed since"]
    return Page("why", tuple(lines))


def failed(number: int, error: Mapping[str, Any]) -> Event | None:
    """Return the event of an error; None for a search that a newer one has cancelled."""
    return None if error.get("code") == CANCELLED else Failed(number, str(error.get("message", "")))


def params_or_fault(search: Search) -> Params | Failed:
    """Return the params of a search; what is wrong with a filter as the event of a failed search."""
    try:
        return search_params(search.query, time.time())
    except ValueError as error:
        return Failed(search.number, str(error))


def _fresh(result: SearchResult[HitFields] | SubscribeResult[HitFields]) -> bool:
    return result["fresh"] or "reason" not in result


def _warnings(warnings: Sequence[AnswerWarning], quiet: frozenset[str] = _QUIET) -> list[str]:
    shown = [each for each in warnings if each["code"] not in quiet]
    return [each["message"] + (f" ({each['remedy']})" if each["remedy"] else "") for each in shown]
