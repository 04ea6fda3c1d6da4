"""Embedders behind HTTP, against a real server that fails, stalls and lies."""

from __future__ import annotations

import errno
import socket
import time
from email.utils import formatdate

import pytest

from helpers.fake_gateway import FakeGateway
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_indexing.conformance import check_embedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, EmbeddingSettings
from livedex_indexing.embeddings.gateways import SERVICES, GatewayEmbedder

KEY = "secret-key-1"


def embedder_of(name: str, gateway: FakeGateway, timeout: float = 20.0) -> GatewayEmbedder:
    settings = EmbeddingSettings(name, "a-model", gateway.url, "TEST_KEY", 32, timeout)
    return GatewayEmbedder(name, settings, {"TEST_KEY": KEY})


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_asked_in_its_own_form(gateway: FakeGateway, name: str) -> None:
    embedder = embedder_of(name, gateway)
    assert check_embedder(lambda: embedder) == []
    texts = ["a car", "a boat", "bread"]
    assert embedder.embed_batch(texts) == MeaningEmbedder().embed_batch(texts)
    assert embedder.dimensions == DIMENSIONS
    path, body, authorization = gateway.requests[-1]
    assert (path, body["model"], authorization) == (SERVICES[name].path, "a-model", f"Bearer {KEY}")
    assert (embedder.host, embedder.bytes_sent > 100) == ("127.0.0.1", True)


def test_more_texts_than_one_request_takes_are_several(gateway: FakeGateway) -> None:
    embedder = embedder_of("cohere", gateway)
    assert len(embedder.embed_batch(["a car"] * 200)) == 200
    assert [len(body["texts"]) for _, body, _ in gateway.requests] == [96, 96, 8]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_gateway_is_asked_again(gateway: FakeGateway, status: int) -> None:
    gateway.statuses = [(status, "0"), (status, "0.01")]
    assert embedder_of("openai", gateway).embed_batch(["a car"]) == MeaningEmbedder().embed_batch(["a car"])
    assert len(gateway.requests) == 3


def test_a_gateway_may_say_by_date_when_it_is_to_be_asked_again(gateway: FakeGateway) -> None:
    now = time.time()
    gateway.statuses = [(503, formatdate(now - 60, usegmt=True)), (429, formatdate(now + 3600, usegmt=True))]
    with pytest.raises(EmbedderUnavailable, match="limit of requests"):
        embedder_of("openai", gateway).embed_batch(["a car"])
    assert len(gateway.requests) == 2, "it was asked before its hour was over"


def test_one_that_wants_more_time_than_there_is_gets_it(gateway: FakeGateway) -> None:
    gateway.statuses = [(429, "40")]
    begun = time.monotonic()
    with pytest.raises(EmbedderUnavailable) as raised:
        embedder_of("openai", gateway, timeout=35).embed_batch(["a car"])
    assert raised.value.again_s == 40.0
    assert time.monotonic() - begun < 10, "it waited for a part of that"


@pytest.mark.parametrize(("statuses", "again_s"), [([(503, "60")], 60.0), ([(500, None)] * 3, None)])
def test_only_one_that_says_so_is_busy(
    gateway: FakeGateway, statuses: list[tuple[int, str | None]], again_s: float | None
) -> None:
    """Some gateways answer 500 to a text that is too long."""
    gateway.statuses = statuses
    with pytest.raises(EmbedderUnavailable) as raised:
        embedder_of("openai", gateway, timeout=30).embed_batch(["a car"])
    assert raised.value.again_s == again_s


@pytest.mark.parametrize("wait", ["", "soon", "nan", "Sat, 28 Nov 99999999999 20:35:47 GMT"])
def test_what_is_no_time_is_as_none(gateway: FakeGateway, wait: str) -> None:
    gateway.statuses = [(503, wait)]
    assert embedder_of("openai", gateway).embed_batch(["a car"]) == MeaningEmbedder().embed_batch(["a car"])


@pytest.mark.parametrize(
    ("statuses", "message"),
    [([(429, "3600")], "limit of requests"), ([(401, None)], "embedding.api_key_env"), ([(404, None)], "model")],
)
def test_one_that_refuses_is_named_without_the_key(
    gateway: FakeGateway, statuses: list[tuple[int, str | None]], message: str
) -> None:
    gateway.statuses = statuses
    with pytest.raises(EmbedderUnavailable, match=message) as caught:
        embedder_of("voyage", gateway).embed_batch(["a secret text"])
    assert KEY not in str(caught.value)
    assert "secret text" not in str(caught.value)
    assert len(gateway.requests) == 1


@pytest.mark.parametrize("mode", ["stall", "fail", "few", "garbage", "nan", "redirect"])
def test_one_that_fails_gives_no_vectors(gateway: FakeGateway, mode: str) -> None:
    gateway.mode = mode
    with pytest.raises(EmbedderUnavailable, match=r"the gateway 127\.0\.0\.1"):
        embedder_of("ollama", gateway, timeout=0.3).embed_batch(["a car", "a boat"])
    assert all(path == "/api/embed" for path, _, _ in gateway.requests)


@pytest.mark.parametrize("mode", ["stall", "trickle"])
def test_a_call_ends_by_its_deadline(gateway: FakeGateway, mode: str) -> None:
    gateway.mode = mode
    with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
        embedder_of("ollama", gateway, timeout=0.3).embed_batch(["a car", "a boat"])
    assert not gateway.heard_out


def test_one_that_is_down_is_named() -> None:
    gateway = FakeGateway()
    gateway.close()
    with pytest.raises(EmbedderUnavailable, match="does not answer"):
        embedder_of("openai", gateway).embed("a car")


def test_where_no_socket_of_the_network_may_be_opened_the_page_with_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in the service, where a host's name cannot be looked up either."""

    def refuse(*_: object, **__: object) -> socket.socket:
        raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")

    monkeypatch.setattr(socket, "socket", refuse)
    for host in ("127.0.0.1:9", "no-such-host.invalid"):
        embedder = GatewayEmbedder("ollama", EmbeddingSettings("ollama", "m", f"http://{host}"))
        with pytest.raises(EmbedderUnavailable, match=r"as a service without network \(docs/service\.md"):
            embedder.embed("a car")


def test_without_a_model_or_a_key_nothing_is_sent() -> None:
    with pytest.raises(EmbedderUnavailable, match=r"embedding\.model"):
        GatewayEmbedder("ollama", EmbeddingSettings("ollama"), {})
    with pytest.raises(EmbedderUnavailable, match="OPENAI_API_KEY"):
        GatewayEmbedder("openai", EmbeddingSettings("openai", "m"), {})
    GatewayEmbedder("openai", EmbeddingSettings("openai", "m", "http://localhost:1/v1"), {})


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nX: y", f"{KEY}ż", f"{KEY}\udcff"])
def test_what_no_header_can_have_is_no_key_and_is_named_without_it(key: str) -> None:
    with pytest.raises(EmbedderUnavailable, match="OPENAI_API_KEY, which is to hold the key, has a line") as raised:
        GatewayEmbedder("openai", EmbeddingSettings("openai", "m"), {"OPENAI_API_KEY": key})
    assert KEY not in str(raised.value)
