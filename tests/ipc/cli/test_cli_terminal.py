"""The `livedex` command as people use it: on its own terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import pytest

from helpers.canned_daemon import CannedDaemon, hit, info, root, search_result, status_result
from helpers.support import LIVEDEX, Home, wait_until
from livedex_ipc import __version__

EVIL = hit("/r/notes/\x1b]0;title\x07\u202e.md", "a \x1b[31mred\u200b \x9bmatch\x7f", [[13, 18]])


@pytest.fixture
def canned(home: Home) -> Iterator[CannedDaemon]:
    with CannedDaemon(home.socket, search=search_result(EVIL), status=status_result(root("/r"))) as daemon:
        yield daemon


class Terminal:
    """A command with one terminal as stdin, stdout and stderr; `text` is what it printed so far."""

    def __init__(self, home: Home, *words: str, **env: str) -> None:
        self.master, slave = pty.openpty()
        environment = {name: value for name, value in home.env.items() if name != "NO_COLOR"}
        environment.update({"TERM": "xterm-256color", "COLUMNS": "100", **env})
        command = [str(LIVEDEX), *words]
        self.process = subprocess.Popen(
            command, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.text = ""

    def read_until(self, *wanted: str) -> str:
        """Return all output once it contains each of `wanted`; without any, once the command has ended."""
        deadline = time.monotonic() + 30
        while not (wanted and all(word in self.text for word in wanted)):
            assert time.monotonic() < deadline, self.text
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:  # Linux says so when the last writer is gone
                data = b""
            if not data:
                break
            self.text += data.decode()
        return self.text

    def end(self) -> int:
        """Return the exit code, after reading the remaining output."""
        self.read_until()
        code = self.process.wait(10)
        os.close(self.master)
        return code


def run(home: Home, *words: str, **env: str) -> tuple[int, str]:
    terminal = Terminal(home, *words, **env)
    return terminal.end(), terminal.text.replace("\r\n", "\n")


def test_hits_are_coloured_and_nothing_raw_of_a_file_comes_through(home: Home, canned: CannedDaemon) -> None:
    code, text = run(home, "search", "match")
    assert code == 0
    assert "\x1b[1;31mmatch\x1b[0m" in text
    assert "a \\e[31mred\\u200b \\x9b" in text
    assert "\\e]0;title\\x07\\u202e.md" in text
    for colour in ("\x1b[1;31m", "\x1b[32m", "\x1b[35m", "\x1b[0m"):
        text = text.replace(colour, "")
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) == {"\n"}


@pytest.mark.parametrize("form", ["--vimgrep", "--files", "--json"])
def test_forms_for_programs_are_harmless_on_a_terminal_too(home: Home, canned: CannedDaemon, form: str) -> None:
    _, text = run(home, "search", "match", form)
    assert set(filter(lambda character: not character.isprintable(), text)) == {"\n"}
    if form == "--json":
        assert json.loads(text) == search_result(EVIL)
    else:
        assert "\\e]0;title" in text


@pytest.mark.parametrize(
    ("form", "rest"), [("--vimgrep", "1:17:a \\e[31mred\\u200b \\x9bmatch\\x7f"), ("-c", "1"), ("-l", "")]
)
def test_with_a_nul_byte_only_the_path_is_raw(home: Home, canned: CannedDaemon, form: str, rest: str) -> None:
    _, text = run(home, "search", "match", form, "-0")
    path, _, shown = text.partition("\0")
    assert path == EVIL["path"]
    assert shown.removesuffix("\n") == rest


def test_names_of_files_are_harmless_on_a_terminal(home: Home) -> None:
    evil = {name: EVIL[name] for name in ("path", "root", "relative_path")}
    found = {"files": [{**evil, "status": "indexed"}], "total": 1, "fresh": True}
    with CannedDaemon(home.socket, **{"files/find": found}):
        code, text = run(home, "files")
    assert (code, text) == (0, "/r/notes/\\e]0;title\\x07\\u202e.md\n")


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_colours_can_be_refused(home: Home, canned: CannedDaemon, env: dict[str, str]) -> None:
    _, text = run(home, "search", "match", **env)
    assert "\x1b" not in text
    assert "match" in text


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color=always",), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_a_pipe_has_the_text_of_a_terminal_and_colours_on_request(
    home: Home, canned: CannedDaemon, words: tuple[str, ...], env: dict[str, str], coloured: bool
) -> None:
    """The option takes precedence over the environment."""
    clean = {name: value for name, value in home.env.items() if name != "NO_COLOR"}
    command = [str(LIVEDEX), "search", "match", *words]
    piped = subprocess.run(command, env={**clean, **env}, capture_output=True, text=True, check=True).stdout
    assert ("\x1b[1;31mmatch\x1b[0m" in piped) == coloured
    _, shown = run(home, "search", "match", "--color=always" if coloured else "--color=never")
    assert piped == shown


def test_the_first_index_is_shown_by_a_bar_that_goes_away(home: Home, canned: CannedDaemon) -> None:
    indexing = status_result(root("/r", state="indexing"), state="indexing", files=40, pending=60)
    canned.answers["status"] = indexing
    terminal = Terminal(home, "up", "/r")
    terminal.read_until("indexing", "0 of 60 files")
    canned.answers["status"] = status_result(root("/r", state="indexing"), state="indexing", files=70, pending=30)
    terminal.read_until("30 of 60 files")
    canned.answers["status"] = status_result(root("/r"))
    assert terminal.end() == 0
    text = terminal.text
    assert text.endswith("/r\r\n")
    assert "ready" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is shown again"


def test_ctrl_c_leaves_the_terminal_as_it_was(home: Home, canned: CannedDaemon) -> None:
    canned.answers["status"] = status_result(root("/r", state="indexing"), state="indexing", pending=6)
    terminal = Terminal(home, "up")
    terminal.read_until("indexing")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    assert terminal.text.rindex("\x1b[?25h") > terminal.text.rindex("\x1b[?25l")


def test_the_status_is_redrawn_in_place(home: Home, canned: CannedDaemon) -> None:
    canned.answers["status"] = status_result(root("/r"), files=11)
    terminal = Terminal(home, "status", "--watch")
    terminal.read_until("11 files")
    canned.answers["status"] = status_result(root("/r"), files=22)
    terminal.read_until("22 files")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130


def test_progress_of_a_run_comes_from_the_daemon(home: Home, canned: CannedDaemon) -> None:
    result = {
        "scanned": 3,
        "indexed": 1,
        "unchanged": 2,
        "skipped": 0,
        "removed": 0,
        "documents_pending": 0,
        "failed": [],
        "took_ms": 12.0,
    }
    seen = threading.Event()

    def run_index(_: object) -> dict[str, object]:
        seen.wait(30)
        return result

    canned.answers["index/run"] = run_index
    terminal = Terminal(home, "index")
    terminal.read_until("2 of 3 files, 2.0 KiB of 2.9 KiB", "/r/now\\e")
    seen.set()
    assert terminal.end() == 0
    assert "3 files examined in 0.0 s: 1 indexed, 2 unchanged" in terminal.text


def test_the_bar_does_not_touch_a_result_that_is_piped(home: Home, canned: CannedDaemon) -> None:
    canned.answers["status"] = status_result(root("/r", state="indexing"), pending=6)
    master, slave = pty.openpty()
    env = {**home.env, "TERM": "xterm"}
    with subprocess.Popen([LIVEDEX, "up", "--json"], env=env, stdout=subprocess.PIPE, stderr=slave) as child:
        os.close(slave)
        wait_until(lambda: b"indexing" in os.read(master, 65536), what="the bar")
        canned.answers["status"] = status_result(root("/r"))
        assert child.stdout is not None
        assert json.loads(child.stdout.read()) == status_result(root("/r"))
    os.close(master)


def test_a_search_that_waits_says_for_what(home: Home, canned: CannedDaemon) -> None:
    answer = threading.Event()

    def search(params: dict[str, object]) -> object:
        assert params["timeout_ms"] == 10_000
        answer.wait(30)
        return search_result(EVIL)

    canned.answers["search"] = search
    canned.answers["status"] = status_result(root("/r"), pending=300)
    terminal = Terminal(home, "search", "match")
    terminal.read_until("waiting for 300 changes to be indexed")
    canned.answers["status"] = status_result(root("/r", state="indexing"), files=1234, pending=5)
    terminal.read_until("the first index is being made: 1,234 files so far, 5 to go")
    canned.answers["status"] = status_result(root("/r"))
    terminal.read_until("searching")
    answer.set()
    assert terminal.end() == 0
    assert "\r\x1b[K" in terminal.text.rpartition("searching")[2].partition("match")[0], "the line has gone"


def test_a_daemon_that_is_silent_is_waited_for_in_words(home: Home, canned: CannedDaemon) -> None:
    answer, who = threading.Event(), canned.answers["server/info"]
    canned.answers["server/info"] = lambda _: answer.wait(30) and who
    terminal = Terminal(home, "search", "match")
    terminal.read_until("waiting for the daemon to answer")
    answer.set()
    assert terminal.end() == 0
    assert "\r\x1b[K" in terminal.text.rpartition("to answer")[2].partition("match")[0], "the line has gone"


def test_ctrl_c_takes_the_waiting_line_away(home: Home, canned: CannedDaemon) -> None:
    ended = threading.Event()
    canned.answers["search"] = lambda _: ended.wait(30) and search_result()
    terminal = Terminal(home, "search", "match")
    terminal.read_until("searching")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert terminal.text.endswith("\r\x1b[K")
    ended.set()


def test_errors_are_words_on_a_terminal(home: Home) -> None:
    code, text = run(home, "serach")
    assert code == 2
    assert "livedex has no command 'serach'; did you mean search?" in text


def pager(folder: Path, body: str) -> str:
    script = folder / "a pager"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o700)
    return f"'{script}'"


def test_an_answer_that_does_not_fit_goes_through_the_pager(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    many = [hit(f"/r/{number}", "a match", [[2, 7]]) for number in range(12)]
    canned.answers["search"] = search_result(*many)
    shown = {"PAGER": pager(tmp_path, 'echo "paged: $LESS"; cat'), "LINES": "24", "COLUMNS": "80"}
    code, text = run(home, "search", "match", FORCE_HYPERLINK="1", **shown)
    assert (code, text.splitlines()[0]) == (0, "paged: FRX")
    assert "\x1b[1;31mmatch" in text and "\x1b]8" not in text, "colours, but no links: older pagers print them"
    assert "paged: mine" in run(home, "search", "match", LESS="mine", **shown)[1]
    assert "paged" not in run(home, "search", "match", "--no-pager", **shown)[1]
    assert "paged" not in run(home, "search", "match", **{**shown, "TERM": "dumb"})[1]
    assert "paged" not in run(home, "search", "match", **{**shown, "LINES": "26"})[1], "24 lines, the total, the prompt"
    assert "paged" in run(home, "search", "match", **{**shown, "LINES": "25"})[1]
    for without in ("", "cat", "/nowhere/pager", "'"):
        code, text = run(home, "search", "match", **{**shown, "PAGER": without})
        assert (code, "12 hits" in text) == (0, True), without


def test_a_pager_that_is_left_early_is_no_error(home: Home, canned: CannedDaemon, tmp_path: Path) -> None:
    canned.answers["search"] = search_result(*[hit("/r/a", "match " * 60, [[0, 5]], snippet_line=9)] * 1000)
    code, text = run(home, "search", "match", "--long", PAGER=pager(tmp_path, "head -n 1"))
    assert (code, len(text.splitlines())) == (0, 1)


def test_lines_are_cut_to_the_terminal_and_whole_in_a_pipe(home: Home, canned: CannedDaemon) -> None:
    text = "before " * 40 + "match" + " after" * 40
    canned.answers["search"] = search_result(hit("/r/a", text, [[280, 285]], heading="Top > " * 30))
    _, shown = run(home, "search", "match", COLUMNS="60", NO_COLOR="1")
    assert all(len(line) <= 60 for line in shown.splitlines())
    assert "match" in shown.splitlines()[1]
    assert text in home.run("search", "match").stdout


@pytest.mark.parametrize(
    ("env", "link"),
    [
        ({}, ""),
        ({"FORCE_HYPERLINK": "1"}, f"file://{gethostname()}/r/a%20b"),
        ({"VTE_VERSION": "7600"}, f"file://{gethostname()}/r/a%20b"),
        ({"VTE_VERSION": "7600", "FORCE_HYPERLINK": "0"}, ""),
        ({"VTE_VERSION": "7600", "TMUX": "/tmp/tmux"}, ""),
        ({"KITTY_WINDOW_ID": "1"}, f"file://{gethostname()}/r/a%20b#1"),
        ({"TERM_PROGRAM": "vscode"}, "vscode://file/r/a%20b:1"),
        ({"VTE_VERSION": "7600", "NO_COLOR": "1"}, ""),
    ],
)
def test_places_are_links_where_the_terminal_knows_them(
    home: Home, canned: CannedDaemon, env: dict[str, str], link: str
) -> None:
    canned.answers["search"] = search_result(hit("/r/a b", "match", [[0, 5]]))
    known = (
        "TERM_PROGRAM",
        "VTE_VERSION",
        "KITTY_WINDOW_ID",
        "TMUX",
        "STY",
        "WT_SESSION",
        "KONSOLE_VERSION",
        "DOMTERM",
    )
    for name in known:
        home.env.pop(name, None)
    _, text = run(home, "search", "match", **env)
    assert (f"\x1b]8;;{link}\x1b\\" in text) if link else ("\x1b]8" not in text)


def test_help_is_wrapped_between_words(home: Home) -> None:
    plain = home.run("search", "--help").stdout
    for words in (["search", "--help"], ["help", "search", "--no-pager"]):
        _, text = run(home, *words, COLUMNS="60")
        assert all(len(line) <= 60 for line in text.splitlines() if " " in line.strip()[50:])
        assert text.split() == plain.split()
        lines = text.splitlines()
        option = lines.index("  --group G")
        assert lines[option + 1].startswith("        a hit for each"), "half of the columns are left for the text"


def test_who_finds_nothing_is_told_what_may_be_meant(home: Home, canned: CannedDaemon) -> None:
    canned.answers["search"] = search_result()
    canned.answers["roots/list"] = {"roots": [root("/r")]}
    folder = str(home.path)
    _, text = run(home, "search", "x", folder, COLUMNS="300")
    assert f"to search in a folder: --in {folder}" in text
    assert "this folder is in no root; to add it: livedex up ." in text
    for place in (os.getcwd(), os.path.dirname(os.getcwd()), f"{os.getcwd()}/notes"):
        canned.answers["roots/list"] = {"roots": [root(place)]}
        _, text = run(home, "search", "x", "no/such/folder", COLUMNS="300")
        assert "nothing found" in text and "in no root" not in text and "--in" not in text
    assert home.run("search", "x", folder).stderr == "", "a program would take a hint for a result"


def test_who_forgets_is_told_how_to_undo_it(home: Home, canned: CannedDaemon) -> None:
    canned.answers["files/delete"] = {"deleted": 1}
    assert "to undo: livedex forget --undo '/r/a b'" in run(home, "forget", "/r/a b")[1]
    assert home.run("forget", "/r/a b").stderr == ""
    assert "--undo '/r/\\e]0;title'\n" in run(home, "forget", "/r/\x1b]0;title")[1]


def test_whose_daemon_answers_is_said_if_it_is_another_home(home: Home, canned: CannedDaemon) -> None:
    canned.answers["server/info"] = {**info(), "version": __version__, "config_path": "/home/eve/config.toml"}
    done = home.run("search", "x")
    assert "this daemon's configuration is /home/eve/config.toml, not yours" in done.stderr
    canned.answers["server/info"]["config_path"] = str(home.config)
    assert home.run("search", "x").stderr == ""
