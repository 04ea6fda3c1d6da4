"""The promises of a search besides freshness: filters, terms, pages, time limits, cancelling."""

from __future__ import annotations

import itertools
import json
import mmap
import os
import signal
import socket
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, temporary_home, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import OutsideRoots

FILES = {
    "src/Main.py": "def alpha_beta():\n    return deltaValue\n",
    "src/util.c": "int alpha(void) { return 0; }\n",
    "docs/Guide.md": "# Café\n\nThe naïve alpha text.\n\n```python\nalpha = 1\n```\n",
    "docs/my file.txt": "alpha spaced\n",
    "notes/NOTE.TXT": "alpha upper\n",
    "run": "#!/usr/bin/env python3\nprint('alpha')\n",
    "odd/-dash.txt": "alpha dashed\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("searched") / "root")
    made.write_all(FILES)
    for number, name in enumerate(FILES):
        os.utime(made / name, (1_600_000_000 + number, 1_600_000_000 + number))
    return made


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with temporary_home() as made:
        yield made


@pytest.fixture(scope="module")
def daemon(home: Home, tree: Tree) -> Iterator[Daemon]:
    made = Daemon(home).start()
    with made.client() as client:
        add_root(client, tree)
    yield made
    made.stop()


def test_a_misspelt_word_is_found_and_that_is_said(daemon: Daemon, home: Home) -> None:
    with daemon.client() as client:
        result = client.call("search", {"query": "naiive ext:md"})
        assert result["did_you_mean"] == {"query": "naïve ext:md", "applied": True}
        assert [hit["relative_path"] for hit in result["hits"]] == ["docs/Guide.md"]
        assert client.call("search", {"query": "deltaVlaue"})["did_you_mean"]["query"] == "deltaValue"
        for params in ({"query": "alpha"}, {"query": "alhpa", "mode": "exact"}, {"query": '"alhpa"'}):
            assert "did_you_mean" not in client.call("search", params)
    done = home.run("search", "spacd")
    assert done.stdout.splitlines()[0] == 'no "spacd"; showing "spaced"'


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("alpha path:docs", {"docs/Guide.md", "docs/my file.txt"}),
        ("alpha path:DOCS", {"docs/Guide.md", "docs/my file.txt"}),
        ("alpha path:/src", {"src/Main.py", "src/util.c"}),
        ("alpha path:/Guide", set()),
        ("alpha path:*.c", {"src/util.c"}),
        ("alpha path:src/*.py", {"src/Main.py"}),
        ('alpha path:"my file"', {"docs/my file.txt"}),
        ("alpha ext:txt", {"docs/my file.txt", "notes/NOTE.TXT", "odd/-dash.txt"}),
        ("alpha ext:PY ext:c", {"src/Main.py", "src/util.c"}),
        ("alpha lang:Python", {"src/Main.py", "docs/Guide.md", "run"}),
        ("alpha lang:python path:docs", {"docs/Guide.md"}),
        ("alpha -lang:python -ext:txt", {"src/util.c", "docs/Guide.md"}),
        ("alpha kind:markdown_code", {"docs/Guide.md"}),
        ("alpha kind:Code", {"src/Main.py", "src/util.c", "run"}),
        ("alpha kind:nope", set()),
        ("alpha -path:docs -path:src", {"notes/NOTE.TXT", "run", "odd/-dash.txt"}),
        ("alpha -spaced -dashed ext:txt", {"notes/NOTE.TXT"}),
        ('"alpha spaced"', {"docs/my file.txt"}),
        ('alpha -"alpha spaced" ext:txt', {"notes/NOTE.TXT", "odd/-dash.txt"}),
        ("spac*", {"docs/my file.txt"}),
        ("cafe", {"docs/Guide.md"}),
        ('"NAIVE alpha"', {"docs/Guide.md"}),
        ("path:-dash", {"odd/-dash.txt"}),
        ("lang:c", {"src/util.c"}),
        ("NEAR(alpha", set(FILES)),
        ("{alpha}:^ OR AND (", set(FILES)),
        ('alpha "unclosed', set(FILES)),
    ],
)
def test_queries(client: Client, query: str, expected: set[str]) -> None:
    assert set(found(client, query)) == expected


