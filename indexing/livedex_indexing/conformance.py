"""The conformance suites: does an object keep the promises of its Protocol?

Invariant: a suite raises nothing. It returns a list of faults, each a sentence; an empty list means that the object
conforms. ``factory`` takes no argument and returns a new object each time.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from numbers import Real
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from livedex_indexing.plugins import (
    Backend,
    Chunk,
    Document,
    Embedder,
    Hit,
    KnowledgeBackend,
    Parser,
    Pipeline,
    Query,
    VectorBackend,
    VectorModel,
)
from livedex_indexing.plugins.registry import described
from livedex_indexing.plugins.time_limit import within
from livedex_indexing.span_check import span_fault
from livedex_ipc.params import MAX_INTEGER

T = TypeVar("T")
Faults = Iterator[str]

_MAKE_S = 120.0
_ALIKE = 1e-6  # between two vectors of length 1
_TEXTS = (
    "",
    "\n",
    "one line",
    "# Heading\n\nSome text.\n\n```python\nprint(1)\n```\n",
    "Grüße, 世界, 👩‍👩‍👧 and e\u0301\r\n" * 40,
    "word " * 3000,
    "x" * 5000,
)


def check_backend(factory: Callable[[], Backend], folder: str = "/conformance") -> list[str]:
    """Check a Backend. It writes and removes what lies in ``folder``; all is cleared only if nothing else is stored.

    If the folder exists, the documents are written there as files, for a backend that reads the files itself.
    """
    return _checked(factory, Backend, lambda backend: _backend(backend, folder))  # type: ignore[type-abstract]


def check_knowledge(factory: Callable[[], KnowledgeBackend]) -> list[str]:
    """Check a KnowledgeBackend: what is added there is deleted again."""
    return _checked(_on_its_own_thread(factory), KnowledgeBackend, _knowledge)  # type: ignore[type-abstract]


def check_embedder(factory: Callable[[], Embedder]) -> list[str]:
    return _checked(_on_its_own_thread(factory), Embedder, _embedder)  # type: ignore[type-abstract]


def check_parser(factory: Callable[[], Parser], sample: str | None = None) -> list[str]:
    """Check a Parser. ``sample`` is the path of a file that it must convert, None if there is none."""
    return _checked(factory, Parser, lambda parser: _parser(parser, sample))  # type: ignore[type-abstract]


def check_pipeline(factory: Callable[[], Pipeline]) -> list[str]:
    return _checked(factory, Pipeline, _pipeline)  # type: ignore[type-abstract]


def _on_its_own_thread(factory: Callable[[], T]) -> Callable[[], T]:
    """Make the object as the daemon does: on another thread than those that use it."""
    return lambda: within(_MAKE_S, factory, "factory")


def _checked(factory: Callable[[], T], protocol: type[T], suite: Callable[[T], Faults]) -> list[str]:
    faults: list[str] = []
    try:
        made = factory()
        if not isinstance(made, protocol):
            return [f"{type(made).__name__} lacks a method of {protocol.__name__}"]
        for fault in suite(made):
            if fault not in faults:  # the same one of several texts
                faults.append(fault)
    except Nonsense as fault:
        faults.append(str(fault))
    except (Exception, SystemExit) as fault:  # the object under test may raise anything
        faults.append(f"it raises {described(fault)}")
    return faults


def _document(path: str, root: str, *texts: str, language: str | None = "markdown") -> Document:
    chunks: list[Chunk] = []
    byte, line = 0, 1
    for ordinal, text in enumerate(texts):
        size, lines = len(text.encode()), max(1, text.count("\n"))
        place = line, line + lines - 1, byte, byte + size
        chunks.append(Chunk(ordinal, text, "", "plain", language, None, None, *place, vector_key=_vector_key(text)))
        byte, line = byte + size, line + lines
    if os.path.isdir(root):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write("".join(texts))
    return Document(path, root, f"{abs(hash(texts)):032x}"[:32], byte, 1_700_000_000.0, language, tuple(chunks))


def _backend(backend: Backend, root: str) -> Faults:
    backend.delete(root)
    sea, hill, pier = f"{root}/sea.md", f"{root}/land/hill.txt", f"{root}/landing.md"
    backend.index(_document(sea, root, "the walrus swims\n", "and the walrus, a big walrus, sleeps on ice\n"))
    backend.index(_document(hill, root, "a goat climbs\n", language=None))
    backend.index(_document(pier, root, "a gull rests\n"))

    def search(text: str, **fields: Any) -> list[Hit]:
        return _list_of_hits(backend.search(Query(text, **{"path": root, **fields})))

    found = search("walrus")
    yield from _hits(found, "walrus", {sea})
    if len(search("walrus", limit=1)) != 1:
        yield "search ignores limit"
    second = [(hit.ordinal, hit.start_line) for hit in search("walrus", limit=1, offset=1)]
    if found and second == [(found[0].ordinal, found[0].start_line)]:
        yield "search ignores offset"
    if search("goat", path=sea):
        yield "search ignores path"
    if search("goat", languages=("markdown",)):
        yield "search ignores languages"
    if search("zzqqxx"):
        yield "search finds a word that is nowhere"
    backend.index(_document(sea, root, "the seal swims\n"))
    if search("walrus"):
        yield "index does not replace what was stored for the path"
    yield from _hits(search("seal"), "seal", {sea})
    if "files" not in backend.status() or "chunks" not in backend.status():
        yield "status lacks files or chunks"
    records = backend.list_files()
    inside = [record.path for record in records if record.path.startswith(f"{root}/")]
    if records:
        yield from _stored(backend, sea, inside == [hill, pier, sea])
    if backend.delete(f"{root}/land") and search("goat"):
        yield "delete of a folder leaves its file"
    if not search("gull"):
        yield "delete of a folder takes files outside of it, whose paths begin alike"
    if backend.delete(pier) and search("gull"):
        yield "delete leaves the file"
    if isinstance(backend, VectorBackend):
        yield from _vectors(backend, root)
    if records and len(records) == len(inside):
        backend.clear()
        if backend.list_files() or search("goat"):
            yield "clear leaves files"
    backend.delete(root)
    backend.close()


def _vectors(backend: VectorBackend, root: str) -> Faults:
    """Check what a backend promises that keeps vectors: two files, of which one has a chunk like the other's."""
    model, other = VectorModel("conformance/2", 2), VectorModel("conformance/3", 3)
    sea, hill = f"{root}/sea.md", f"{root}/land/hill.txt"
    swims, sleeps = _vector_key("the walrus swims\n"), _vector_key("it sleeps\n")
    mine = {swims: [3, 4], sleeps: [4, -3]}
    backend.index(_document(sea, root, "the walrus swims\n", "it sleeps\n"))
    backend.index(_document(hill, root, "the walrus swims\n", language=None))

    def lacking(of: VectorModel, limit: int = 10_000) -> list[str]:
        return [key for key in backend.lacking_vectors(of, "", limit) if key in mine]

    def near(vector: list[float], **fields: Any) -> list[tuple[str, int | None]]:
        hits = backend.nearest(model, vector, Query("goat", **{"path": root, **fields}))
        return [(hit.path, hit.ordinal) for hit in hits]

    if lacking(model) != sorted(mine):
        yield "lacking_vectors does not return the keys of all chunks, in order, each once"
    last = max(mine)
    if last in backend.lacking_vectors(model, last, 10_000) or len(backend.lacking_vectors(model, "", 1)) > 1:
        yield "lacking_vectors ignores after or limit"
    backend.put_vectors(model, {**mine, "00": [1, 1]})
    if lacking(model):
        yield "put_vectors leaves a chunk without its vector"
    found = backend.nearest(model, [6, 8], Query(path=root))
    if [round(hit.score, 2) for hit in found] != [1.0, 1.0, 0.0]:
        yield "nearest does not return the cosines, best first"
    if near([6, 8])[:2] not in ([(sea, 0), (hill, 0)], [(hill, 0), (sea, 0)]) or near([4, -3])[:1] != [(sea, 1)]:
        yield "nearest does not find the nearest chunks"
    inside = [(sea, 0), (sea, 1)]
    if near([6, 8], path=sea) != inside or near([6, 8], languages=("markdown",)) != inside:
        yield "nearest ignores a filter"
    if near([6, 8], offset=1, limit=1) != near([6, 8])[1:2]:
        yield "nearest ignores offset or limit"
    backend.index(_document(sea, root, "the goat\n"))
    if near([4, -3]) != [(hill, 0)]:
        yield "a chunk that was replaced keeps its vector"
    backend.put_vectors(other, {swims: [1, 2, 3]})
    if lacking(model) or lacking(other):
        yield "the vectors of two models are not kept side by side"
    backend.drop_other_vectors(other)
    if lacking(model) != [swims]:
        yield "drop_other_vectors leaves those of another model"
    backend.delete(sea)
    backend.delete(hill)


