"""`livedex live` as people use it: in a terminal, with a real daemon, files that are saved meanwhile, and an editor."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.canned_daemon import CannedDaemon
from helpers.daemon_health import children
from helpers.live_terminal import LiveTerminal
from helpers.support import CHECKOUT, LIVEDEX, Daemon, Home, Tree, add_root, wait_until

PAGE = CHECKOUT / "docs" / "live.md"
LEASES = "# Leases\n\nA lease lasts thirty days.\n\n## Renewal\n\nRenew the lease in 東京 early.\n"
CODE = "LEASE = 30\n\n\ndef renew(lease):\n\treturn lease.end + LEASE\n"
UP, DOWN, CTRL_C, CTRL_O = "\x1bOA", "\x1bOB", "\x03", "\x0f"

Start = Callable[..., LiveTerminal]


@pytest.fixture
def live(home: Home) -> Iterator[Start]:
    started: list[LiveTerminal] = []

    def start(*words: str, **options: object) -> LiveTerminal:
        started.append(LiveTerminal(home, *words, **options))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


@pytest.fixture
def files(daemon: Daemon, tree: Tree) -> Tree:
    tree.write("notes/leases.md", LEASES)
    tree.write("src/lease.py", CODE)
    with daemon.client() as client:
        add_root(client, tree)
    return tree


def editor(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """An editor that adds a line and writes down its arguments, for the environment; and where."""
    arguments = tmp_path / "arguments"
    script = tmp_path / "an editor"
    lines = (
        "#!/bin/sh",
        'echo "seen by Ada: thirty" >> "$3"',
        f"""printf '%s\\n' "$@" > '{arguments}.new'""",
        f"mv '{arguments}.new' '{arguments}'",
    )
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o700)
    return {"VISUAL": f"'{script}' -x"}, arguments


@pytest.mark.shares_daemon
def test_type_see_the_hit_and_open_it_at_its_line(files: Tree, live: Start, tmp_path: Path) -> None:
    env, arguments = editor(tmp_path)
    terminal = live(env=env)
    terminal.see("/help")
    terminal.type("thirt")
    terminal.see(lambda text: "1 hit" in text and "A lease lasts thirty days." in text)
    terminal.type("\r")
    wait_until(arguments.exists, what="the editor's arguments")
    assert arguments.read_text().splitlines() == ["-x", "+3", str(files / "notes/leases.md")]
    terminal.see("seen by Ada")
    terminal.type(" /lang python\r")
    terminal.see("lang:python · 0 hits")
    terminal.type("\x15renew")
    terminal.see("def renew(lease):")
    terminal.type(CTRL_C)
    assert terminal.end()[0] == 130
    assert terminal.raw.rpartition(b"\x1b[?1049l")[2].isascii(), "the terminal is as it was"


@pytest.mark.shares_daemon
def test_keys_mouse_and_pasted_text(files: Tree, live: Start) -> None:
    terminal = live()
    terminal.see("2 hits")
    terminal.type("\x1b[200~lease\nrenew\x1b[201~")
    terminal.see(lambda text: text.startswith("> lease renew\n") and "3 hits" in text)
    terminal.type(f"{DOWN}{DOWN}{UP}")
    terminal.see(lambda text: selected(text) == 1)
    terminal.type("\x1b[<0;5;5M\x1b[<0;5;5m" if b"1006" in terminal.raw else "\x1b[M %%")
    terminal.see(lambda text: selected(text) == 2)
    terminal.type("\x1b[15;9~\x1br")
    terminal.see("regex · 0 hits")
    os.kill(terminal.process.pid, signal.SIGTERM)
    assert terminal.end()[0] == 130
    assert b"\x1b[?1049l" in terminal.raw


@pytest.mark.shares_daemon
def test_pasted_text_may_come_slowly_and_contain_a_control_c(files: Tree, live: Start) -> None:
    terminal = live()
    terminal.see("2 hits")
    terminal.type("\x1b[200~\x03lease")
    terminal.see(">  lease\n")
    terminal.type("\nre\x1b[20")
    terminal.see(">  lease re\n")
    terminal.type("1~new")
    terminal.see(">  lease renew\n")


@pytest.mark.shares_daemon
def test_a_paste_whose_end_is_lost_does_not_lock_the_user_in(files: Tree, live: Start) -> None:
    terminal = live()
    terminal.see("2 hits")
    terminal.type("\x1b[200~lease")

    def ended() -> bool:
        terminal.type(CTRL_C)
        return terminal.process.poll() is not None

    wait_until(ended, what="the end")  # its pauses grow: in the end, each Ctrl-C comes alone
    assert terminal.end()[0] in (130, -signal.SIGINT)  # one may come after the terminal is as it was


STOPPED = '"$0" "$@"; echo stopped; read line; fg'


@pytest.mark.shares_daemon
def test_stopped_with_its_editor_it_goes_on_behind_it(files: Tree, live: Start, tmp_path: Path) -> None:
    script = tmp_path / "stops"
    script.write_text("#!/bin/sh\nkill -TSTP 0\necho goes on; read line\n")
    script.chmod(0o700)
    terminal = live("thirty", shell=STOPPED, env={"VISUAL": str(script)})
    before = terminal.see(lambda text: "1 hit" in text and "1 # Leases" in text)
    terminal.type("\r")
    terminal.see("stopped")
    terminal.type("\r")
    terminal.see(lambda text: "goes on" in text and "1 hit" not in text)
    terminal.type("\r")
    terminal.see(lambda text: text == before)
    terminal.type("\x1b[200~ le\nase\x1b[201~")
    terminal.see("> thirty le ase\n")
    terminal.type("\x1b")
    assert terminal.end()[0] == 130


@pytest.mark.shares_daemon
@pytest.mark.parametrize("by", ["a signal", "a key"])
def test_stopped_it_draws_again_when_it_goes_on(files: Tree, live: Start, by: str) -> None:
    terminal = live("lease", shell=STOPPED)
    before = terminal.see(lambda text: "3 hits" in text and "4 def renew(lease):" in text)
    if by == "a key":
        terminal.type("\x1a")
    else:
        os.kill(children(terminal.process.pid)[0], signal.SIGTSTP)
    terminal.see("stopped")
    assert terminal.raw.rfind(b"\x1b[?2004l") > terminal.raw.rfind(b"\x1b[?2004h")
    terminal.type("\r")
    terminal.see(lambda text: text == before)
    assert terminal.raw.rfind(b"\x1b[?2004h") > terminal.raw.rfind(b"\x1b[?2004l")
    terminal.type("\x1b")
    assert terminal.end()[0] == 130


@pytest.mark.shares_daemon
def test_a_ctrl_c_in_the_editor_is_the_editors(files: Tree, live: Start, tmp_path: Path) -> None:
    script = tmp_path / "hears"
    script.write_text("#!/bin/sh\ntrap 'echo heard' INT\necho edits\nread line || read line\n")
    script.chmod(0o700)
    terminal = live("thirty", env={"VISUAL": str(script)})
    terminal.see("1 hit")
    terminal.type("\r")
    terminal.see("edits")
    terminal.type(CTRL_C)
    terminal.see("heard")
    terminal.type("\r")
    terminal.see(lambda text: "1 hit" in text and "heard" not in text)
    terminal.type(" le")
    terminal.see("> thirty le\n")


def selected(text: str) -> int:
    """The place of the selection in the list on the screen."""
    return next(index for index, row in enumerate(text.splitlines()[2:]) if row.startswith("▌"))


@pytest.mark.shares_daemon
def test_the_choice_goes_into_a_pipe_and_the_picture_to_the_terminal(files: Tree, live: Start) -> None:
    terminal = live("lease", piped=True)
    terminal.see("3 hits")
    terminal.type("\t\t")
    terminal.see("2 marked")
    terminal.type(CTRL_O)
    code, printed = terminal.end()
    assert code == 0
    found = [line.rpartition("/")[2] for line in printed.splitlines()]
    assert found == ["lease.py:1:1:LEASE = 30", "leases.md:1:3:# Leases"]


@pytest.mark.shares_daemon
def test_a_saved_file_enters_a_followed_list(files: Tree, live: Start) -> None:
    terminal = live("zither")
    terminal.see("0 hits")
    terminal.type(" /follow\r")
    terminal.see("following · 0 hits")
    files.write("new.md", "a zither\n")
    terminal.see("following · 1 hit")
    files.remove("new.md")
    terminal.see("following · 0 hits")
    terminal.type("\x15lease")
    terminal.see("following · 3 hits")
    files.write("zither.md", "a zither\n")
    files.write("lease.md", "another lease\n")
    terminal.see("following · 4 hits")


@pytest.mark.shares_daemon
def test_modes_filters_pages_and_their_faults(files: Tree, live: Start) -> None:
    terminal = live("-e", "^def .*:$")
    terminal.see("regex · 1 hit")
    terminal.type("(")
    terminal.see(lambda text: "regex · 0 hits" in text and "missing )" in text)
    terminal.type("\x15lease /words\r /path notes\r")
    terminal.see("words · path:notes · 2 hits")
    terminal.type(" /path\r /since never\r")
    terminal.see("'never'")
    terminal.type(" /since\r")
    terminal.see("words · 3 hits")
    terminal.type(" /status\r")
    terminal.see(lambda text: "ready, version" in text and f"{files.path}: online" in text)
    terminal.type("\x1b")
    terminal.see("3 hits")
    terminal.type(" /why\r")
    terminal.see("indexed")


@pytest.mark.shares_daemon
def test_nothing_raw_of_a_file_reaches_the_terminal(files: Tree, live: Start) -> None:
    files.write("evil\x1b]0;title\x07.md", "a \x1b[31mzither\u200b \x9bmatch \u202e\n")
    terminal = live("zither")
    terminal.see(lambda text: "\\e[31mzither\\u200b \\x9bmatch" in text and "1 a \\e" in text)
    for raw in (b"\x1b]0;", b"\x07", "\x9b".encode(), "\u202e".encode(), "\u200b".encode()):
        assert raw not in terminal.raw


@pytest.mark.shares_daemon
def test_any_size_is_drawn(files: Tree, live: Start) -> None:
    terminal = live("東京")
    terminal.see("1 hit")
    for rows, columns in ((40, 200), (5, 20), (1, 1), (3, 7), (24, 60), (24, 100)):
        terminal.resize(rows, columns)
    terminal.type(" renew")
    terminal.see(lambda text: "東" in text and "│" in text and "> 東" in text.splitlines()[0])
    terminal.type("\x1b")
    assert terminal.end()[0] == 130


@pytest.mark.shares_daemon
def test_a_window_that_was_small_for_a_moment_is_drawn_again(files: Tree, live: Start) -> None:
    """The terminal loses what it cannot show, and the program sees the same size as before."""
    terminal = live("lease")
    before = terminal.see(lambda text: "3 hits" in text and "4 def renew(lease):" in text)
    os.kill(terminal.process.pid, signal.SIGSTOP)
    os.waitpid(terminal.process.pid, os.WUNTRACED)
    terminal.resize(2, 10)
    terminal.resize(24, 100)
    assert "renew" not in terminal.text()
    os.kill(terminal.process.pid, signal.SIGCONT)
    terminal.see(lambda text: text == before)


@pytest.mark.shares_daemon
def test_the_page_shows_what_is_drawn(files: Tree, live: Start) -> None:
    """The picture in docs/live.md; with LIVEDEX_DRAW=1 it is written there."""
    terminal = live("lease", size=(12, 100))
    terminal.see(lambda text: "3 hits" in text and "4 def renew(lease):" in text)
    drawn = "\n".join(terminal.rows()) + "\n"
    page = PAGE.read_text()
    made = re.sub(r"(?<=```text\n)> lease.*?(?=```)", lambda _: drawn, page, count=1, flags=re.DOTALL)
    if os.environ.get("LIVEDEX_DRAW"):
        PAGE.write_text(made)
    assert made == page


def test_it_goes_on_after_the_daemon_was_killed(daemon: Daemon, tree: Tree, live: Start) -> None:
    tree.write("a.md", "a lease\n")
    with daemon.client() as client:
        add_root(client, tree)
    terminal = live("lease")
    terminal.see("1 hit")
    terminal.type(" /follow\r")
    terminal.see("following · 1 hit")
    with daemon.paused():
        os.kill(daemon.pid, signal.SIGKILL)
    terminal.see("ended")
    tree.write("b.md", "another lease\n")
    terminal.see("following · 2 hits")
    terminal.type("\x1b")
    assert terminal.end()[0] == 130


def test_without_a_daemon_it_says_so_and_ends_on_escape(live: Start) -> None:
    terminal = live("--no-spawn")
    terminal.see(lambda text: "no daemon" in text and "livedex up" in text)
    terminal.type("\x1b")
    assert terminal.end()[0] == 130


@pytest.mark.parametrize("name", ["dumb", "", "no-such-terminal"])
def test_a_terminal_that_cannot_draw_is_refused_with_the_remedy(live: Start, name: str) -> None:
    terminal = live(env={"TERM": name})
    assert terminal.end()[0] == 4
    assert "use `livedex search QUERY`" in terminal.text().replace("\n", "")


def test_without_a_terminal_it_is_refused_with_the_remedy(home: Home) -> None:
    command = [str(LIVEDEX), "live"]
    env = {**home.env, "TERM": "xterm"}
    done = subprocess.run(
        command, check=False, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True
    )
    assert done.returncode == 4
    assert "needs a terminal, and there is none: use `livedex search QUERY`" in done.stderr


def test_livedex_alone_prints_its_help(home: Home) -> None:
    done = home.run()
    assert done.returncode == 0
    assert "live " in done.stdout


def test_the_first_picture_needs_few_modules(home: Home) -> None:
    """All that draws is imported before the terminal is refused; it draws before it connects to the daemon."""
    program = (
        "import sys\nfrom livedex_ipc.cli.main import main\nsys.argv = ['livedex', 'live']\nmain()\nprint(*sys.modules)"
    )
    env = {**home.env, "TERM": "dumb"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    slow = {"asyncio", "dataclasses", "inspect", "argparse", "pathlib", "rich", "logging", "threading", "tempfile"}
    slow |= {"socket", "livedex_ipc.client", "livedex_ipc.method_calls"}
    assert not slow & set(done.stdout.split())


def test_a_busy_daemon_stops_no_key(home: Home, live: Start) -> None:
    """Keys are drawn while no answer comes."""
    import threading

    release = threading.Event()

    def never(_params: object) -> object:
        release.wait(60)
        return {}

    with CannedDaemon(home.socket, search=never):
        terminal = live()
        terminal.type("lease")
        terminal.see(lambda text: "> lease" in text and "…" in text)
        terminal.type("\x1b")
        assert terminal.end()[0] == 130
        release.set()
