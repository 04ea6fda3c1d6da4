"""`livedex watch` as a user runs it: one event per line as it happens, and a quiet end."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import IO, Any

import pytest

from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root
from livedex_ipc.client import Client

Watch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def client(daemon: Daemon, tree: Tree) -> Iterator[Client]:
    tree.write_all({"one.txt": "alpha one\n", "other.txt": "nothing\n"})
    with daemon.client() as made:
        add_root(made, tree)
        yield made


@pytest.fixture
def watch(home: Home, client: Client) -> Iterator[Watch]:
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        command = [str(LIVEDEX), "watch", *words]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env=home.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def out(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def event(process: subprocess.Popen[str]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(out(process).readline())
    return read


def until(process: subprocess.Popen[str], what: str, name: str) -> dict[str, Any]:
    """Return the next event of that kind for that file: an edit may be indexed in two steps."""
    read = event(process)
    while (read["event"], read["hit"]["relative_path"]) != (what, name):
        read = event(process)
    return read


@pytest.mark.shares_daemon
def test_an_event_a_line(watch: Watch, tree: Tree) -> None:
    watching = watch("alpha", "--json", "--path", str(tree.path))
    first = event(watching)
    assert set(first) == {"event", "hit", "generation"}
    assert (first["event"], first["hit"]["relative_path"]) == ("current", "one.txt")
    tree.write("two.txt", "alpha two\n")
    came = event(watching)
    assert (came["event"], came["hit"]["snippet"]) == ("added", "alpha two")
    tree.write("two.txt", "alpha again\n")
    assert until(watching, "removed", "two.txt")["hit"]["content_hash"] == came["hit"]["content_hash"]
    assert until(watching, "added", "two.txt")["hit"]["snippet"] == "alpha again"
    tree.remove("one.txt")
    assert until(watching, "removed", "one.txt")["generation"] > first["generation"]
    watching.send_signal(signal.SIGINT)
    assert watching.wait(20) == 130
    assert watching.stderr is not None and watching.stderr.read() == ""


@pytest.mark.shares_daemon
def test_it_says_when_the_hits_are_fresh(watch: Watch) -> None:
    watching = watch("alpha", "--json", "--timeout", "0")
    events = [event(watching) for _ in range(3)]
    assert [each["event"] for each in events] == ["current", "not_fresh", "fresh"]
    assert set(events[1]) == {"event", "reason", "generation"}
    assert set(events[2]) == {"event", "generation"}


@pytest.mark.shares_daemon
def test_short_is_a_line_for_each_hit(watch: Watch, tree: Tree) -> None:
    tree.write("two.txt", "before\nalpha two\nafter\n")
    watching = watch("alpha", "--short", "--path", str(tree / "two.txt"))
    assert out(watching).readline() == f"= {tree / 'two.txt'}:2:alpha two\n"
    tree.write("two.txt", "before\nafter\nalpha end\n")
    assert out(watching).readline() == f"- {tree / 'two.txt'} lines 1-3\n"
    assert out(watching).readline() == f"+ {tree / 'two.txt'}:3:alpha end\n"


@pytest.mark.shares_daemon
def test_people_read_signs_and_lines(watch: Watch, tree: Tree) -> None:
    watching = watch("alpha", "-n", "5")
    assert [out(watching).readline() for _ in range(2)] == [f"= {tree / 'one.txt'}:1\n", "  1:alpha one\n"]
    tree.write("two\n\x1b[31m.txt", "# \x1b[2J alpha\n")
    lines = [out(watching).readline() for _ in range(2)]
    assert lines == [f"+ {tree}/two\\n\\e[31m.txt:1\n", "  1:# \\e[2J alpha\n"]
    tree.remove("one.txt")
    assert out(watching).readline() == f"- {tree / 'one.txt'} lines 1-1\n"


@pytest.mark.shares_daemon
def test_it_ends_when_nobody_reads(watch: Watch) -> None:
    watching = watch("alpha", "--json")
    event(watching)
    out(watching).close()
    assert watching.wait(20) == 0
    assert watching.stderr is not None and watching.stderr.read() == ""


def test_it_says_when_the_daemon_goes(watch: Watch, daemon: Daemon) -> None:
    stopped, killed = watch("alpha", "--json"), watch("alpha")
    event(stopped)
    out(killed).readline()
    daemon.stop()
    for process in (stopped, killed):
        assert process.wait(20) == 3
    assert stopped.stderr is not None and killed.stderr is not None
    assert json.loads(stopped.stderr.read())["error"]["code"] == 4
    assert "the daemon closed the connection" in killed.stderr.read()


def test_it_starts_no_daemon_where_that_is_forbidden(home: Home) -> None:
    done = home.run("watch", "alpha", "--no-spawn")
    assert done.returncode == 3 and "no daemon answers" in done.stderr
    assert home.server_pid() is None


@pytest.mark.shares_daemon
def test_it_takes_the_filters_of_a_search(watch: Watch, tree: Tree, home: Home) -> None:
    watching = watch(
        "alpha", "--json", "--lang", "python", "-g", "!skip*", "--since", "1d", "--group", "file", "-C", "1"
    )
    tree.write_all({"two.txt": "alpha\n", "skip.py": "alpha = 1\n"})
    tree.write("three.py", "import x\nalpha = 1\n")
    assert event(watching)["hit"]["relative_path"] == "three.py"
    assert home.run("watch", "alpha", "--offset", "3").returncode == 2
    assert home.run("watch").returncode == 2


@pytest.mark.shares_daemon
def test_a_rename_is_two_events(watch: Watch, tree: Tree) -> None:
    watching = watch("alpha", "--json")
    event(watching)
    tree.rename("one.txt", "moved.txt")
    events = [event(watching) for _ in range(2)]
    assert {each["event"]: each["hit"]["relative_path"] for each in events} == {
        "removed": "one.txt",
        "added": "moved.txt",
    }