def _vector_key(text: str) -> str:
    return text.encode().hex()[:32]


def _stored(backend: Backend, sea: str, by_path: bool) -> Faults:
    """Check what only a backend promises that keeps files itself."""
    if not by_path:
        yield "list_files does not return the files by path"
    if [chunk.text for chunk in backend.retrieve(sea)] != ["the seal swims\n"]:
        yield "retrieve does not return the chunks of the file"
    if not backend.delete(sea) or backend.search(Query("seal", path=sea)):
        yield "delete leaves the file"
    if backend.delete(sea):
        yield "delete of a file that is gone returns True"


def _hits(hits: list[Hit], word: str, paths: set[str]) -> Faults:
    if not hits:
        yield f"search does not find {word!r}"
    if {hit.path for hit in hits} - paths:
        yield f"search for {word!r} finds files without it"
    scores = [hit.score for hit in hits]
    if not all(math.isfinite(score) for score in scores):
        yield "a score is not a finite number"
    elif scores != sorted(scores, reverse=True):
        yield "the best hit does not come first"
    if any(hit.ordinal is None and hit.start_line is None for hit in hits):
        yield "a hit has neither an ordinal nor lines"


def _list_of_hits(hits: object) -> list[Hit]:
    """Return what a search returned. Raises Nonsense."""
    if not isinstance(hits, list):
        raise Nonsense(f"search returns {type(hits).__name__}, not a list of Hit")
    for hit in hits:
        if not isinstance(hit, Hit):
            raise Nonsense(f"search returns a list of {type(hit).__name__}, not of Hit")
    return hits


