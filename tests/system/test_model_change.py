"""Another model in a running daemon: the former vectors serve until the new ones are complete, never both at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from helpers.fake_gateway import FakeGateway
from helpers.support import Daemon, Home, Tree, add_root, wait_until
from livedex_ipc.client import Client

BATCH = 4
OTHERS = 40
MEANT = {"sailing boat": "sea.md", "baking dough": "food.md", "weather clouds": "sky.md"}
FILES = {
    "sea.md": "the vessel left the harbour\n",
    "food.md": "a loaf in the oven\n",
    "sky.md": "rain and thunder\n",
    **{f"{number}.md": f"a car number {number}\n" for number in range(OTHERS)},
}


class Models(NamedTuple):
    """The models of a gateway: which one is configured, and what each was asked."""

    home: Home
    gateway: FakeGateway

    def use(self, client: Client, model: str) -> None:
        settings = f'embedder = "ollama"\nmodel = "{model}"\napi_base = "{self.gateway.url}"\nbatch = {BATCH}\n'
        text = self.home.config.read_text()
        head, _, rest = text.partition("[embedding]\n")
        kept = [line for line in rest.splitlines(keepends=True) if line.split(" ")[0] not in settings]
        self.home.config.write_text(f"{head}[embedding]\n{settings}{''.join(kept)}")
        client.server_reload()

    def answered_queries(self) -> set[str]:
        return {model for model, text in self.gateway.asked_of if text in MEANT}

    def embedded_by(self, model: str) -> int:
        return sum(count for (by, text), count in self.gateway.asked_of.items() if by == model and "a car" in text)


@pytest.fixture
def models(home: Home) -> Iterator[Models]:
    gateway = FakeGateway()
    yield Models(home, gateway)
    gateway.close()


def all_right(client: Client) -> bool:
    """Whether each query leads to the file that it means, by vectors alone: those of two models have no meaning."""
    answers = {query: client.search(query=query, mode="semantic", timeout_ms=10_000) for query in MEANT}
    modes = {answer["mode"] for answer in answers.values()}
    return modes == {"semantic"} and all(answers[q]["hits"][0]["relative_path"] == MEANT[q] for q in MEANT)


def is_complete(client: Client) -> bool:
    status = client.status()
    return status["embedder"] == "ollama" and status["vectors_pending"] == 0


@pytest.mark.parametrize("new", ["reversed", "half"])
def test_another_model_serves_once_it_is_complete(
    new: str, tree: Tree, daemon: Daemon, client: Client, models: Models
) -> None:
    tree.write_all(FILES)
    add_root(client, tree)
    models.use(client, "first")
    wait_until(lambda: is_complete(client), 30.0, what="the first vectors")
    assert all_right(client) and models.answered_queries() == {"first"}

    models.gateway.allow(OTHERS // 2)
    models.use(client, new)
    wait_until(lambda: models.embedded_by(new) > OTHERS // 4, 30.0, what="some of the new vectors")
    pending = client.status()["vectors_pending"]
    assert pending is not None and 0 < pending <= len(FILES)
    assert all_right(client) and models.answered_queries() == {"first"}
    tree.write("0.md", "a car in another garage\n")
    client.sync()
    client.close()

    daemon.kill()  # in the middle of the new vectors
    daemon.start()
    with daemon.client() as again:
        before = models.embedded_by(new)
        wait_until(lambda: all_right(again), 30.0, what="the former vectors after a kill")
        assert models.answered_queries() == {"first"} and again.status()["vectors_pending"]
        models.gateway.allow(None)
        wait_until(lambda: is_complete(again), 30.0, what="the new vectors")
        assert all_right(again) and new in models.answered_queries()
        assert before > 0 and models.embedded_by("first") == OTHERS
        # The text that was edited; and what was under way at the kill, one request at most.
        assert models.embedded_by(new) <= OTHERS + 1 + BATCH
