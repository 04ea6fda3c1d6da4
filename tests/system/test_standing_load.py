"""Many standing queries while many files change at once: no storm of notifications, and no client delays another."""

from __future__ import annotations

import socket
import time
from collections import Counter
from contextlib import suppress

import pytest

from helpers.subscription_client import Following, now, place_of
from helpers.support import Daemon, Tree, add_root, wait_until
from helpers.threaded_server import Raw
from livedex_ipc.client import Client
from livedex_ipc.errors import TimedOut

FILES = 2_000
QUERIES = 100
A_SECOND = 10  # notifications of one query


def text(number: int, state: str) -> str:
    return f"{state} in word{number % QUERIES} of file {number}\n" + "filling\n" * 20


@pytest.mark.timeout(240)
def test_a_hundred_queries_over_two_thousand_changes(daemon: Daemon, tree: Tree) -> None:
    tree.write_all({f"f{number % 40}/{number}.txt": text(number, "before") for number in range(FILES)})
    with daemon.client() as client, daemon.client() as crowd:
        add_root(client, tree)
        held: dict[int, Counter[object]] = {}
        for number in range(QUERIES):
            answer = crowd.call("search/subscribe", {"query": f"word{number}", "limit": 1000})
            held[answer["subscription"]] = Counter(map(place_of, answer["hits"]))
        reported: Counter[int] = Counter()
        began = time.monotonic()
        for number in range(FILES):
            tree.write(f"f{number % 40}/{number}.txt", text(number, "after"))
        wanted = [Counter(map(place_of, all_of(client, f"after word{number}"))) for number in range(QUERIES)]
        while list(held.values()) != wanted:
            _, change = crowd.notification(60)
            reported[change["subscription"]] += 1
            holding = held[change["subscription"]]
            holding.subtract(map(place_of, change["removed"]))
            assert min(holding.values(), default=0) >= 0
            holding.update(map(place_of, change["added"]))
            held[change["subscription"]] = +holding
        elapsed = time.monotonic() - began
        assert max(reported.values()) <= A_SECOND * elapsed + 1
        with suppress(TimedOut):
            raise AssertionError(f"reported once more: {crowd.notification(1)}")


def all_of(client: Client, query: str) -> list[dict[str, object]]:
    answer = client.call("search", {"query": query, "limit": 1000, "timeout_ms": 60_000})
    assert answer["fresh"], answer
    return [hit for hit in answer["hits"] if all(f"{word} " in hit["snippet"] for word in query.split())]


@pytest.mark.timeout(240)
def test_a_client_that_does_not_read_holds_up_nobody(daemon: Daemon, tree: Tree) -> None:
    long = "alpha " + "much to read " * 100 + "\n"
    with daemon.client() as client, daemon.client() as quick, daemon.client() as slow:
        add_root(client, tree)
        reading = Following(quick, "alpha")
        sleeping = Following(slow, "alpha", max_snippet_chars=100_000, context_lines=10)
        for turn in range(4):
            tree.write_all({f"{number}.txt": f"{turn} {number}\n" + long * 15 for number in range(40)})
            reading.until(now(client, "alpha"))
        sleeping.until(now(client, "alpha"))
        assert sum(len(change["added"]) for change in sleeping.changes) < sum(
            len(change["added"]) for change in reading.changes
        ), "what is sent late is the difference, not the history"


def test_editors_speak_their_own_framing(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
    raw = Raw(daemon.home.socket)
    raw.framed({"jsonrpc": "2.0", "id": 1, "method": "search/subscribe", "params": {"query": "alpha"}})
    answer = raw.read_framed()
    tree.write("a.txt", "alpha\n")
    reported = raw.read_framed()
    assert (
        reported["method"] == "search/changed"
        and reported["params"]["subscription"] == answer["result"]["subscription"]
    )
    raw.close()


def test_the_first_answer_comes_first_in_a_batch_too(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
    raw = Raw(daemon.home.socket)
    subscribe = {"jsonrpc": "2.0", "id": 1, "method": "search/subscribe", "params": {"query": "alpha"}}
    raw.line([subscribe, {"jsonrpc": "2.0", "id": 2, "method": "sync"}])
    tree.write("a.txt", "alpha\n")
    answers = raw.read()
    assert isinstance(answers, list) and {answer["id"] for answer in answers} == {1, 2}
    (first,) = (answer["result"] for answer in answers if answer["id"] == 1)
    if not first["hits"]:
        assert raw.read()["method"] == "search/changed"
    raw.close()


def test_a_connection_that_ends_leaves_nothing(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
        for _ in range(15):  # more than the daemon would have room for if it kept them
            with daemon.client() as crowd:
                for number in range(90):
                    crowd.call("search/subscribe", {"query": f"word{number}", "fresh": False})
        wait_until(lambda: now(client, "alpha") is not None)
        tree.write("a.txt", "alpha\n")
        assert now(client, "alpha")


def test_a_subscription_whose_client_is_gone_before_its_answer(daemon: Daemon, tree: Tree) -> None:
    tree.write_all({f"{number}.txt": "alpha\n" for number in range(200)})
    with daemon.client() as client:
        add_root(client, tree)
        for _ in range(50):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(str(daemon.home.socket))
                peer.sendall(b'{"jsonrpc":"2.0","id":1,"method":"search/subscribe","params":{"query":"alpha"}}\n')
        tree.write("a.txt", "alpha\n")
        assert now(client, "alpha")
