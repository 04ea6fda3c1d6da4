"""The terminal UI without a terminal: any keys, answers and sizes, and what the screen shows then."""

from __future__ import annotations

from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.canned_daemon import hit as wire_hit
from livedex_ipc.cli.live.live_model import begin, chosen, step
from livedex_ipc.cli.live.live_state import (
    Changed,
    Edited,
    End,
    Explain,
    Failed,
    Found,
    Key,
    Linked,
    Mouse,
    Open,
    Preview,
    Query,
    Request,
    Resized,
    Search,
    Show,
    State,
    place,
)
from livedex_ipc.cli.live.live_view import draw
from livedex_ipc.cli.live.terminal_cells import width

NAMES = (
    *("up", "down", "left", "right", "home", "end", "page-up", "page-down", "backspace", "delete", "enter", "tab"),
    *("escape", "shift-up", "shift-down", "alt-r", "alt-x", "alt-z"),
    *(f"ctrl-{letter}" for letter in "abcdeknopuw"),
)
KEYS = st.one_of(
    st.sampled_from(NAMES).map(Key),
    st.text(max_size=3).map(lambda text: Key("text", text)),
    st.sampled_from(["/", "/l", " ", "?", "東", "/regex", "/follow", "/lang x"]).map(lambda text: Key("text", text)),
)
EMPTY = Query()
PLACES = st.integers(-1, 60)
EVENTS = st.one_of(
    KEYS,
    st.builds(Mouse, st.sampled_from(["click", "double", "up", "down"]), PLACES, PLACES),
    st.builds(Resized, st.integers(0, 40), st.integers(0, 140)),
    st.sampled_from([Linked("connected"), Linked("lost", "gone"), "answer", "late answer", "fail", "change", "show"]),
)
TEXTS = ("a lease", "\x1b[31mred\u202e\x00", "\t" * 3 + "東京" * 80 + "lease", "e\u0301" * 50, "", "x" * 9000)


def drawn(state: State) -> str:
    """Return what the screen shows, without styles."""
    return "\n".join("".join(span.text for span in row).rstrip() for row in draw(state).rows)


def hits_of(query: Query) -> tuple[Any, ...]:
    """Different queries have different hits; each kind of text is among them."""
    return tuple(
        wire_hit(
            f"/r/{query.text}-{query.mode}/{number}\x1b.md", text, [[0, 1]] if text else [], column=len(text) // 2 + 1
        )
        for number, text in enumerate(TEXTS[: len(query.text) * 2 % 7])
    )