class Nonsense(Exception):
    """What a method returned is not what its Protocol says; the message says where."""


EntryId = Annotated[int, msgspec.Meta(ge=1, le=MAX_INTEGER)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class KnowledgeStats(msgspec.Struct, frozen=True):
    entries: _Count
    domains: dict[str, _Count] | None = None
    db_bytes: _Count | None = None


class KnowledgeEntry(msgspec.Struct, frozen=True):
    """An entry. What is None is not known. ``score`` is a finite number, also one of NumPy."""

    id: EntryId
    content: str
    domain: str
    heading: str | None = None
    kind: Literal["chunk", "finding"] | None = None
    source: str | None = None
    score: Any = None
    created_at: _Time | None = None
    used_at: _Time | None = None
    uses: _Count | None = None
    metadata: dict[str, object] | None = None

    def __post_init__(self) -> None:
        if self.score is not None:
            if not (isinstance(self.score, Real) and math.isfinite(self.score)):
                raise ValueError("the score is not a finite number")
            msgspec.structs.force_setattr(self, "score", float(self.score))
        try:
            msgspec.structs.force_setattr(self, "metadata", json.loads(json.dumps(self.metadata, allow_nan=False)))
        except (TypeError, ValueError, RecursionError):
            raise ValueError("the metadata is no JSON") from None


def knowledge_answer(method: str, answer: object, kind: type[T]) -> T:
    """Return what a method of a KnowledgeBackend returned. Raises Nonsense."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as fault:
        raise Nonsense(f"{method} answers nonsense: {fault}") from None


def knowledge_entries(method: str, answer: object, domain: str | None = None) -> list[KnowledgeEntry]:
    """Return the entries that a method returned, if all are of the domain that was searched. Raises Nonsense."""
    entries = knowledge_answer(method, answer, list[KnowledgeEntry])
    if domain is not None and any(entry.domain != domain for entry in entries):
        raise Nonsense(f"{method} ignores domain")
    return entries


def _knowledge(store: KnowledgeBackend) -> Faults:
    first = knowledge_answer("add_chunk", store.add_chunk("the walrus naps at noon", "conformance"), EntryId)
    second = knowledge_answer("add_chunk", store.add_chunk("a goat climbs", "conformance-land"), EntryId)
    finding = store.add_finding("the walrus yawns", source="conformance", confidence="high")
    third = knowledge_answer("add_finding", finding, EntryId)
    again = store.add_chunk("the walrus naps at noon", "conformance")
    if again not in (first, None):
        yield "add_chunk keeps the same content of a domain twice"

    def search(query: str, k: int, domain: str | None) -> list[KnowledgeEntry]:
        return knowledge_entries("search", store.search(query, k, domain=domain), domain)

    if not any(entry.id == first for entry in search("walrus", 5, "conformance")):
        yield "search does not find what was added"
    if len(search("walrus goat", 1, None)) > 1:
        yield "search ignores k"
    if len(knowledge_answer("get_hot_memory", store.get_hot_memory(20), str)) > 20:
        yield "get_hot_memory exceeds max_chars"
    if not any(entry.id == second for entry in knowledge_entries("list_chunks", store.list_chunks())):
        yield "list_chunks lacks what was added"
    knowledge_answer("stats", store.stats(), KnowledgeStats)

    def delete(number: int) -> bool:
        return knowledge_answer("delete_by_id", store.delete_by_id(number), bool)

    if not all(map(delete, (first, second, third))):
        yield "delete_by_id does not delete"
    if delete(first):
        yield "delete_by_id of an entry that is gone returns True"
    if search("walrus", 5, "conformance"):
        yield "search finds what was deleted"


def _embedder(embedder: Embedder) -> Faults:
    size = embedder.dimensions
    if not isinstance(size, int) or size < 1:
        yield f"dimensions is {size!r}, not a positive number"
        return
    texts = [text for text in _TEXTS if text.strip()]
    vectors = embedder.embed_batch(texts)
    if len(vectors) != len(texts):
        yield "embed_batch does not return one vector for each text"
    for vector in (*vectors, embedder.embed(texts[0])):
        if len(vector) != size:
            yield f"a vector has {len(vector)} dimensions, not {size}"
        elif not all(math.isfinite(value) for value in vector):
            yield "a vector has a value that is not finite"
        elif not any(vector):
            yield "a vector is zero"
    if _are_alike(vectors):
        yield "all texts have the same vector"
    single = embedder.embed(texts[0])
    if any(abs(one - two) > 1e-3 for one, two in zip(single, vectors[0], strict=False)):
        yield "embed and embed_batch give different vectors"
    if embedder.embed_batch([]):
        yield "embed_batch of nothing returns vectors"


def _are_alike(vectors: list[list[float]]) -> bool:
    """Whether all vectors have one direction: a search by meaning could not tell the texts apart."""
    lengths = [math.hypot(*vector) for vector in vectors]
    if not all(0 < length < math.inf for length in lengths):
        return False
    units = [[value / length for value in vector] for vector, length in zip(vectors, lengths, strict=True)]
    return all(math.dist(unit, units[0]) < _ALIKE for unit in units if len(unit) == len(units[0]))


def _parser(parser: Parser, sample: str | None) -> Faults:
    suffixes = list(parser.suffixes)
    if not suffixes:
        yield "suffixes is empty"
    for suffix in suffixes:
        if not isinstance(suffix, str) or not suffix.startswith(".") or suffix != suffix.lower():
            yield f"the suffix {suffix!r} is not in lower case with its dot"
    if sample is not None:
        text = parser.convert(sample)
        if not isinstance(text, str) or not text.strip():
            yield "convert returns no text"


def _pipeline(pipeline: Pipeline) -> Faults:
    for text in _TEXTS:
        spans = pipeline.chunk(text, ".txt")
        fault = span_fault(spans, text)
        if fault is not None:
            yield f"chunk: {fault}"
        elif spans != pipeline.chunk(text, ".txt"):
            yield "the same text gives other chunks"
