"""Claims the messages of a topic, runs the plugin for each, and publishes what it answers.

Invariant: a message is completed only with the claim of its run, so a worker that was stopped for too long changes
nothing. When the host ends, each message that it had claimed is completed or given back, and no plugin runs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypedDict

from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.precious.precious_database import DatabaseBusy
from livedex_daemon.worker_host.claim_link import ClaimLink
from livedex_daemon.worker_host.group_guard import GroupGuard
from livedex_daemon.worker_host.orphans import MARK, end_orphans, mark_of
from livedex_daemon.worker_host.plugin_outcome import Topics, answer_of, back_off_s
from livedex_daemon.worker_host.plugin_process import PluginProcess, PluginRun, RunLimits, Watch
from livedex_daemon.worker_host.wake_ups import WakeUps
from livedex_ipc.errors import Unavailable
from livedex_ipc.exchange_results import ClaimFields, MessageFields
from livedex_ipc.thread_start import NO_THREAD

BUSY_PAUSE_S: Final = 1.0
AGAIN_EVERY_S: Final = 0.25  # looks whether what was given back can be claimed
BEATS: Final = 3  # renewals of a lease in its time

Ended = Literal["completed", "failed", "timed_out", "given_back", "lost"]


class HostOptions(NamedTuple):
    """``command``: the plugin's words. ``once``: end after one message; ``drain``: end when none waits, and none that
    was given back is still to be tried again."""

    command: tuple[str, ...]
    topics: Topics
    group: str | None
    timeout_s: float
    lease_s: int
    concurrency: int
    once: bool
    drain: bool


class RunReport(TypedDict):
    """What became of one message; ``follow_up_id`` None: nothing was published."""

    message_id: int
    attempt: int
    status: Ended
    exit_status: int
    duration_ms: int
    follow_up_id: int | None


class WorkerHost:
    """``run`` returns when it is done or was stopped; ``stop`` may be called from a signal's handler.

    ``stopped``: a descriptor that can be read once it was stopped.
    """

    def __init__(
        self,
        options: HostOptions,
        open_exchange: Callable[[], Exchange],
        report: Callable[[RunReport], None],
        guard: GroupGuard,
    ) -> None:
        self._options = options
        self._open_exchange = open_exchange
        self._report = report
        self._guard = guard
        self._stopping = threading.Event()
        self._is_stopped = False
        self.stopped, self._stop_writer = os.pipe()
        self._wake_ups = WakeUps(options.topics.topic, self._stopping)
        self._fault: BaseException | None = None
        self._failed = False
        self._again_at = 0.0  # on the monotonic clock: when all that was given back can be claimed

    def run(self) -> bool:
        """Work until there is no more to do. Return whether every plugin succeeded.

        Raises DatabaseUnusable, or Unavailable if the plugin cannot be run, or no thread.
        """
        count = 1 if self._options.once else self._options.concurrency
        threads = []
        try:
            for number in range(count):
                thread = threading.Thread(target=self._work, name=f"worker {number}")
                thread.start()
                threads.append(thread)
        except RuntimeError:
            self._fault = Unavailable(NO_THREAD)
            self.stop()
        for thread in threads:
            thread.join()
        if self._fault is not None:
            raise self._fault
        return not self._failed

    def stop(self) -> None:
        """Claim no more, and end the plugins that run."""
        if not self._is_stopped:
            self._is_stopped = True  # first: a second signal may come while the event's lock is held
            self._stopping.set()
            os.write(self._stop_writer, b"\0")
        self._wake_ups.interrupt()

    def _work(self) -> None:
        """One worker: one plugin at a time."""
        try:
            exchange = self._open_exchange()
            try:
                self._serve(exchange, ClaimLink(exchange))
            finally:
                exchange.close()
        except BaseException as fault:  # run raises it
            self._fault = self._fault or fault
            self.stop()

    def _serve(self, exchange: Exchange, link: ClaimLink) -> None:
        options = self._options
        label = f"{os.uname().nodename}:{os.getpid()}:{threading.get_ident()}"[:200]
        while not self._stopping.is_set():
            require_program(options.command[0])
            try:
                found = link.claim(options.topics.topic, options.group, label, options.lease_s)
                if found is None and not options.drain:
                    exchange.remove_old(lambda: not self._stopping.is_set())
                    self._wake_ups.wait(exchange)
                    continue
            except DatabaseBusy:  # a process was stopped in the middle of a transaction
                self._stopping.wait(BUSY_PAUSE_S)
                continue
            if found is None:
                if self._again_at < time.monotonic():
                    return
                self._stopping.wait(AGAIN_EVERY_S)
                continue
            self._handle(link, *found)
            if options.once:
                return

    def _handle(self, link: ClaimLink, claim: ClaimFields, message: MessageFields) -> None:
        options = self._options
        try:
            process = PluginProcess(
                options.command,
                message["body"].encode(),
                {**os.environ, **_environment(claim, message)},
                RunLimits(options.timeout_s, link.max_body),
                self._guard,
            )
        except OSError as error:
            link.withdraw(claim)
            raise _unavailable(options.command[0], error.strerror or str(error)) from error
        run = process.run(Watch(self.stopped, lambda: link.renew(claim, options.lease_s), options.lease_s / BEATS))
        end_orphans(mark_of(claim["id"]))
        self._guard.reap_left_behind()
        status, follow_up_id = self._finish(link, claim, run)
        self._failed |= status != "completed"
        self._report({
            "message_id": message["id"],
            "attempt": claim["attempt"],
            "status": status,
            "exit_status": run.exit_status,
            "duration_ms": round(run.duration_s * 1000),
            "follow_up_id": follow_up_id,
        })  # fmt: skip

    def _finish(self, link: ClaimLink, claim: ClaimFields, run: PluginRun) -> tuple[Ended, int | None]:
        if run.cause == "lost":
            return "lost", None
        answer = answer_of(run, self._options.topics, link.max_body)
        if answer is None:
            after_s = 0 if run.cause == "stop" else back_off_s(claim["attempt"])
            link.give_back(claim, after_s)
            self._again_at = max(self._again_at, time.monotonic() + after_s + 2 * AGAIN_EVERY_S)
            return "given_back", None
        done = link.complete(claim, answer, self._options.lease_s)
        return ("lost", None) if done is None else (done[0], done[1])

    def close(self) -> None:
        self._is_stopped = True
        for descriptor in (self.stopped, self._stop_writer):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def require_program(name: str) -> None:
    """Raises Unavailable if no program of this name can be run: no message is claimed for it."""
    if shutil.which(name) is None:
        raise _unavailable(name, "there is no such program, or it is not executable")


def _unavailable(name: str, reason: str) -> Unavailable:
    return Unavailable(f"the plugin {name} cannot be run: {reason}", {"plugin": name})


def _environment(claim: ClaimFields, message: MessageFields) -> dict[str, str]:
    """Return the variables of a run. A conversation's name may be any text, but a variable ends at a NUL."""
    variables = {
        "LIVEDEX_MESSAGE_ID": str(message["id"]),
        "LIVEDEX_TOPIC": message["topic"],
        "LIVEDEX_CONVERSATION_ID": message["conversation_id"],
        "LIVEDEX_ATTEMPT": str(claim["attempt"]),
        MARK: mark_of(claim["id"]),
    }
    return {name: value for name, value in variables.items() if "\0" not in value}
