"""Say what is wrong with the daemon now: one check for each part, each fault with its remedy.

Invariant: a part that is well has no warning, and each warning names what to do.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Final, NamedTuple

import apsw

from livedex_daemon.answer.exchange_thread import ExchangeThread
from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.answer.knowledge_answers import KnowledgeThread
from livedex_daemon.answer.plugin_methods import plugin_warnings
from livedex_daemon.answer.stuck_check import StuckCheck
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.settings import RESTORE
from livedex_daemon.documents.lane import Lane
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.exchange.dead_letters import DeadLetters, described
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.process import logs
from livedex_daemon.process.restart import Restart
from livedex_daemon.process.socket_guard import SocketGuard
from livedex_daemon.process.supervision import Part
from livedex_daemon.subscriptions.standing_messages import StandingMessages
from livedex_daemon.watch import unreadable
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import PATH_MAX, Root, Roots
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.crashes import Crashes
from livedex_daemon.write.worker import Worker
from livedex_indexing.disk.mounts import mount_point
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.path_text import display_path
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import IndexUnwritable
from livedex_ipc.wire_results import AnswerWarning

Warnings = list[AnswerWarning]

_SHOWN_PATH: Final = 120  # characters of a path that is too long
# Why folders have no watch, and the remedy.
_LIMITED: Final = (
    "the system's limit is reached",
    "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)",
)
_FORBIDDEN: Final = (
    "the system forbids it",
    "let the filter of system calls, of a container or a service, allow inotify_init1 and inotify_add_watch",
)


class DaemonState(NamedTuple):
    """The parts of the daemon that the status reports on."""

    index_file: IndexFile
    roots: Roots
    worker: Worker
    pool: Pool
    socket_guard: SocketGuard
    config: CurrentConfig
    crashes: Crashes
    forgotten: ForgottenFiles
    freshness: Freshness
    latency: CommitLatency
    watching: EventSource
    parts: tuple[Part, ...]
    stuck: StuckCheck
    restart: Restart
    plugins: PluginHost
    embedding: EmbeddingThread
    backend: BackendSwitch
    lanes: Sequence[Lane]
    standing: StandingMessages
    exchange: ExchangeThread
    memory: KnowledgeThread


def _root_warnings(root: Root, *, is_forbidden: bool) -> Warnings:
    path = display_path(root.path)
    if root.is_unseen:
        return []  # what keeps it from being looked at is a warning of its own
    if root.state == "missing":
        where = f": {root.taken_by} is in its place" if root.taken_by else ""
        fix = "move that away and create the folder" if root.taken_by else "mount or create it"
        return [
            warning(
                "root_missing",
                f"{path} is missing{where}; livedex keeps its entries for 24 hours and does not serve them",
                f"{fix}, or run `livedex roots remove {quote(path)}`",
            )
        ]
    if root.state == "denied":
        return [warning("root_denied", f"this user may not read {path}", f"give this user permission to read {path}")]
    found: Warnings = []
    for path, why in root.rules.faults().items():
        message = f"livedex cannot apply all of {path}: it {why}"
        found.append(warning("ignore_file", message, "replace it with a small regular text file"))
    return found + _unwatched(root, is_forbidden=is_forbidden)


def _unwatched(root: Root, *, is_forbidden: bool) -> Warnings:
    """Say which folders have no watch, and why. ``is_forbidden``: the system forbids to watch anything."""
    refused = tuple(root.refused)
    too_long = [each for each in refused if root.is_too_long(each)]
    found: Warnings = []
    path = display_path(root.path)
    if len(refused) > len(too_long):
        folders = path if b"" in refused else f"{len(refused) - len(too_long)} folders of {path}"
        why, remedy = _FORBIDDEN if is_forbidden else _LIMITED
        message = f"livedex cannot watch {folders} and polls instead: {why}"
        found.append(warning("watch_limit", message, remedy))
    if too_long:
        top = display_path(root.absolute(min(too_long, key=len)))
        message = f"livedex polls {len(too_long)} folders of {path}, whose paths have more than {PATH_MAX - 1} bytes"
        remedy = f"no program can watch them: move or shorten {top[:_SHOWN_PATH]}…, or add a rule that leaves it out"
        found.append(warning("watch_limit", message, remedy))
    return found


def _store_warning(fault: IndexUnwritable, db_path: str) -> AnswerWarning:
    error = fault.__cause__
    if isinstance(error, apsw.FullError):
        return warning("disk_full", f"the disk of {db_path} is full: indexing waits", "free some space on it")
    if isinstance(error, apsw.BusyError):
        return warning(
            "store_busy",
            f"another program has locked {db_path}: indexing waits",
            f"end that program; `fuser {db_path}` names it",
        )
    return warning(
        "backend_unavailable",
        f"livedex cannot write {db_path} ({error or fault}): indexing waits",
        "check that its disk works and is writable, and that no quota or limit of file size is reached",
    )


def root_warnings(state: DaemonState) -> Warnings:
    is_forbidden = state.watching.is_forbidden
    return [found for root in state.roots for found in _root_warnings(root, is_forbidden=is_forbidden)]


def _unwritable_store(state: DaemonState) -> Warnings:
    fault = state.index_file.health.fault
    return [_store_warning(fault, state.index_file.store.path)] if fault is not None else []


def _dead_worker(state: DaemonState) -> Warnings:
    if not state.worker.alive() and state.freshness.begun.is_set():
        return [
            warning(
                "worker_dead",
                "livedex indexes no changes any more: its worker thread ended",
                "run `livedex down`, then `livedex up`",
            )
        ]
    if state.worker.turn_fault is None:
        return []
    message = f"livedex cannot index changes: each try ends with {state.worker.turn_fault}"
    return [warning("worker_dead", message, "see the log for the cause; a recent change triggers it")]


def _dead_threads(state: DaemonState) -> Warnings:
    failed = {f"{part.name} ({part.fault})" for part in state.parts if part.fault is not None}
    watcher = state.watching.watcher
    if watcher is not None and not watcher.alive():
        failed.add("watcher")
    if not failed:
        return []
    message = f"a part of the daemon failed and is started again: {', '.join(sorted(failed))}"
    return [warning("thread_dead", message, "see the log for the cause; if it stays, run `livedex down`, then up")]


def _stuck(state: DaemonState) -> Warnings:
    paths = state.stuck.stuck(state.roots, state.index_file.health)
    if not paths:
        return []
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    message = f"{display_path(paths[0])}{more}: the change is pending for more than 30 s and does not move"
    return [warning("stuck", message, "see that its disk answers and the file rests; else `livedex down`, then up")]


def _lost_log(_state: DaemonState) -> Warnings:
    file = logs.log_file()
    if file is None or file.fault is None:
        return []
    kept = "lines go to the daemon's stderr, which is kept only if a service or a terminal started it"
    message = f"the log {file.baseFilename} cannot be written ({file.fault}): {kept}"
    remedy = "free some space on its disk, make it and its folder writable, or move away what is in its place"
    return [warning("log_unavailable", message, remedy)]


def _no_chunk_worker(state: DaemonState) -> Warnings:
    fault = state.pool.worker_fault
    if fault is None:
        return []
    if fault.other_version:
        message = f"livedex was upgraded while this daemon runs, so that it cannot index new text ({fault.reason})"
        return [warning("restart_needed", message, "run `livedex down`, then any command; it starts the new version")]
    message = f"livedex cannot index new text: the chunk worker does not run ({fault.reason})"
    if not os.path.exists(sys.executable):  # an upgrade of Python, or an environment that was made again elsewhere
        return [warning("chunk_worker", message, "livedex was upgraded or moved: restart the daemon (`livedex down`)")]
    return [warning("chunk_worker", message, "run `livedex doctor`, or install livedex again")]


def _no_parse_worker(state: DaemonState) -> Warnings:
    reasons = sorted({lane.fault for lane in state.lanes if lane.fault is not None})
    if not reasons or not state.worker.conversions.needs_lane():
        return []
    message = (
        f"livedex cannot convert documents ({'; '.join(reasons)}): they wait, and are tried again every few seconds"
    )
    return [warning("parse_worker", message, "run `livedex doctor`, or install livedex with its parsers again")]


def _standing_waits(state: DaemonState) -> Warnings:
    faults = state.standing.faults()
    if not faults:
        return []
    query, reason = faults[0]
    more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    message = f"the standing query {query!r}{more} cannot publish its messages ({reason}): they wait"
    return [warning("standing_waits", message, "see `livedex exchange stats`; the messages follow by themselves")]


def _lost_exchange(state: DaemonState) -> Warnings:
    fault = state.exchange.fault
    return [] if fault is None else [warning("exchange_unavailable", fault.message, fault.remedy)]


def _lost_memory(state: DaemonState) -> Warnings:
    fault = state.memory.fault
    return [] if fault is None else [warning("knowledge_unavailable", fault.message, fault.remedy)]


def dead_letter_warnings(found: Sequence[DeadLetters]) -> Warnings:
    return [warning("dead_letters", *described(found))] if found else []


def _lost_socket(state: DaemonState) -> Warnings:
    socket_guard = state.socket_guard
    if socket_guard.fault is None:
        return []
    remedy = f"move away the file at {socket_guard.path}, or create its folder again; livedex then makes the socket"
    return [warning("socket_lost", f"new clients cannot connect: {socket_guard.fault}", remedy)]


def _refused_config(state: DaemonState) -> Warnings:
    fault = state.config.fault
    if fault is None:
        return []
    remedy = "run `livedex config validate` and correct the faults that it lists"
    if fault.endswith(RESTORE):  # an emptied file is a fault only while there are roots
        fault, remedy = fault.removesuffix(f": {RESTORE}"), RESTORE
    message = f"livedex refuses the changed configuration: {fault}; the former one stays in force"
    return [warning("config_refused", message, remedy)]


def _restart_needed(state: DaemonState) -> Warnings:
    reason, fault = state.restart.reason, state.pool.worker_fault
    if reason is None or (fault is not None and fault.other_version):  # then the fault is reported
        return []
    message = f"this daemon runs other code than is installed ({reason}); it ends once it is idle"
    return [warning("restart_needed", message, "wait, or run `livedex down`, then `livedex up`")]


def _paused(state: DaemonState) -> Warnings:
    if not state.pool.is_paused:
        return []
    message = "on battery, changes that nobody has searched for yet wait for mains power"
    return [warning("paused", message, "set `power.wait_on_battery = false`, or run `livedex sync`")]


def _safe_mode(state: DaemonState) -> Warnings:
    count = len(state.crashes.avoided)
    if not count:
        return []
    message = f"livedex skips {count} files: the daemon crashed three times while it read them"
    remedy = "run `livedex list --status failed`; change or ignore them, then `livedex down` and `livedex up`"
    return [warning("safe_mode", message, remedy)]


def _rebuilt_index(state: DaemonState) -> Warnings:
    if not state.index_file.health.rebuilding:
        return []
    cause = "it was damaged, lost or replaced, or another version of livedex made it"
    message = f"livedex rebuilds the index from the files: {cause}"
    return [warning("index_rebuilding", message, "nothing to do: the rebuild ends by itself")]


def _read_errors(state: DaemonState) -> Warnings:
    return [_read_error(state.roots, trouble) for trouble in state.worker.unreadable.troubles()]


def _read_error(roots: Roots, trouble: unreadable.Trouble) -> AnswerWarning:
    path = roots.absolute(*trouble.first)
    first = display_path(path)
    others = f" and {trouble.paths - 1} more" if trouble.paths > 1 else ""
    if trouble.errno == errno.ETIMEDOUT:
        mount = display_path(mount_point(path))
        message = f"{mount} does not answer: {first}{others} cannot be read; it is asked again every few seconds"
        return warning("read_errors", message, f"check its server or the network, or run `umount -l {quote(mount)}`")
    message = f"{first}{others} cannot be read ({trouble.text}); each is tried again every few seconds"
    if trouble.errno in unreadable.SHORTAGES:
        return warning("read_errors", message, "close what uses up the memory or the open files of this user")
    return warning("read_errors", message, "check the disk or the share that it lies on; the rest follows by itself")


def _lost_marks(state: DaemonState) -> Warnings:
    if not state.forgotten.is_lost:
        return []
    message = f"the record of forgotten files, {state.forgotten.path}, was damaged or removed: some may be found again"
    remedy = "run `livedex forget` for what must not be found, then `livedex down` and `livedex up`"
    return [warning("forgotten_lost", message, remedy)]


def failed_files(count: int) -> Warnings:
    if not count:
        return []
    message = f"{count} file{'s' if count != 1 else ''} could not be indexed"
    return [warning("files_failed", message, "run `livedex list --status failed` for the reasons")]


CHECKS: Final[tuple[Callable[[DaemonState], Warnings], ...]] = (  # in the order of the status
    root_warnings,
    _read_errors,
    _unwritable_store,
    _dead_worker,
    _dead_threads,
    _stuck,
    _lost_log,
    _no_chunk_worker,
    _no_parse_worker,
    _standing_waits,
    _lost_exchange,
    _lost_memory,
    _lost_socket,
    _refused_config,
    _restart_needed,
    _paused,
    _safe_mode,
    _rebuilt_index,
    _lost_marks,
    lambda state: plugin_warnings(state.plugins, state.pool.pipelines, state.backend),
)
