"""The output for the journal: entries with fields on a socket of the test; lines on stderr if nothing listens there."""

from __future__ import annotations

import array
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from helpers.support import Home
from livedex_service import journal

FORMAT = """
import logging, os, sys
if sys.argv[1] == "journal":
    info = os.fstat(2)
    os.environ["JOURNAL_STREAM"] = f"{info.st_dev}:{info.st_ino}"
elif sys.argv[1] == "other":
    os.environ["JOURNAL_STREAM"] = "1:2"
from livedex_service import journal
journal.JOURNAL_SOCKET = sys.argv[2]
handler = journal.log_handler()
log = logging.getLogger("livedex.test")
log.addHandler(handler)
log.setLevel(1)
log.info("started", extra={"roots": 2, "path": "a b"})
log.warning("slow")
try:
    raise ValueError("x")
except ValueError:
    log.exception("failed")
log.debug("detail")
log.critical("gone")
"""


def lines_of(where: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", FORMAT, where, "/nowhere"], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()


def test_in_the_journal_each_line_has_its_priority() -> None:
    lines = lines_of("journal")
    assert lines[:2] == ["<6>livedex.test started roots=2 path='a b'", "<4>livedex.test slow"]
    assert lines[2] == "<3>livedex.test failed" and lines[3].startswith("<3>Traceback")
    assert all(line.startswith("<3>") for line in lines[2:-2])
    assert lines[-2:] == ["<7>livedex.test detail", "<2>livedex.test gone"]


@pytest.mark.parametrize("where", ["nothing", "other"])
def test_elsewhere_lines_have_a_time(where: str) -> None:
    first = lines_of(where)[0]
    assert first.endswith("INFO livedex.test started roots=2 path='a b'") and first[:2] == "20"


def test_a_stderr_that_is_closed_is_no_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNAL_STREAM", "1:2")
    monkeypatch.setattr(sys, "stderr", None)
    assert not isinstance(journal.log_handler(), journal.JournalHandler)
    record = logging.LogRecord("n", logging.INFO, "p", 1, "event", (), None)
    assert journal.JournalFormatter().format(record) == "<6>n event"


@pytest.fixture
def listening(home: Home) -> Iterator[socket.socket]:
    if sys.platform != "linux":
        pytest.skip("the journal is Linux's")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.bind(str(home.path / "journal"))
        yield sock


@pytest.fixture
def log(home: Home, listening: socket.socket, monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    monkeypatch.setitem(sys.modules, "systemd", None)  # the datagram protocol, on any system
    made = logging.Logger("livedex.test")
    handler = journal.JournalHandler(str(home.path / "journal"))
    made.addHandler(handler)
    yield made
    handler.close()


def entry(data: bytes) -> dict[str, str]:
    """Return the fields of an entry in the journal's protocol."""
    fields = {}
    while data:
        line, _, data = data.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            size = int.from_bytes(data[:8], "little")
            value, data = data[8 : 8 + size], data[9 + size :]
        fields[name.decode()] = value.decode()
    return fields


def test_an_event_comes_with_its_fields(log: logging.Logger, listening: socket.socket) -> None:
    log.warning("root_lost", extra={"path": "/a\nb=c", "files": 3, "a-b": None})
    found = entry(listening.recv(99_999))
    assert found["MESSAGE"].startswith("livedex.test root_lost path=")
    del found["MESSAGE"], found["CODE_FILE"], found["CODE_LINE"]
    assert found == {
        "PRIORITY": "4",
        "SYSLOG_IDENTIFIER": "livedex",
        "CODE_FUNC": "test_an_event_comes_with_its_fields",
        "LIVEDEX_EVENT": "root_lost",
        "LIVEDEX_LOGGER": "livedex.test",
        "LIVEDEX_PATH": "/a\nb=c",
        "LIVEDEX_FILES": "3",
        "LIVEDEX_A_B": "None",
    }


def test_what_is_too_large_for_a_datagram_comes_as_a_file(log: logging.Logger, listening: socket.socket) -> None:
    log.error("large", extra={"text": "x" * 1_000_000})
    _data, rights, _flags, _sender = listening.recvmsg(99, 1024)
    file = array.array("i", rights[0][2][:4])[0]
    with open(file, "rb") as sent:
        sent.seek(0)
        assert entry(sent.read())["LIVEDEX_TEXT"] == "x" * 1_000_000


def test_a_journal_that_is_gone_or_does_not_read_costs_nothing(
    capfd: pytest.CaptureFixture[str], log: logging.Logger, listening: socket.socket, home: Home
) -> None:
    for _ in range(2000):
        log.warning("again")
    assert "<4>livedex.test again" in capfd.readouterr().err, "its queue is full: the line goes to stderr"
    listening.close()
    (home.path / "journal").unlink()
    log.warning("gone")
    assert capfd.readouterr().err == "<4>livedex.test gone\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as back:
        back.bind(str(home.path / "journal"))
        log.warning("back")
        assert entry(back.recv(99_999))["LIVEDEX_EVENT"] == "back"


def test_systemd_python_is_used_where_it_is_installed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, ...]] = []
    package, module = ModuleType("systemd"), ModuleType("systemd.journal")
    module.sendv = lambda *fields: sent.append(fields)  # type: ignore[attr-defined]
    package.journal = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "systemd", package)
    monkeypatch.setitem(sys.modules, "systemd.journal", module)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as back:
        back.bind(str(home.path / "journal"))
        monkeypatch.setattr(journal, "JOURNAL_SOCKET", str(home.path / "journal"))
        handler = journal.JournalHandler(journal.JOURNAL_SOCKET)
        handler.emit(logging.LogRecord("n", logging.INFO, "p", 1, "event", (), None))
        handler.close()
    assert {"PRIORITY=6", "LIVEDEX_EVENT=event"} <= {*sent[0]}
