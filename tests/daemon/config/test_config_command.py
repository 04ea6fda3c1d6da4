"""`livedex config …` as a process, with real editors (small scripts) and a real terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.support import Daemon, Home, Tree, add_root, error_of, wait_until
from livedex_daemon.config.config_template import template
from livedex_daemon.config.settings_schema import SETTINGS

RUN = "import sys; from livedex_daemon.config import config_command; sys.exit(config_command.run(sys.argv[1:]))"
COMMAND = [sys.executable, "-c", RUN]


def run(home: Home, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in home.env.items() if name not in ("VISUAL", "EDITOR")}
    return subprocess.run(
        [*COMMAND, *words],
        env={**environment, "TMPDIR": str(home.path / "user"), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write(home: Home, text: str) -> None:
    home.config.write_text(text)
    home.config.chmod(0o600)


def editor(home: Home, body: str) -> str:
    """A shell script in place of an editor: ``$1`` is the file to edit."""
    script = home.path / "an editor"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o700)
    return f"'{script}'"


def kept_copies(home: Home) -> list[Path]:
    return list((home.path / "user").glob("livedex-*/config.toml"))


def test_show_as_json(home: Home) -> None:
    write(home, '[log]\nlevel = "debug"\n')
    done = run(home, "show", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    settings = json.loads(done.stdout)["settings"]
    assert set(settings) == {"roots", "standing", *SETTINGS}
    assert settings["log.level"] == {"value": "debug", "origin": "file", "line": 2}
    assert settings["index.max_file_size"] == {"value": "8MiB", "origin": "default", "line": None}


def test_show_for_people(home: Home) -> None:
    write(home, '[log]\nlevel = "debug"\n[[roots]]\npath = "/nowhere"\n[[roots]]\npath = "/x\\u001b[31m"\n')
    lines = run(home, "show").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["roots", "roots", "standing", *SETTINGS]
    assert lines[0].endswith("file, line 4")
    assert "\x1b" not in lines[1]
    assert next(line for line in lines if "log.level" in line).split(maxsplit=2)[1:] == ['"debug"', "file, line 2"]


def test_show_of_a_broken_file(home: Home) -> None:
    write(home, "[lgo]\n")
    done = run(home, "show", "--json")
    assert done.returncode == 2
    error = error_of(done)
    assert error["code"] == -32602
    assert error["data"]["faults"][0]["nearest"] == "log"


def test_validate(home: Home) -> None:
    done = run(home, "validate", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (
        0,
        {"valid": True, "path": str(home.config), "faults": []},
    )
    assert "defaults" in run(home, "validate").stdout
    write(home, "\n[lgo]\n[chunking]\noverlap = true\n")
    done = run(home, "validate", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["valid"], found["path"]) == (2, False, str(home.config))
    assert [(fault["key"], fault["line"], fault["column"]) for fault in found["faults"]] == [
        ("lgo", 2, 2),
        ("chunking.overlap", 4, 11),
    ]
    done = run(home, "validate")
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 2" in done.stderr
    assert "log" in done.stderr
    assert "chunking.overlap" in done.stderr


def test_validate_of_an_emptied_file_is_as_strict_as_the_start_of_the_daemon(daemon: Daemon, tree: Tree) -> None:
    home = daemon.home
    write(home, "# nothing\n")
    assert run(home, "validate").returncode == 0, "the index has no roots"
    with daemon.client() as client:
        add_root(client, tree)
        write(home, "# nothing\n")
        done = run(home, "validate", "--json")
        assert (done.returncode, json.loads(done.stdout)["valid"]) == (2, False)
    daemon.stop()
    done = run(home, "validate")
    assert done.returncode == 2
    assert "contains no setting" in done.stderr
    write(home, "roots = []\n")
    assert run(home, "validate").returncode == 0


def test_path(home: Home) -> None:
    assert json.loads(run(home, "path", "--json").stdout) == {"path": str(home.config)}
    assert run(home, "path").stdout == f"{home.config}\n"


@pytest.mark.parametrize("words", [[], ["pth"], ["show", "it"]])
def test_wrong_usage(home: Home, words: list[str]) -> None:
    done = run(home, *words, "--json")
    assert done.returncode == 2
    assert error_of(done)["code"] == -32602


def test_edit_makes_the_file_from_the_template(home: Home) -> None:
    done = run(
        home,
        "edit",
        "--json",
        EDITOR=editor(home, 'sed "s/# chunk_size = 2048/chunk_size = 512/" "$1" > "$1.new"; mv "$1.new" "$1"'),
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, {"path": str(home.config), "changed": True})
    assert home.config.read_text() == template().replace("# chunk_size = 2048", "chunk_size = 512")
    assert home.config.stat().st_mode & 0o777 == 0o600
    assert kept_copies(home) == []


def test_edit_prefers_visual_and_takes_its_words(home: Home) -> None:
    write(home, "# mine\n")
    script = editor(home, 'echo "# $1" >> "$2"')
    done = run(home, "edit", VISUAL=f"{script} 'two words'", EDITOR="false")
    assert done.returncode == 0
    assert "was changed" in done.stdout
    assert home.config.read_text() == "# mine\n# two words\n"


def test_edit_without_a_change(home: Home) -> None:
    done = run(home, "edit", "--json", EDITOR="true")
    assert (done.returncode, json.loads(done.stdout)["changed"]) == (0, False)
    assert not home.config.exists()
    assert kept_copies(home) == []


def test_edit_mends_a_broken_file(home: Home) -> None:
    write(home, "[broken\n")
    assert run(home, "edit", EDITOR=editor(home, 'echo "# mended" > "$1"')).returncode == 0
    assert home.config.read_text() == "# mended\n"


def test_an_edit_with_a_fault_is_refused_and_kept(home: Home) -> None:
    write(home, "# mine\n")
    done = run(home, "edit", "--json", EDITOR=editor(home, 'echo "[lgo]" > "$1"'))
    assert done.returncode == 2
    error = error_of(done)
    (copy,) = kept_copies(home)
    assert str(copy) in error["message"]
    assert copy.read_text() == "[lgo]\n"
    assert error["data"]["faults"][0]["nearest"] == "log"
    assert home.config.read_text() == "# mine\n"


def test_an_edit_of_a_file_that_changed_meanwhile_is_refused_and_kept(home: Home) -> None:
    write(home, "# mine\n")
    done = run(home, "edit", "--json", EDITOR=editor(home, f'echo "# other" > "{home.config}"; echo "# edited" > "$1"'))
    assert done.returncode == 4
    assert error_of(done)["code"] == 5
    assert home.config.read_text() == "# other\n"
    assert kept_copies(home)[0].read_text() == "# edited\n"


@pytest.mark.parametrize("named", ["false", "/nowhere/editor", "'", "{}/"])
def test_an_editor_that_fails(home: Home, named: str) -> None:
    write(home, "# mine\n")
    done = run(home, "edit", "--json", EDITOR=named.format(home.path))
    assert done.returncode == 4
    assert "editor" in error_of(done)["message"]
    assert home.config.read_text() == "# mine\n"
    assert kept_copies(home) == []


def test_no_editor_at_all(home: Home) -> None:
    done = run(home, "edit", "--json", PATH=str(home.path))
    assert done.returncode == 4
    assert "EDITOR" in error_of(done)["message"]


def test_edit_of_what_is_no_file(home: Home) -> None:
    os.mkfifo(home.config)
    assert "FIFO" in error_of(run(home, "edit", "--json", EDITOR="true"))["message"]


def edit_on_a_terminal(home: Home, answer: str) -> tuple[int, str]:
    """Edit with faults the first time and correctly the second; return the exit code and what the terminal showed."""
    marker = home.path / "edited"
    script = editor(
        home, f'if [ -e "{marker}" ]; then echo "# well" > "$1"; else touch "{marker}"; echo "[lgo]" > "$1"; fi'
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "edit"],
        env={**home.env, "EDITOR": script, "VISUAL": "", "TMPDIR": str(home.path / "user")},
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    shown = bytearray()

    def asks() -> bool:
        try:
            shown.extend(os.read(ours, 4096))
        except BlockingIOError:
            return False
        return b"[Y/n]" in shown

    wait_until(asks, what="the question")
    os.write(ours, answer.encode())
    code = process.wait(30)
    os.close(ours)
    return code, shown.decode()


@pytest.mark.parametrize("answer", ["\n", "y\n", "YES\n"])
def test_an_edit_with_a_fault_can_be_gone_on_with(home: Home, answer: str) -> None:
    code, shown = edit_on_a_terminal(home, answer)
    assert code == 0
    assert "lgo" in shown
    assert "line 1" in shown
    assert home.config.read_text() == "# well\n"


@pytest.mark.parametrize("answer", ["n\n", "\x04"])
def test_an_edit_with_a_fault_can_be_given_up(home: Home, answer: str) -> None:
    code, _ = edit_on_a_terminal(home, answer)
    assert code == 2
    assert not home.config.exists()
    assert kept_copies(home)[0].read_text() == "[lgo]\n"
