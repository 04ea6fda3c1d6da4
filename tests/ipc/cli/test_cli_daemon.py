"""The `livedex` command over the real daemon, as a new user meets it: from the first `up` to `down`."""

from __future__ import annotations

import fcntl
import json
import subprocess
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from helpers.support import LIVEDEX, Daemon, Home, Tree


def test_from_up_to_down(home: Home, tree: Tree) -> None:
    tree.write_all({"a.md": "# Notes\n\nfrobnicate the widget\n", "sub/b.py": "def gadget():\n    pass\n"})
    tree.write_all({".gitignore": "*.log\n", "c.log": "frobnicate\n", "d.dat": b"x\0y"})
    status = home.run_json("up", str(tree))
    assert (status["files"], status["skipped"], status["pending"]) == (2, 1, 0)
    assert [root["path"] for root in status["roots"]] == [str(tree)]

    assert home.run("search", "frobnicate", "--vimgrep").stdout == f"{tree}/a.md:3:1:frobnicate the widget\n"
    assert home.run("search", "gadget", "--files").stdout == f"{tree}/sub/b.py\n"
    tree.save("a.md", "# Notes\n\nthe gizmo\n")
    assert home.run("search", "frobnicate").returncode == 1
    found = home.run_json("search", "gizmo")
    assert found["fresh"]
    assert [hit["path"] for hit in found["hits"]] == [f"{tree}/a.md"]
    people = home.run("search", "gizmo")
    assert people.stdout == f"1  {tree}/a.md:3  Notes\n   3:the gizmo\n1 hit in 1 file\n"
    assert "embedder" in home.run("search", "gizmo", "--mode", "semantic").stderr, "words were compared, not meanings"
    command = [str(LIVEDEX), "search", "gizmo", "--short"]
    there = subprocess.run(command, env=home.env, cwd=tree.path, capture_output=True, check=True)
    assert there.stdout == b"a.md:3:the gizmo\n", "below the working folder"

    listed = home.run_json("list")
    assert [(file["path"], file["status"]) for file in listed["files"]] == [
        (f"{tree}/a.md", "indexed"),
        (f"{tree}/d.dat", "skipped"),
        (f"{tree}/sub/b.py", "indexed"),
    ]
    [ignored, binary] = home.run_json("why", str(tree / "c.log"), str(tree / "d.dat"))["results"]
    assert ignored["status"] == "ignored"
    assert ignored["rule"] == {"file": f"{tree}/.gitignore", "line": 1, "pattern": "*.log"}
    assert binary["reason"] == "binary"
    chunks = home.run_json("retrieve", str(tree / "a.md"))["chunks"]
    assert "".join(chunk["text"] for chunk in chunks) == "# Notes\n\nthe gizmo\n"

    long_line = tree.write("long.txt", "first é\n" + "é word " * 900 + "needle " + "pad " * 300 + "\nneedle\n")
    first, second = sorted(home.run("search", "needle", "--vimgrep").stdout.splitlines())
    assert first.startswith(f"{long_line}:2:7201:")
    assert second == f"{long_line}:3:1:needle"
    unmarked = home.run("search", "path:long.txt", "--vimgrep")
    assert (unmarked.returncode, unmarked.stdout) == (0, "")
    assert unmarked.stderr == "", "it would become an entry of the editor's list"

    assert home.run_json("sync")["synced"]
    assert home.run_json("audit")["differences"] == []
    assert home.run_json("delete", str(tree / "sub")) == {"deleted": 1}
    assert home.run("search", "gadget").returncode == 1
    assert home.run_json("index", str(tree / "sub"), "--force")["indexed"] == 1
    assert home.run("search", "gadget").returncode == 0

    assert home.run_json("roots", "remove", str(tree))["roots"] == []
    assert home.run("status").stdout.endswith("no folder is indexed: run `livedex up FOLDER`\n")
    assert home.run_json("down") == {}
    assert home.server_pid() is None


def test_some_lines_of_a_file_are_those_lines(home: Home, tree: Tree) -> None:
    tree.write("long.txt", "".join(f"line {number}\n" for number in range(1, 401)))
    home.run("up", str(tree))
    command = ("retrieve", str(tree / "long.txt"), "--start-line", "250", "--end-line", "251")
    assert home.run(*command).stdout.splitlines()[2:] == ["line 250", "line 251"]
    [chunk] = home.run_json(*command)["chunks"]
    assert (chunk["start_line"] < 250, chunk["end_line"] > 251) == (True, True), "JSON has whole chunks"