class Daemon:
    """Answers the searches of the model: the last one, or an older one too late."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.searches: list[Search] = []
        self.shown: list[Show] = []
        self.done: list[Request] = []

    def take(self, event: Any) -> None:
        for each in self._events(event) if isinstance(event, str) else [event]:
            self.state, requests = step(self.state, each)
            for request in requests:
                self.done.append(request)
                if isinstance(request, Search):
                    self.searches.append(request)
                elif isinstance(request, Show):
                    self.shown.append(request)

    def type(self, *keys: str) -> None:
        for key in keys:
            self.take(Key(key) if key in NAMES else Key("text", key))

    def _events(self, what: str) -> list[Any]:
        if what == "show":
            return [Preview(place(self.shown[-1].hit), 1, TEXTS)] if self.shown else []
        if not self.searches:
            return []
        search = self.searches[0 if what == "late answer" else -1]
        if what == "fail":
            return [Failed(search.number, "no regular expression")]
        if what == "change":
            return [Changed(search.number, hits_of(search.query)[:1], hits_of(search.query)[1:2])]
        return [Found(search.number, hits_of(search.query), True, False, "a\x1bwarning")]


def check(state: State) -> None:
    picture = draw(state)
    assert len(picture.rows) == state.rows
    for row in picture.rows:
        text = "".join(span.text for span in row)
        assert width(text) <= state.columns
        assert not [character for character in text if category(character) in ("Cc", "Cf", "Cs")]
    assert picture.cursor[0] == 0
    assert 0 <= picture.cursor[1] < state.columns
    assert 0 <= state.cursor <= len(state.text)
    assert 0 <= state.selected < max(len(state.hits), 1)
    assert state.top <= state.selected


def started(query: Query = EMPTY, rows: int = 24, columns: int = 100) -> Daemon:
    daemon = Daemon(begin(query, rows, columns, "/r"))
    daemon.take(Linked("connected"))
    return daemon


@given(st.lists(st.one_of(EVENTS, st.just("answer")), max_size=40), st.integers(1, 40), st.integers(1, 140))
def test_any_keys_and_sizes_leave_a_picture_that_fits(events: list[Any], rows: int, columns: int) -> None:
    daemon = started(Query("lease"), rows, columns)
    for event in ["answer", "show", *events]:
        daemon.take(event)
        check(daemon.state)


@given(st.lists(st.one_of(KEYS, st.sampled_from(["answer", "late answer"])), max_size=40))
def test_the_list_is_that_of_the_last_query(events: list[Any]) -> None:
    daemon = started()
    for event in [*events, "answer"]:
        daemon.take(event)
    state = daemon.state
    assert state.answered == state.requested
    is_pattern = state.query.mode != "words" and not state.query.text
    assert state.hits == (() if is_pattern else hits_of(state.query))
    assert is_pattern or state.query == daemon.searches[-1].query


def test_a_late_answer_of_another_query_changes_nothing() -> None:
    daemon = started()
    daemon.type("a", "b")
    daemon.take("answer")
    before = daemon.state
    daemon.take("late answer")
    assert daemon.state == before


def test_enter_before_the_answer_opens_a_hit_of_what_was_typed() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.type("d", "enter")
    assert not [each for each in daemon.done if isinstance(each, Open)]
    daemon.take("answer")
    (opened,) = [each for each in daemon.done if isinstance(each, Open)]
    assert opened.hit == hits_of(Query("abcd"))[0]


def test_marked_hits_are_the_choice_in_the_order_of_the_list() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.type("down", "down", "tab", "home", "up", "up", "up", "tab", "ctrl-o")
    hits = hits_of(Query("abc"))
    assert chosen(daemon.state) == (hits[0], hits[2])
    assert daemon.done[-1] == End((hits[0], hits[2]))


def test_a_mark_counts_only_while_its_hit_is_listed() -> None:
    daemon = started(Query("abc"))
    daemon.take(Found(1, hits_of(Query("abc"))))
    daemon.type("tab")
    assert "1 marked" in drawn(daemon.state)
    daemon.type("d")
    daemon.take(Found(2, hits_of(Query("abcd"))))
    assert "marked · " not in drawn(daemon.state)
    daemon.type("backspace")
    daemon.take(Found(3, hits_of(Query("abc"))))
    assert "1 marked" in drawn(daemon.state), "it is listed again"


def test_a_marked_hit_of_an_earlier_query_is_not_taken() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.type("tab", "d", "ctrl-o")
    assert not [each for each in daemon.done if isinstance(each, End)]
    daemon.take("answer")
    assert [each for each in daemon.done if isinstance(each, End)] == [End(hits_of(Query("abcd"))[:1])]


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("lease /regex", Query("lease", "regex")),
        ("lease /e", Query("lease", "exact")),
        ("lease /lang python", Query("lease", languages=("python",))),
        ("/path docs", Query("", paths=("docs",))),
        ("lease /since 2d", Query("lease", since="2d")),
        ("lease /follow", Query("lease", following=True)),
    ],
)
def test_a_slash_command_changes_the_search_and_leaves_the_query(typed: str, query: Query) -> None:
    daemon = started()
    daemon.type(*typed, "enter")
    assert daemon.state.query == query
    assert daemon.state.text == query.text
    assert daemon.searches[-1].query == query


@pytest.mark.parametrize("text", ["/usr/lib", "a/b", "fetch /usr", "/hello", "x /lange y"])
def test_a_slash_that_begins_no_command_is_searched_for(text: str) -> None:
    daemon = started()
    daemon.type(*text)
    assert daemon.searches[-1].query.text == text


def test_tab_completes_commands_and_their_values() -> None:
    daemon = started(Query("abc"))
    other: Any = wire_hit("/r/x", "x", [], language="python")
    daemon.take(Found(daemon.state.requested, (*hits_of(Query("abc")), other)))
    daemon.type(*" /la", "tab")
    assert daemon.state.text == "abc /lang "
    daemon.type("p", "tab", "enter")
    assert daemon.searches[-1].query == Query("abc", languages=("python",))
    daemon.type(*" /s", "enter")
    assert daemon.state.note == "which one: /since, /status"


def test_status_why_and_help_are_pages() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.type(*" /status", "enter")
    assert daemon.done[-1] == Explain(None)
    daemon.type(*" /why", "enter")
    assert daemon.done[-1] == Explain(daemon.state.hits[0])
    daemon.type(*" /help", "enter")
    assert "Ctrl-O" in drawn(daemon.state)
    daemon.type("escape")
    assert daemon.state.page is None
    daemon.type("escape")
    assert daemon.done[-1] == End()


def test_hits_in_one_line_are_marked_and_selected_each_for_itself() -> None:
    daemon = started(Query("abc", following=True))
    hits: Any = [wire_hit("/r/long.md", f"part {column}", [], start_column=column) for column in (1, 2048, 4096)]
    daemon.take(Found(daemon.state.requested, tuple(hits)))
    daemon.type("down", "tab")
    assert chosen(daemon.state) == (hits[1],)
    new: Any = wire_hit("/r/new.md", "a new lease", [])
    daemon.take(Changed(daemon.state.requested, (new,), ()))
    assert daemon.state.hits[daemon.state.selected] == hits[2]
    daemon.take(Changed(daemon.state.requested, (), (hits[0],)))
    assert daemon.state.hits == (new,)


def test_a_followed_list_changes_with_its_files_and_keeps_the_selection() -> None:
    daemon = started(Query("abc", following=True))
    daemon.take("answer")
    daemon.type("down", "down")
    hits: Any = daemon.state.hits
    new: Any = wire_hit("/r/new.md", "a new lease", [])
    daemon.take(Changed(daemon.state.requested, (new,), (hits[0],)))
    assert daemon.state.hits == (new, *hits[1:])
    assert daemon.state.hits[daemon.state.selected] == hits[2]


def test_a_followed_list_is_fresh_once_that_is_told() -> None:
    daemon = started(Query("abc", following=True))
    daemon.take(Found(daemon.state.requested, (), fresh=False))
    assert "not fresh" in drawn(daemon.state)
    daemon.take(Changed(daemon.state.requested, (), ()))
    assert not daemon.state.fresh
    daemon.take(Changed(daemon.state.requested, (), (), fresh=True))
    assert "not fresh" not in drawn(daemon.state)


def test_after_a_lost_connection_it_searches_again() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.take(Linked("lost", "the daemon has ended"))
    assert "the daemon has ended" in drawn(daemon.state)
    daemon.take(Linked("connected"))
    assert daemon.searches[-1] == Search(daemon.state.requested, Query("abc"))


def test_clicks_and_wheel_reach_list_and_preview() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.take(Mouse("click", 3, 5))
    assert daemon.state.selected == 1
    daemon.take("show")
    daemon.take(Mouse("down", 3, 90))
    assert daemon.state.shift == 3
    daemon.take(Mouse("double", 4, 5))
    assert daemon.done[-1] == Open(daemon.state.hits[2])


def test_after_the_editor_it_searches_again_and_the_file_stays_selected() -> None:
    daemon = started(Query("abc"))
    daemon.take("answer")
    daemon.type("down", "down", "enter")
    daemon.take(Edited(daemon.state.hits[2]["path"]))
    assert daemon.searches[-1].number == daemon.state.requested > daemon.state.answered
    daemon.take("answer")
    assert daemon.state.selected == 2
