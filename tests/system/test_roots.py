"""Roots as the contract describes them: nested, named through links, missing, denied, replaced, emptied and back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.other_user import HUMBLE, needs_permissions
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, found, wait_ready, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import InvalidParams, NotFound, OutsideRoots

CHANGE_S, RETURN_S = 5.0, 10.0  # the time in which the contract promises the report of a root's state


def states(client: Client) -> list[str]:
    return [root["state"] for root in client.call("roots/list")["roots"]]


def wait_for(client: Client, state: str) -> None:
    """Wait until the only root has that state, for as long as the contract permits and a loaded machine needs."""
    wait_until(lambda: states(client) == [state], 2 * (CHANGE_S if state != "online" else RETURN_S), what=state)


def chunked(client: Client) -> int:
    assert client.call("sync")["synced"]
    count = client.call("status")["work"]["files_chunked"]
    assert isinstance(count, int)
    return count


@pytest.fixture
def root(tree: Tree, client: Client) -> Tree:
    tree.write_all(
        {"a.txt": "alpha one", "sub/b.txt": "alpha two", "inner/c.txt": "alpha three", ".gitignore": "*.log\n"}
    )
    add_root(client, tree)
    return tree


def test_the_innermost_root_owns_a_file_and_its_rules_alone_decide(root: Tree, client: Client) -> None:
    root.write("inner/x.log", "alpha log")
    inner = root / "inner"
    client.call("roots/add", {"path": str(inner), "ignore": ["!x.log"]})
    wait_ready(client)
    hits = client.call("search", {"query": "alpha", "timeout_ms": 20_000})["hits"]
    assert {hit["relative_path"]: hit["root"] for hit in hits} == {
        "a.txt": str(root), "sub/b.txt": str(root), "c.txt": str(inner), "x.log": str(inner),
    }  # fmt: skip
    assert set(found(client, "alpha", roots=[str(root)])) == {"a.txt", "sub/b.txt"}
    assert set(found(client, "alpha", roots=[str(inner)])) == {"c.txt", "x.log"}
    assert len(found(client, "alpha", path=str(root))) == 4
    assert found(client, "alpha", path=str(inner), roots=[str(root)]) == []
    assert client.call("files/list", {"root": str(root)})["total"] == 2
    assert [listed["files"] for listed in client.call("status")["roots"]] == [2, 2]
    before = chunked(client)
    client.call("roots/remove", {"path": str(inner)})
    assert set(found(client, "alpha")) == {"a.txt", "sub/b.txt", "inner/c.txt"}
    assert chunked(client) == before


def test_a_path_above_the_roots_means_the_roots_in_it(root: Tree, client: Client) -> None:
    for path in (root.path.parent, Path("/")):
        assert len(found(client, "alpha", path=str(path))) == 3
    with pytest.raises(OutsideRoots):
        found(client, "alpha", path=f"{root}-sibling")
    assert found(client, "alpha", path=str(root / "nothing/there")) == []


def test_a_path_may_lead_through_a_link(root: Tree, client: Client) -> None:
    link = root.path.parent / "link"
    link.symlink_to(root.path)
    assert len(found(client, "alpha", path=str(link))) == 3
    assert len(found(client, "alpha", roots=[str(link)])) == 3
    for path in (link / "sub", link / "sub/b.txt", link / "inner/../sub"):
        assert found(client, "alpha", path=str(path)) == ["sub/b.txt"]
    (root / "shortcut").symlink_to("sub")
    assert found(client, "alpha", path=str(root / "shortcut")) == ["sub/b.txt"]
    assert client.call("files/explain", {"path": str(root / "shortcut")})["reason"] == "symlink"
    assert client.call("files/explain", {"path": str(link / "a.txt")})["path"] == str(root / "a.txt")
    assert client.call("files/retrieve", {"path": str(link / "a.txt")})["path"] == str(root / "a.txt")
    assert client.call("roots/add", {"path": str(link)})["roots"] == client.call("roots/list")["roots"]
    assert len(states(client)) == 1


def test_a_root_that_is_a_link_is_what_it_names_when_it_is_loaded(
    start_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    first, second, link = Tree(tmp_path / "first"), Tree(tmp_path / "second"), tmp_path / "link"
    first.write("a.txt", "firstword\n")
    second.write("b.txt", "secondword\n")
    link.symlink_to(first.path)
    daemon = start_daemon(f'[[roots]]\npath = "{link}"\n')
    with daemon.client() as client:
        wait_ready(client)
        assert [root["path"] for root in client.call("roots/list")["roots"]] == [str(first)]
        assert found(client, "firstword secondword") == ["a.txt"]
        link.unlink()
        link.symlink_to(second.path)
        assert found(client, "firstword secondword") == ["a.txt"]
        client.call("server/reload")
        wait_ready(client)
        assert [root["path"] for root in client.call("roots/list")["roots"]] == [str(second)]
        assert found(client, "firstword secondword") == ["b.txt"]


def test_gone_is_not_deleted(root: Tree, client: Client, home: Home) -> None:
    before, away = chunked(client), root.path.parent / "away"
    root.path.rename(away)
    wait_for(client, "missing")
    answer = client.call("search", {"query": "alpha", "path": str(root)})
    assert answer["hits"] == []
    assert [warning["code"] for warning in answer["warnings"]] == ["root_missing"]
    status = client.call("status")
    assert (status["state"], status["files"], status["roots"][0]["files"]) == ("degraded", 0, 3)
    for params in ({}, {"path": str(root / "a.txt")}):
        listed = client.call("files/list", params)
        assert (listed["total"], [warning["code"] for warning in listed["warnings"]]) == (0, ["root_missing"])
    picked = client.call("files/find", {"query": "a.txt"})
    assert (picked["total"], [warning["code"] for warning in picked["warnings"]]) == (0, ["root_missing"])
    named = home.run("files", "a.txt")
    assert (named.returncode, named.stdout) == (1, "") and f"root_missing: {root}" in named.stderr
    with pytest.raises(NotFound, match="missing"):
        client.call("files/retrieve", {"path": str(root / "a.txt")})
    root.mkdir(".")
    other = Tree(root.path.parent / "other")
    client.call("roots/add", {"path": str(other)})  # then every root is looked at
    assert client.call("sync")["synced"]
    missing = [held["path"] for held in client.call("roots/list")["roots"] if held["state"] == "missing"]
    assert missing == [str(root)]  # an empty folder in its place is not trusted
    client.call("roots/remove", {"path": str(other)})
    root.path.rmdir()
    away.rename(root.path)
    wait_for(client, "online")
    assert len(found(client, "alpha")) == 3
    assert chunked(client) == before


def test_an_empty_folder_put_in_its_place_is_not_believed(root: Tree, client: Client, daemon: Daemon) -> None:
    before, away = chunked(client), root.path.parent / "away"
    daemon.pause()  # it never sees the place without a folder
    root.path.rename(away)
    root.mkdir(".")
    daemon.resume()
    wait_for(client, "missing")
    assert client.call("status")["roots"][0]["files"] == 3
    root.path.rmdir()
    away.rename(root.path)
    wait_for(client, "online")
    assert len(found(client, "alpha")) == 3
    assert chunked(client) == before


def test_another_folder_in_its_place_is_its_new_state(root: Tree, client: Client) -> None:
    before, away = chunked(client), root.path.parent / "away"
    root.path.rename(away)
    root.write("new.txt", "alpha new")
    wait_until(lambda: found(client, "alpha") == ["new.txt"], 2 * RETURN_S, what="the new folder")
    shutil.rmtree(root.path)
    away.rename(root.path)
    wait_until(lambda: len(found(client, "alpha")) == 3, 2 * RETURN_S, what="the old folder")
    assert chunked(client) == before + 1


def test_a_root_whose_files_are_all_removed_is_simply_empty(root: Tree, client: Client) -> None:
    """Also if the ignore file goes with them, which causes a walk of the whole root."""
    for _ in range(3):
        for entry in list(root.path.iterdir()):
            root.remove(entry.name)
        assert found(client, "alpha") == []
        root.write("again.txt", "alpha again")
        assert found(client, "alpha") == ["again.txt"]
        assert states(client) == ["online"]
        root.write(".gitignore", "*.log\n")


def test_removed_and_made_again(root: Tree, client: Client) -> None:
    shutil.rmtree(root.path)
    wait_for(client, "missing")
    root.path.write_text("a file")
    assert found(client, "alpha") == []
    assert states(client) == ["missing"]
    root.path.unlink()
    root.write("made/again.txt", "alpha again")
    wait_until(lambda: found(client, "alpha") == ["made/again.txt"], 2 * RETURN_S, what="the root made again")


def test_a_file_in_the_place_of_a_root_stops_neither_the_start_nor_the_other_roots(
    start_daemon: Callable[..., Daemon], home: Home, tmp_path: Path
) -> None:
    notes, other, away = Tree(tmp_path.resolve() / "notes"), Tree(tmp_path.resolve() / "other"), tmp_path / "away"
    notes.write("a.txt", "alpha one")
    other.write("b.txt", "alpha two")
    daemon = start_daemon(f'[[roots]]\npath = "{notes}"\n[[roots]]\npath = "{other}"\n')
    with daemon.client() as client:
        wait_ready(client)
    daemon.kill()
    notes.path.rename(away)
    notes.path.write_text("a file")
    with daemon.start().client() as client:
        wait_ready(client)
        assert found(client, "alpha") == ["b.txt"]
        (missing,) = client.call("status")["warnings"]
        assert (missing["code"], str(notes) in missing["message"]) == ("root_missing", True)
        assert ("a file or a link is in its place" in missing["message"], "away" in missing["remedy"]) == (True, True)
        assert home.run("config", "validate").returncode == 2
        with pytest.raises(InvalidParams, match="is not a folder"):
            client.call("roots/add", {"path": str(notes)})
        add_root(client, Tree(tmp_path / "third"))
        client.call("server/reload")
        assert sorted(states(client)) == ["missing", "online", "online"]
        notes.path.unlink()
        away.rename(notes.path)
        wait_until(lambda: states(client) == ["online"] * 3, 2 * RETURN_S, what="the root")
        assert set(found(client, "alpha")) == {"a.txt", "b.txt"}
        assert chunked(client) == 0


def test_a_root_that_is_not_there_yet(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    later = tmp_path.resolve() / "later"
    with start_daemon(f'[[roots]]\npath = "{later}"\n').client() as client:
        assert states(client) == ["missing"]
        assert_next_has(client, Tree(later), "newx")
        wait_until(lambda: states(client) == ["online"], 2 * RETURN_S, what="the root")


@needs_permissions
def test_what_may_not_be_read(home: Home, tree: Tree) -> None:
    tree.write_all({"a.txt": "alpha one", "closed.txt": "alpha two", "shut/c.txt": "alpha three"})
    (tree / "closed.txt").chmod(0)
    (tree / "shut").chmod(0)
    subprocess.run([*HUMBLE, LIVEDEX, "up", str(tree)], env=home.env, capture_output=True, check=True)
    with Daemon(home).client() as client:
        assert found(client, "alpha") == ["a.txt"]
        assert reasons(client, tree) == {"a.txt": None, "closed.txt": "denied", "shut": "denied"}
        status = client.call("status")
        assert (status["state"], status["failed"]) == ("ready", 2)
        assert [warning["code"] for warning in status["warnings"]] == ["files_failed"]
        assert client.call("files/explain", {"path": str(tree / "closed.txt")})["reason"] == "denied"
        (tree / "shut").chmod(0o755)
        (tree / "closed.txt").chmod(0o644)
        assert set(found(client, "alpha")) == {"a.txt", "closed.txt", "shut/c.txt"}
        before = chunked(client)
        (tree / "a.txt").chmod(0)
        assert set(found(client, "alpha")) == {"closed.txt", "shut/c.txt"}
        (tree / "a.txt").chmod(0o644)
        assert len(found(client, "alpha")) == 3
        tree.path.chmod(0)
        wait_for(client, "denied")
        assert found(client, "alpha") == []
        assert client.call("status")["warnings"][0]["code"] == "root_denied"
        tree.path.chmod(0o755)
        wait_for(client, "online")
        assert len(found(client, "alpha")) == 3
        assert chunked(client) == before


@needs_permissions
def test_a_root_that_may_be_listed_and_not_entered(home: Home, tree: Tree) -> None:
    """`chmod -R 644` does that: it is a matter of permission, not of the disk."""
    tree.write_all({"a.txt": "alpha one", "sub/b.txt": "alpha two"})
    subprocess.run([*HUMBLE, LIVEDEX, "up", str(tree)], env=home.env, capture_output=True, check=True)
    with Daemon(home).client() as client:
        assert len(found(client, "alpha")) == 2
        before = chunked(client)
        tree.path.chmod(0o644)
        wait_for(client, "denied")
        assert found(client, "alpha") == []
        wait_until(lambda: [each["code"] for each in client.call("status")["warnings"]] == ["root_denied"])
        tree.path.chmod(0o755)
        wait_for(client, "online")
        assert len(found(client, "alpha")) == 2
        assert chunked(client) == before
        assert client.call("status")["state"] == "ready"


def reasons(client: Client, tree: Tree) -> dict[str, Any]:
    listed = client.call("files/list")["files"]
    return {os.path.relpath(file["path"], tree.path): file.get("reason") for file in listed}


def test_roots_on_the_command_line(home: Home, tree: Tree) -> None:
    tree.write("a.txt", "alpha")
    home.config.write_text("# mine\n[log]\nlevel = 'info'  # plain\n")
    added = home.run_json("roots", "add", str(tree), "--ignore", "*.tmp")["roots"]
    assert [root["path"] for root in added] == [str(tree)]
    text = home.config.read_text()
    assert text.startswith("# mine\n[log]\nlevel = 'info'  # plain\n")
    assert 'ignore = ["*.tmp"]' in text
    again = home.run_json("roots", "add", f"{tree}/")["roots"]
    assert len(again) == 1
    below = tree.mkdir("-dash")
    done = subprocess.run(
        [LIVEDEX, "roots", "add", "--", "-dash"],
        env=home.env,
        cwd=tree.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(below) in done.stdout
    assert home.run_json("roots", "remove", str(below), str(tree))["results"][-1]["roots"] == []
    assert home.config.read_text().startswith("# mine\n[log]\nlevel = 'info'  # plain\n")


@pytest.mark.parametrize("how", ["made again", "moved back", "its parent moved back"])
def test_a_root_that_is_back_is_in_the_next_answer(client: Client, tmp_path: Path, how: str) -> None:
    parent, aside = tmp_path / "above", tmp_path / "aside"
    tree = Tree(parent / "root")
    tree.write("a.txt", "alpha one\n")
    add_root(client, tree)
    moved = parent if "parent" in how else tree.path
    for number in range(3):
        if how == "made again":
            shutil.rmtree(tree.path)
        else:
            moved.rename(aside)
        wait_until(lambda: "root_missing" in warnings(client), what="the loss")
        if how == "made again":
            tree.path.mkdir()
        else:
            aside.rename(moved)
        assert_next_has(client, tree, f"new{number}x")


def assert_next_has(client: Client, tree: Tree, word: str) -> None:
    """Write a file, and find it with the first search after it, which says that all is well."""
    tree.write("new.txt", f"alpha {word}\n")
    answer = client.call("search", {"query": word, "timeout_ms": 20_000})
    names = [hit["relative_path"] for hit in answer["hits"]]
    assert (names, answer["fresh"], answer["warnings"]) == (["new.txt"], True, [])


def warnings(client: Client) -> list[str]:
    return [warning["code"] for warning in client.call("search", {"query": "alpha"})["warnings"]]
