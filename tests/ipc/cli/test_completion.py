"""Completion in the shells themselves: what they offer, and that they never run text from the daemon."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from helpers.canned_daemon import CannedDaemon, root
from helpers.support import LIVEDEX, Home, wait_until
from livedex_ipc.cli.arguments import ROOT
from livedex_ipc.cli.completion import script

T = TypeVar("T")

COMMANDS = [command.name for command in ROOT.subcommands]


@pytest.fixture
def canned(home: Home) -> Iterator[CannedDaemon]:
    roots = [root("/r/notes"), root("/r/my src"), root("/q/$(touch owned)`touch owned`'\"\\")]
    with CannedDaemon(
        home.socket, **{"roots/list": {"roots": [*roots, root("/r/new\nline"), root("/r/bi\u202edi")]}}
    ) as daemon:
        yield daemon


def shell(home: Home, command: list[str], folder: Path) -> list[str]:
    env = {**home.env, "PATH": f"{LIVEDEX.parent}{os.pathsep}{home.env['PATH']}"}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    assert not (folder / "owned").exists()
    return done.stdout.splitlines()


def offered_in_time(offers: Callable[[], T]) -> T:
    """Return what is offered once the daemon answers in time: completion does not wait for a busy one."""
    return wait_until(offers, 60, what="something to complete")


def bash(home: Home, folder: Path, *words: str) -> list[str]:
    """Return what bash offers for the last of `words`."""
    quoted = " ".join(map(shlex.quote, words))
    program = f"""
        source <(livedex completion bash)
        complete -p livedex >/dev/null || exit 1
        COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMPREPLY=()
        _livedex
        (( ${{#COMPREPLY[@]}} )) && printf '%s\\n' "${{COMPREPLY[@]}}"
        exit 0"""
    return shell(home, ["bash", "-c", program], folder)


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_script_is_valid_in_its_shell(name: str) -> None:
    if subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, check=False).returncode:
        pytest.skip(f"not installed here: {name}")
    done = subprocess.run([name, "-n"], input=script(name), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script_and_starts_nothing(home: Home, name: str) -> None:
    assert home.run("completion", name).stdout == script(name)
    assert home.run_json("completion", name) == {"shell": name, "script": script(name)}
    assert not home.socket.exists()


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["livedex", ""], COMMANDS),
        (["livedex", "st"], ["status"]),
        (["livedex", "--json", "ro"], ["roots"]),
        (["livedex", "roots", ""], ["add", "remove", "list"]),
        (["livedex", "search", "x", "--m"], ["--mode", "--max-snippet-chars", "--max-chars"]),
        (["livedex", "search", "x", "--mode", ""], ["auto", "keyword", "semantic", "hybrid", "exact", "regex"]),
        (["livedex", "search", "x", "--mode", "=", "k"], ["keyword"]),
        (["livedex", "search", "x", "--mode", "="], ["auto", "keyword", "semantic", "hybrid", "exact", "regex"]),
        (["livedex", "search", "x", "--mode=k"], ["--mode=keyword"]),
        (["livedex", "search", "--color", ""], ["auto", "always", "never"]),
        (["livedex", "search", "--", "--m"], []),
        (["livedex", "search", "status", "r"], []),
        (["livedex", "completion", ""], ["bash", "zsh", "fish"]),
        (["livedex", "help", "ro"], ["roots"]),
        (["livedex", "help", "roots", ""], ["add", "remove", "list"]),
        (["livedex", "retrieve", ""], []),
        (["livedex", "delete", ""], []),
        (["livedex", "delete", "--u"], ["--undo"]),
    ],
)
def test_bash_offers_what_fits_there(home: Home, tmp_path: Path, words: list[str], offered: list[str]) -> None:
    assert bash(home, tmp_path, *words) == offered


@pytest.mark.needs("bash")
def test_bash_offers_the_roots_and_runs_nothing_in_their_names(
    home: Home, canned: CannedDaemon, tmp_path: Path
) -> None:
    offered = offered_in_time(lambda: bash(home, tmp_path, "livedex", "roots", "remove", ""))
    assert [shlex.split(word)[0] for word in offered[:2]] == ["/r/notes", "/r/my src"]
    assert offered[1:2] == ["/r/my\\ src"]
    assert len(offered) == 3, "a name that a shell cannot show is not offered"
    echoed = shell(home, ["bash", "-c", f"printf %s {offered[2]}"], tmp_path)
    assert echoed == ["/q/$(touch owned)`touch owned`'\"\\"]
    words = ("livedex", "search", "x", "--root", "/r/n")
    assert offered_in_time(lambda: bash(home, tmp_path, *words)) == ["/r/notes"]


@pytest.mark.needs("fish")
def test_fish_offers_what_fits_there(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    def offered(line: str) -> list[str]:
        program = f"livedex completion fish | source; complete -C {shlex.quote(line)}"
        return [each.partition("\t")[0] for each in shell(home, ["fish", "--no-config", "-c", program], tmp_path)]

    assert sorted(offered("livedex ")) == sorted(COMMANDS)
    assert sorted(offered("livedex roots ")) == ["add", "list", "remove"]
    assert sorted(offered("livedex search x --mode ")) == [
        "auto",
        "exact",
        "hybrid",
        "keyword",
        "regex",
        "semantic",
    ]
    assert offered("livedex search x --mode=k") == ["--mode=keyword"]
    assert sorted(offered("livedex --color ")) == ["always", "auto", "never"]
    assert sorted(offered("livedex help roots ")) == ["add", "list", "remove"]
    (tmp_path / "table.csv").write_text("a,b\n")
    for command in ("why", "delete", "plugins check csv"):
        assert offered(f"livedex {command} ta") == ["table.csv"]
    assert "/r/notes" in offered_in_time(lambda: offered("livedex roots remove "))


@pytest.mark.needs("zsh")
def test_zsh_offers_what_fits_there(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    def offered(*words: str) -> set[str]:
        # compadd and _describe belong to the line editor: here they print their arguments.
        program = f"""
            compdef() {{ :; }}
            compadd() {{ shift; print -rl -- "$@"; }}
            _describe() {{ print -rl -- "${{(@P)@[-1]}}"; }}
            eval "$(livedex completion zsh)"
            words=({" ".join(map(shlex.quote, words))}); CURRENT={len(words)}
            _livedex
            exit 0"""
        return {line.partition(":")[0] for line in shell(home, ["zsh", "-f", "-c", program], tmp_path)}

    assert offered("livedex", "") == set(COMMANDS)
    assert offered("livedex", "roots", "") == {"add", "remove", "list"}
    assert offered("livedex", "search", "x", "--mode", "") == {
        "auto",
        "keyword",
        "semantic",
        "hybrid",
        "exact",
        "regex",
    }
    assert {"-n", "--mode", "--json"} <= offered("livedex", "search", "x", "-")
    assert "/r/my src" in offered_in_time(lambda: offered("livedex", "roots", "remove", ""))


@pytest.fixture(scope="module")
def zsh_functions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file in which zsh has noted its completion functions: to find them takes most of a second."""
    noted = tmp_path_factory.mktemp("zsh") / "functions"
    program = "autoload -Uz compinit; compinit -u -d $1"
    subprocess.run(["zsh", "-f", "-c", program, "zsh", str(noted)], check=True, timeout=60)
    assert noted.exists()
    return noted


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("livedex sea", "livedex search"),
        ("livedex search x --mode k", "livedex search x --mode keyword"),
        ("livedex search x --mode=k", "livedex search x --mode=keyword"),
        ("livedex --color al", "livedex --color always"),
        ("livedex delete a", r"livedex delete a\ folder"),
        ("livedex plugins check csv a", r"livedex plugins check csv a\ folder"),
        ("livedex search x --in a", r"livedex search x --in a\ folder"),
        ("livedex search x --in=a", r"livedex search x --in=a\ folder"),
        ("livedex help ro", "livedex help roots"),
        ("livedex search -- --m", "livedex search -- --m"),
    ],
)
def test_zsh_completes_what_is_typed(
    home: Home, tmp_path: Path, zsh_functions: Path, typed: str, completed: str
) -> None:
    """In a terminal: Tab completes the line; Ctrl-A, Ctrl-E and Enter turn it into a command that prints it."""
    (tmp_path / "a folder").mkdir()
    program = r"""
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z 'PS1= M=@@; autoload -Uz compinit; compinit -C -d '$2'; eval "$(livedex completion zsh)"'
        zpty -w -n z $1$'\t\x01print -r -- "$M<\x05>"\n'
        zpty -r z seen $'*@@<*>\r\n*'
        print -r -- $seen"""
    seen = "\n".join(shell(home, ["zsh", "-f", "-c", program, "zsh", typed, str(zsh_functions)], tmp_path))
    assert seen.rpartition("@@<")[2].rpartition(">")[0] == completed


def test_a_daemon_that_does_not_answer_is_not_waited_for(home: Home) -> None:
    ended = threading.Event()

    def stuck(_: object) -> dict[str, object]:
        ended.wait(30)
        return {"roots": []}

    with CannedDaemon(home.socket, **{"roots/list": stuck}):
        done = home.run("completion", "bash", env={"_LIVEDEX_VALUES": "root"}, timeout=20)
        ended.set()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
