"""`livedex exchange …`: the same results with a daemon and without, and no daemon is started."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from helpers.daemon_health import healthy_to_the_end
from helpers.exchange_file import Queue
from helpers.support import Daemon, Home, temporary_home

TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


WAYS = ["with a daemon", "without a daemon"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, home: Home, start_daemon: Callable[..., Daemon]) -> Home:
    """A home whose exchange is reached either way; the tests compare both with the same words."""
    if request.param == "with a daemon":
        start_daemon()
    return home


@pytest.fixture(params=WAYS, scope="module")
def any_way(request: pytest.FixtureRequest) -> Iterator[Home]:
    """The same for commands that fail: one home for all of them."""
    with temporary_home() as home:
        daemon = Daemon(home)
        if request.param == "with a daemon":
            daemon.start()
        yield home
        if daemon.process is not None:
            with healthy_to_the_end(daemon):
                daemon.stop()


def said(home: Home, *words: str, stdin: str = "") -> tuple[int, str, str]:
    done = home.run("exchange", *words, stdin=stdin)
    return done.returncode, TIMES.sub("TIME", done.stdout), TIMES.sub("TIME", done.stderr)


def answer(home: Home, *words: str) -> Any:
    return home.run_json("exchange", *words)


def finish(home: Home, topic: str, status: str = "completed", **params: Any) -> None:
    with closing(Queue(home.data / "exchange.db", real=True)) as queue:
        queue.complete(queue.claim(topic), status, **params)


def test_words_for_people(way: Home) -> None:
    assert said(way, "publish", "work.request", "do it", "--producer", "me") == (
        0, "message 1 is published in conversation 1\n", "",
    )  # fmt: skip
    assert said(way, "publish", "work.request", "--idempotency-key", "k", stdin="żółw\n")[0] == 0
    assert said(way, "publish", "work.request", "-", "--idempotency-key", "k")[1].startswith(
        "message 2 was published before"
    )
    assert said(way, "check", "1") == (1, "conversation 1: pending\n", "")
    finish(way, "work.request", follow_up={"topic": "work.completed", "body": "done"})
    assert said(way, "check", "1") == (
        0,
        "conversation 1: completed\n#3 · work.completed · TIME · conversation 1 · follows 1\ndone\n",
        "",
    )
    assert said(way, "notify")[1].startswith("conversation 1: completed\n")
    assert said(way, "notify") == (0, "", "")
    assert said(way, "read", "work.request")[1] == (
        "#1 · work.request · TIME · conversation 1 · by me\ndo it\n#2 · work.request · TIME · conversation 2\nżółw\n"
    )
    assert "  claim 1: completed, attempt 1, TIME, completed TIME\n" in said(way, "inspect", "1")[1]
    assert "       2        1       0     0  work.request\n" in said(way, "stats")[1]


def test_objects_for_programs(way: Home) -> None:
    metadata = {"a": [1, None]}
    published = answer(way, "publish", "work", "x", "--metadata", json.dumps(metadata), "--conversation-id", "talk")
    assert published == {"id": 1, "conversation_id": "talk", "created": True}
    assert answer(way, "publish", "work", "y", "--parent-id", "1")["conversation_id"] == "talk"
    (message,) = answer(way, "read", "-n", "1")["messages"]
    assert message["metadata"] == metadata
    assert [each["id"] for each in answer(way, "read", "--after-id", "1")["messages"]] == [2]
    assert [each["id"] for each in answer(way, "inspect", "--conversation-id", "talk")["messages"]] == [1, 2]
    assert answer(way, "stats")["topics"] == [{"topic": "work", "messages": 2, "waiting": 2, "active": 0, "dead": 0}]


@pytest.mark.parametrize(
    ("words", "code", "said_why"),
    [
        (["publish", "no topic", "x"], 2, "letters, digits"),
        (["publish", "a", "x", "--parent-id", "9"], 1, "no message has the id 9"),
        (["publish", "a", "x", "--metadata", "[]"], 2, "--metadata"),
        (["publish", "a", "x", "--metadata", '{"a": NaN}'], 2, "--metadata"),
        (["publish", "a", "x", "--metadata", '{"a": -1e999}'], 2, "--metadata"),
        (["publish", "a", "x", "--metadata", '{"a": 1, "a": 2}'], 2, "--metadata"),
        (["publish", "a", "x", "--after-id", "1"], 2, "--after-id"),
        (["publish", "a", "x", "y"], 2, "'y'"),
        (["publish"], 2, "TOPIC"),
        (["read", "-n", "0"], 2, "--limit"),
        (["check", "none"], 1, "none"),
        (["request", "a", "x", "--timeout", "0.01"], 4, "no reply came"),
    ],
)
def test_errors(any_way: Home, words: list[str], code: int, said_why: str) -> None:
    found, out, err = said(any_way, *words)
    assert (found, out) == (code, "")
    assert said_why in err


def test_a_request_prints_its_ids_then_its_reply(way: Home) -> None:
    late = way.run("--json", "exchange", "request", "work", "do", "--idempotency-key", "k", "--timeout", "0.05")
    ids, error = late.stderr.splitlines()
    assert json.loads(ids) == {"id": 1, "conversation_id": "1"}
    assert json.loads(error)["error"]["code"] == 3
    finish(way, "work", follow_up={"topic": "work.completed", "body": "done\x1b"})
    assert said(way, "request", "work", "do", "--idempotency-key", "k") == (
        0, "done\x1b\n", "message 1, conversation 1\n",
    )  # fmt: skip
    assert said(way, "notify") == (0, "", "")


def test_a_body_that_no_request_can_carry(way: Home) -> None:
    way.config.write_text('[exchange]\nmax_body = "16MiB"\n')
    if way.server_pid():
        way.run_json("sync")
    body = "\n" * (6 << 20)
    assert said(way, "publish", "work", stdin=body)[0] == 0
    with closing(Queue(way.data / "exchange.db", real=True)) as queue:
        assert queue.read("work")[0]["body"] == body


def test_no_daemon_is_started(home: Home) -> None:
    for words in (["publish", "a", "x"], ["read"], ["check", "1"], ["notify"], ["inspect"], ["stats"]):
        assert said(home, *words)[0] in (0, 1)
    assert home.server_pid() is None


def test_a_broken_configuration_is_named(home: Home) -> None:
    home.config.write_text("[exchange]\nmax_hops = 0\n")
    code, _out, err = said(home, "publish", "a", "x")
    assert code == 2
    assert "exchange.max_hops" in err


def test_what_is_not_text_is_refused(way: Home) -> None:
    import subprocess

    from helpers.support import LIVEDEX

    done = subprocess.run(
        [str(LIVEDEX), "exchange", "publish", "a"], env=way.env, input=b"\xff\xfe", capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr
