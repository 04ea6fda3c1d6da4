"""A file is found by its name with another suffix, if no file has that name and no text names one so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("files")) as made:
        made.write("root/net/tcp.c", "int sent = 1;\n")
        made.write("root/conf/main.yaml", "depth: 3\n")
        for suffix in ("c", "h"):
            made.write(f"root/sea/boat.{suffix}", f"int {suffix}_of_boat;\n")
        made.write("root/walk.c", "int steps;\n")
        made.write("root/queue.py", "def put(item):\n    return item\n")
        made.write("root/notes/walk.md", "Steps are declared in walk.h, which is made.\n")
        for number in range(30):
            made.write(f"root/notes/{number}.md", f"A page {number} of tcp, h, main, yml, boat and queue.\n" * 3)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "meant"),
    [
        ("tcp.h", "net/tcp.c", "tcp.c"),
        ("main.yml", "conf/main.yaml", "main.yaml"),
        ("boat.cpp", "sea/boat.c", "boat"),
    ],
)
def test_the_file_comes_first(app: Indexed, query: str, path: str, meant: str) -> None:
    answer = app.ask(query)
    assert answer.hits[0]["relative_path"] == path
    assert answer.extras["did_you_mean"] == {"query": meant, "applied": True}


@pytest.mark.parametrize(
    ("query", "path"), [("boat.h", "sea/boat.h"), ("walk.h", "notes/walk.md"), ("queue.put", "queue.py")]
)
def test_what_is_called_so_or_named_so_is_meant_itself(app: Indexed, query: str, path: str) -> None:
    answer = app.ask(query)
    assert (answer.hits[0]["relative_path"], "did_you_mean" in answer.extras) == (path, False)
