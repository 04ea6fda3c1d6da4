"""``[[standing]]``: new content that matches becomes a message, once for each content, whatever the daemon suffers."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from helpers.support import Daemon, Home, Tree, add_root, codes, examples, found, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import InvalidParams, Unavailable

TOPIC = "alpha.found"
STANDING = f'[[standing]]\nquery = "alpha ext:txt"\ntopic = "{TOPIC}"\n'


@pytest.fixture
def standing(start_daemon: Callable[..., Daemon], tree: Tree) -> Iterator[Daemon]:
    """A daemon with a standing query, and a root that is indexed."""
    tree.write("old.txt", "alpha old\n")
    daemon = start_daemon(STANDING)
    with daemon.client() as client:
        add_root(client, tree)
    yield daemon


def hits(client: Client, topic: str = TOPIC) -> list[dict[str, Any]]:
    messages = client.call("exchange/read", {"topic": topic, "limit": 1000})["messages"]
    return [json.loads(each["body"]) for each in messages]


def snippets(client: Client) -> list[str]:
    return [hit["snippet"] for hit in hits(client)]


def await_last(client: Client, tree: Tree, word: str) -> list[str]:
    """Return all snippets but the last: that of a file which is written now."""
    tree.write(f"{word}.txt", f"alpha {word}\n")
    wait_until(lambda: f"alpha {word}" in snippets(client), what=f"the message of {word}")
    others = snippets(client)
    others.remove(f"alpha {word}")
    return others


def test_a_worker_acts_on_new_content(standing: Daemon, tree: Tree, home: Home) -> None:
    with standing.client() as client:
        tree.write("no.md", "alpha in another language\n")
        tree.write("new.txt", "first line\n\nalpha beta\n")
        assert client.call("exchange/wait", {"topic": TOPIC, "timeout_ms": 15_000})["ready"]
        (message,) = client.call("exchange/read", {"topic": TOPIC})["messages"]
        hit = json.loads(message["body"])
        assert (hit["path"], hit["snippet"], hit["line"]) == (str(tree / "new.txt"), "first line\n\nalpha beta", 3)
        assert message["producer"] == "livedex"
        (same,) = client.call("search", {"query": "beta ext:txt"})["hits"]
        assert hit["content_hash"] == same["content_hash"]
        assert message["metadata"]["query"] == "alpha ext:txt"
        assert 0 < message["metadata"]["generation"] <= client.call("status")["generation"]
        done = home.run("exchange", "run", TOPIC, "--plugin", "grep -c beta", "--once")
        assert done.returncode == 0, done.stderr
        (answer,) = client.call("exchange/read", {"topic": f"{TOPIC}.completed"})["messages"]
        assert (answer["body"], answer["parent_id"]) == ("1\n", message["id"])


def test_a_content_is_published_once_whatever_is_done_to_its_files(standing: Daemon, tree: Tree) -> None:
    with standing.client() as client:
        tree.write("a.txt", "alpha one\n")
        assert await_last(client, tree, "begin") == ["alpha one"]
        tree.rename("a.txt", "sub/b.txt")
        shutil.copy(tree / "sub/b.txt", tree / "c.txt")
        os.utime(tree / "c.txt", (1, 1))
        tree.remove("sub")
        client.call("sync")
        tree.write("sub/b.txt", "alpha one\n")
        tree.write("c.txt", "no match\n")
        client.call("sync")
        tree.write("c.txt", "alpha one\n")
        client.call("index/run", {"force": True})
        client.call("files/delete", {"path": str(tree / "c.txt")})
        assert await_last(client, tree, "middle") == ["alpha one", "alpha begin"]
        tree.write("c.txt", "alpha two\n")
        assert await_last(client, tree, "end") == ["alpha one", "alpha begin", "alpha middle", "alpha two"]


def test_the_last_content_of_each_file_is_published_however_fast_it_is_saved(standing: Daemon, tree: Tree) -> None:
    chance = random.Random(7)
    with standing.client() as client:
        for number in range(60):
            tree.write(f"{number % 3}.txt", f"alpha save {number}\n")
            if chance.random() < 0.5:  # the content before the next one is indexed, and seen if a round comes by then
                client.call("sync")
        last = {f"alpha save {number}" for number in (57, 58, 59)}
        wait_until(lambda: last <= set(snippets(client)), what="the last content of each file")
        assert len(snippets(client)) == len(set(snippets(client)))


def test_nothing_is_lost_or_doubled_by_kills(standing: Daemon, tree: Tree, home: Home) -> None:
    """LIVEDEX_EXAMPLES times ten kills, at random moments; at last the index is lost too."""
    chance = random.Random(21)
    with standing.client() as client:
        await_last(client, tree, "begin")
    for number in range(examples(10)):
        tree.write(f"before{number}.txt", f"alpha before {number}\n")
        with standing.client() as client:
            client.call("sync", {"timeout_ms": chance.choice((1, 20, 100, 400))})
        standing.kill()
        tree.write(f"down{number}.txt", f"alpha down {number}\n")
        tree.rename(f"before{number}.txt", f"renamed{number}.txt")
        standing.start()
    standing.kill()
    for file in home.data.glob("index.db*"):
        file.unlink()
    tree.write("lost.txt", "alpha lost\n")
    standing.start()
    with standing.client() as client:
        wait_until(lambda: "alpha lost" in snippets(client), what="the message of what came with the loss")
        published = await_last(client, tree, "end")
        client.call("index/audit", {}, timeout_s=60)
    wanted = ["alpha begin", "alpha lost"]
    wanted += [f"alpha {word} {number}" for number in range(examples(10)) for word in ("before", "down")]
    assert sorted(published) == sorted(wanted)


def test_a_reload_adds_and_removes(standing: Daemon, tree: Tree, home: Home) -> None:
    former = home.config.read_text()
    with standing.client() as client:
        assert await_last(client, tree, "begin") == []
        home.config.write_text(former + '[[standing]]\nquery = "old"\ntopic = "old.request"\n')
        client.call("server/reload")
        tree.write("older.txt", "old alpha and older\n")
        wait_until(lambda: hits(client, "old.request"), what="the message of the added query")
        assert [hit["relative_path"] for hit in hits(client, "old.request")] == ["older.txt"]
        home.config.write_text(former.replace(STANDING, ""))
        client.call("server/reload")
        tree.write("unheard.txt", "alpha old unheard\n")
        client.call("sync")
        home.config.write_text(former)
        client.call("server/reload")
        assert await_last(client, tree, "end") == ["alpha begin", "old alpha and older"]
        (message,) = client.call("exchange/read", {"topic": "old.request"})["messages"]
        tracked = client.call("exchange/check", {"conversation_id": message["conversation_id"]})
        assert (tracked["state"], tracked["terminal"]) == ("pending", False)


def test_what_comes_with_a_root_is_no_news(standing: Daemon, tree: Tree, tmp_path: Path) -> None:
    other = Tree(tmp_path / "other")
    other.write_all({f"{number}.txt": f"alpha other {number}\n" for number in range(30)})
    with standing.client() as client:
        add_root(client, other)
        other.write("new.txt", "alpha new in other\n")
        wait_until(lambda: snippets(client) == ["alpha new in other"], what="the only message")
        away = other.path.rename(tmp_path / "away")
        wait_until(lambda: "root_missing" in codes(client), what="the missing root")
        (away / "meanwhile.txt").write_text("alpha meanwhile\n")
        away.rename(other.path)
        wait_until(lambda: "alpha meanwhile" in snippets(client), what="what was written while it was away")
        assert await_last(client, tree, "end") == ["alpha new in other", "alpha meanwhile"]


FAULTS = {
    'query = "a"': ("standing[1]", 'needs a topic: topic = "todo.found"'),
    'query = "a"\ntopic = "x y"': ("standing[1].topic", "letters, digits, underscores"),
    'query = "??"\ntopic = "a"': ("standing[1].query", "a word with a letter or a digit"),
}


def test_a_fault_is_refused_with_its_remedy(standing: Daemon, home: Home) -> None:
    former = home.config.read_text()
    with standing.client() as client:
        for text, (key, said) in FAULTS.items():
            home.config.write_text(f"{former}[[standing]]\n{text}\n")
            with pytest.raises(InvalidParams) as refused:
                client.call("server/reload")
            assert refused.value.data is not None
            (fault,) = refused.value.data["faults"]
            assert fault["key"] == key and said in fault["message"]
            assert codes(client) == {"config_refused"}
        home.config.write_text(former)
        client.call("server/reload")


def test_an_exchange_that_cannot_be_used_is_said(start_daemon: Callable[..., Daemon], tree: Tree, home: Home) -> None:
    home.data.mkdir(mode=0o700)
    (home.data / "exchange.db").write_bytes(b"not a database" * 100)
    with start_daemon(STANDING).client() as client:
        add_root(client, tree)
        tree.write("new.txt", "alpha new\n")
        wait_until(lambda: "standing_waits" in codes(client), what="the warning")
        assert codes(client) <= {"standing_waits", "exchange_unavailable"}  # the latter once the daemon looked at it
        client.call("index/run")
        assert found(client, "alpha") == ["new.txt"]


def test_it_keeps_no_log_in_use_that_was_cut_short(standing: Daemon, tree: Tree, home: Home) -> None:
    with standing.client() as client:
        await_last(client, tree, "begin")
        os.truncate(home.data / "exchange.db-wal", 0)

        def published() -> bool:
            with suppress(Unavailable):
                return bool(client.call("exchange/publish", {"topic": "a", "body": "after"})["created"])
            return False

        wait_until(published, what="a log that begins anew")
        tree.write("later.txt", "alpha later\n")
        wait_until(lambda: "alpha later" in snippets(client), what="the next message")