def test_several_paths_admit_what_lies_in_any(client: Client, tree: Tree) -> None:
    def names(result: Any) -> set[str]:
        return {hit["relative_path"] for hit in result["hits"]}

    docs, main, odd = (str(tree / name) for name in ("docs", "src/Main.py", "odd"))
    wanted = {"docs/Guide.md", "docs/my file.txt", "src/Main.py"}
    assert names(client.call("search", {"query": "alpha", "paths": [docs, main]})) == wanted
    assert names(client.call("search", {"query": "alpha", "path": docs, "paths": [main, f"{docs}/Guide.md"]})) == wanted
    encoded = b64encode(main.encode()).decode()
    assert names(client.call("search", {"query": "alpha", "paths": [docs], "paths_b64": [encoded]})) == wanted
    assert names(client.call("search/subscribe", {"query": "alpha", "paths": [docs, main], "limit": 100})) == wanted
    listed = client.call("files/list", {"paths": [docs, main]})["files"]
    assert {file["path"].removeprefix(f"{tree}/") for file in listed} == wanted
    assert names(client.call("search", {"query": "alpha", "paths": []})) > wanted, "none: everything"
    for method, params in (("search", {"query": "x"}), ("search/subscribe", {"query": "x"}), ("files/list", {})):
        with pytest.raises(OutsideRoots, match="livedex up"):
            client.call(method, {**params, "paths": [odd, "/nowhere"]})


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"globs": ["*.py"]}, {"src/Main.py"}),
        ({"globs": ["/src/**"]}, {"src/Main.py", "src/util.c"}),
        ({"globs": ["*.txt", "!-dash*"]}, {"docs/my file.txt"}),
        ({"globs": ["!docs/**", "!src"]}, {"notes/NOTE.TXT", "run", "odd/-dash.txt"}),
        ({"languages": ["Klingon"]}, set()),
        ({"languages": ["c", "python"]}, {"src/Main.py", "src/util.c", "docs/Guide.md", "run"}),
        ({"kinds": ["code", "markdown_code"]}, {"src/Main.py", "src/util.c", "docs/Guide.md", "run"}),
        ({"modified_after": "2020-09-13T12:26:45Z"}, {"run", "odd/-dash.txt"}),
        ({"modified_before": "2020-09-13T12:26:41+00:00"}, {"src/Main.py"}),
        ({"modified_after": "2020-09-13T12:26:41Z", "modified_before": "2020-09-13T12:26:42Z"}, {"src/util.c"}),
    ],
)
def test_filters(client: Client, filters: dict[str, Any], expected: set[str]) -> None:
    assert set(found(client, "alpha", **filters)) == expected


def test_an_empty_query_lists_newest_first(client: Client) -> None:
    assert found(client, "") == list(reversed(FILES))
    assert found(client, "lang:python", group="file") == ["run", "docs/Guide.md", "src/Main.py"]


def test_pages_neither_overlap_nor_leave_out(client: Client) -> None:
    for group in ("chunk", "file"):
        whole = client.call("search", {"query": "alpha", "group": group, "limit": 1000})
        seen: list[Any] = []
        offset: int | None = 0
        while offset is not None:
            page = client.call("search", {"query": "alpha", "group": group, "limit": 2, "offset": offset})
            assert page["generation"] == whole["generation"]
            seen += [(hit["path"], hit["start_byte"]) for hit in page["hits"]]
            offset = page["next_offset"]
        assert seen == [(hit["path"], hit["start_byte"]) for hit in whole["hits"]]
        assert whole["next_offset"] is None


def test_grouped_by_file_each_file_comes_once(client: Client) -> None:
    hits = client.call("search", {"query": "alpha", "group": "file", "limit": 1000})["hits"]
    assert len(hits) == len({hit["path"] for hit in hits}) == len(FILES)
    assert {hit["relative_path"]: hit["matches"] for hit in hits}["docs/Guide.md"] == 2


def test_where_else_the_same_content_is(client: Client, tree: Tree) -> None:
    tree.write_all({f"same/{number}.txt": "gammaword here\n" for number in range(25)})
    assert found(client, "gammaword") == ["same/0.txt"]
    hit = client.call("search", {"query": "gammaword"})["hits"][0]
    assert (len(hit["also_at"]), hit["also_at_total"]) == (20, 24)
    inside = client.call("search", {"query": "gammaword", "globs": ["same/1*.txt"]})["hits"][0]
    assert (inside["relative_path"], inside["also_at_total"]) == ("same/1.txt", 10)
    tree.remove("same")
    assert found(client, "gammaword") == []