def test_what_cannot_be_a_root_is_refused(home: Home, tree: Tree) -> None:
    file = tree.write("a.md", "x")
    for path in (file, tree / "nowhere"):
        done = home.run("up", str(path), "--json")
        assert done.returncode == 2
        assert str(path) in json.loads(done.stderr)["error"]["message"]
    outside = home.run("search", "x", "--json", "--path", str(tree))
    assert outside.returncode == 2
    assert json.loads(outside.stderr)["error"]["code"] == 2


def test_the_command_that_started_the_daemon_reports_a_broken_configuration(home: Home) -> None:
    home.config.write_text('[index]\nmax_size = "1MiB"\n')
    done = home.run("status", "--json")
    assert done.returncode == 2
    [fault] = json.loads(done.stderr)["error"]["data"]["faults"]
    assert (fault["key"], fault["line"]) == ("index.max_size", 2)
    said = home.run("status")
    assert "line 2" in said.stderr
    assert "max_file_size" in said.stderr


def test_up_says_what_a_folder_inside_a_root_does(home: Home, tree: Tree) -> None:
    tree.write("sub/a.txt", "alpha")
    assert "lies in" not in home.run("up", str(tree)).stderr
    assert f"{tree}/sub lies in the root {tree}" in home.run("up", str(tree / "sub")).stderr
    assert "lies in" not in home.run("up", str(tree / "sub")).stderr, "it is a root already"


def test_up_says_which_rules_shut_everything_out(home: Home, tree: Tree) -> None:
    tree.write_all({".gitignore": "*.o\n/*\n", "a.c": "int a;\n", "b.c": "int b;\n", "c.o": "object"})
    reported = home.run("up", str(tree)).stderr
    assert f"nothing of {tree} is indexed: of its 4 entries, rules leave out 3 by {tree}/.gitignore:2: /*" in reported


IMPATIENT = """
from livedex_ipc import client
from livedex_ipc.cli import context
client.WHO_S = context.SILENT_S = 1.0
context.BEYOND_S = 0.25
"""


def test_a_daemon_that_does_not_answer_is_named_and_ended(home: Home, daemon: Daemon, tmp_path: Path) -> None:
    env = with_code(tmp_path / "seam", IMPATIENT)
    daemon.pause()
    asked = home.run("search", "zither", env=env)
    assert asked.returncode == 4
    assert asked.stderr == (
        f"livedex: the daemon (pid {daemon.pid}) did not answer in 1 s:"
        " `livedex down` ends it, and the next command starts another\n"
    )
    ended = home.run("down", env=env)
    assert (ended.returncode, ended.stdout) == (0, f"stopped the daemon (pid {daemon.pid})\n")
    assert home.run("down").stdout == "no daemon was running\n"
    assert home.run("status").returncode == 0, "the next command starts another"


@pytest.mark.parametrize("words", [("search", "zither"), ("sync",), ("exchange", "request", "work", "body")])
def test_a_time_limit_counts_for_a_daemon_that_does_not_answer_too(
    home: Home, daemon: Daemon, tmp_path: Path, words: tuple[str, ...]
) -> None:
    daemon.pause()
    limited = home.run(*words, "--timeout", "0.5", env=with_code(tmp_path / "seam", IMPATIENT))
    assert limited.returncode == 4
    assert limited.stderr.startswith(f"livedex: the daemon (pid {daemon.pid}) did not answer in 0.75 s: `livedex down`")


def test_the_exchange_names_a_daemon_that_does_not_answer(home: Home, daemon: Daemon, tmp_path: Path) -> None:
    daemon.pause()
    said = home.run("exchange", "read", env=with_code(tmp_path / "seam", IMPATIENT)).stderr
    assert said.startswith(f"livedex: the daemon (pid {daemon.pid}) did not answer in 1 s: `livedex down` ends it")


def test_down_ends_a_daemon_without_a_socket(home: Home, daemon: Daemon) -> None:
    home.socket.unlink()
    assert home.run("down").stdout == f"stopped the daemon (pid {daemon.pid})\n"


def test_down_ends_nothing_but_a_daemon(home: Home) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            home.data.mkdir(parents=True)
            (home.data / "daemon.lock").write_text(f"{other.pid}\n")
            with (home.data / "daemon.lock").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                assert home.run("down").stdout == "no daemon was running\n"
            assert other.poll() is None
        finally:
            other.kill()
