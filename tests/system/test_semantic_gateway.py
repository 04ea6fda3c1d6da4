"""A real daemon with a gateway that is killed, down, slow and lying: nothing embedded twice, freshness unchanged."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from helpers.daemon_template import only_sets
from helpers.fake_gateway import FakeGateway
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, add_root, wait_until
from livedex_ipc.client import Client

KILLS = int(os.environ.get("LIVEDEX_EMBED_KILLS", "3"))
BATCH = 4
FILES = 120


# The pauses after a failure of the gateway: else 5 s for queries, and up to a minute for texts.
SOON = only_sets("""
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.embedding import embedding_thread, query_vectors
    embedding_thread.AGAIN_S, query_vectors.REST_S = (0.5,), 0.5
""")


def configure(home: Home, gateway: FakeGateway) -> None:
    lines = f'embedder = "ollama"\nmodel = "m"\napi_base = "{gateway.url}"\nbatch = {BATCH}\ntimeout = 1\n'
    text = home.config.read_text()
    home.config.write_text(text.replace("[embedding]\n", f"[embedding]\n{lines}"))


def index_harbour(tree: Tree, home: Home, client: Client, gateway: FakeGateway) -> None:
    """Index a file, and wait until the gateway has made its vector."""
    tree.write("a.md", "a vessel in the harbour\n")
    add_root(client, tree)
    configure(home, gateway)
    client.call("server/reload")
    wait_until(lambda: is_complete(client), 30.0, what="the vectors")


def is_complete(client: Client) -> bool:
    status = client.call("status")
    return bool(status["embedder"] == "ollama" and status["vectors_pending"] == 0)


def mode_of(client: Client, query: str) -> str:
    return str(client.call("search", {"query": query})["mode"])


def has_asked(gateway: FakeGateway, texts: int) -> bool:
    return sum(gateway.asked.values()) >= texts


def test_a_killed_run_goes_on_where_it_was(
    tree: Tree, home: Home, daemon: Daemon, client: Client, gateway: FakeGateway
) -> None:
    tree.write_all({f"{number}.md": f"a car number {number}\n" for number in range(FILES)})
    add_root(client, tree)
    configure(home, gateway)
    client.call("server/reload")
    client.close()
    draw = random.Random(7)
    for kill in range(KILLS):
        wanted = (kill + 1) * FILES // (KILLS + 2) + draw.randrange(BATCH)
        wait_until(partial(has_asked, gateway, wanted), 30.0, what="some vectors")
        daemon.kill()
        daemon.start()
    with daemon.client() as again:
        wait_until(lambda: is_complete(again), 60.0, what="all vectors")
        assert mode_of(again, "automobile driving") == "hybrid"
        assert again.call("status")["gateways"][0]["host"] == "127.0.0.1"
    texts = {text: count for text, count in gateway.asked.items() if text.startswith("a car")}
    assert len(texts) == FILES
    # What was under way at a kill was answered and not yet kept: one request at most, each time.
    assert sum(texts.values()) - FILES <= KILLS * BATCH


@pytest.mark.parametrize("mode", ["stall", "fail", "busy", "short", "zero", "few", "garbage"])
def test_a_bad_gateway_leaves_searches_as_they_are(
    tree: Tree, home: Home, start_daemon: Callable[..., Daemon], tmp_path: Path, gateway: FakeGateway, mode: str
) -> None:
    with start_daemon(**with_code(tmp_path / "seam", SOON)).client() as client:
        index_harbour(tree, home, client, gateway)
        gateway.mode = mode
        searches_go_on(tree, client)
        assert client.call("status")["state"] == "ready"
        gateway.mode = "ok"
        gateway.released.set()
        wait_until(lambda: is_complete(client), 60.0, what="the vectors once it is well")
        wait_until(lambda: mode_of(client, "sailing boat") == "hybrid", 30.0, what="a query with a vector")


def searches_go_on(tree: Tree, client: Client) -> None:
    for number in range(5):
        tree.write(f"new{number}.md", f"zebra{number} crossing\n")
        answer = client.call("search", {"query": f"zebra{number} crossing", "timeout_ms": 20_000})
        assert answer["fresh"], answer
        assert answer["hits"][0]["relative_path"] == f"new{number}.md"
        assert not [w for w in answer["warnings"] if w["code"] == "query_deadline"]


def test_a_gateway_with_another_model_of_the_same_name_is_named_with_what_mends_it(
    tree: Tree, home: Home, daemon: Daemon, client: Client, gateway: FakeGateway
) -> None:
    index_harbour(tree, home, client, gateway)
    gateway.mode = "short"
    tree.write("b.md", "a loaf in the oven\n")

    def named() -> str:
        warnings = client.call("status")["warnings"]
        return "".join(each["message"] for each in warnings if each["code"] == "embedder_unavailable")

    assert "`livedex down`" in wait_until(named, 30.0, what="the warning")
    client.close()
    daemon.restart()
    with daemon.client() as again:
        wait_until(lambda: is_complete(again), 30.0, what="the vectors of the other model")
        assert mode_of(again, "sailing boat") == "hybrid"