def test_no_time_and_no_freshness(client: Client) -> None:
    hurried = client.call("search", {"query": "alpha", "timeout_ms": 0})
    assert (hurried["fresh"], hurried["reason"]) == (False, "deadline")
    careless = client.call("search", {"query": "alpha", "fresh": False})
    assert careless["fresh"] is False
    assert len(careless["hits"]) == len(client.call("search", {"query": "alpha"})["hits"])


def test_what_no_event_reports_is_never_served_as_it_was(client: Client, tree: Tree) -> None:
    outside = tree.path.parent / "outside.txt"
    os.link(tree.write("linked.txt", "oldlinked"), outside)
    tree.write("mapped.txt", "oldmapped")
    assert (found(client, "oldlinked"), found(client, "oldmapped")) == (["linked.txt"], ["mapped.txt"])
    outside.write_text("newlinked")
    with (tree / "mapped.txt").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:3] = b"new"
        mapped.flush()
    assert (found(client, "oldlinked"), found(client, "oldmapped")) == ([], [])
    wait_until(lambda: found(client, "newlinked") == ["linked.txt"], what="the text behind the link")


def test_names_in_either_composition(client: Client, tree: Tree) -> None:
    tree.write_all({"nfc-\u00e9.txt": "uniword", "nfd-e\u0301.txt": "uniword too"})
    assert set(found(client, "uniword")) == {"nfc-\u00e9.txt", "nfd-e\u0301.txt"}
    for written in ("\u00e9", "e\u0301"):
        assert set(found(client, f"uniword path:{written}")) == {"nfc-\u00e9.txt", "nfd-e\u0301.txt"}


def test_a_query_is_cut_and_says_so(client: Client) -> None:
    words = ("".join(letters) for letters in itertools.product("bcdfg", "hjklm", "qxzv"))
    for query in ("x" * 5000, " ".join(words)):
        assert [warning["code"] for warning in client.call("search", {"query": query})["warnings"]] == ["query_cut"]


class Lines:
    """A raw connection: one JSON text per line."""

    def __init__(self, home: Home) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(home.socket))
        self._lines = self.socket.makefile("rb")

    def send(self, **message: Any) -> None:
        self.socket.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def read(self) -> Any:
        return json.loads(self._lines.readline())


def test_cancelled_superseded_and_abandoned(daemon: Daemon, home: Home, tree: Tree) -> None:
    with Lines(home).socket:
        pass
    lines, gone = Lines(home), Lines(home)
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        tree.write("late.txt", "lateword")
        lines.send(id=1, method="search", params={"query": "lateword", "supersedes": "key", "timeout_ms": 20_000})
        lines.send(id=2, method="search", params={"query": "lateword", "supersedes": "key", "timeout_ms": 20_000})
        lines.send(id=3, method="sync")
        lines.send(method="$/cancelRequest", params={"id": 3})
        lines.send(method="$/cancelRequest", params={"id": 99})
        gone.send(id=1, method="search", params={"query": "lateword"})
        gone.socket.close()
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    answers = {answer["id"]: answer for answer in (lines.read() for _ in range(3))}
    assert answers[1]["error"]["code"] == answers[3]["error"]["code"] == -32800
    assert [hit["relative_path"] for hit in answers[2]["result"]["hits"]] == ["late.txt"]
    lines.socket.close()


def test_the_longest_line(client: Client, home: Home, tree: Tree) -> None:
    """50 MB without a newline: chunked in bounded time and memory, by a simpler chunker that says so."""
    before = home.config.read_text()
    home.config.write_text(before.replace('# max_file_size = "8MiB"', 'max_file_size = "64MiB"'))
    client.call("server/reload")
    line = "var a = 1234567890; " * 2_500_000
    tree.write("long.js", f"{line}endword")
    hit = client.call("search", {"query": "endword", "timeout_ms": 60_000})["hits"][0]
    assert hit["relative_path"] == "long.js"
    assert "fallback" in hit["metadata"]
    assert (hit["start_line"], hit["end_line"]) == (1, 1)
    assert len(hit["snippet"]) <= 400
    tree.remove("long.js")
    home.config.write_text(before)
    client.call("server/reload")
