"""Agent memory in a plugin's store: it gets what the methods were given, and what it does wrong costs only itself."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, cast

import pytest

from livedex_daemon.knowledge import plugin_memory
from livedex_daemon.knowledge.agent_memory import NewEntry
from livedex_daemon.knowledge.plugin_memory import PluginMemory
from livedex_indexing import conformance
from livedex_indexing.plugins import KnowledgeBackend
from livedex_indexing.plugins.time_limit import LimitedCalls
from livedex_ipc.errors import Unavailable


class Notes:
    """The least that a store may be: as the template in the documents."""

    def __init__(self) -> None:
        self.notes: dict[int, dict[str, Any]] = {}

    def add_chunk(self, content: str, domain: str = "general", **kw: object) -> int | None:
        known = [key for key, note in self.notes.items() if (note["content"], note["domain"]) == (content, domain)]
        number = known[0] if known else len(self.notes) + 1
        self.notes[number] = {"id": number, "content": content, "domain": domain, **kw}
        return number

    def add_finding(self, content: str, source: object = None, confidence: object = None, **kw: object) -> int | None:
        return self.add_chunk(content, "findings", source=source, confidence=confidence, **kw)

    def search(self, query: str, k: int = 5, *, domain: str | None = None) -> list[dict[str, object]]:
        return [note for note in self.notes.values() if query in note["content"] and domain in (None, note["domain"])]

    def get_hot_memory(self, max_chars: int = 6000) -> str:
        return "hot " * 2000

    def list_chunks(self, *a: object, **kw: object) -> list[dict[str, object]]:
        return list(self.notes.values())

    def stats(self) -> dict[str, object]:
        return {"entries": len(self.notes)}

    def delete_by_id(self, chunk_id: int) -> bool:
        return self.notes.pop(chunk_id, None) is not None


@pytest.fixture
def reports() -> list[str | None]:
    return []


def memory(store: Notes, reports: list[str | None]) -> PluginMemory:
    return PluginMemory("notes", cast(KnowledgeBackend, store), reports.append, LimitedCalls("notes"))


def test_every_call_reaches_the_store(reports: list[str | None]) -> None:
    used = memory(Notes(), reports)
    assert used.add(NewEntry("a walrus", "sea", heading="Animals")) == (1, True)
    assert used.add(NewEntry("a walrus", "sea")) == (1, False)
    assert used.add(NewEntry("a goat", "findings", "finding", metadata={"confidence": "high"})) == (2, True)
    (found,) = used.search("walrus", 5, ("sea", "land"))
    assert (found["id"], found["domain"], found["kind"], found["uses"]) == (1, "sea", "chunk", 0)
    assert [entry["content"] for entry in used.page(None, None, 1, 1).entries] == ["a goat"]
    assert used.page("sea", None, 9, 0).total == 1
    assert len(used.hot(10)) == 10
    assert used.counts().entries == 2
    assert used.remove(1) and not used.remove(1)
    assert set(reports) == {None}


ENTRY: dict[str, object] = {"id": 1, "content": "a walrus", "domain": "sea"}


WRONG: tuple[dict[str, object], ...] = (
    {"id": "x"}, {"id": 0}, {"id": True}, {"content": 3}, {"domain": "land"}, {"heading": 3}, {"kind": "note"},
    {"source": []}, {"score": "best"}, {"score": math.nan}, {"uses": -1}, {"created_at": 12345},
    {"created_at": "yesterday"}, {"used_at": "2026-11-24T10:00:00"}, {"metadata": "none"},
    {"metadata": {"since": object()}}, {"metadata": {"share": math.inf}},
)  # fmt: skip


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        *(("search", answer) for answer in (None, 3, ["text"], ENTRY)),
        *(("search", [{name: value for name, value in ENTRY.items() if name != lacks}]) for lacks in ENTRY),
        *(("search", [ENTRY | wrong]) for wrong in WRONG),
        ("list_chunks", [ENTRY | {"id": -1}]),
        *(("stats", answer) for answer in (None, {}, {"entries": "x"}, {"entries": -1}, {"entries": 1, "domains": []})),
        *(("delete_by_id", answer) for answer in (None, "yes", 1)),
        *(("add_chunk", answer) for answer in (None, -1, 0, True, 2**53, "1")),
        *(("add_finding", answer) for answer in (None, -1)),
        ("get_hot_memory", None),
    ],
)
def test_an_answer_that_is_not_what_the_protocol_says_is_an_error(
    method: str, answer: object, reports: list[str | None]
) -> None:
    store = Notes()
    setattr(store, method, lambda *_words, **_more: answer)
    used = memory(store, reports)
    calls: dict[str, Callable[[], object]] = {
        "search": lambda: used.search("walrus", 5, ("sea",)),
        "list_chunks": lambda: used.page(None, None, 9, 0),
        "stats": used.counts,
        "delete_by_id": lambda: used.remove(1),
        "add_chunk": lambda: used.add(NewEntry("a walrus")),
        "add_finding": lambda: used.add(NewEntry("a walrus", "findings", "finding")),
        "get_hot_memory": lambda: used.hot(10),
    }
    with pytest.raises(Unavailable, match=f"the knowledge store 'notes' failed: {method} ") as raised:
        calls[method]()
    assert reports[-1] is not None and "it is tried again" in reports[-1]
    assert "nonsense" in raised.value.message or "ignores domain" in raised.value.message
    assert conformance.check_knowledge(lambda: cast(KnowledgeBackend, store))


def test_what_an_entry_may_lack_is_filled_in(reports: list[str | None]) -> None:
    class Score(float):
        """As a number of NumPy."""

    store = Notes()
    more = {"score": Score(2), "created_at": "2026-11-24T10:00:00+02:00", "uses": None, "metadata": None}
    store.search = lambda *_words, **_more: [MappingProxyType(ENTRY | more)]  # type: ignore[method-assign]
    (found,) = memory(store, reports).search("walrus", 5)
    assert found == {
        **ENTRY, "heading": None, "kind": "chunk", "source": None, "score": 2.0, "metadata": {}, "uses": 0,
        "created_at": "2026-11-24T08:00:00.000Z", "used_at": None,
    }  # fmt: skip
    assert type(found["score"]) is float


def test_a_store_that_raises_is_named(reports: list[str | None]) -> None:
    store = Notes()

    def refuse(*_words: object, **_more: object) -> int | None:
        raise OSError("the disk is full")

    store.add_chunk = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="OSError: the disk is full; `livedex plugins check`"):
        memory(store, reports).add(NewEntry("a walrus"))


def test_a_store_that_hangs_is_left_behind(reports: list[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_memory, "CALL_S", 0.05)
    ended = threading.Event()
    store = Notes()
    store.stats = lambda: {"entries": ended.wait(60)}  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="does not return within"):
        memory(store, reports).counts()
    ended.set()


class Evil(float):
    def __float__(self) -> float:
        raise SystemExit("the end")


class Ends(Notes):
    """Its methods cannot even be looked up."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("stats", "list_chunks", "close"):
            raise SystemExit("the end")
        return super().__getattribute__(name)


def test_an_entry_whose_code_ends_the_process_is_an_error(reports: list[str | None]) -> None:
    store = Notes()
    store.list_chunks = lambda *_words, **_more: [ENTRY | {"score": Evil()}]  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match=r"the knowledge store 'notes' failed: .*SystemExit: the end"):
        memory(store, reports).page(None, None, 9, 0)


def test_a_store_that_ends_the_process_ends_its_call_alone(reports: list[str | None]) -> None:
    used = memory(Ends(), reports)
    for call in (used.counts, lambda: used.page(None, None, 9, 0), lambda: used.add(NewEntry("a walrus"))):
        with pytest.raises(Unavailable, match="SystemExit: the end"):
            call()
    used.close()


def test_a_fault_is_one_short_line(reports: list[str | None]) -> None:
    store = Notes()

    def refuse(*_words: object, **_more: object) -> int | None:
        raise OSError("the disk\nis " + "very " * 1000 + "full")

    store.add_chunk = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable) as raised:
        memory(store, reports).add(NewEntry("a walrus"))
    assert "the disk is very" in raised.value.message and len(raised.value.message) < 600
