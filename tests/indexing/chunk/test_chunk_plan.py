"""The pipeline and language of a file, and what its signature depends on."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType

import pytest

from livedex_indexing.child.installed_versions import version_of
from livedex_indexing.chunk.chunk_plan import HEAD_BYTES, ChunkSettings, choose, possible

DEFAULT = ChunkSettings()


@pytest.mark.parametrize(
    ("name", "pipeline", "language"),
    [
        ("a.md", "markdown", "markdown"),
        ("README.MD", "markdown", "markdown"),
        ("a.py", "code", "python"),
        ("a.d.ts", "code", "typescript"),
        ("a.tsx", "code", "tsx"),
        ("a.h", "code", "c"),
        ("a.cc", "code", "cpp"),
        ("A.C", "code", "cpp"),
        ("a.sh", "code", "shell"),
        (".bashrc", "code", "shell"),
        ("Makefile", "code", "makefile"),
        ("Dockerfile.dev", "code", "dockerfile"),
        ("CMakeLists.txt", "code", "cmake"),
        ("a.lua", "code", "lua"),
        ("a.rst", "plain", "restructuredtext"),
        ("a.txt", "plain", "text"),
        ("LICENSE", "plain", "text"),
        ("a.unknown", "plain", None),
        ("noext", "plain", None),
        ("", "plain", None),
    ],
)
def test_by_name(name: str, pipeline: str, language: str | None) -> None:
    assert choose(name.encode(), b"", DEFAULT)[:2] == (pipeline, language)


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/bin/sh\n", "shell"),
        (b"#! /usr/bin/env python3.12 -u\n", "python"),
        (b"#!/usr/bin/env -S FOO=1 node --x\n", "javascript"),
        (b"#!/usr/bin/perl -w\r\n", "perl"),
        (b"#!/usr/bin/env\n", None),
        (b"#!\n", None),
        (b"text #!/bin/sh\n", None),
    ],
)
def test_by_shebang(line: bytes, language: str | None) -> None:
    assert choose(b"script", line, DEFAULT).language == language


def test_a_name_that_is_not_utf8() -> None:
    assert choose(b"\xff\xfe.py", b"", DEFAULT).language == "python"


def test_a_header_is_cpp_when_it_opens_a_class() -> None:
    assert choose(b"a.h", b"struct x;\n", DEFAULT).language == "c"
    assert choose(b"a.h", b"/* the class of x */\nnamespace a {\n", DEFAULT).language == "cpp"


def test_only_the_head_counts() -> None:
    late = b" " * HEAD_BYTES + b"\nclass X {\n"
    assert choose(b"a.h", late, DEFAULT) == choose(b"a.h", late[:HEAD_BYTES], DEFAULT)


def test_a_suffix_can_be_given_another_pipeline() -> None:
    settings = ChunkSettings(pipelines={".org": "markdown", ".d.ts": "plain"})
    assert choose(b"a.org", b"", settings)[:2] == ("markdown", "org")
    assert choose(b"a.d.ts", b"", settings).pipeline == "plain"
    assert choose(b"a.ts", b"", settings).pipeline == "code"
    unknown = ChunkSettings(pipelines={".md": "nothing"})  # a plugin that is not loaded: as without it
    assert choose(b"a.md", b"", unknown) == choose(b"a.md", b"", ChunkSettings())


def next_start() -> ModuleType:
    """Return the module as the next process loads it: without any plan yet."""
    spec = find_spec("livedex_indexing.chunk.chunk_plan")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_signature_depends_on_what_the_pipeline_uses() -> None:
    names = [b"a.md", b"a.py", b"a.c", b"a.txt", b"a.rst"]
    before = {name: choose(name, b"", DEFAULT).signature for name in names}
    assert len(set(before.values())) == len(names)
    assert all(len(signature) == 16 for signature in before.values())
    for other in (ChunkSettings(chunk_size=1024), ChunkSettings(overlap=64)):
        assert all(choose(name, b"", other).signature != before[name] for name in names)

    def changed(**component: int) -> set[bytes]:
        other = next_start()
        other.COMPONENTS.update(component)
        after = {name: other.choose(name, b"", DEFAULT).signature for name in names}
        return {name for name in names if after[name] != before[name]}

    assert changed(markdown=99) == {b"a.md"}
    assert changed(code=99) == {b"a.py", b"a.c"}


def test_a_new_grammar_changes_its_language_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: choose(name, b"", DEFAULT).signature for name in (b"a.c", b"a.py", b"a.md")}
    other = next_start()
    monkeypatch.setattr(other, "version_of", lambda name: "9" if name == "tree-sitter-c" else version_of(name))
    after = {name: other.choose(name, b"", DEFAULT).signature for name in before}
    assert [name for name in before if before[name] != after[name]] == [b"a.c"]


@pytest.mark.parametrize("head", [b"", b"#!/bin/sh\n", b"#!/usr/bin/lua\n", b"class A {\n"])
@pytest.mark.parametrize("name", [b"a.py", b"a.h", b"script", b"a.md", b"x.unknown"])
def test_every_plan_is_among_the_possible_ones(name: bytes, head: bytes) -> None:
    for settings in (DEFAULT, ChunkSettings(pipelines={".h": "plain", ".unknown": "code"})):
        assert choose(name, head, settings).signature in possible(name, settings)
    assert len(possible(b"a.py", DEFAULT)) == 1


def test_planning_imports_no_chunker() -> None:
    code = """import sys; from livedex_indexing.chunk import chunk_plan
chunk_plan.choose(b'a.py', b'', chunk_plan.ChunkSettings())
print([name for name in ('chonkie', 'numpy', 'tree_sitter', 'charset_normalizer', 'yaml') if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
