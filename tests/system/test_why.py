"""`livedex why` reports the state of a file that is indexed, but not as its author meant it."""

from __future__ import annotations

import os
import shutil

import pytest

from helpers.support import Home, Tree, add_root, codes, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import NotFound

pytestmark = pytest.mark.shares_daemon


@pytest.mark.parametrize(
    ("block", "said"), [("tags: [work", "YAML"), ("a: &x work\ntags: *x", "aliases"), ("tags: [work]", None)]
)
def test_frontmatter_that_is_ordinary_text(
    client: Client, home: Home, tree: Tree, block: str, said: str | None
) -> None:
    tree.write_all({"note.md": f"---\n{block}\n---\nwalrus\n"})
    add_root(client, tree)
    answer = home.run_json("why", str(tree / "note.md"))
    assert answer["status"] == "indexed"
    if said is None:
        assert answer["reason"] is None
    else:
        assert answer["reason"].startswith("its frontmatter is read as ordinary text: ")
        assert said in answer["reason"]
    assert bool(client.call("search", {"query": "tag:work"})["hits"]) == (said is None)


def test_the_configuration_file_is_livedexs_own(client: Client, home: Home) -> None:
    """Also where a root contains it, as a home folder does."""
    (home.path / "notes.md").write_text("walrus\n")
    add_root(client, Tree(home.path))
    client.call("sync")
    answer = home.run_json("why", str(home.config))
    assert (answer["status"], answer["rule"]["file"]) == ("ignored", "built-in")
    listed = {hit["relative_path"] for hit in client.call("search", {"query": "path:*"})["hits"]}
    assert "notes.md" in listed and "config.toml" not in listed
    client.call("roots/remove", {"path": str(home.path)})


def test_a_reason_that_may_be_out_of_date_is_said_to_be(client: Client, tree: Tree) -> None:
    """The file is so large that a moment is too short to read it."""
    tree.write("f.txt", "x\n")
    add_root(client, tree)
    os.truncate(tree / "f.txt", 9_000_000)
    client.call("sync")
    path, refused = str(tree / "f.txt"), []
    ways: tuple[dict[str, object], ...] = ({}, {"fresh": False}, {"timeout_ms": 1})
    for params in ways:
        if "timeout_ms" in params:
            os.truncate(path, 8_300_000)
        with pytest.raises(NotFound) as caught:
            client.call("files/retrieve", {"path": path, **params})
        refused.append((caught.value.data, caught.value.message.partition("too_large")[2]))
    data = {"status": "skipped", "reason": "too_large"}
    assert refused[0] == ({**data, "fresh": True}, "")
    assert refused[1] == ({**data, "fresh": False}, ""), "freshness was not requested"
    assert refused[2] == ({**data, "fresh": False}, "; not fresh: it may have changed since")


def test_a_folder_cannot_be_read_and_is_said_to_be_one(client: Client, tree: Tree) -> None:
    tree.write("notes/f.txt", "x\n")
    add_root(client, tree)
    for path in (tree.path, tree / "notes"):
        with pytest.raises(NotFound, match="is a folder") as caught:
            client.call("files/retrieve", {"path": str(path)})
        explained = client.call("files/explain", {"path": str(path)})
        assert caught.value.data == {"status": "indexed", "reason": explained["reason"], "fresh": True}


def test_a_file_of_a_root_that_is_missing_is_explained(client: Client, tree: Tree) -> None:
    tree.write("f.txt", "x\n")
    add_root(client, tree)
    shutil.rmtree(tree.path)
    wait_until(lambda: "root_missing" in codes(client), what="the warning")
    path = str(tree / "f.txt")
    with pytest.raises(NotFound, match="the root is missing") as caught:
        client.call("files/retrieve", {"path": path})
    assert caught.value.data == {"status": "pending", "reason": "the root is missing", "fresh": True}
