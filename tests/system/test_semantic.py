"""Search by meaning in a real daemon: one line of configuration, vectors behind the index, kept over everything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.made_model import write_model
from helpers.support import Daemon, Home, Tree, add_root, wait_until
from livedex_ipc.client import Client

pytest.importorskip("tokenizers", reason="the extra `semantic` is not installed")

FILES = {
    "travel.md": "# Travel\nthe automobile needs a new motor\n",
    "sea.md": "# Sea\nthe vessel left the harbour\n",
    "food.md": "# Food\na loaf in the oven\n",
}


def configured(home: Home, model: Path) -> None:
    """Switch the embedder on by adding one line, which a running daemon follows."""
    text = home.config.read_text() if home.config.exists() else "[embedding]\n"
    home.config.write_text(text.replace("[embedding]\n", f'[embedding]\nembedder = "static"\nmodel = "{model}"\n'))


def settled(client: Client) -> dict[str, object]:
    def complete() -> dict[str, object] | None:
        status = client.call("status")
        embedded = status["embedder"] is not None and status["work"]["chunks_embedded"] > 0
        return status if embedded and status["vectors_pending"] == 0 else None

    found = wait_until(complete, 60.0, what="all vectors")
    assert found is not None
    return found


def names(client: Client, query: str, **params: object) -> list[str]:
    return [hit["relative_path"] for hit in client.call("search", {"query": query, **params})["hits"]]


@pytest.fixture
def root(tree: Tree, client: Client) -> Tree:
    tree.write_all(FILES)
    add_root(client, tree)
    return tree


def test_one_line_finds_words_that_no_file_holds(
    root: Tree, home: Home, daemon: Daemon, client: Client, tmp_path: Path
) -> None:
    assert client.call("status")["embedder"] is None
    assert names(client, "sailing boat") == []
    configured(home, write_model(tmp_path / "model"))
    client.call("server/reload")
    status = settled(client)
    assert (status["embedder"], status["warnings"]) == ("static", [])
    answer = client.call("search", {"query": "sailing boat", "explain": True})
    assert (answer["mode"], answer["vectors_pending"]) == ("hybrid", 0)
    assert answer["hits"][0]["relative_path"] == "sea.md"
    assert answer["hits"][0]["explain"]["ranks"]["semantic"] == 1
    assert names(client, "sailing boat", mode="keyword") == []
    reported = json.loads(home.run("search", "sailing boat", "--mode", "semantic", "--json", "-n", "1").stdout)
    assert (reported["mode"], reported["hits"][0]["relative_path"]) == ("semantic", "sea.md")

    # A new file is found by its words at once, and by its meaning soon.
    root.write("new.md", "thunder over the hills\n")
    assert names(client, "thunder hills")[0] == "new.md"
    wait_until(lambda: names(client, "weather storm")[:1] == ["new.md"], what="the new vector")
    before = client.call("status")["work"]["chunks_embedded"]

    # Nothing is embedded again: not by renames and copies, and not after the death of the daemon.
    root.rename("new.md", "moved.md")
    root.write("copy.md", FILES["sea.md"])
    client.call("sync")
    assert client.call("search", {"query": "weather storm"})["hits"][0]["relative_path"] == "moved.md"
    assert client.call("status")["work"]["chunks_embedded"] == before
    client.close()
    daemon.kill()
    daemon.start()
    with daemon.client() as again:
        wait_until(lambda: names(again, "weather storm")[:1] == ["moved.md"], 30.0, what="the vectors of before")
        assert again.call("status")["work"]["chunks_embedded"] == 0
        index = Path(again.call("status")["db_path"])
    # A rebuilt index takes them, too.
    daemon.kill()
    index.write_bytes(b"damaged" * 1000)
    daemon.start()
    with daemon.client() as rebuilt:
        wait_until(lambda: names(rebuilt, "weather storm")[:1] == ["moved.md"], 30.0, what="the vectors of before")
        assert rebuilt.call("status")["work"]["chunks_embedded"] == 0


def test_a_damaged_file_of_vectors_is_made_again(
    root: Tree, home: Home, daemon: Daemon, client: Client, tmp_path: Path
) -> None:
    configured(home, write_model(tmp_path / "model"))
    client.call("server/reload")
    settled(client)
    client.close()
    daemon.stop()
    (path,) = (home.data / "vectors").glob("*.vectors.db")
    whole = path.read_bytes()
    assert len(whole) > 16_384 and not path.with_name(f"{path.name}-wal").exists()
    path.write_bytes(whole[:8192] + b"\xa5" * (len(whole) - 8192))
    daemon.start()
    with daemon.client() as again:
        assert names(again, "the vessel harbour")[0] == "sea.md"
        wait_until(lambda: names(again, "sailing boat")[:1] == ["sea.md"], 30.0, what="vectors made again")
        assert again.call("status")["warnings"] == []


def test_a_model_that_is_not_there_is_a_warning(root: Tree, home: Home, client: Client, tmp_path: Path) -> None:
    configured(home, tmp_path / "nowhere")
    client.call("server/reload")

    def warned() -> list[str]:
        return [w["message"] for w in client.call("status")["warnings"] if w["code"] == "embedder_unavailable"]

    (message,) = wait_until(warned, what="the warning")
    assert str(tmp_path / "nowhere") in message

    def counted() -> bool:
        status = client.call("status")
        return (status["state"], status["vectors_pending"]) == ("ready", 3)

    wait_until(counted, what="the number of chunks without a vector")
    answer = client.call("search", {"query": "the vessel harbour"})
    assert (answer["mode"], answer["hits"][0]["relative_path"]) == ("keyword", "sea.md")
    assert [w["code"] for w in answer["warnings"]] == ["embedder_unavailable"]
    write_model(tmp_path / "nowhere")
    settled(client)
    assert client.call("status")["warnings"] == []


def test_agent_memory_is_found_by_its_meaning(home: Home, client: Client, tmp_path: Path) -> None:
    client.knowledge_add(content="the vessel left the harbour", domain="sea")
    assert client.knowledge_search(query="sailing boat")["entries"] == []
    warned = client.knowledge_search(query="vessel harbour", mode="hybrid")
    assert (warned["mode"], [w["code"] for w in warned["warnings"]]) == ("keyword", ["embedder_unavailable"])
    configured(home, write_model(tmp_path / "model"))
    client.call("server/reload")
    wait_until(lambda: client.knowledge_search(query="sailing boat")["entries"], what="vectors without any file")
    client.knowledge_add(content="a loaf in the oven", domain="food")
    wait_until(lambda: client.knowledge_search(query="sailing boat")["vectors_pending"] == 0, what="its vector")
    found = client.knowledge_search(query="baking dough", k=1)
    assert (found["mode"], found["warnings"], found["entries"][0]["domain"]) == ("hybrid", [], "food")
    shown = home.run("knowledge", "search", "baking", "dough", "-k", "1", "--mode", "semantic")
    assert (shown.returncode, "a loaf in the oven" in shown.stdout, shown.stderr) == (0, True, "")
    assert home.run("knowledge", "search", "baking", "dough", "--mode", "keyword").returncode == 1
    joined = client.search(query="baking dough", domains=["food"])
    assert [entry["content"] for entry in joined["knowledge"]] == ["a loaf in the oven"]
