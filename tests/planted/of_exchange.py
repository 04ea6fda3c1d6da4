"""Defects of the exchange: lost or doubled messages, leases that end wrongly, workers that are not fenced off."""

from __future__ import annotations

from planted.defect import Defect

_CLAIMS = "livedex_daemon/exchange/claims.py"
_TESTS = "tests/daemon/exchange/test_claims.py"
_WORKERS = "tests/system/test_exchange_workers.py"
_ENDS = "tests/system/test_exchange_worker_ends.py"

DEFECTS = (
    Defect(
        "claim-without-token",
        "any process that knows the number of a claim can complete it",
        _CLAIMS,
        (("WHERE id = ? AND token = ? AND status = 'active'", "WHERE id = ? AND ? <> 0 AND status = 'active'"),),
        f"{_TESTS}::test_another_token_is_refused",
    ),
    Defect(
        "late-worker-accepted",
        "a worker whose lease has ended completes the message that another one may have",
        _CLAIMS,
        (("AND NOT ({_EXPIRED})", "AND (1 OR {_EXPIRED})"),),
        f"{_TESTS}::test_a_late_worker_is_refused",
    ),
    Defect(
        "leases-by-the-wall-clock",
        "a clock that is set ahead ends all leases",
        "livedex_daemon/exchange/lease_clock.py",
        (("time.clock_gettime_ns(_CLOCK)", "int(time.time() * 1e9)"),),
        f"{_TESTS}::test_a_wall_clock_that_jumps_ends_no_lease",
    ),
    Defect(
        "leases-outlive-a-restart-of-the-machine",
        "a lease of an earlier start of the machine is compared with a clock that began again at zero",
        _CLAIMS,
        (("(boot_id <> ? OR lease_ends_ns <= ?)", "(boot_id IS NULL OR ? IS NULL OR lease_ends_ns <= ?)"),),
        f"{_TESTS}::test_a_lease_of_an_earlier_start_of_the_machine_has_ended",
    ),
    Defect(
        "poison-claimed-for-ever",
        "a message that kills its workers goes round without end",
        _CLAIMS,
        (("        if attempt < limits.max_attempts:", "        if attempt:"),),
        f"{_TESTS}::test_a_message_that_loses_its_workers_is_a_dead_letter",
    ),
    Defect(
        "newest-first",
        "the newest message that waits is claimed, and the oldest may wait for ever",
        _CLAIMS,
        (("WHERE topic_id = ? ORDER BY message_id LIMIT 1", "WHERE topic_id = ? ORDER BY message_id DESC LIMIT 1"),),
        f"{_TESTS}::test_the_oldest_comes_first_and_each_once",
    ),
    Defect(
        "key-published-twice",
        "a publisher that repeats itself with its key publishes again",
        "livedex_daemon/exchange/messages.py",
        (("        if known is not None:", "        if known is None and topic < 0:"),),
        "tests/daemon/exchange/test_exchange_messages.py::test_a_key_is_published_once_in_a_topic",
    ),
    Defect(
        "chain-without-end",
        "a plugin that publishes to its own topic never comes to an end",
        "livedex_daemon/exchange/messages.py",
        (("    if hops + 1 > limits.max_hops:", "    if hops < 0:"),),
        "tests/daemon/exchange/test_exchange_messages.py::test_a_plugin_that_publishes_to_itself_comes_to_an_end",
    ),
    Defect(
        "removed-exchange-written-to",
        "messages are published into a file that was removed, and lost",
        "livedex_daemon/precious/precious_database.py",
        (("            elif found != known:", "            elif not suffix and known is None:"),),
        "tests/daemon/exchange/test_exchange_database.py::test_a_removed_file_is_not_written_to",
    ),
    Defect(
        "age-by-the-wall-clock",
        "a clock that is set ahead removes finished conversations",
        "livedex_daemon/exchange/retention.py",
        (("max(0.0, (clock.now_ns() - boot_ns) / 1e9)", "max(0.0, time.time() - wall_s)"),),
        "tests/daemon/exchange/test_retention.py::test_a_clock_set_ahead_removes_nothing",
    ),
    Defect(
        "replies-in-one-answer",
        "a thousand large replies are one answer, and gigabytes in the daemon",
        "livedex_daemon/precious/answer_bound.py",
        (("        if found and size > MOST_BYTES:", "        if False:"),),
        "tests/daemon/exchange/test_conversations.py::test_large_replies_are_reported_by_several_calls",
    ),
    Defect(
        "reported-twice",
        "a finished conversation is reported by every `notify`",
        "livedex_daemon/exchange/conversations.py",
        (
            (
                "        has_reported(db, number)\n        first = message(db, number)\n",
                "        first = message(db, number)\n",
            ),
        ),
        "tests/daemon/exchange/test_conversations.py::test_each_request_is_reported_once_when_it_is_finished",
    ),
    Defect(
        "waiters-not-woken",
        "who waits for a message notices none that another process published",
        "livedex_daemon/exchange/log_watch.py",
        (("        return True\n", "        return False\n"),),
        "tests/system/test_exchange.py::test_who_waits_is_woken_by_another_process",
    ),
    Defect(
        "commit-seen-before-it-is-visible",
        "a worker finds a message only after five or ten seconds, for it looked between its writing and its commit",
        "livedex_daemon/exchange/log_watch.py",
        (("self._changes_until = found, now + VISIBLE_S", "self._changes_until = found, now + 0.001"),),
        "tests/daemon/exchange/test_log_watch.py"
        "::test_a_commit_that_others_see_later_than_its_change_of_the_log_is_noticed",
    ),
    Defect(
        "worker-waits-for-a-daemon-that-hangs",
        "a worker waits ten seconds for each answer of a daemon that hangs, though the file has a message for it",
        "livedex_daemon/worker_host/wake_ups.py",
        (("client.who(ANSWERS_S)", "client.who(CALL_S)"),),
        "tests/daemon/worker_host/test_wake_ups.py::test_a_worker_does_not_wait_long_for_a_daemon_that_hangs",
    ),
    Defect(
        "plugins-group-left",
        "of a plugin that forks, only the first process is ended",
        "livedex_daemon/worker_host/plugin_process.py",
        (("os.killpg(self._process.pid, number)", "os.kill(self._process.pid, number)"),),
        f"{_WORKERS}::test_what_a_plugin_leaves_behind_is_ended",
    ),
    Defect(
        "drained-too-early",
        "a worker that drains a topic leaves the messages that it gave back",
        "livedex_daemon/worker_host/worker_host.py",
        (("if self._again_at < time.monotonic():", "if True:"),),
        f"{_WORKERS}::test_a_drained_topic_has_no_message_that_was_given_back",
    ),
    Defect(
        "orphans-left",
        "what a plugin started and took out of its group goes on for ever",
        "livedex_daemon/worker_host/worker_host.py",
        (('        end_orphans(mark_of(claim["id"]))\n', ""),),
        f"{_WORKERS}::test_what_a_plugin_leaves_behind_is_ended",
    ),
    Defect(
        "orphans-of-the-dying",
        "what a plugin started outside of its group goes on where its parent takes its time to die",
        "livedex_daemon/worker_host/plugin_process.py",
        (("                reap_group(process.pid)\n", ""),),
        f"{_WORKERS}::test_a_plugin_that_ignores_its_end_and_forks_is_ended",
    ),
    Defect(
        "left-behind-not-reaped",
        "each plugin that leaves a process behind takes a place of the system's table of processes",
        "livedex_daemon/worker_host/worker_host.py",
        (("        self._guard.reap_left_behind()\n", ""),),
        f"{_WORKERS}::test_what_plugins_leave_behind_fills_no_process_table",
    ),
    Defect(
        "unstarted-plugin-counts",
        "messages become dead letters because a program cannot be started",
        "livedex_daemon/worker_host/worker_host.py",
        (("            link.withdraw(claim)\n", "            link.give_back(claim, 0)\n"),),
        f"{_WORKERS}::test_a_plugin_that_cannot_start_costs_no_attempt",
    ),
    Defect(
        "error-of-a-worker-thread-lost",
        "a worker whose thread fails ends as if it had done its work",
        "livedex_daemon/worker_host/worker_host.py",
        (("            self._fault = self._fault or fault\n", "            pass\n"),),
        "tests/daemon/worker_host/test_worker_host.py::test_an_error_of_a_thread_is_an_error_of_the_host",
    ),
    Defect(
        "plugin-outlives-its-worker",
        "the plugin of a worker that was killed goes on while another one has the message",
        "livedex_daemon/worker_host/group_guard.py",
        (("        _kill(groups)\n", ""),),
        f"{_ENDS}::test_a_killed_worker_takes_its_plugin_along",
    ),
    Defect(
        "starting-plugin-outlives-its-worker",
        "a worker that is killed while it starts a plugin leaves it running",
        "livedex_daemon/worker_host/group_guard.py",
        (("            _kill(_unnoted(starting))\n", "            pass\n"),),
        "tests/daemon/worker_host/test_group_guard.py::test_a_plugin_ends_whose_worker_is_killed_while_it_starts",
    ),
    Defect(
        "output-without-bound",
        "a worker keeps all that a plugin prints in memory",
        "livedex_daemon/worker_host/plugin_process.py",
        (("        self._stdout += data[:left]", "        self._stdout += data"),),
        f"{_WORKERS}::test_a_gigabyte_of_output_is_bounded",
    ),
    Defect(
        "lease-not-renewed",
        "a run that takes longer than the lease is given to a second worker",
        "livedex_daemon/worker_host/plugin_process.py",
        (('cause = None if watch.beat() else "lost"', "cause = None"),),
        f"{_WORKERS}::test_a_lease_is_renewed_while_the_plugin_runs",
    ),
    Defect(
        "no-kill-after-term",
        "a plugin that ignores SIGTERM runs for ever",
        "livedex_daemon/worker_host/plugin_process.py",
        (
            (
                "            if cause is not None and now >= deadline and not killed:",
                "            if cause is not None and now < 0:",
            ),
        ),
        f"{_WORKERS}::test_a_plugin_that_ignores_its_end_and_forks_is_ended",
    ),
    Defect(
        "two-workers-win",
        "a claimed message still waits, and the next worker claims it too",
        _CLAIMS,
        (('    db.execute("DELETE FROM waiting WHERE topic_id = ? AND message_id = ?", (number, message_id))\n', ""),),
        f"{_TESTS}::test_of_many_workers_one_wins",
    ),
    Defect(
        "publish-not-synced",
        "a publish is acknowledged before the message is on the disk",
        "livedex_daemon/exchange/exchange_store.py",
        (
            (
                "transaction(durable=True) as db:\n            return self._publish(db, params)",
                "transaction(durable=False) as db:\n            return self._publish(db, params)",
            ),
        ),
        "tests/system/test_exchange_crash.py::test_what_was_acknowledged_survives_a_power_loss",
    ),
    Defect(
        "completion-not-synced",
        "a completion is acknowledged before it is on the disk, and its message is worked again after a power loss",
        "livedex_daemon/exchange/exchange_store.py",
        (
            (
                "        with self._database.transaction(durable=True) as db:\n            return claims.complete(",
                "        with self._database.transaction(durable=False) as db:\n            return claims.complete(",
            ),
        ),
        "tests/system/test_exchange_crash.py::test_what_was_acknowledged_survives_a_power_loss",
    ),
    Defect(
        "unusable-for-ever",
        "a file that could not be used for a moment is not used again until the daemon ends",
        "livedex_daemon/precious/precious_database.py",
        (("        if not self._is_open or self._was_replaced():\n", "        if self._was_replaced():\n"),),
        "tests/daemon/exchange/test_exchange_database.py::test_a_file_that_was_unusable_for_a_while_is_used_again",
    ),
    Defect(
        "unreadable-folder-is-absence",
        "the exchange is well although no call can reach its file",
        "livedex_daemon/precious/file_fault.py",
        (("            if state[0] is None and is_gone(self._path):", "            if state[0] is None:"),),
        "tests/daemon/answer/test_exchange_thread.py::test_a_folder_that_cannot_be_entered_is_a_fault",
    ),
    Defect(
        "stand-in-trusted",
        "messages are acknowledged into a file that was moved away right after it had been made",
        "livedex_daemon/precious/precious_database.py",
        (
            ('        self._identities = {"": _identity(self._path)}\n', "        self._identities = {}\n"),
            ("            self._identities.update({suffix", "            dict({suffix"),
        ),
        "tests/daemon/exchange/test_exchange_database.py::test_the_file_that_returns_is_used",
    ),
    Defect(
        "new-file-on-a-full-disk-damaged",
        "a disk without room for the first message is said to be damage, to be restored from a backup",
        "livedex_indexing/store/database.py",
        (("        if db.in_transaction:  # SQLite has", "        if True:  # SQLite has"),),
        "tests/daemon/exchange/test_exchange_database.py::test_a_disk_without_room_for_a_new_file_is_no_damage",
    ),
    Defect(
        "unsynced-log-trusted",
        "messages are acknowledged on top of pages that the disk refused, and a power loss takes both",
        "livedex_daemon/precious/precious_database.py",
        (("            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)\n", ""),),
        "tests/daemon/exchange/test_exchange_database.py"
        "::test_after_a_write_that_failed_the_log_is_copied_before_it_is_trusted",
    ),
    Defect(
        "doctor-blind-to-damage",
        "the doctor finds messages well whose file is damaged",
        "livedex_daemon/precious/file_check.py",
        (('    found = str(db.execute("PRAGMA quick_check(1)").get)\n', '    found = "ok"\n'),),
        "tests/daemon/doctor/test_broken_setups.py::test_it_is_found_and_explained",
    ),
    Defect(
        "exchange-checked-by-calls-alone",
        "a damaged file of messages is not in the status until somebody calls",
        "livedex_daemon/app.py",
        (('            "exchange": self._exchange.keep_checking,\n', ""),),
        "tests/system/test_exchange.py::test_a_damaged_file_is_named_though_nobody_calls",
    ),
    Defect(
        "damage-forgotten-by-the-next-call",
        "a call that does not touch the damage of a file of messages takes the warning away",
        "livedex_daemon/precious/file_fault.py",
        (("(self._damaged is None or self._damaged != file_stamp(self._path))", "True"),),
        "tests/daemon/answer/test_exchange_thread.py::test_damage_that_not_every_look_touches_stays_a_fault",
    ),
    Defect(
        "dead-letters-seen-when-the-log-is-copied",
        "the status tells of messages that no worker finished only after many others",
        "livedex_daemon/precious/file_fault.py",
        (('file_stamp(f"{self._path}-wal")', "file_stamp(self._path)"),),
        "tests/system/test_exchange.py::test_dead_letters_are_said_until_they_are_handled",
    ),
    Defect(
        "retention-asks-at-each-message",
        "a conversation of 20,000 messages keeps all others from the file for longer than they wait",
        "livedex_daemon/exchange/retention.py",
        (("o.conversation_id = m.conversation_id AND o.id < m.id)", "o.id IS NULL)"),),
        "tests/daemon/exchange/test_retention.py::test_a_long_conversation_is_looked_at_once",
    ),
    Defect(
        "worker-waits-for-a-reader",
        "a worker whose output nobody reads cannot be stopped",
        "livedex_daemon/worker_host/host_command.py",
        (("    return out in select.select([stopped], [out], [])[1]\n", "    return stopped >= 0\n"),),
        f"{_ENDS}::test_a_worker_whose_output_nobody_reads_can_be_stopped",
    ),
    Defect(
        "second-signal-waits-for-the-first",
        "a worker that gets two signals at once hangs",
        "livedex_daemon/worker_host/worker_host.py",
        (("        if not self._is_stopped:\n", "        if not self._stopping.is_set():\n"),),
        "tests/daemon/worker_host/test_worker_host.py::test_a_signal_may_come_while_another_one_is_handled",
    ),
    Defect(
        "full-disk-forgotten-by-the-next-read",
        "the status is green while no message can be published, because messages can be read",
        "livedex_daemon/answer/exchange_thread.py",
        (
            (
                "lambda: self._run(Exchange.check_writable, called_at)",
                "lambda: self._run(Exchange.stats, called_at)",
            ),
        ),
        "tests/daemon/answer/test_exchange_thread.py::test_a_fault_of_writing_stays_until_writing_is_possible",
    ),
    Defect(
        "lock-waited-for-once-for-each-caller",
        "of six who publish while the file is locked, the last one is told after a minute",
        "livedex_daemon/answer/exchange_thread.py",
        (("            exchange.wait_from(called_at)\n", ""),),
        "tests/daemon/answer/test_exchange_thread.py::test_who_waits_for_others_has_waited_for_the_lock",
    ),
    Defect(
        "removed-index-of-the-log-used",
        "two processes whose index of the log was removed between them write over each other's messages",
        "livedex_daemon/precious/precious_database.py",
        (('("", "-wal", "-shm")', '("", "-wal")'),),
        "tests/daemon/exchange/test_exchange_database.py::test_a_removed_index_of_the_log_divides_nobody",
    ),
    Defect(
        "body-through-a-pipe",
        "a plugin whose worker is killed acts on the first half of its message",
        "livedex_daemon/worker_host/plugin_process.py",
        (
            (
                "        with scratch_file(body) as stdin:",
                "        import threading\n\n        reader, writer = os.pipe()\n"
                "        threading.Thread(target=os.write, args=(writer, body)).start()\n"
                "        with os.fdopen(reader, 'rb') as stdin:",
            ),
        ),
        f"{_ENDS}::test_a_killed_worker_leaves_no_half_of_a_body",
    ),
    Defect(
        "half-a-request-cancelled",
        "the cancellation of a call is sent in the middle of its request",
        "livedex_ipc/client.py",
        (("            if is_sent:\n", "            if self._last_id:\n"),),
        "tests/ipc/test_client.py::test_nothing_follows_half_a_request",
    ),
)
