"""Standing queries over the socket: every change of files, roots and rules is sent once, and the changes add up."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from helpers.subscription_client import Following, now
from helpers.support import Daemon, Home, Tree, add_root, wait_ready, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import InvalidParams, LivedexError, NotFound, Unavailable

FILES = {"one.txt": "alpha one\n", "two.md": "# Title\n\nalpha beta\n", "other.txt": "nothing\n"}


@pytest.fixture
def client(daemon: Daemon, tree: Tree) -> Iterator[Client]:
    """A connection for the changes; the roots are indexed."""
    tree.write_all(FILES)
    with daemon.client() as made:
        add_root(made, tree)
        yield made


@pytest.fixture
def follow(daemon: Daemon, client: Client) -> Iterator[Callable[..., Following]]:
    """Make subscribers, each on its own connection."""
    made: list[Client] = []

    def subscribe(query: str, **params: Any) -> Following:
        made.append(daemon.client())
        return Following(made[-1], query, **params)

    yield subscribe
    for each in made:
        each.close()


def names(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["relative_path"] for hit in hits]


@pytest.mark.shares_daemon
def test_what_happens_to_files_is_reported(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    alpha = follow("alpha")
    assert alpha.answer["fresh"] and alpha.names == {"one.txt", "two.md"}
    tree.write("three.txt", "more alpha\n")
    change = alpha.next()
    assert names(change["added"]) == ["three.txt"] and not change["removed"]
    assert change["added"][0]["snippet"] == "more alpha" and change["added"][0]["highlights"] == [[5, 10]]
    tree.save("three.txt", "alpha again\n")
    alpha.until(now(client, "alpha"))
    assert alpha.last("added")["snippet"] == "alpha again"
    assert {hit["content_hash"] for each in alpha.changes for hit in each["removed"]} >= {
        change["added"][0]["content_hash"]
    }
    tree.rename("three.txt", "sub/four.txt")
    alpha.until({"one.txt", "two.md", "four.txt"})
    assert names(alpha.changes[-1]["removed"]) == ["three.txt"]
    shutil.copy(tree / "sub/four.txt", tree / "five.txt")
    alpha.until({"one.txt", "two.md", "four.txt", "five.txt"})
    tree.remove("sub")
    alpha.until({"one.txt", "two.md", "five.txt"})
    tree.write("five.txt", "")
    alpha.until({"one.txt", "two.md"})
    assert alpha.held == now(client, "alpha")


@pytest.mark.shares_daemon
def test_only_what_has_all_of_it_is_reported(follow: Callable[..., Following], tree: Tree) -> None:
    both = follow("alpha the beta ext:txt")
    assert both.names == set()
    tree.write_all({"a.txt": "alpha\n", "b.txt": "beta\n", "c.md": "alpha beta\n"})
    tree.write("d.txt", "beta or alpha\n")
    both.until({"d.txt"})
    assert len(both.changes) == 1
    tree.write("a.txt", "alpha\nbeta\n")
    both.until({"a.txt", "d.txt"})
    tree.write("d.txt", "beta alone\n")
    both.until({"a.txt"})


@pytest.mark.shares_daemon
def test_a_touch_matters_only_to_a_filter_by_time(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    os.utime(tree / "one.txt", (1_600_000_000, 1_600_000_000))
    client.call("sync")
    plain, new = follow("alpha"), follow("alpha", modified_after="2026-01-01T00:00:00Z")
    assert new.names == {"two.md"}
    os.utime(tree / "one.txt")
    new.until({"one.txt", "two.md"})
    os.utime(tree / "one.txt", (1_600_000_000, 1_600_000_000))
    new.until({"two.md"})
    tree.write("last.txt", "alpha\n")
    plain.until({"one.txt", "two.md", "last.txt"})
    assert len(plain.changes) == 1


@pytest.mark.shares_daemon
def test_rules_and_orders_are_reported(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    alpha = follow("alpha")
    tree.write(".gitignore", "one.*\n")
    alpha.until({"two.md"})
    tree.write(".gitignore", "two.*\n")
    alpha.until({"one.txt"})
    tree.remove(".gitignore")
    alpha.until({"one.txt", "two.md"})
    client.call("files/delete", {"path": str(tree / "one.txt")})
    alpha.until({"two.md"})
    client.call("index/run", {"paths": [str(tree / "one.txt")], "force": True})
    alpha.until({"one.txt", "two.md"})
    client.call("index/run", {"force": True})
    client.call("sync")
    tree.write("last.txt", "alpha\n")
    alpha.until({"one.txt", "two.md", "last.txt"})
    assert names(alpha.changes[-1]["added"]) == ["last.txt"], "what was indexed again is no news"


@pytest.mark.shares_daemon
def test_a_root_takes_its_hits_with_it_and_back(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    alpha, inside = follow("alpha"), follow("alpha", path=str(tree.path))
    away = tree.path.rename(tree.path.with_name("away"))
    alpha.until(set())
    inside.until(set())
    away.rename(tree.path)
    alpha.until({"one.txt", "two.md"})
    client.call("roots/remove", {"path": str(tree)})
    alpha.until(set())
    client.call("roots/add", {"path": str(tree)})
    alpha.until({"one.txt", "two.md"})
    inside.until({"one.txt", "two.md"})
    nested = tree.mkdir("nested")
    tree.write("nested/deep.txt", "alpha deep\n")
    alpha.until({"one.txt", "two.md", "deep.txt"})
    add_root(client, nested)
    wait_until(lambda: alpha.next() and {hit["root"] for hit in alpha.changes[-1]["added"]} == {str(nested)})
    assert alpha.held == now(client, "alpha")


def test_a_rebuilt_index_reports_nothing_twice(
    client: Client, follow: Callable[..., Following], tree: Tree, home: Home
) -> None:
    tree.write_all({f"many/{number}.txt": f"alpha {number}\n" for number in range(50)})
    client.call("sync")
    alpha = follow("alpha")
    (tree / "one.txt").write_text("gone from it\n")
    alpha.until(alpha.names - {"one.txt"})
    for file in home.data.glob("index.db*"):
        file.unlink()
    tree.remove("two.md")
    tree.write("new.txt", "alpha new\n")
    alpha.until({f"{number}.txt" for number in range(50)} | {"new.txt"})
    wait_until(lambda: not wait_ready(client)["warnings"], what="the end of the rebuild")
    tree.write("last.txt", "alpha\n")
    alpha.until({f"{number}.txt" for number in range(50)} | {"new.txt", "last.txt"})
    reported = [name for change in alpha.changes for name in names(change["added"]) + names(change["removed"])]
    assert sorted(reported) == ["last.txt", "new.txt", "one.txt", "two.md"]


@pytest.mark.shares_daemon
def test_a_limit_bounds_the_first_hits_alone(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    os.utime(tree / "one.txt", (1_600_000_000, 1_600_000_000))
    client.call("sync")
    first = follow("alpha", limit=1)
    assert first.names == {"two.md"}
    tree.remove("one.txt")
    method, change = first.client.notification(20)
    assert (method, names(change["removed"])) == ("search/changed", ["one.txt"])


@pytest.mark.shares_daemon
def test_by_file_the_first_chunk_represents_all(client: Client, follow: Callable[..., Following], tree: Tree) -> None:
    long = "".join(f"line {number} alpha\n" for number in range(1000))
    tree.write("long.txt", long)
    files = follow("alpha", group="file")
    hits = {hit["relative_path"]: hit for hit in files.answer["hits"]}
    assert len(hits) == len(files.answer["hits"]) == 3
    assert hits["long.txt"]["start_line"] == 1 and hits["long.txt"]["matches"] > 5
    tree.write("long.txt", "nothing here\n" * 1000 + long)
    files.until(now(client, "alpha", group="file"))
    assert len(files.held) == 3 and files.last("added")["start_line"] > 900


@pytest.mark.shares_daemon
def test_an_ended_query_is_sent_nothing(follow: Callable[..., Following], tree: Tree) -> None:
    ended, other = follow("alpha"), follow("alpha")
    with pytest.raises(NotFound):
        other.client.call("search/unsubscribe", {"subscription": ended.id})
    ended.client.call("search/unsubscribe", {"subscription": ended.id})
    with pytest.raises(NotFound):
        ended.client.call("search/unsubscribe", {"subscription": ended.id})
    tree.write("three.txt", "alpha\n")
    other.until({"one.txt", "two.md", "three.txt"})
    ended.client.call("server/ping")
    assert not ended.client.has_buffered


@pytest.mark.shares_daemon
def test_what_a_standing_query_cannot_have_is_refused(client: Client) -> None:
    refusals: list[dict[str, Any]] = [
        {"offset": 1},
        {"facets": ["kinds"]},
        {"explain": True},
        {"max_chars": 10},
        {"mode": "regex"},
        {"query": "x" * 5000},
    ]
    for params in refusals:
        with pytest.raises(InvalidParams) as refused:
            client.call("search/subscribe", {"query": "alpha", **params})
        assert refused.value.data is not None and refused.value.data["field"] in params


def test_a_connection_has_a_hundred(client: Client, daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as crowded:
        for number in range(100):
            crowded.call("search/subscribe", {"query": f"word{number}", "fresh": False})
        with pytest.raises(Unavailable) as refused:
            crowded.call("search/subscribe", {"query": "alpha"})
        assert refused.value.data is not None and refused.value.data["limit"] == 100
        with daemon.client() as other:
            Following(other, "alpha")
        crowded.call("search/unsubscribe", {"subscription": 1})
        last = Following(crowded, "alpha")
        tree.write("three.txt", "alpha\n")
        last.until({"one.txt", "two.md", "three.txt"})


@pytest.mark.shares_daemon
def test_outside_is_refused_and_leaves_nothing_behind(client: Client) -> None:
    for _ in range(120):
        with pytest.raises(LivedexError) as refused:
            client.call("search/subscribe", {"query": "alpha", "path": "/nowhere"})
        assert refused.value.code == 2
    assert now(client, "alpha")
