"""The doctor's checks of the software: Python, SQLite, the libraries, and the running daemon.

Invariant: libraries are located but not imported (chonkie alone takes 36 MB), and no daemon is started.
"""

from __future__ import annotations

import platform
import resource
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

from livedex_daemon.doctor.check_result import Check, failed, ok, warning
from livedex_daemon.doctor.service_checks import waits_for_client
from livedex_daemon.process.descriptors import FEWEST
from livedex_daemon.process.soft_limits import hard_limit
from livedex_indexing.chunk.grammars import DISTRIBUTIONS
from livedex_indexing.parse import parsers, sandbox
from livedex_ipc import __version__, client, paths
from livedex_ipc.errors import InvalidParams, LivedexError, TimedOut

PYTHON = (3, 11)
SQLITE = (3, 51, 3)  # the first in which a WAL reset during a read cannot corrupt the file
_REINSTALL = "install livedex again"
# module: what livedex uses it for
COMPONENTS = {
    "apscheduler": "schedules reconciling and maintenance",
    "charset_normalizer": "reads text that is not UTF-8",
    "chonkie": "cuts files into chunks",
    "msgspec": "talks to the processes that cut files",
    "pathspec": "matches ignore patterns",
    "platformdirs": "finds the folders of the user",
    "re2": "runs patterns in linear time",
    "rich": "prints tables and progress bars",
    "tomlkit": "edits the configuration",
    "tree_sitter": "reads the syntax of code",
    "watchdog": "reports changed files",
    "yaml": "reads frontmatter",
}
ANSWER_S = 3.0
_FEW_DESCRIPTORS = 1024


