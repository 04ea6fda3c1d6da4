"""The child that converts a document: what it is kept from, what it may use up, and what its end means."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.acting_parser import ACTIONS
from helpers.fault_injection import with_code
from helpers.support import is_alive, running, wait_until
from livedex_indexing.child import child_starter
from livedex_indexing.parse import sandbox
from livedex_indexing.parse.parse_messages import MOST_TEXT_BYTES
from livedex_indexing.parse.parse_process import Converted, Failure, NoParser, Request, convert, remove_copies

Act = Callable[..., "Converted | Failure"]
sealed = pytest.mark.skipif(
    bool(sandbox.available().missing), reason="this system has no landlock or no seccomp to try"
)


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Act]:
    for name, value in with_code(tmp_path / "seam", ACTIONS).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "copies"
    folder.mkdir()

    def run(words: str, *, timeout_s: float = 30.0, parser: str = "markitdown") -> Converted | Failure:
        return convert(Request(words.encode(), ".docx", parser, timeout_s, str(folder)))

    yield run
    assert list(folder.iterdir()) == []


def test_it_answers_with_the_text_and_leaves_no_copy(act: Act) -> None:
    assert act("say # One\r\n\r\nword\0s\n") == Converted(b"# One\n\nwords\n", [])
    assert act("refuse it is encrypted") == Failure("it is encrypted")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("hang", "timed out after 1 s"),
        ("crash", "killed by signal 11"),
        ("exit", "exit status 3"),
        ("eat", "out of memory"),
        ("flood", "too much text"),
    ],
)
def test_one_that_uses_up_its_worker_is_ended_and_blamed(act: Act, words: str, reason: str) -> None:
    timeout_s = 1.0 if words == "hang" else 30.0
    assert act(words, timeout_s=timeout_s) == Failure(reason, is_exhausted=True)


def test_too_much_text_is_the_documents_own_fault(act: Act) -> None:
    assert act(f"long {MOST_TEXT_BYTES + 1}") == Failure("too large: it has more than 32 MiB of text")


@sealed
@pytest.mark.parametrize("words", ["fork", "call", "run", "kill 1", "read /etc/hostname", "list /", "write /dev/shm/x"])
def test_it_reaches_nothing_but_its_document(act: Act, words: str) -> None:
    assert act(words) == Failure("the parser failed (PermissionError)")


@sealed
def test_it_reads_no_other_file_of_the_user(act: Act, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("secret")
    assert act(f"read {tmp_path / 'diary.txt'}") == Failure("the parser failed (PermissionError)")


def test_it_opens_few_files(act: Act) -> None:
    assert act("open") == Failure("the parser failed (OSError)")


def test_a_parser_that_cannot_be_loaded_blames_no_document(act: Act) -> None:
    with pytest.raises(NoParser):
        act("say hello", parser="pypdfium2")


def test_a_parser_of_a_plugin_that_cannot_be_loaded_is_tried_twice(act: Act) -> None:
    found = act("say hello", parser="missing")
    assert found == Failure("the parser 'missing' cannot be loaded (exit status 1)", is_exhausted=True)


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = tmp_path / "pid.py"
    environment = with_code(tmp_path / "seam", ACTIONS)
    script = f"""
import os
os.environ.update({environment!r})
from livedex_indexing.parse import parse_process
whole = parse_process.start_child
def start(arguments, environment):
    child = whole(arguments, environment)
    with open({str(code)!r}, "w") as file:
        file.write(str(child.pid))
    return child
parse_process.start_child = start
parse_process.convert(parse_process.Request(b"hang ", ".docx", "markitdown", 600, {str(tmp_path)!r}))
"""
    with running(script):
        pid = wait_until(lambda: code.exists() and code.read_text(), 30, what="the child")
    wait_until(lambda: not is_alive(int(pid)), 30, what="the end of the child")
    mine = ["document-archived/letter.pdf", "document-2024/document.pdf"]  # LIVEDEX_HOME may be any folder
    for name in mine:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    remove_copies(str(tmp_path))
    assert sorted(map(str, tmp_path.glob("document-*/*"))) == sorted(str(tmp_path / name) for name in mine)


def test_one_that_is_killed_from_outside_releases_its_caller(act: Act) -> None:
    answers: list[Converted | Failure | NoParser] = []

    def run() -> None:
        try:
            answers.append(act("hang", timeout_s=600))
        except NoParser as error:  # it was killed while it loaded
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def killed() -> bool:
        child_starter.kill_all()
        return not thread.is_alive()

    wait_until(killed, 60, what="the release of the caller")
    assert len(answers) == 1
    assert not isinstance(answers[0], Converted)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these")
def test_what_the_system_has_is_said() -> None:
    means = sandbox.available()
    assert (means.missing == []) == (means.landlock > 0 and means.filters and means.limits)
    assert sys.prefix in sandbox.library_folders()
