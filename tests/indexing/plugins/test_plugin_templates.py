"""Plugins written from the page about plugins alone: they register and conform, and faults in them are noticed."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from helpers.support import CHECKOUT
from livedex_indexing import conformance
from livedex_indexing.plugins import (
    BACKEND,
    EMBEDDER,
    KNOWLEDGE_STORE,
    PARSER,
    PIPELINE,
    BaseEmbedder,
    PluginKind,
    PluginUnavailable,
    Registry,
)
from livedex_indexing.plugins.plugin_loader import Plugins, load

PAGE = (CHECKOUT / "docs" / "plugins.md").read_text()
TEMPLATES = {
    found[1]: found[0] for found in re.findall(r'```python\n("""(\w+)\.py: .*?)```', PAGE, re.DOTALL)
}  # fmt: skip
CONFIG: Mapping[str, object] = MappingProxyType({"plugin": MappingProxyType({})})
SUITES: dict[str, tuple[PluginKind, Callable[..., list[str]]]] = {
    "paragraphs": (PIPELINE, conformance.check_pipeline),
    "memory": (BACKEND, conformance.check_backend),
    "letter-pairs": (EMBEDDER, conformance.check_embedder),
    "csv": (PARSER, conformance.check_parser),
    "list": (KNOWLEDGE_STORE, conformance.check_knowledge),
}
# A fault of the object: the text of its class, and the replacement.
BROKEN = [
    ("paragraphs", "found.start(), found.end()", "found.start(), found.end() + 1", "overlaps|outside"),
    ("paragraphs", "for found in re", "for found in text.nothing or re", "AttributeError"),
    ("paragraphs", "Span(found.start(), found.end())", "Span(found.start(), found.end(), 'prose')", "kind 'prose'"),
    ("paragraphs", "Span(found.start(), found.end())", "Span(0, 1, None, {'x': object()})", "metadata is no JSON"),
    ("paragraphs", "return [Span(", "return [(", "a list of tuple, not of Span"),
    ("memory", "return hits[query", "return tuple(hits)[query", "search returns tuple, not a list of Hit"),
    (
        "memory",
        "hits[query.offset : query.offset + query.limit]",
        "[hit.path for hit in hits]",
        "list of str, not of Hit",
    ),
    ("memory", 'name.startswith(path + "/")', "name.startswith(path)", "takes files outside of it"),
    ("memory", "hits.sort(key=lambda hit: -hit.score)", "hits.sort(key=lambda hit: hit.score)", "best hit"),
    ("memory", "query.offset + query.limit", "", "limit"),
    ("memory", "if query.path and", "if False and", "ignores path"),
    ("memory", "del self.documents[name]", "pass", "delete leaves"),
    ("memory", "self.documents[document.path] = document", "self.documents[len(self.documents)] = document", ""),
    ("letter-pairs", "[value / length", "[value / 0", "ZeroDivisionError"),
    ("letter-pairs", "value / length for value in vector]", "float('nan') for value in vector]", "finite"),
    ("letter-pairs", "value / length for value in vector]", "0.0 for value in vector]", "zero"),
    ("letter-pairs", "value / length for value in vector]", "length for value in vector]", "same vector"),
    ("letter-pairs", "value / length for value in vector]", "1.0 for value in vector[1:]]", "63 dimensions, not 64"),
    ("list", "return self.notes.pop(chunk_id, None) is not None", "return True", "finds what was deleted"),
    ("list", "[:max_chars]", "", "max_chars"),
    ("list", "return found[:k]", "return found", "ignores k"),
    ("csv", '(".csv",)', '("csv",)', "with its dot"),
]


def loaded(folder: Path, change: tuple[str, str] = ("", "")) -> Plugins:
    for name, text in TEMPLATES.items():
        (folder / f"{name}.py").write_text(text.replace(*change) if change[0] else text)
    return load([str(folder)], Registry(), {})


def test_each_is_short() -> None:
    assert set(TEMPLATES) == {"paragraphs", "memory", "small"}
    assert all(len(text.splitlines()) < 100 for text in TEMPLATES.values())


@pytest.mark.parametrize("name", SUITES)
def test_it_conforms(name: str, tmp_path: Path) -> None:
    kind, check = SUITES[name]
    plugins = loaded(tmp_path)
    assert [plugin.reason for plugin in plugins.found] == [None] * 3
    assert check(lambda: plugins.registry.create(kind, name, CONFIG)) == []


@pytest.mark.parametrize(("name", "text", "replacement", "fault"), BROKEN)
def test_its_suite_notices_a_fault(name: str, text: str, replacement: str, fault: str, tmp_path: Path) -> None:
    assert sum(template.count(text) for template in TEMPLATES.values()) == 1
    kind, check = SUITES[name]
    plugins = loaded(tmp_path, (text, replacement))
    faults = check(lambda: plugins.registry.create(kind, name, CONFIG))
    assert faults and re.search(fault, "\n".join(faults)), faults
    assert len(faults) == len(set(faults)), "a fault is said once, however many texts show it"


class OfOneThread(BaseEmbedder):
    """Only the thread that made it can use it, as a connection of `sqlite3`."""

    dimensions = 2

    def __init__(self) -> None:
        self.owner = threading.get_ident()

    def embed(self, text: str) -> list[float]:
        if threading.get_ident() != self.owner:
            raise RuntimeError("made in another thread")
        return [1.0, float(len(text))]


def test_an_object_of_one_thread_is_noticed() -> None:
    """The daemon makes an embedder on one thread, and calls it on others."""
    assert "thread" in "".join(conformance.check_embedder(OfOneThread))


@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("lambda config: None", "its factory returned None"),
        ("lambda config: 1 / 0", "ZeroDivisionError: division by zero"),
        ("lambda config: object()", "is object, which lacks a method of"),
        ("lambda: None", "TypeError"),
        ("lambda config: config['plugin']['address']", "KeyError: 'address'"),
    ],
)
@pytest.mark.parametrize("kind", [kind for kind, _ in SUITES.values()], ids=lambda kind: kind.name)
def test_a_factory_that_gives_nothing_is_a_reason(kind: PluginKind, factory: str, reason: str, tmp_path: Path) -> None:
    text = f"def register(registry):\n    registry.register_{kind.name}('mine', {factory})\n"
    (tmp_path / "mine.py").write_text(text)
    plugins = load([str(tmp_path)], Registry(), {})
    with pytest.raises(PluginUnavailable, match=re.escape(reason)) as unavailable:
        plugins.registry.create(kind, "mine", CONFIG)
    assert f"the {kind.shown} 'mine' of 'mine'" in str(unavailable.value)
