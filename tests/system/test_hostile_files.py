"""Files made to break their readers: each is indexed, or reported as left out, and delays no other."""

from __future__ import annotations

import base64
import random
from typing import TYPE_CHECKING, Any

from helpers.support import Home, Tree, add_root, found, wait_converted, wait_ready

if TYPE_CHECKING:
    from livedex_ipc.client import Client

DEEP = 20_000

NESTED = {
    "deep.json": "[" * DEEP,
    "keys.json": '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep.xml": "<a>" * DEEP + "</a>" * DEEP,
    "deep.html": "<div>" * DEEP,
    "quotes.md": "> " * DEEP + "x",
    "list.md": "".join("  " * min(depth, 400) + "- x\n" for depth in range(1_000)),
    "emphasis.md": "*" * DEEP,
    "links.md": "[" * DEEP + "](" * DEEP,
    "ticks.md": "`" * DEEP + "x",
    "table.md": "|" * DEEP + "\n" + "|-" * (DEEP // 2),
    "deep.py": "(" * DEEP + ")" * DEEP,
    "deep.c": "{" * DEEP,
    "deep.rs": "Vec<" * DEEP,
    "deep.lisp": "(" * DEEP,
}
SMALL = {
    "empty.txt": b"",
    "byte.txt": b"a",
    "mark.txt": b"\xef\xbb\xbf",
    "mark16.txt": b"\xff\xfe",
    "blank.txt": b" \n\t \n",
    "feeds.txt": b"\n" * 50_000,
    "returns.txt": b"\r\r\r",
}


def entry(client: Client, tree: Tree, name: str) -> dict[str, Any]:
    (listed,) = client.call("files/list", {"path": str(tree / name)})["files"]
    assert isinstance(listed, dict)
    return listed


def test_nesting_without_end(client: Client, tree: Tree) -> None:
    for name, text in NESTED.items():
        tree.write(name, f"{text}\nword{name.replace('.', '')}\n")
    add_root(client, tree)
    wait_converted(client)  # HTML is a document
    for name in NESTED:
        assert entry(client, tree, name)["status"] == "indexed", name
        assert found(client, f"word{name.replace('.', '')}") == [name]
    assert client.call("index/audit", {})["differences"] == []


def test_next_to_nothing(client: Client, tree: Tree) -> None:
    tree.write_all(SMALL)
    add_root(client, tree)
    status = wait_ready(client)
    assert (status["files"], status["failed"], status["skipped"]) == (len(SMALL), 0, 0)
    for name in ("empty.txt", "mark.txt", "mark16.txt"):
        assert entry(client, tree, name)["chunks"] == 0
        assert name in found(client, f"path:{name}"), "by its name"


def test_a_byte_in_a_hundred_is_wrong(client: Client, tree: Tree) -> None:
    chance = random.Random(1)
    data = bytearray(b"".join(b"line %d of the needle%d text\n" % (number, number) for number in range(2_000)))
    for _ in range(len(data) // 100):
        data[chance.randrange(len(data))] = chance.randrange(128, 256)
    tree.write("broken.txt", bytes(data))
    add_root(client, tree)
    whole = [number for number in range(2_000) if b" needle%d " % number in data]
    for number in chance.sample(whole, 20):
        (hit,) = client.call("search", {"query": f"needle{number}"})["hits"]
        assert b" needle%d " % number in data[hit["start_byte"] : hit["end_byte"]]
        assert f" needle{number} " in hit["snippet"]
        assert data[: hit["snippet_byte"]].count(b"\n") + 1 == hit["snippet_line"]


def test_walls_of_signs(client: Client, tree: Tree, home: Home) -> None:
    """Text in no language has unlimited distinct words: its index stays within a few times the text."""
    chance = random.Random(2)
    tree.write("word.txt", "x" * 500_000 + " afterword\n")
    tree.write("base64.txt", base64.encodebytes(chance.randbytes(300_000)).decode() + "\nafterbase\n")
    tree.write("words.txt", " ".join(f"tk{number:x}" for number in range(50_000)) + "\nafterwords\n")
    add_root(client, tree)
    for word, name in (("afterword", "word"), ("afterbase", "base64"), ("afterwords", "words")):
        assert f"{name}.txt" in found(client, f'"{word}"')
    size = sum(path.stat().st_size for path in tree.path.iterdir())
    client.call("index/audit", {})  # which checkpoints the log into the file
    assert (home.data / "index.db").stat().st_size < 6 * size
