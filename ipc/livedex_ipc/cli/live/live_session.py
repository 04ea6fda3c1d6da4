"""Runs the terminal UI: waits for keys and answers, steps the model, and does what it requests.

Invariant: the UI never waits for the daemon; while nothing happens it uses no CPU; keys that come at once cause one
search, that of the last one.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from livedex_ipc.cli.live import live_model
from livedex_ipc.cli.live.live_screen import Gone, Screen
from livedex_ipc.cli.live.live_state import (
    Edited,
    End,
    Event,
    Explain,
    Failed,
    Linked,
    Open,
    Query,
    Request,
    Resized,
    Search,
    Show,
    State,
    lines,
)
from livedex_ipc.cli.live.live_view import draw
from livedex_ipc.errors import LivedexError

if TYPE_CHECKING:
    from livedex_ipc.cli.live.daemon_link import DaemonLink
    from livedex_ipc.wire_results import HitFields

RETRY_S = 1.0


class Session:
    """One run of ``livedex live``."""

    def __init__(self, screen: Screen, *, spawn: bool) -> None:
        self._screen, self._spawn = screen, spawn
        self._link: DaemonLink | None = None
        self._pending: dict[int, Search | Show | Explain] = {}  # id of a call to what it is for
        self._subscription: tuple[int, int] | None = None  # of the daemon, and the number of the search
        self._number = 0  # of the last search
        self._retry = False
        self._end: End | None = None

    def run(self, query: Query, folder: str) -> tuple[HitFields, ...] | None:
        """Show the UI until it ends; return the choice, None without one."""
        with self._screen.shown():
            rows, columns = self._screen.size()
            state = live_model.begin(query, rows, columns, folder)
            self._screen.paint(draw(state))
            self._connect()
            try:
                while self._end is None:
                    state = self._turn(state)
                    self._screen.paint(draw(state))
            except Gone:
                return None
            finally:
                if self._link is not None:
                    self._link.close()
        return self._end.hits or None

    def _connect(self) -> None:
        if self._link is None:
            from livedex_ipc.cli.live.daemon_link import DaemonLink

            self._link = DaemonLink(self._screen.wake_end, self._spawn)
        self._link.begin()

    def _turn(self, state: State) -> State:
        """Wait until something happens, and take it all before anything is requested."""
        requests: list[Request] = []
        for event in self._events():
            state, wanted = live_model.step(state, event)
            requests += wanted
        for request in _newest(requests):
            event_at_once = self._do(request)
            if event_at_once is not None:
                state, more = live_model.step(state, event_at_once)
                for each in more:
                    self._do(each)
        return state

    def _events(self) -> Iterator[Event]:
        link = self._link
        assert link is not None
        peer = [link.peer.fileno()] if link.peer is not None else []
        readable, _, _ = select.select(
            [self._screen.descriptor, self._screen.wake, *peer],
            peer if link.has_unsent else [],
            [],
            RETRY_S if self._retry else None,
        )
        if self._screen.wake in readable:
            self._screen.woken()
            yield Resized(*self._screen.resize())
        elif self._retry and not readable:
            self._retry = False
            self._connect()
        yield from self._linked()
        yield from self._answers()
        if self._screen.descriptor in readable:
            yield from self._screen.keys()

    def _linked(self) -> Iterator[Event]:
        assert self._link is not None
        try:
            if self._link.take_result():
                yield Linked("connected")
        except LivedexError as error:
            self._retry = True
            yield Linked("lost", error.message)

    def _answers(self) -> Iterator[Event]:
        from livedex_ipc.cli.live.daemon_link import Lost

        assert self._link is not None
        try:
            for message in self._link.exchange():
                event = self._answer(message)
                if event is not None:
                    yield event
        except Lost:
            self._pending.clear()
            self._subscription = None
            self._retry = True
            yield Linked("lost", "the daemon has ended; connecting again")

    def _answer(self, message: Mapping[str, Any]) -> Event | None:
        from livedex_ipc.cli.live import live_requests

        if message.get("method") == "search/changed":
            params = message["params"]
            if self._subscription is None or params["subscription"] != self._subscription[0]:
                return None
            return live_requests.changed(self._subscription[1], params)
        purpose = self._pending.pop(message.get("id") or 0, None)
        if purpose is None:
            return None
        if "error" in message:
            if isinstance(purpose, Show):
                return live_requests.no_preview(purpose.hit, message["error"]["message"])
            return live_requests.failed(purpose.number if isinstance(purpose, Search) else 0, message["error"])
        result = message["result"]
        if isinstance(purpose, Show):
            return live_requests.preview(purpose.hit, result)
        if isinstance(purpose, Explain):
            return live_requests.why_page(result) if purpose.hit is not None else live_requests.status_page(result)
        if purpose.query.following:
            self._unsubscribe()
            self._subscription = (result["subscription"], purpose.number)
            if purpose.number != self._number:  # the user has typed on
                self._unsubscribe()
            return live_requests.followed(purpose.number, result)
        return live_requests.found(purpose.number, result)

    def _do(self, request: Request) -> Event | None:
        """Do what was requested; return the event of what ends or fails at once."""
        from livedex_ipc.cli.live import live_requests

        if isinstance(request, End):
            self._end = request
            return None
        if isinstance(request, Open):
            return self._open(request.hit)
        if isinstance(request, Show):
            return self._call("files/retrieve", live_requests.show_params(request.hit), request)
        if isinstance(request, Explain):
            if request.hit is None:
                return self._call("status", {}, request)
            return self._call("files/explain", live_requests.explain_params(request.hit), request)
        self._unsubscribe()
        self._number = request.number
        params = live_requests.params_or_fault(request)
        if isinstance(params, Failed):
            return params
        return self._call("search/subscribe" if request.query.following else "search", params, request)

    def _call(self, method: str, params: dict[str, object], purpose: Search | Show | Explain) -> Event | None:
        link = self._link
        if link is None or link.peer is None:
            return Failed(0, "no daemon: connecting again") if isinstance(purpose, Explain) else None
        self._pending[link.request(method, params)] = purpose
        return None

    def _unsubscribe(self) -> None:
        if self._subscription is not None and self._link is not None and self._link.peer is not None:
            self._link.request("search/unsubscribe", {"subscription": self._subscription[0]})
        self._subscription = None

    def _open(self, hit: HitFields) -> Event | None:
        from livedex_ipc.cli.live.editor_command import column_in, editor_command
        from livedex_ipc.cli.render.shown_paths import path_text

        try:
            column = column_in(hit["text"], hit["column"])
            command = editor_command(os.environ, path_text(hit), hit["line"], column)
            code = self._screen.run(command)
        except (OSError, ValueError) as error:
            return Failed(0, f"the editor did not start: {error}: set VISUAL or EDITOR")
        return Failed(0, f"{command[0]} ended with exit code {code}") if code else Edited(lines(hit)[0])


def _newest(requests: list[Request]) -> list[Request]:
    """Return the requests without the searches and previews that a later one replaces."""
    last = {type(request): index for index, request in enumerate(requests)}
    return [
        request
        for index, request in enumerate(requests)
        if not isinstance(request, Search | Show) or last[type(request)] == index
    ]
