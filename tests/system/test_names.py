"""Names of every kind: whatever the kernel accepts as a name is indexed, found, reported in full, and forgotten."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from helpers.disk_inventory import path_params, raw_path
from helpers.support import Home, Tree, add_root, found, wait_converted, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

NAMES = {
    "newline": "two\nlines.txt",
    "tab": "a\ttab.txt",
    "quote": 'it\'s "quoted".txt',
    "option": "-rf",
    "option and value": "--path=..",
    "bidi": "abc\u202etxt.exe.txt",
    "space": " ",
    "spaces around": " both ends ",
    "255 bytes": "n" * 251 + ".txt",
    "255 bytes of another script": "語" * 85,
    "emoji": "🦊 fox.txt",
    "only dots": "...",
    "backslash": "back\\slash.txt",
    "glob": "[a-z]*?{b,c}!.txt",
    "percent": "100%25.txt",
    "bell": "bell\x07.txt",
    "escape": "\x1b[31mred.txt",
    "sqlite": "'; DROP TABLE files; --",
    "unpaired": "lone\udcffbyte.txt",  # not UTF-8: the byte FF
    "latin": "caf\udce9.txt",
    "half a character": "half\udce2\udc82.txt",
    "brackets": "<script>.html",
    "zero width": "zero\u200bwidth.txt",
    "line separator": "line\u2028separator.txt",
}
BYTES = {kind: os.fsencode(name) for kind, name in NAMES.items()}
needs_any_bytes = pytest.mark.skipif(sys.platform == "darwin", reason="names must be UTF-8 there")


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write("first.txt", "the first file\n")
    add_root(client, tree)
    yield client


def hits(client: Client, query: str, **params: Any) -> list[bytes]:
    answer = client.call("search", {"query": query, "limit": 100, "timeout_ms": 20_000, **params})
    assert answer["fresh"]
    return sorted(raw_path(hit) for hit in answer["hits"])


@needs_any_bytes
@pytest.mark.parametrize("as_folder", [False, True], ids=["files", "folders"])
def test_every_name(indexed: Client, tree: Tree, home: Home, as_folder: bool) -> None:
    root = os.fsencode(tree.path)
    paths: dict[str, bytes] = {}
    for number, (kind, name) in enumerate(BYTES.items()):
        path = paths[kind] = root + b"/" + (name + b"/in.txt" if as_folder else name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(os.fsdecode(path)).write_text(f"namedword kind{number}kind\n")
    wait_converted(indexed)  # one is named as a document
    assert hits(indexed, "namedword") == sorted(paths.values())
    for number, path in enumerate(paths.values()):
        assert hits(indexed, f"kind{number}kind") == [path]
        assert hits(indexed, "namedword", **path_params(path)) == [path]
        listed = indexed.call("files/list", path_params(path))["files"]
        assert [raw_path(file) for file in listed] == [path]
        assert "namedword" in indexed.call("files/retrieve", path_params(path))["chunks"][0]["text"]
        assert indexed.call("files/explain", path_params(path))["status"] == "indexed"
    printed = home.run("--json", "search", "namedword", "-n", "100").stdout
    assert printed.count("\n") == 1, "one object is one line whatever the names"
    for words in (["search", "namedword", "-n", "100"], ["list"], ["why", str(tree / NAMES["escape"])]):
        shown = home.run(*words)
        assert shown.returncode == 0, shown.stderr
        assert not {"\x1b", "\x07", "\u202e"} & set(shown.stdout), "what would steer a terminal is not printed"
    for number, path in enumerate(paths.values()):
        moved = root + b"/moved to %d" % number
        os.rename(path, moved)
        assert hits(indexed, f"kind{number}kind") == [moved]
        os.rename(moved, path)
        assert hits(indexed, f"kind{number}kind") == [path]
        os.unlink(path)
        assert hits(indexed, f"kind{number}kind") == []


FORMS: list[Literal["NFC", "NFD"]] = ["NFC", "NFD"]


def test_both_forms_of_a_letter(indexed: Client, tree: Tree) -> None:
    """A query in either form finds the text and the name in either form; bytes are kept as they are."""
    texts = {form: unicodedata.normalize(form, "crème brûlée Ångström") for form in FORMS}
    names = {form: unicodedata.normalize(form, "résumé übersicht.txt") for form in FORMS}
    for form in FORMS:
        tree.write(f"{form}.txt", texts[form])
        tree.write(f"under {form}/{names[form]}", f"named so {form}\n")
    for form in FORMS:
        for word in ("crème", "brûlée", "Ångström", '"crème brûlée"'):
            assert sorted(found(indexed, unicodedata.normalize(form, word))) == ["NFC.txt", "NFD.txt"]
        for word in ("résumé", "übersicht"):
            by_name = {path.partition("/")[0] for path in found(indexed, unicodedata.normalize(form, word))}
            assert by_name == {"under NFC", "under NFD"}
    if sys.platform != "darwin":  # where the filesystem makes one name of both
        listed = {os.path.relpath(file["path"], tree.path) for file in indexed.call("files/list")["files"]}
        assert listed >= {f"under {form}/{names[form]}" for form in FORMS}
        side_by_side(indexed, tree)


def side_by_side(client: Client, tree: Tree) -> None:
    names = [unicodedata.normalize(form, "é.txt") for form in FORMS]
    for name in names:
        tree.write(name, f"sideword {name.encode().hex()}\n")
    assert sorted(found(client, "sideword")) == sorted(names)
    for name in names:
        assert found(client, name.encode().hex()) == [name]
    tree.remove(names[0])
    assert found(client, "sideword") == [names[1]]


def test_renames_that_change_only_the_case(indexed: Client, tree: Tree) -> None:
    tree.write("Readme.TXT", "caseword\n")
    tree.write("Folder/Inner.md", "innerword\n")
    assert found(indexed, "caseword") == ["Readme.TXT"]
    for name in ("README.txt", "readme.txt", "rEADME.TXT"):
        (former,) = found(indexed, "caseword")
        tree.rename(former, name)
        assert found(indexed, "caseword") == [name]
    for name in ("folder", "FOLDER", "Folder"):
        (former,) = found(indexed, "innerword")
        tree.rename(former.partition("/")[0], name)
        assert found(indexed, "innerword") == [f"{name}/Inner.md"]
    assert indexed.call("index/audit", {})["differences"] == []


def test_a_path_longer_than_the_kernel_takes(indexed: Client, tree: Tree) -> None:
    """More than 4,096 bytes: folders are opened one from the other, and those too deep for a watch are polled."""
    depth, part = 60, "f" * 100
    here = os.open(tree.path, os.O_RDONLY)
    for level in range(depth):
        os.mkdir(part, dir_fd=here)
        below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=here)
        os.close(here)
        here = below
        if level % 10 == 9:
            handle = os.open("leaf.txt", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=here)
            os.write(handle, b"deepword level%dlevel\n" % level)
            os.close(handle)
    tree.write("beside.txt", "besideword\n")
    assert found(indexed, "besideword") == ["beside.txt"]
    assert len(found(indexed, "level9level")) == 1
    deepest = found(indexed, f"level{depth - 1}level")
    assert [len(path) for path in deepest] == [depth * 101 + len("leaf.txt")]
    handle = os.open("leaf.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=here)
    os.write(handle, b"deepword changedword\n")
    os.close(handle)
    assert found(indexed, "changedword") == deepest
    os.unlink("leaf.txt", dir_fd=here)
    os.close(here)
    assert found(indexed, "changedword") == []
    wait_until(lambda: indexed.call("status")["pending"] == 0, what="nothing pending")