def versions() -> Iterator[Check]:
    """The versions of Python and livedex."""
    message = (
        f"livedex {__version__} on {platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    )
    if sys.version_info < PYTHON:
        yield failed("versions", message, f"livedex needs Python {'.'.join(map(str, PYTHON))} or newer")
    else:
        yield ok("versions", message)


def sqlite() -> Iterator[Check]:
    """APSW's SQLite, tested with the kind of table that the index uses."""
    try:
        import apsw
    except ImportError as fault:
        yield failed("sqlite", f"apsw cannot be loaded: {fault}", _REINSTALL)
        return
    version = apsw.sqlite_lib_version()
    numbers = tuple(int(number) for number in version.split("."))
    if numbers < SQLITE:
        wanted = ".".join(map(str, SQLITE))
        yield failed("sqlite", f"SQLite {version} can corrupt an index; {wanted} and later cannot", "upgrade apsw")
        return
    try:
        with apsw.Connection(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(body, content='', contentless_delete=1)")
    except apsw.Error as fault:
        yield failed("sqlite", f"SQLite {version} has no full-text search: {fault}", "install apsw from its wheel")
        return
    yield ok("sqlite", f"SQLite {version} with FTS5")


def components() -> Iterator[Check]:
    """The libraries, and the grammars; code without a grammar is chunked as plain text."""
    missing = [name for name in COMPONENTS if find_spec(name) is None]
    if missing:
        lost = "; ".join(f"{name} ({COMPONENTS[name]})" for name in missing)
        yield failed("components", f"not installed: {lost}", _REINSTALL)
    else:
        tested = ", ".join(f"{name} {_version(name)}" for name in ("chonkie", "tree-sitter", "watchdog"))
        yield ok("components", f"all {len(COMPONENTS)} are installed: {tested}, …")
    absent = sorted({name for name in DISTRIBUTIONS.values() if find_spec(name.replace("-", "_")) is None})
    if absent:
        without = ", ".join(language for language, name in DISTRIBUTIONS.items() if name in absent)
        yield warning("grammars", f"cut without their syntax: {without}", f"pip install {' '.join(absent)}")
    else:
        yield ok("grammars", f"{len(DISTRIBUTIONS)} languages are cut along their syntax")


def documents() -> Iterator[Check]:
    """The parsers of documents, and what keeps them from doing harm."""
    found = {suffix: parsers.identity_of(name, suffix, {}) for suffix, name in parsers.defaults().items()}
    missing = [suffix for suffix, identity in found.items() if identity is None]
    used = sorted({parsers.name_of(identity) for identity in found.values() if identity is not None})
    if not used:
        yield ok("documents", "not converted: no parser is installed (pip install 'livedex[documents]')")
        return
    if missing:
        message = f"{', '.join(used)} cannot read {', '.join(missing)}"
        yield warning("documents", message, "pip install 'livedex[documents]'")
    else:
        yield ok("documents", f"converted by {', '.join(used)}")
    lacking = sandbox.available().missing
    if lacking:
        message = f"a parser is not kept from {' and '.join(lacking)}"
        yield warning("sandbox", message, "convert only what you trust; Linux 5.13 and later can keep it")
    else:
        yield ok("sandbox", "a parser reaches one document, no network and no other process")


def daemon() -> Iterator[Check]:
    """Does a daemon run, answer, and have this version? None running is ok: commands start it."""
    where = paths.socket_path()
    if waits_for_client():
        yield ok("daemon", "no daemon runs; the first client starts the service's")
        return
    try:
        paths.check_length(where)
    except InvalidParams:
        return  # the check of the socket says so
    try:
        connection = client.attempt(where, wait_s=ANSWER_S)
        if connection is None:
            yield ok("daemon", "no daemon runs; the first command that needs one starts it")
            return
        with connection:
            info = connection.call("server/info", timeout_s=ANSWER_S)
            status = connection.call("status", timeout_s=ANSWER_S)
    except TimedOut:
        yield failed(
            "daemon", f"the daemon on {where} does not answer", "end it with `livedex down`, or kill its process"
        )
        return
    except LivedexError as fault:
        yield failed("daemon", fault.message, "run `livedex down`; if that does not help, remove the socket")
        return
    warned = [each for each in status["warnings"] if each["code"] != "dead_letters"]  # which has a check of its own
    running = f"livedex {info['version']} runs as process {info['pid']}"
    if info["version"] != __version__:
        fix = "restart it: `livedex down`; the next command starts the new one"
        yield warning("daemon", f"{running}, and livedex {__version__} is installed", fix)
    elif not warned:
        yield ok("daemon", running)
    for each in warned:
        yield warning("daemon", f"{running}, and warns: {each['message']}", each["remedy"])


def descriptors() -> Iterator[Check]:
    """How many files the daemon may open: it raises the limit as far as the system lets it."""
    limit = descriptor_limit()
    if limit is None:
        message = "the system does not say how many files a process may open: livedex reckons with few"
        yield warning("descriptors", message, "allow the system call prlimit64 (systemd's @resources)")
        return
    message = f"a process may open {limit} files"
    if limit < FEWEST:
        fix = "raise the hard limit (ulimit -Hn, LimitNOFILE= of a service)"
        yield failed("descriptors", f"{message}, and the daemon needs {FEWEST}", fix)
    elif limit < _FEW_DESCRIPTORS:
        yield warning("descriptors", f"{message}, which leaves few for clients", "raise the hard limit (ulimit -Hn)")
    else:
        yield ok("descriptors", message)


def limits() -> Iterator[Check]:
    """The hard limits that end the daemon or stop its index from growing, where there are any."""
    seconds, size = hard_limit(resource.RLIMIT_CPU), hard_limit(resource.RLIMIT_FSIZE)
    if seconds is not None:
        message = f"the system ends a process after {seconds} s of processor time, and so the daemon"
        yield warning("limits", message, "raise the hard limit (ulimit -Ht, LimitCPU= of a service)")
    if size is not None:
        message = f"no file may grow beyond {size // 1_000_000} MB, and so not the index"
        yield warning("limits", message, "raise the hard limit (ulimit -Hf, LimitFSIZE= of a service)")


def descriptor_limit() -> int | None:
    """Return the hard limit of open files of a process; None where a filter of system calls forbids to ask."""
    try:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    except OSError:
        return None
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "?"
