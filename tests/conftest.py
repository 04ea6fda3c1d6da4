"""The fixtures that all tests share.

Invariant: a test sees only the home, the daemon and the folders that it asked for, and leaves none behind.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from helpers import daemon_template
from helpers.browser import Tabs, chromium, opened
from helpers.daemon_health import healthy_to_the_end
from helpers.fake_gateway import FakeGateway
from helpers.fault_injection import TICKS_OFTEN, with_code
from helpers.postgres_server import Postgres, running_postgres
from helpers.shared_daemon import SharedDaemon
from helpers.support import Daemon, Home, Tree, examples, temporary_home, usual_environment
from helpers.web_process import WebProcess
from livedex_daemon.__main__ import SWITCH_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from livedex_ipc.client import Client


# No test asserts a time: on a busy machine an example may take long.
settings.register_profile(
    "livedex", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("livedex")
# A shell that runs the tests in the background ignores Ctrl-C, and the processes of the tests would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# With this variable, which many containers set, each daemon compiles all of livedex: half of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# As in the daemon: a test whose threads talk to each other waits for the interpreter's lock each time.
sys.setswitchinterval(SWITCH_S)
# `make agents` installs these programs; a developer's own come first.
os.environ["PATH"] += os.pathsep + str(Path(sys.prefix) / "agents" / "node_modules" / ".bin")
daemon_template.expect(usual_environment())


def pytest_collection_finish() -> None:
    """Ten thousand tests stay until the end: no collection of garbage looks through them again."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        missing = [program for program in mark.args if shutil.which(program) is None]
        if missing:
            pytest.skip(f"not installed here: {', '.join(missing)}")


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home for one test, at a short path; a daemon that was started in it is ended.

    A test marked ``shares_daemon`` gets the home of the shared daemon.
    """
    if request.node.get_closest_marker("shares_daemon") is not None:
        yield request.getfixturevalue("shared_daemon").home
        return
    broken = request.node.get_closest_marker("breaks_daemon") is not None
    with temporary_home(tracebacks=broken) as made:
        yield made


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty folder to fill, index and change."""
    return Tree(tmp_path / "root")


@pytest.fixture
def start_daemon(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Starts a daemon in the test's home: ``start_daemon(config="…", VARIABLE="…")``. All are stopped at the end.

    Those that still run then must be healthy, and leave no process, unless the test says that it breaks them.
    """
    started: list[Daemon] = []
    often = request.node.get_closest_marker("ticks_often") is not None
    usual = with_code(tmp_path / "often", TICKS_OFTEN) if often else {}

    def start(config: str | None = None, *, wrap: Sequence[str] = (), **env: str) -> Daemon:
        daemon = Daemon(home, config, wrap=wrap, **{**usual, **env})
        started.append(daemon)
        return daemon.start()

    yield start
    broken = request.node.get_closest_marker("breaks_daemon") is not None
    for daemon in started:
        if daemon.running():
            with nullcontext() if broken else healthy_to_the_end(daemon):
                daemon.stop()


@pytest.fixture(scope="session")
def shared_daemon() -> Iterator[SharedDaemon]:
    shared = SharedDaemon()
    yield shared
    shared.end()


@pytest.fixture
def daemon(request: pytest.FixtureRequest) -> Iterator[Daemon]:
    """A running daemon with the default configuration and no roots."""
    if request.node.get_closest_marker("shares_daemon") is not None:
        shared: SharedDaemon = request.getfixturevalue("shared_daemon")
        yield shared.daemon
        shared.reset()
        return
    start_daemon: Callable[..., Daemon] = request.getfixturevalue("start_daemon")
    yield start_daemon()


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A connection to ``daemon``."""
    with daemon.client() as connected:
        yield connected


@pytest.fixture
def gateway() -> Iterator[FakeGateway]:
    """A gateway of embeddings on this machine."""
    made = FakeGateway()
    yield made
    made.close()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL in a folder."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for tests of the web page."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def web(shared_daemon: SharedDaemon) -> Iterator[WebProcess]:
    """`livedex web` on the shared daemon."""
    with WebProcess(shared_daemon.home, EDITOR="code") as started:
        yield started


@pytest.fixture
def tabs(browser: Browser, web: WebProcess) -> Iterator[Tabs]:
    """Tabs of a browser that has nothing of an earlier test."""
    with opened(browser, web.origin) as made:
        yield made
