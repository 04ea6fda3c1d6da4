"""`livedex uninstall`: what it removes, what it keeps, and that nothing of anyone else goes."""

from __future__ import annotations

import os

from helpers.support import Home, Tree, is_alive, wait_until


def left(home: Home) -> set[str]:
    return {os.path.relpath(os.path.join(at, name), home.path) for at, _, names in os.walk(home.path) for name in names}


def test_what_can_be_made_again_goes_and_the_rest_is_kept(home: Home, tree: Tree) -> None:
    tree.write("a.txt", "alpha")
    pid = home.run_json("up", str(tree))["pid"]
    home.run("forget", str(tree / "a.txt"))
    home.run("exchange", "publish", "topic", "text")
    (home.path / "data/mine.txt").write_text("not livedex's")
    (home.path / "data/vectors").mkdir()
    for derived in ("vectors/0a.vectors.db", "backend.mark", "index.db.damaged"):
        (home.path / "data" / derived).write_text("")
    (home.path / ".config.toml.livedex-0a_1b2c3").write_text("of an edit that was killed")
    before = left(home)
    reported = home.run_json("uninstall", "--dry-run")
    assert (reported["dry_run"], left(home), is_alive(pid)) == (True, before, True)
    done = home.run_json("uninstall")
    wait_until(lambda: not is_alive(pid), what="the end of the daemon")
    assert set(done["removed"]) == set(reported["removed"])
    kept = {name for name in left(home) if not name.endswith(("-wal", "-shm"))}
    assert kept == {"config.toml", "data/mine.txt", "data/forgotten.db", "data/forgotten.db.copy", "data/exchange.db"}
    assert {os.path.relpath(path, home.path) for path in done["kept"]} >= kept - {"data/mine.txt"}
    assert home.run_json("up")["files"] == 0, "it is forgotten still"
    everything = home.run("uninstall", "--all")
    assert (everything.returncode, left(home)) == (0, {"data/mine.txt"})
    assert "pipx uninstall livedex" in everything.stdout
    assert home.run("uninstall").stdout.startswith("there was nothing to remove")
    assert (tree / "a.txt").read_text() == "alpha"


def test_what_was_put_aside_and_backups_are_kept(home: Home) -> None:
    """livedex renames a folder in the place of one of its files, which may contain anything."""
    mine = {
        "index.db.aside/sub/text",
        "index.db.aside/text",
        "knowledge.db/text",
        "exchange.db.bak",
        "vectors/mine/text",
    }
    for name in mine:
        (home.path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (home.path / "data" / name).write_text("not livedex's")
    assert home.run("uninstall", "--all").returncode == 0
    assert left(home) == {f"data/{name}" for name in mine}
