"""``livedex search``: sends one query to the daemon and prints hits, paths or lines for an editor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from livedex_ipc.cli.argument_values import absolute_path, wire_paths
from livedex_ipc.cli.context import Context, deadline_s, is_unsure
from livedex_ipc.constants import FRESH_TIMEOUT_MS, LINE_MODES, SEARCH_WINDOW
from livedex_ipc.errors import InvalidParams

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.client import Client
    from livedex_ipc.wire_results import HitFields, SearchResult

    Result = SearchResult[HitFields]

# The most that the method accepts: --vimgrep prints every matched line, and the column of a cut line is not known.
WHOLE_HIT = 1_000_000
_FOR_PROGRAMS = ("files", "count", "vimgrep")
_OF_THE_COMMAND = ("form", "here", "all", "null", "paths", "roots")  # options that are no params of the method
_PAGE = 1000
_FIRST_LINES = 100  # in the first page of all lines, so that it comes early
_PATIENCE_MS = 10_000  # a person would rather wait than ask again
_ALL_MS = 60_000  # for a page, where all hits are wanted


def search(context: Context) -> int:
    """Print the hits, each page as it arrives.

    Exit code 1 if there are none, and 4 if there are none only as far as the time allowed to look; 0 while typing.
    """
    unsure: list[Result] = []

    def noted(pages: Iterable[Result]) -> Iterator[Result]:
        for page in pages:
            if is_unsure(page):
                unsure.append(page)
            yield page

    with context.connect() as client:
        if _lists_matching_files(context):
            from livedex_ipc.cli.commands.matching_files_command import print_matching_files

            return print_matching_files(context, client, _params(context))
        pages = noted(_pages(context, client))
        if context.streams.json:
            found = _print_json(context, pages)
        elif context.values.get("form") in _FOR_PROGRAMS:
            found = _print_for_programs(context, pages)
        else:
            found = _print_text(context, pages)
            if not found and context.streams.out_is_terminal:
                _advise(context, client)
    context.streams.flush()
    if context.values.get("typing"):
        return 0  # what is typed next may find something
    return 0 if found else 4 if unsure else 1


def _lists_matching_files(context: Context) -> bool:
    """Return whether the paths of the files with a matching line are wanted, and nothing else of them."""
    values = context.values
    is_list = values.get("mode") in LINE_MODES and values.get("form") in ("files", "count")
    return (
        is_list and not {"offset", "facets", "max_chars", "context_lines", "group", "explain", "total"} & values.keys()
    )


def _wants_all(context: Context) -> bool:
    """Return whether to print all hits: on request, and of lines, as grep does, unless their number is given."""
    values = context.values
    return bool(values.get("all")) or (_is_grep(context) and not {"limit", "offset"} & values.keys())


def _is_grep(context: Context) -> bool:
    """Return whether lines are printed: then all of them count, however long that takes."""
    return context.values.get("mode") in LINE_MODES and not context.streams.json


def _pages(context: Context, client: Client) -> Iterator[Result]:
    """Yield the answer, or the answers of all pages: only the first of them counts all hits."""
    params = _params(context)
    timeout_s = deadline_s(params, FRESH_TIMEOUT_MS)
    if not _wants_all(context):
        yield context.call_patiently(client, "search", params, timeout_s)
        return
    of_lines = params.get("mode") in LINE_MODES
    offset = params.get("offset", 0)
    part = {**params, "limit": _FIRST_LINES if of_lines else min(_PAGE, SEARCH_WINDOW - offset)}
    while True:
        page: Result = context.call_patiently(client, "search", part, timeout_s)
        yield page
        if not page["hits"]:
            return
        part = {name: value for name, value in part.items() if name not in ("facets", "total", "offset")}
        if of_lines:
            if "next_cursor" not in page:
                return
            part |= {"cursor": page["next_cursor"], "limit": _PAGE}
        else:
            if page["next_offset"] is None:
                return
            part |= {"offset": page["next_offset"], "limit": min(_PAGE, SEARCH_WINDOW - page["next_offset"])}


def _print_json(context: Context, pages: Iterable[Result]) -> bool:
    """Print one object: the first page, with the hits of all pages and the end of the last."""
    answers = list(pages)
    hits = [hit for answer in answers for hit in answer["hits"]]
    state = next((answer for answer in answers if not answer["fresh"]), answers[0])
    end = {name: value for name, value in answers[-1].items() if name in ("next_offset", "next_cursor")}
    warnings = [warning for answer in answers for warning in answer["warnings"]]
    distinct = [warning for number, warning in enumerate(warnings) if warning not in warnings[:number]]
    merged = {**answers[0], **state, "hits": hits, "warnings": distinct}
    merged.pop("next_cursor", None)
    merged |= end
    entries = answers[0].get("knowledge")
    if entries is not None:
        merged["knowledge"] = entries
    context.streams.write_json(merged)
    return bool(hits or entries)


def _print_for_programs(context: Context, pages: Iterable[Result]) -> bool:
    """Print a line for each file or matching line; on stderr only what makes the answer another than was asked for."""
    from livedex_ipc.cli.render import vimgrep

    streams, form, found = context.streams, context.values["form"], False
    null = bool(context.values.get("null"))
    for number, page in enumerate(pages):
        for note in _corrections(context, page) if not number else ():
            streams.message(f"livedex: {note}")
        hits = page["hits"]
        if form == "vimgrep":
            of_lines, every = page["mode"] in LINE_MODES, bool(context.values.get("typing"))
            records = vimgrep.vimgrep(hits, of_lines=of_lines, null=null, every=every)
        else:
            records = vimgrep.file_lines(hits, count=form == "count", null=null)
        streams.write("".join(map(_harmless, records) if streams.out_is_terminal else records))
        streams.flush()
        found |= bool(hits)
        context.print_state(page, page["pending"], page["warnings"], hints=False)
    return found


def _harmless(record: str) -> str:
    """Return a record for a terminal: all of it is escaped, but for a path that a NUL byte follows."""
    from livedex_ipc.cli.render.terminal_text import visible

    path, zero, text = record.rpartition("\0")
    return path + zero + visible(text, "\n")


def _print_text(context: Context, pages: Iterable[Result]) -> bool:
    """Print the hits between what was corrected and how many there are; only a single page goes to the pager."""
    from livedex_ipc.cli.render.search_text import Blocks, facets_text, hits_text, total_text
    from livedex_ipc.cli.render.terminal_text import count_text

    streams, view = context.streams, context.view()
    offset: int = context.values.get("offset", 0)
    shown, remembered, blocks = 0, False, Blocks(view)
    first: Result | None = None
    for page in pages:
        if first is None:
            first = page
        if page["mode"] in LINE_MODES and "form" not in context.values:
            view.form = "short"
        text = "".join(note + "\n" for note in _corrections(context, page)) if page is first else ""
        entries = page.get("knowledge", [])
        if entries:
            from livedex_ipc.cli.render.knowledge_text import memory_text

            text += memory_text(entries, colour=view.colour)
            remembered = True
        text += hits_text(page["hits"], view, offset + shown + 1, blocks)
        shown += len(page["hits"])
        at_end = not (_wants_all(context) and (page["next_offset"] or page.get("next_cursor")))
        text += blocks.rest() if at_end else ""
        text += facets_text(page.get("facets", {}), colour=view.colour)
        if at_end and (view.form != "short" or streams.out_is_terminal):
            text += total_text({**page, "total": first["total"]} if "total" in first else page, shown, offset)
        if page is first and at_end:
            context.page(text)
        else:
            streams.write(text)
        streams.flush()
        if not page["generation"] and page.get("fresh"):
            # Nothing was ever committed, nor is anything due, so this may be a first search without a root.
            streams.message("livedex: nothing found: nothing is indexed yet, run `livedex up FOLDER`")
        elif not shown and not remembered:
            streams.hint("livedex: nothing found")
        if at_end and page.get("documents_pending"):
            say = streams.hint if shown or remembered else streams.message
            say(f"livedex: {count_text(page['documents_pending'], 'document')} still to be converted")
        context.print_state(page, page["pending"], page["warnings"])
    streams.write(blocks.rest())
    return shown > 0 or remembered


def _advise(context: Context, client: Client) -> None:
    """Say what a person may have meant who found nothing: a path among the words, or a folder that no root has."""
    import os

    from livedex_ipc.cli.render.shown_paths import path_text, working_folder
    from livedex_ipc.cli.render.terminal_text import visible

    for word in context.values["query"]:
        if "/" in word.strip("/") and os.path.exists(word):
            context.streams.hint(f"livedex: to search in a folder: --in {visible(word)}")
    folder = working_folder()
    roots = [f"{path_text(root).rstrip('/')}/" for root in client.call("roots/list", timeout_s=1.0)["roots"]]
    here = f"{folder}/"
    if roots and folder and not any(here.startswith(root) or root.startswith(here) for root in roots):
        context.streams.hint("livedex: this folder is in no root; to add it: livedex up .")


def _corrections(context: Context, result: Result) -> list[str]:
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
    params: dict[str, object] = {**scope_params(values), "query": " ".join(values["query"])}
    form = values.get("form")
    if params.get("mode") not in LINE_MODES:
        _refuse_options_of_lines(params)
    if values.get("limit", 0) > _PAGE and not _lists_matching_files(context):
        raise InvalidParams(f"--limit is at most {_PAGE:,}; --all prints all hits", {"field": "limit"})
    if values.get("null") and form not in _FOR_PROGRAMS:
        raise InvalidParams("--null ends the paths of -l, -c or --vimgrep: give one of them", {"field": "--null"})
    if form in _FOR_PROGRAMS and (values.get("knowledge") or values.get("domains")):
        raise InvalidParams(
            "--knowledge and --domain print texts, -l, -c and --vimgrep paths", {"field": "--knowledge"}
        )
    if form in ("files", "count"):
        params.setdefault("group", "file")
    if form in ("vimgrep", "full"):
        params.setdefault("max_snippet_chars", WHOLE_HIT)
    is_counted = context.streams.out_is_terminal if form == "short" else form not in _FOR_PROGRAMS
    if is_counted and not values.get("typing") and not context.streams.json:
        params["total"] = True  # for the line below the hits; counting costs as much as searching
    if values.get("all") or (params.get("mode") in LINE_MODES and not context.streams.json):
        params.setdefault("timeout_ms", _ALL_MS)
    elif context.streams.out_is_terminal and not context.streams.json:
        params.setdefault("timeout_ms", _PATIENCE_MS)
    return params


def _refuse_options_of_lines(params: dict[str, object]) -> None:
    """Raise InvalidParams for -s and -w in a search for words, and drop -i: words are found in any case."""
    for param, value, option in (
        ("letter_case", "sensitive", "--case-sensitive"),
        ("whole_words", True, "--word-regexp"),
    ):
        if params.get(param) == value:
            raise InvalidParams(f"{option} needs -F or -e: words are found in any case, as a whole", {"field": option})
    params.pop("letter_case", None)


def scope_params(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the params of the options, without those that only say how to print."""
    params = {name: value for name, value in values.items() if name not in _OF_THE_COMMAND}
    paths = [*values.get("paths", []), *([_working_folder()] if values.get("here") else [])]
    return {**params, **wire_paths(paths), **wire_paths(values.get("roots", []), "roots")}


def _working_folder() -> bytes:
    try:
        return absolute_path(".")
    except ValueError as error:
        raise InvalidParams(f"--here: {error}", {"field": "--here"}) from None
