"""`livedex why` reports the state of a file that is indexed, but not as its author meant it."""

from __future__ import annotations

import pytest

from helpers.support import Home, Tree, add_root
from livedex_ipc.client import Client

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
