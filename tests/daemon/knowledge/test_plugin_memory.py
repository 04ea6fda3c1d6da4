"""Agent memory in a plugin's store: it gets what the methods were given, and what it does wrong costs only itself."""

from __future__ import annotations

import math
import threading
from typing import Any, cast

import pytest

from livedex_daemon.knowledge import plugin_memory
from livedex_daemon.knowledge.agent_memory import NewEntry
from livedex_daemon.knowledge.plugin_memory import PluginMemory
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


@pytest.mark.parametrize("answer", [None, 3, ["text"], {"id": 1}])
def test_an_answer_of_another_type_is_an_error(reports: list[str | None], answer: object) -> None:
    store = Notes()
    store.search = lambda *_words, **_more: answer  # type: ignore[method-assign, assignment]
    with pytest.raises(Unavailable, match="'notes' failed: it does not return a list of entries"):
        memory(store, reports).search("walrus", 5)
    assert reports[-1] is not None and "does not return a list of entries; it is tried again" in reports[-1]


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


def test_an_entry_that_is_kept_nowhere_is_an_error(reports: list[str | None]) -> None:
    store = Notes()
    store.add_chunk = lambda *_words, **_more: None  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="stored the entry nowhere"):
        memory(store, reports).add(NewEntry("a walrus"))


class Evil(dict[str, object]):
    def get(self, *_words: object) -> object:
        raise SystemExit("the end")


class Ends(Notes):
    """Its methods cannot even be looked up."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("stats", "list_chunks", "close"):
            raise SystemExit("the end")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Evil(), "SystemExit: the end"),
        ({"metadata": {"since": object()}}, "the metadata of an entry is no JSON"),
        ({"metadata": {"share": math.nan}}, "the metadata of an entry is no JSON"),
        ({"score": 10**400}, "OverflowError"),
    ],
)
def test_an_entry_that_cannot_be_answered_is_an_error(
    entry: dict[str, object], reason: str, reports: list[str | None]
) -> None:
    store = Notes()
    store.list_chunks = lambda *_words, **_more: [entry]  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match=f"the knowledge store 'notes' failed: .*{reason}"):
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
