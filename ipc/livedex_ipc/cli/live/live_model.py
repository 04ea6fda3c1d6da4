"""What each key and each answer does to the state of the terminal UI, and which requests follow. Without I/O.

Invariant: no event raises; the cursor is inside the prompt and the selection inside the list; an answer that is not of
the last search changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from livedex_ipc.cli.live import slash_commands
from livedex_ipc.cli.live.live_help import HELP
from livedex_ipc.cli.live.live_layout import hit_at, in_preview, layout
from livedex_ipc.cli.live.live_state import (
    Changed,
    Edited,
    End,
    Event,
    Explain,
    Failed,
    Found,
    Key,
    Linked,
    Mode,
    Mouse,
    Open,
    Page,
    Preview,
    Query,
    Resized,
    Search,
    Show,
    State,
    Step,
    lines,
    place,
)
from livedex_ipc.cli.live.prompt_keys import EDITING, insert

if TYPE_CHECKING:
    from livedex_ipc.wire_results import HitFields

WHEEL_LINES = 3
MOST_FOLLOWED = 1000
NOTHING_SELECTED = "nothing is selected"
TYPE_A_PATTERN = "type what to search for"


def begin(query: Query, rows: int, columns: int, folder: str) -> State:
    """Return the first state. Nothing is requested before the daemon is connected."""
    return State(rows, columns, folder, query.text, len(query.text), query)


def step(state: State, event: Event) -> Step:
    """Return the next state and what it requests."""
    new, requests = _stepped(state, event)
    if new.deferred is not None and isinstance(event, Found) and new.answered == new.requested:
        new, more = _key(_settled(new), new.deferred)
        requests = (*requests, *more)
    new = _settled(new)
    hit = selected_hit(new)
    wanted = place(hit) if hit is not None else None
    if wanted != new.previewed or (wanted is not None and isinstance(event, Linked) and event.link == "connected"):
        new = new._replace(previewed=wanted, shift=0)
        requests = (*requests, Show(hit)) if hit is not None else requests
    return new, requests


def selected_hit(state: State) -> HitFields | None:
    """Return the hit under the selection; None if there is none."""
    return state.hits[state.selected] if state.selected < len(state.hits) else None


def chosen(state: State) -> tuple[HitFields, ...]:
    """Return the marked hits in the order of the list; the selected one if none is marked."""
    marked = tuple(hit for hit in state.hits if place(hit) in state.marked)
    hit = selected_hit(state)
    return marked or ((hit,) if hit is not None else ())


def _stepped(state: State, event: Event) -> Step:
    if isinstance(event, Key):
        return _key(state, event)
    if isinstance(event, Mouse):
        return _mouse(state, event)
    if isinstance(event, Resized):
        return state._replace(rows=max(event.rows, 1), columns=max(event.columns, 1)), ()
    if isinstance(event, Linked):
        state = state._replace(link=event.link, note=event.note)
        return _search(state) if event.link == "connected" else (state, ())
    if isinstance(event, Edited):
        return _search(state._replace(edited=event.path, note=""))
    if isinstance(event, Page):
        return state._replace(page=event), ()
    return _answered(state, event), ()


def _answered(state: State, event: Found | Changed | Failed | Preview) -> State:
    if isinstance(event, Preview):
        return state._replace(preview=event) if event.place == state.previewed else state
    if isinstance(event, Failed) and not event.number:
        return state._replace(note=event.message)
    if event.number != state.requested:
        return state
    if isinstance(event, Found):
        return _with_hits(state, event)
    if isinstance(event, Failed):
        return _with_hits(state, Found(event.number, (), False, True, event.message))
    gone = {lines(hit) for hit in event.removed}
    kept = tuple(hit for hit in state.hits if lines(hit) not in gone)
    hit = selected_hit(state)
    hits = (event.added + kept)[:MOST_FOLLOWED]
    places = [place(each) for each in hits]
    follows = hit is not None and state.selected > 0 and place(hit) in places
    return state._replace(
        hits=hits,
        selected=places.index(place(hit)) if follows and hit is not None else state.selected,
        fresh=state.fresh or event.fresh,
    )


def _with_hits(state: State, found: Found) -> State:
    paths = [lines(hit)[0] for hit in found.hits]
    selected = paths.index(state.edited) if state.edited in paths else 0
    return state._replace(
        edited=None,
        answered=found.number,
        hits=found.hits,
        more=found.more,
        fresh=found.fresh,
        note=found.note,
        selected=selected,
        top=0,
    )


def _settled(state: State) -> State:
    """Put the selection into the list, and the part of the list that is shown around the selection."""
    last = max(len(state.hits) - 1, 0)
    selected = min(max(state.selected, 0), last)
    shown = max(layout(state.rows, state.columns).list_rows, 1)
    top = min(max(state.top, selected - shown + 1, 0), selected, max(len(state.hits) - shown, 0))
    page = state.page
    if page is not None:
        page = page._replace(top=min(max(page.top, 0), max(len(page.lines) - 1, 0)))
    lines = len(state.preview.lines) if state.preview is not None else 0
    shift = min(max(state.shift, -lines), lines)
    return state._replace(selected=selected, top=max(top, 0), page=page, shift=shift)


def _key(state: State, key: Key) -> Step:
    state = state._replace(deferred=None)
    if key.name == "ctrl-c":
        return state, (End(),)
    if state.page is not None:
        return _page_key(state, state.page, key), ()
    if key.name == "escape":
        return state, (End(),)
    if key.name == "text":
        if key.text == "?" and not state.text:
            return state._replace(page=HELP), ()
        return _edited(state, insert(state.text, state.cursor, key.text))
    if key.name in EDITING:
        return _edited(state, EDITING[key.name](state.text, state.cursor))
    if key.name in ("alt-r", "alt-x"):
        mode: Mode = "regex" if key.name == "alt-r" else "exact"
        return _searched(state, state.query._replace(mode="words" if state.query.mode == mode else mode))
    if key.name == "tab":
        return _tab(state)
    if key.name == "enter":
        return _enter(state, key)
    if key.name == "ctrl-o":
        if state.answered != state.requested:
            return state._replace(deferred=key), ()
        hits = chosen(state)
        return (state, (End(hits),)) if hits else (state._replace(note=NOTHING_SELECTED), ())
    return _moved(state, key.name), ()


def _moved(state: State, name: str) -> State:
    shown = max(layout(state.rows, state.columns).list_rows, 1)
    by = {"up": -1, "ctrl-p": -1, "down": 1, "ctrl-n": 1, "page-up": -shown, "page-down": shown}.get(name)
    if by is not None:
        return state._replace(selected=state.selected + by)
    by = {"shift-up": -1, "shift-down": 1}.get(name)
    return state._replace(shift=state.shift + by) if by is not None else state


def _page_key(state: State, page: Page, key: Key) -> State:
    by = {"up": -1, "down": 1, "page-up": 1 - state.rows, "page-down": state.rows - 1}.get(key.name)
    return state._replace(page=None if by is None else page._replace(top=page.top + by))


def _mouse(state: State, mouse: Mouse) -> Step:
    if mouse.kind in ("up", "down"):
        by = -WHEEL_LINES if mouse.kind == "up" else WHEEL_LINES
        if state.page is not None:
            return state._replace(page=state.page._replace(top=state.page.top + by)), ()
        if in_preview(state.rows, state.columns, mouse.row, mouse.column):
            return state._replace(shift=state.shift + by), ()
        return state._replace(selected=state.selected + by), ()
    index = hit_at(state, mouse.row, mouse.column)
    if state.page is not None or index is None:
        return state, ()
    state = state._replace(selected=index)
    return state, (Open(state.hits[index]),) if mouse.kind == "double" else ()


def _tab(state: State) -> Step:
    if slash_commands.parse(state.text).start is not None:
        text = slash_commands.completed(state.text, state.hits)
        return _edited(state, (text, len(text)))
    hit = selected_hit(state)
    if hit is None:
        return state, ()
    here = place(hit)
    marked = tuple(each for each in state.marked if each != here) if here in state.marked else (*state.marked, here)
    return state._replace(marked=marked, selected=state.selected + 1), ()


def _enter(state: State, key: Key) -> Step:
    prompt = slash_commands.parse(state.text)
    if prompt.start is None:
        if state.answered != state.requested:
            return state._replace(deferred=key), ()
        hit = selected_hit(state)
        return (state, (Open(hit),)) if hit is not None else (state._replace(note=NOTHING_SELECTED), ())
    name = slash_commands.command_name(prompt)
    if not name:
        names = ", ".join(f"/{each}" for each in slash_commands.matching(prompt.name))
        return state._replace(note=f"which one: {names}"), ()
    state = state._replace(text=prompt.query, cursor=len(prompt.query))
    return _command(state, name, prompt.argument or "")


def _command(state: State, name: str, argument: str) -> Step:
    query = state.query._replace(text=state.text)
    if name in ("words", "exact", "regex"):
        mode: Mode = "exact" if name == "exact" else "regex" if name == "regex" else "words"
        return _searched(state, query._replace(mode=mode))
    if name == "path":
        return _searched(state, query._replace(paths=_more(query.paths, argument)))
    if name == "lang":
        return _searched(state, query._replace(languages=_more(query.languages, argument)))
    if name == "since":
        return _searched(state, query._replace(since=argument))
    if name == "follow":
        if query.mode != "words":
            return state._replace(note="only words can be followed: /words first"), ()
        return _searched(state, query._replace(following=not query.following))
    if name == "help":
        return state._replace(page=HELP), ()
    hit = selected_hit(state) if name == "why" else None
    if name == "why" and hit is None:
        return state._replace(note=NOTHING_SELECTED), ()
    return state, (Explain(hit),)


def _more(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*values, value))) if value else ()


def _edited(state: State, edited: tuple[str, int]) -> Step:
    text, cursor = edited
    state = state._replace(text=text, cursor=cursor)
    query = slash_commands.parse(text).query
    return (state, ()) if query == state.query.text else _searched(state, state.query._replace(text=query))


def _searched(state: State, query: Query) -> Step:
    if query.mode != "words":
        query = query._replace(following=False)
    return _search(state._replace(query=query, note=""))


def _search(state: State) -> Step:
    """Search for the query; what is on its way is no longer of interest. A pattern is never empty."""
    number = state.requested + 1
    state = state._replace(requested=number)
    if state.query.mode != "words" and not state.query.text:
        return _with_hits(state, Found(number, (), False, True, TYPE_A_PATTERN)), ()
    return state, (Search(number, state.query),) if state.link == "connected" else ()
