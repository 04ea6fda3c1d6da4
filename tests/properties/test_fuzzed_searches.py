"""Random searches, of a searcher and over the socket: never an internal error, never past the deadline.

``LIVEDEX_FUZZ`` is their number; the default takes seconds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.indexed_folder import Indexed
from helpers.random_requests import WORDS, Fuzz
from helpers.support import Daemon, Tree, add_root, temporary_home
from livedex_ipc.errors import InvalidParams, LivedexError
from livedex_ipc.methods import check_params

COUNT = int(os.environ.get("LIVEDEX_FUZZ", "150"))
SEED = int(os.environ.get("LIVEDEX_FUZZ_SEED", "7"))
GIVEN_S = 0.5
OVER_S = 0.25  # of the thread's own CPU time, which a busy machine does not stretch


def texts() -> dict[str, str]:
    """Return a small tree in which every kind of query finds something."""
    made = {}
    for number in range(90):
        words = [WORDS[(number * 7 + place) % len(WORDS)] for place in range(4)]
        body = "\n".join(" ".join(words[place % 3 :]) + f" line{place}" for place in range(number % 37 + 1))
        name = f"{('a', 'src', 'a/b', 'deep/er')[number % 4]}/{words[0]}{number}"
        suffix = ("py", "md", "c", "txt")[number % 4]
        block = f"---\nstatus: {'done' if number % 8 else 'open'}\ntags: [work, n{number}]\na: {{b: c}}\n---\n"
        made[f"{name}.{suffix}"] = (block if suffix == "md" else "") + body + "\n"
    made["a/long.txt"] = "walrus tusk. " * 20_000
    made["a/copy.txt"] = made["a/copies.txt"] = "the walrus -> tusk\n"
    made["empty.md"] = ""
    return made


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("fuzzed"), ("one", "one/inner", "two")) as made:
        for number, (name, text) in enumerate(texts().items()):
            made.write(f"{('one', 'one/inner', 'two')[number % 3]}/{name}", text)
        yield made


@pytest.mark.timeout(max(120, COUNT // 5))
def test_no_search_fails_or_takes_too_long(index: Indexed) -> None:
    roots = [os.fsdecode(root) for root in index.roots.values()]
    fuzz = Fuzz(SEED, [*roots, f"{roots[0]}/a", f"{roots[2]}/nothing", str(index.folder)], roots)
    slowest = 0.0
    asked: tuple[str, dict[str, Any]] = ("", {})
    for _ in range(COUNT):
        query, params = fuzz.query(), fuzz.params()
        began = time.thread_time()
        try:
            answer = index.ask(query, **params, deadline=time.monotonic() + GIVEN_S)
        except InvalidParams as error:
            assert error.data == {"field": "globs"}, (query, params)
            continue
        taken = time.thread_time() - began
        assert taken < GIVEN_S + OVER_S, (query, params)
        if taken > slowest:
            slowest, asked = taken, (query[:200], params)
        check_answer(answer.hits, answer.extras, params, (query, params))
        assert answer.stale == {}, (query, params)
    print(f"{COUNT} searches; the slowest took {slowest * 1000:.0f} ms of its thread's time: {asked}")


def check_answer(hits: list[dict[str, Any]], extras: Any, params: dict[str, Any], asked: object) -> None:
    assert len(hits) <= params.get("limit", 10), asked
    assert sum(len(hit["snippet"]) for hit in hits) <= params.get("max_chars", 1 << 60), asked
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True), asked
    assert set(extras.get("facets", {})) <= set(params.get("facets", ())), asked
    assert extras.get("did_you_mean", {"applied": True})["applied"] is True, asked
    for hit in hits:
        at = 0
        for start, end in hit["highlights"]:
            assert at <= start < end <= len(hit["snippet"]), asked
            at = end
        assert len(hit["snippet"]) <= params.get("max_snippet_chars", 400), asked


def test_no_request_over_the_socket_fails(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "root")
    tree.write_all(texts())
    with temporary_home() as home:
        daemon = Daemon(home).start()
        with daemon.client() as client:
            add_root(client, tree)
        fuzz = Fuzz(SEED + 1, [str(tree), f"{tree}/a", f"{tree}/nothing"], [str(tree)])
        with daemon.client() as client:
            for number in range(COUNT // 3):
                params = {"query": fuzz.query(), "fresh": number % 50 == 0, "timeout_ms": 2000, **fuzz.params()}
                ask(client, fuzz.spoilt(params) if number % 4 == 0 else params)
            assert client.call("server/ping") == {}
        assert daemon.stop() == 0


def ask(client: Any, params: dict[str, Any]) -> None:
    """Send a request and check the response: an answer, or an error that names the wrong param."""
    params = json.loads(json.dumps(params))  # as it arrives: two halves of a surrogate pair side by side are one then
    try:
        check_params("search", params)
        right = True
    except InvalidParams:
        right = False
    try:
        answer = client.call("search", params)
    except LivedexError as error:
        assert error.code in (-32602, 2), (params, error)
        assert not right or error.code == 2 or (error.data or {}).get("field") == "globs", (params, error)
        return
    assert right, params
    wanted = check_params("search", params)
    check_answer(answer["hits"], answer, {**wanted, "max_chars": wanted["max_chars"] or 1 << 60}, params)
    json.dumps(answer, allow_nan=False)
