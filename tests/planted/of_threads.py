"""Defects of threads that die, a shutdown that waits, versions that differ, work that is postponed."""

from __future__ import annotations

from planted.defect import Defect

SHUTDOWN = "tests/system/test_shutdown.py"
BATTERY = "tests/system/test_battery.py"
THREADS = "tests/system/test_threads.py"
VERSIONS = "tests/system/test_versions.py"
ABSENCE = "tests/daemon/watch/test_absence.py"
WORKER = "tests/daemon/write/test_worker.py"

DEFECTS = (
    Defect(
        "end-joins-threads",
        "the process ends as Python's own exit does, which joins threads that hang",
        "livedex_daemon/process/stopping.py",
        (("    os._exit(code)", "    sys.exit(code)"),),
        "tests/daemon/process/test_stopping.py::test_the_end_joins_no_thread",
    ),
    Defect(
        "signal-on-the-loop",
        "a signal is acted on by the event loop alone, which may hang",
        "livedex_daemon/process/stopping.py",
        (
            ("            self._backstop(self._backstop_s)\n", "            pass\n"),
            ("            self._counting.release()\n", ""),
        ),
        f"{SHUTDOWN}::test_a_loop_that_hangs",
    ),
    Defect(
        "start-cannot-be-stopped",
        "a daemon that is asked to end first waits for its start",
        "livedex_daemon/app.py",
        (
            (
                "            await asyncio.wait([beginning, stopped], return_when=asyncio.FIRST_COMPLETED)",
                "            await asyncio.wait([beginning])",
            ),
        ),
        f"{SHUTDOWN}::test_a_start_that_hangs",
        (
            (
                "livedex_daemon/process/stopping.py",
                "            self._backstop(self._backstop_s)\n        finally:\n"
                "            self._counting.release()\n",
                "            pass\n        finally:\n",
            ),
        ),
    ),
    Defect(
        "children-left-behind",
        "the daemon ends and leaves a chunk child in its loop",
        "livedex_indexing/child/child_starter.py",
        (("                os.kill(child.pid, signal.SIGKILL)\n", "                pass\n"),),
        f"{SHUTDOWN}::test_a_child_that_hangs",
        elsewhere=(
            (
                "livedex_indexing/child/parent_process.py",
                "        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)\n",
                "        pass\n",
            ),
        ),
    ),
    Defect(
        "call-after-the-end",
        "a call is accepted after the worker has ended, and its future never ends",
        "livedex_daemon/write/submitted_calls.py",
        (("        if self._is_ended:\n            self.refuse(STOPPING)\n", ""),),
        f"{WORKER}::test_calls_after_the_end_fail",
    ),
    Defect(
        "calls-left-at-the-end",
        "the worker ends and leaves calls whose future never ends",
        "livedex_daemon/write/worker.py",
        (
            (
                "        ended = self._thread.end(timeout_s)\n        self._calls.refuse(STOPPING)\n",
                "        ended = self._thread.end(timeout_s)\n",
            ),
        ),
        f"{WORKER}::test_calls_that_wait_at_the_end_fail",
    ),
    Defect(
        "cancelled-call-made",
        "a call whose caller has gone is made, and its result fails the turn",
        "livedex_daemon/write/submitted_calls.py",
        (
            (
                "                continue  # the caller has gone",
                "                pass",
            ),
        ),
        f"{WORKER}::test_a_call_whose_caller_has_gone_is_dropped",
    ),
    Defect(
        "asked-for-on-battery-waits",
        "on battery a search waits for files that wait for mains power",
        "livedex_daemon/watch/backlog.py",
        (("                entry.wanted = True\n", ""),),
        f"{BATTERY}::test_what_nobody_asked_for_waits_and_is_named",
    ),
    Defect(
        "agents-server-dies-without-a-thread",
        "where no thread starts, the server of an agent ends with a traceback",
        "livedex_ipc/mcp/mcp_stdio.py",
        (
            (
                "        except Unavailable as error:\n            self._write",
                "        except OSError as error:\n            self._write",
            ),
        ),
        "tests/ipc/test_no_threads.py::test_an_agent_gets_it_as_the_answer_and_may_ask_again",
    ),
    Defect(
        "refused-though-threads-are-there",
        "where no further thread starts, work is refused although threads are there to do it",
        "livedex_ipc/lasting_threads.py",
        (("            if not self._threads:\n", "            if True:\n"),),
        "tests/ipc/test_lasting_threads.py::test_one_thread_does_the_work_of_all",
    ),
    Defect(
        "thread-that-cannot-begin-is-awaited",
        "a thread that lacks the memory for its first step is awaited for ever by the one that started it",
        "livedex_ipc/thread_start.py",
        (("        if not _has_ended(lives()):", "        if True:"),),
        "tests/ipc/test_thread_start.py::test_one_that_lacks_memory_to_begin_is_an_error",
    ),
    Defect(
        "stop-starts-a-thread",
        "a daemon that lacks memory for one more thread cannot be stopped",
        "livedex_daemon/process/stopping.py",
        (
            ('        threading.Thread(target=self._count, name="deadline", daemon=True).start()\n', ""),
            (
                "            self._counting.release()\n",
                "            self._counting.release()\n"
                '            threading.Thread(target=self._count, name="deadline", daemon=True).start()\n',
            ),
        ),
        "tests/daemon/process/test_stopping.py::test_a_stop_needs_no_new_thread",
    ),
    Defect(
        "refused-read-keeps-its-place",
        "each read for which no thread starts takes a place for good, until none is left",
        "livedex_daemon/answer/reader_threads.py",
        (
            (
                "            ended = self._threads.submit(read.action)\n",
                "            self._running.add(read)\n            ended = self._threads.submit(read.action)\n",
            ),
        ),
        "tests/daemon/answer/test_reader_threads.py::test_a_read_for_which_no_thread_starts_keeps_no_place",
    ),
    Defect(
        "thread-ends-with-what-waits",
        "a thread that lacks the memory to hand over a result ends, and all that waits for it waits for ever",
        "livedex_ipc/lasting_threads.py",
        (("            except BaseException:  # memory was", "            except ZeroDivisionError:  # memory was"),),
        "tests/ipc/test_lasting_threads.py::test_a_thread_that_cannot_hand_over_a_result_goes_on",
    ),
    Defect(
        "unheard-read-keeps-its-place",
        "each read whose end was not heard of, because memory was lacking, takes a place for good",
        "livedex_daemon/answer/reader_threads.py",
        (("        self._find_ended()\n", ""),),
        "tests/daemon/answer/test_reader_threads.py::test_a_read_whose_end_was_not_heard_of_keeps_no_place",
    ),
    Defect(
        "configuration-seen-and-not-read",
        "an edit of the configuration that could not be read for a moment is never applied",
        "livedex_daemon/config_reload.py",
        (("            self._seen = None  # it was not read", "            pass  # it was not read"),),
        "tests/system/test_thread_shortage.py::test_no_more_threads",
    ),
    Defect(
        "long-request-without-a-thread",
        "a long request for which no thread starts is never answered",
        "livedex_ipc/server/connection.py",
        (("        with suppress(Unavailable):  # no thread", "        with suppress(OSError):  # no thread"),),
        "tests/system/test_thread_shortage.py::test_no_more_threads",
    ),
    Defect(
        "asked-for-behind-the-unasked",
        "on battery a search waits for a file that is kept back for a walk that nobody asked for",
        "livedex_daemon/write/readings.py",
        (("                reading.behind.append(work)\n", ""),),
        "tests/daemon/write/test_inspector.py::test_a_work_is_wanted_as_soon_as_one_behind_it_is",
    ),
    Defect(
        "first-index-on-battery-waits",
        "on battery the first index of a root waits, and `livedex up` hangs",
        "livedex_daemon/write/walk.py",
        (
            (
                "        if self.entry.wanted or self.marked_again or not self.root.first_indexed:",
                "        if self.entry.wanted or self.marked_again:",
            ),
        ),
        "tests/daemon/write/test_chunk_pool.py::test_on_battery_only_what_someone_asked_for_is_read",
    ),
    Defect(
        "pause-without-a-word",
        "work waits for mains power and the status is green",
        "livedex_daemon/answer/status_checks.py",
        (("    if not state.pool.is_paused:\n        return []\n", "    return []\n"),),
        f"{BATTERY}::test_the_remedy_helps",
    ),
    Defect(
        "thread-ends-without-a-word",
        "a thread that fails ends, and nothing takes its place",
        "livedex_daemon/process/supervision.py",
        (
            (
                "                self._failures.add(error)\n            try:\n",
                "                return\n            try:\n",
            ),
        ),
        f"{THREADS}::test_a_part_that_fails_goes_on",
    ),
    Defect(
        "failure-without-a-warning",
        "a thread fails again and again and the status is green",
        "livedex_daemon/answer/status_checks.py",
        (("    if not failed:\n        return []\n", "    return []\n"),),
        "tests/daemon/answer/test_status_report.py::test_what_is_wrong_is_said_once",
    ),
    Defect(
        "worker-keeps-calls-when-it-fails",
        "the worker's thread fails, and clients wait forever for their calls",
        "livedex_daemon/write/worker.py",
        (('        self._calls.refuse("indexing has failed', '        str("indexing has failed'),),
        f"{WORKER}::test_calls_of_a_thread_that_fails_fail",
    ),
    Defect(
        "stuck-and-ready",
        "a change stays pending for ever and the status is green",
        "livedex_daemon/watch/backlog.py",
        (("                if max(entry.first_at, entry.rest_until) < limit", "                if False"),),
        "tests/daemon/answer/test_stuck_check.py::test_a_change_that_does_not_move_is_stuck_after_half_a_minute",
    ),
    Defect(
        "upgrade-not-noticed-by-the-daemon",
        "a daemon goes on with code that is no longer installed",
        "livedex_daemon/process/restart.py",
        (("        if self._seen == before and self._seen != self._code.at_start:", "        if False:"),),
        f"{VERSIONS}::test_an_idle_daemon_gives_way_to_an_upgrade",
    ),
    Defect(
        "upgrade-of-a-daemon-that-starts",
        "a daemon takes the files that were installed while it started for those that it runs",
        "livedex_daemon/process/restart.py",
        (("        self._seen = code.at_start\n", "        self._seen = code.at_start = code.state()\n"),),
        f"{VERSIONS}::test_a_daemon_that_just_starts_gives_way_too",
    ),
    Defect(
        "half-an-upgrade-counts",
        "a daemon ends in the middle of an upgrade, and the next one starts from half of the files",
        "livedex_daemon/process/restart.py",
        (
            (
                "        if self._seen == before and self._seen != self._code.at_start:",
                "        if self._seen != self._code.at_start:",
            ),
        ),
        "tests/daemon/process/test_restart.py::test_new_code_counts_once_it_has_come_to_rest",
    ),
    Defect(
        "restart-while-needed",
        "a daemon whose code was replaced ends though a client waits for its changes",
        "livedex_daemon/app.py",
        (("or self._notifier.subscribed ", ""),),
        f"{VERSIONS}::test_a_daemon_that_is_needed_says_so_and_goes_on",
    ),
    Defect(
        "other-version-unnoticed",
        "a command works with a daemon of another version without a word",
        "livedex_ipc/cli/context.py",
        (('        if info.get("version") != __version__:', "        if False:"),),
        f"{VERSIONS}::test_a_command_replaces_an_idle_daemon_of_another_version",
    ),
    Defect(
        "late-import",
        "a module of the daemon is loaded when it is first used, maybe from a newer version",
        "livedex_daemon/answer/handlers.py",
        (
            (
                "        return openrpc.document(__version__)",
                "        import livedex_daemon.doctor.check_result\n\n        return openrpc.document(__version__)",
            ),
        ),
        f"{VERSIONS}::test_nothing_of_livedex_is_imported_late",
    ),
    Defect(
        "clock-set-ahead-is-a-day",
        "a wall clock that is set a day ahead drops the entries of a root that is not mounted yet",
        "livedex_daemon/watch/absence.py",
        (("            since += ahead - look.ahead", "            pass"),),
        f"{ABSENCE}::test_a_clock_that_is_set_a_day_ahead",
    ),
    Defect(
        "wrong-clock-at-the-start-is-a-day",
        "a machine that starts with a wrong clock drops the entries of a root that is not mounted yet",
        "livedex_daemon/watch/absence.py",
        ((" and observed > OBSERVED_S", ""),),
        f"{ABSENCE}::test_a_clock_that_was_wrong_before_the_start",
    ),
    Defect(
        "signals-after-the-socket",
        "a daemon whose socket accepts already dies of SIGTERM without a stop",
        "livedex_daemon/app.py",
        (
            (
                "        return ending, SignalThread(actions)",
                "        self._actions = actions\n        return ending, None",
            ),
            (
                "        beginning = asyncio.create_task(self._begin())",
                "        self._signals = SignalThread(self._actions)\n"
                "        beginning = asyncio.create_task(self._begin())",
            ),
        ),
        "tests/system/test_shutdown.py::test_a_signal_as_soon_as_the_socket_is_there",
    ),
    Defect(
        "supervisor-waited-for",
        "a supervisor that does not read holds the event loop, and all clients with it",
        "livedex_service/supervisor.py",
        (
            ("            sock.setblocking(False)\n", ""),
            ("            return _takes_more(sock) and ", "            return "),
        ),
        "tests/system/test_watchdog.py::test_a_supervisor_that_does_not_read_delays_no_client",
    ),
    Defect(
        "answer-kept-by-its-future",
        "the daemon keeps each answer until a garbage collection: 35 MiB after long lists",
        "livedex_daemon/answer/reader_threads.py",
        (
            (
                "lambda done: on_loop(loop, lambda: self._finish(read, done))",
                "lambda _: on_loop(loop, lambda: self._finish(read, ended))",
            ),
        ),
        "tests/daemon/answer/test_reader_threads.py::test_an_answer_is_freed_without_a_garbage_collection",
    ),
    Defect(
        "thread-refused-that-ran",
        "on a busy machine a thread that began and ended while it was looked at counts as one that could not start",
        "livedex_ipc/thread_start.py",
        (('("can\'t start new thread")\n        return\n', '("can\'t start new thread")\n'),),
        "tests/ipc/test_thread_start.py::test_one_that_ends_while_it_is_looked_at_has_begun",
    ),
    Defect(
        "bulk-work-waits-for-a-thread",
        "a new folder and `index` wait for good where the system starts no more threads",
        "livedex_daemon/write/chunk_pool.py",
        (('if role == "edits" and not queue and self._threads.lacks("bulk"):', "if False:"),),
        "tests/daemon/write/test_chunk_pool.py::test_the_thread_for_edits_does_what_no_other_can_be_started_for",
    ),
    Defect(
        "library-not-looked-for-again",
        "a part of the daemon stays dead since the folder of a library could not be examined for a moment",
        "livedex_daemon/process/supervision.py",
        (("            importlib.invalidate_caches()", "            pass"),),
        "tests/daemon/process/test_supervision.py::test_a_library_that_could_not_be_found_is_looked_for_again",
    ),
)
