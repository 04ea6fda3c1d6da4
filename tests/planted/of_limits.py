"""Defects of the bounds of time, memory and bytes of each request."""

from __future__ import annotations

from planted.defect import Defect

PATTERN = "tests/indexing/lines/test_line_pattern.py"
THREADS = "tests/daemon/answer/test_reader_threads.py"
LOOKUP = "tests/daemon/answer/test_path_lookup.py"
PLACING = "tests/daemon/watch/test_inotify_placing.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "blocked-entries-tried-each-turn",
        "a path that waits for its own work is tried again in each turn: a storm of folders costs minutes of this",
        "livedex_daemon/watch/backlog.py",
        (("            entry.is_blocked = True\n            return True\n", "            return False\n"),),
        "tests/daemon/watch/test_backlog.py::test_what_waits_for_the_entry_before_it_is_in_no_queue",
    ),
    Defect(
        "blocked-entry-forgotten",
        "a path that changed again while it was read is not looked at again once all work is put back",
        "livedex_daemon/watch/backlog.py",
        (
            (
                "                again.is_blocked = False\n                if again.is_awaited or again.is_urgent:",
                "                if False:",
            ),
            ("                heapq.heappush(self._heap, (at, next(self._order), again))\n", ""),
        ),
        "tests/daemon/watch/test_backlog.py::test_what_waits_for_the_entry_before_it_is_taken_when_that_is_put_back",
    ),
    Defect(
        "thousands-of-polled-folders",
        "each of thousands of folders beyond the limit of watches has a walk of its own: no search is fresh in 15 s",
        "livedex_daemon/watch/root_table.py",
        (("few_at_or_above(wanted, MOST_POLLED)", "few_at_or_above(wanted, 1 << 30)"),),
        "tests/daemon/watch/test_root_table.py::test_folders_that_change_one_after_the_other_are_compared_once",
    ),
    Defect(
        "one-walk-a-turn",
        "each of thousands of short walks costs a whole turn of the worker",
        "livedex_daemon/write/inspector.py",
        (("            if time.monotonic() >= ends or self._pool.outstanding > OUTSTANDING:", "            if True:"),),
        "tests/daemon/write/test_inspector.py::test_many_short_walks_share_a_slice",
    ),
    Defect(
        "too-long-to-be-watched",
        "a folder whose path is too long takes the place of another when folders are watched again",
        "livedex_daemon/watch/event_source.py",
        (("path for path in root.refused if not root.is_too_long(path)", "root.refused"),),
        "tests/daemon/watch/test_event_source.py"
        "::test_what_can_be_watched_again_is_marked_before_it_is_no_longer_polled",
    ),
    Defect(
        "lock-kept-in-the-call",
        "the watcher's lock is held while a watch is placed on a file system that may hang",
        "livedex_daemon/watch/inotify.py",
        (
            (
                "                    wd = fd.watch(absolute, mask, self, self._id)",
                "                    with self._lock:\n"
                "                        wd = fd.watch(absolute, mask, self, self._id)",
            ),
        ),
        f"{PLACING}::test_a_call_that_hangs_delays_no_barrier",
    ),
    Defect(
        "watch-that-ended-is-kept",
        "a watch that ended while it was placed counts as placed",
        "livedex_daemon/watch/inotify.py",
        (("                    if wd not in placing.ended:", "                    if True:"),),
        f"{PLACING}::test_a_moved_folder_whose_old_name_ends_its_watch_is_watched_again",
    ),
    Defect(
        "gone-folders-polled-for-ever",
        "folders that no program can watch are polled, and warned about, once they are gone",
        "livedex_daemon/watch/event_source.py",
        (("        if root.was_polled(path):\n", "        if False:\n"),),
        "tests/system/test_limits.py::test_folders_whose_paths_are_too_long_are_polled_for_that_reason",
    ),
    Defect(
        "unwatched-too-early",
        "a folder that moves away while its watch is placed is watched from then on",
        "livedex_daemon/watch/inotify.py",
        (("                    placing.cancelled = True", "                    pass"),),
        f"{PLACING}::test_a_folder_that_moves_away_while_it_is_placed_is_reported_no_more",
    ),
    Defect(
        "silence-blamed-on-the-path",
        "a file on a mount that does not answer becomes failed after some tries",
        "livedex_daemon/watch/unreadable.py",
        (("BLAMELESS = SHORTAGES | {errno.ETIMEDOUT}", "BLAMELESS = SHORTAGES"),),
        "tests/daemon/watch/test_unreadable.py::test_a_shortage_is_never_the_fault_of_a_path",
    ),
    Defect(
        "long-reads-keep-their-places",
        "a read that lasts keeps its place, so a few long searches hold up everybody",
        "livedex_daemon/answer/reader_threads.py",
        (("            read.is_long = True", "            pass"),),
        f"{THREADS}::test_reads_that_last_give_up_their_places",
    ),
    Defect(
        "one-client-takes-all-threads",
        "a connection may use every thread",
        "livedex_daemon/answer/reader_threads.py",
        (("PER_CLIENT: Final = 2", "PER_CLIENT: Final = 200"),),
        f"{THREADS}::test_a_client_has_two_threads_and_the_next_one_is_served",
    ),
    Defect(
        "no-turns",
        "the client that came first is served until it wants no more",
        "livedex_daemon/answer/reader_threads.py",
        (("                self._waiting[client] = self._waiting.pop(client)", "                pass"),),
        f"{THREADS}::test_waiting_clients_take_turns",
    ),
    Defect(
        "answer-after-the-deadline",
        "a request that waits for a hung file system is answered when that answers",
        "livedex_daemon/answer/request_timing.py",
        (("        due = max(self.due,", "        due = 60 + max(self.due,"),),
        "tests/system/test_answer_times.py::test_a_path_on_a_hung_file_system_delays_only_its_own_request",
    ),
    Defect(
        "lookup-for-nobody",
        "a path is resolved on, for minutes where it has many folders, after the request has been answered",
        "livedex_daemon/answer/path_lookup.py",
        (("            lookup.abandon()\n", "            pass\n"),),
        f"{LOOKUP}::test_a_lookup_ends_with_the_request_that_waits_for_it",
    ),
    Defect(
        "every-folder-of-a-path-is-touched",
        "a path of a request costs a system call for each of the thousands of folders that are not there",
        "livedex_indexing/disk/real_path.py",
        (("            reached = len(done)\n", "            pass\n"),),
        "tests/indexing/disk/test_real_path.py::test_nothing_is_touched_below_what_is_not_there",
    ),
    Defect(
        "an-entry-of-a-path-touched-again",
        "a path of a request that leads to and fro costs a system call for each of its thousands of turns",
        "livedex_indexing/disk/real_path.py",
        (("            found = entry.found = _find(here)\n", "            found = _find(here)\n"),),
        "tests/indexing/disk/test_real_path.py::test_nothing_is_touched_twice",
    ),
    Defect(
        "rules-of-folders-that-are-not-there",
        "an audit of a path of thousands of folders that are not there makes the rules of each",
        "livedex_daemon/answer/audit_pass.py",
        (
            (
                "[path] if is_folder and (not path or root.rules.explain(path, True) is None)",
                "[path] if (not path or root.rules.explain(path, True) is None) and is_folder",
            ),
        ),
        "tests/system/test_bad_input.py::test_paths_of_thousands_of_folders_cost_little",
    ),
    Defect(
        "path-of-any-length",
        "a path of a hundred thousand folders keeps the daemon from answering others",
        "livedex_ipc/params.py",
        (("    if len(path) > MAX_PATH_BYTES:\n", "    if False:\n"),),
        "tests/system/test_bad_input.py::test_params",
    ),
    Defect(
        "hung-lookups-unbounded",
        "each request for a path on a hung file system takes one more thread",
        "livedex_daemon/answer/path_lookup.py",
        (("        if len(hung) < PER_MOUNT:", "        if True:"),),
        f"{LOOKUP}::test_a_hung_file_system_costs_a_few_threads_and_holds_up_no_other_path",
    ),
    Defect(
        "a-million-highlights",
        "a line of megabytes is highlighted from end to end, however many matches it has",
        "livedex_indexing/lines/line_search.py",
        (
            (
                "min(_MOST_REACH, self._style.max_snippet_chars * _LONGEST_CHAR)",
                "self._style.max_snippet_chars * _LONGEST_CHAR",
            ),
        ),
        "tests/indexing/lines/test_line_search.py::test_a_line_of_megabytes_has_highlights_near_its_first_match",
    ),
    Defect(
        "matches-that-nobody-sees",
        "of a line of megabytes, matches are looked for that no answer has",
        "livedex_indexing/lines/line_pattern.py",
        (("                if at > within:\n                    at = line_end + 1\n", ""),),
        f"{PATTERN}::test_of_a_long_line_no_more_matches_are_looked_for",
    ),
    Defect(
        "stretch-cut-inside-a-line",
        "a text is cut into stretches anywhere, and what lies across a cut is not found",
        "livedex_indexing/lines/line_pattern.py",
        (("            return feed\n        feed =", "            return at + size\n        feed ="),),
        "tests/properties/test_stretches.py::test_stretches_find_what_the_whole_text_holds",
    ),
    Defect(
        "unserved-connection-kept",
        "a connection to `livedex web` that makes room before it was served keeps its socket for ever",
        "livedex_ipc/web/web_server.py",
        (("        connection.abort()\n\n    def _end_untrusted", "\n    def _end_untrusted"),),
        "tests/ipc/web/test_web_requests.py::test_a_burst_of_connections_leaves_no_socket",
    ),
    Defect(
        "tests-nested-once-each",
        "a search of a thousand folders is deeper than SQLite takes, and an internal error",
        "livedex_indexing/store/sql.py",
        (("    middle = len(tests) // 2", "    middle = 1"),),
        "tests/indexing/search/test_search_scope.py::test_a_scope_may_have_a_thousand_folders",
    ),
    Defect(
        "no-clock-between-stretches",
        "a pattern that matches nothing looks at the clock once a file, however long that takes",
        "livedex_indexing/lines/line_pattern.py",
        (("                if ended():\n                    return\n\n    def", "                ended()\n\n    def"),),
        f"{PATTERN}::test_a_search_can_be_stopped_between_stretches_though_nothing_matches",
    ),
    Defect(
        "large-pattern-accepted",
        "a pattern of any size is searched for",
        "livedex_indexing/lines/line_pattern.py",
        (("    if compiled.programsize > MOST_PROGRAM:", "    if False:"),),
        f"{PATTERN}::test_a_pattern_that_is_too_large_is_refused",
    ),
    Defect(
        "files-read-in-the-snapshot",
        "a search for lines keeps its snapshot while it reads files, and the write-ahead log grows meanwhile",
        "livedex_indexing/search/line_answer.py",
        (
            (
                "        page = self.lines.page(request.offset, request.limit, run.budget, request.facets)",
                "        with run.reader.snapshot():\n"
                "            run.generation()\n"
                "            run.reader.snapshot = contextlib.nullcontext\n"
                "            page = self.lines.page(request.offset, request.limit, run.budget, request.facets)\n"
                "        del run.reader.snapshot",
            ),
            ("from livedex_indexing.lines.line_pattern", "import contextlib\nfrom livedex_indexing.lines.line_pattern"),
        ),
        "tests/indexing/lines/test_line_search.py::test_the_log_of_the_index_shrinks_while_files_are_searched",
    ),
    Defect(
        "phrases-remembered-from-damaged-rows",
        "a phrase that a damaged row hid stays hidden after the repair",
        "livedex_indexing/rank/phrase_filter.py",
        (
            (
                "        self._known[rewritten, content_id, text]",
                "        self._known[rewritten + 1, content_id, text] = self._known[rewritten, content_id, text]",
            ),
        ),
        "tests/indexing/rank/test_phrase_memory.py::test_a_phrase_is_found_once_the_content_is_repaired",
    ),
    Defect(
        "long-context-lines",
        "a line before or after a snippet is shown whole, however long it is",
        "livedex_indexing/hits/text_lines.py",
        (("        if len(whole) <= CONTEXT_CHARS:", "        if len(whole) <= 10**9:"),),
        "tests/indexing/hits/test_snippet.py"
        "::test_of_a_long_line_around_a_snippet_the_first_characters_and_the_end_are_shown",
    ),
    Defect(
        "answers-of-any-size",
        "an answer has as many bytes as its hits happen to have",
        "livedex_indexing/hits/text_budget.py",
        (("        self._bytes_left -= size", "        self._bytes_left -= 0"),),
        "tests/indexing/search/test_answers.py::test_an_answer_has_a_bound_in_bytes_and_the_next_page_goes_on",
    ),
    Defect(
        "batches-of-any-size",
        "all answers of a batch wait in memory for the last one, however many bytes they have",
        "livedex_ipc/server/calls.py",
        (("            self._bytes_left -= len(answer)", "            self._bytes_left -= 0"),),
        "tests/ipc/server/test_requests.py::test_a_batch_whose_answers_are_many_bytes_runs_no_further",
    ),
    Defect(
        "reads-for-a-client-that-is-behind",
        "a client that does not read gets more and more large answers made",
        "livedex_daemon/answer/reader_threads.py",
        (("            elif client.behind:", "            elif False:"),),
        f"{THREADS}::test_a_client_that_is_behind_gets_no_more_until_it_has_read",
    ),
    Defect(
        "audits-all-at-once",
        "audits that are asked for at once all read every file at the same time",
        "livedex_daemon/answer/audit.py",
        (("        async with self._one_at_a_time:", "        async with asyncio.Lock():"),),
        "tests/daemon/answer/test_audits.py::test_one_runs_after_the_other",
    ),
    Defect(
        "query-for-a-day",
        "a query may keep its thread for as long as its client would wait",
        "livedex_daemon/answer/request_timing.py",
        (("return min(max(self.due, now + LEAST_QUERY_S), now + MOST_QUERY_S)", "return max(self.due, now)"),),
        "tests/daemon/answer/test_request_timing.py::test_a_query_runs_no_longer_than_it_may",
    ),
    Defect(
        "remedy-unquoted",
        "a remedy names a path with blanks so that a shell takes it for several",
        "livedex_daemon/answer/status_checks.py",
        (("run `livedex roots remove {quote(path)}`", "run `livedex roots remove {path}`"),),
        "tests/daemon/answer/test_status_report.py::test_a_remedy_can_be_typed_as_printed",
    ),
    Defect(
        "endless-line",
        "a program that never sends a line end fills the client's memory",
        "livedex_ipc/client.py",
        (("            if len(self._buffer) > self._most_bytes:\n                raise self.stranger()\n", ""),),
        "tests/ipc/test_client.py::test_another_program_that_sends_without_end_is_named",
    ),
    Defect(
        "memory-lacks-for-an-answer",
        "an answer for which memory lacks ends the daemon, and not the request",
        "livedex_ipc/server/message_json.py",
        (("        _encoder.encode_into(message, encoded)", "        encoded += _encoder.encode(message)"),),
        "tests/system/test_little_memory.py::test_no_encoding_ends_the_process",
    ),
    Defect(
        "memory-lacks-for-a-row",
        "a row of the index for which memory lacks ends the daemon",
        "livedex_indexing/text/json_bytes.py",
        (("    _encoder.encode_into(value, encoded)", "    encoded += _encoder.encode(value)"),),
        "tests/system/test_little_memory.py::test_no_encoding_ends_the_process",
    ),
    Defect(
        "rules-for-a-long-path-to-nothing",
        "a request about a path of thousands of parts, none of which exists, takes a second",
        "livedex_daemon/answer/explanation.py",
        (("if stat is None and len(path) > _LONG:", "if False:"),),
        "tests/daemon/answer/test_explanation.py::test_a_long_path_to_nothing_needs_no_rules",
    ),
    Defect(
        "departure-alone",
        "each of many files that are gone costs statements of its own",
        "livedex_daemon/write/inspector.py",
        (("rows=row.state.ino in shared", "rows=True"),),
        "tests/daemon/write/test_departures.py::test_many_files_that_are_gone_cost_few_statements",
    ),
    Defect(
        "departure-without-twin",
        "a hard link of a file that is gone keeps its old text",
        "livedex_daemon/write/inspector.py",
        (("rows=row.state.ino in shared", "rows=False"),),
        "tests/daemon/write/test_departures.py::test_each_of_many_paths_ends_as_if_it_had_gone_alone",
    ),
    Defect(
        "typed-limit-without-effect",
        "`--timeout 2` waits 20 s for a daemon that hangs",
        "livedex_ipc/cli/context.py",
        (("silent_s = SILENT_S if typed is None else", "silent_s = SILENT_S if True else"),),
        "tests/ipc/cli/test_cli_daemon.py::test_a_time_limit_counts_for_a_daemon_that_does_not_answer_too",
    ),
    Defect(
        "fault-of-the-log-has-no-answer",
        "a request is never answered if the log cannot be written for the reason for which the request failed",
        "livedex_ipc/server/requests.py",
        (("            finally:  # it may lack", "            except ZeroDivisionError:  # it may lack"),),
        "tests/ipc/server/test_requests.py::test_a_fault_that_the_log_meets_too_is_answered",
    ),
    Defect(
        "all-requests-in-one-turn",
        "a hundred clients with batches of searches hold up `server/ping` for seconds",
        "livedex_ipc/server/requests.py",
        (("                self._wake()\n                return\n", ""),),
        "tests/ipc/server/test_requests.py::test_one_request_of_a_connection_starts_in_a_turn",
    ),
    Defect(
        "waiting-reads-looked-through",
        "each read looks through all that wait: with thousands of them the daemon answers nobody",
        "livedex_daemon/answer/reader_threads.py",
        (
            (
                "while reads and reads[0].result.done():  # its caller was cancelled\n                reads.popleft()",
                "for read in [read for read in reads if read.result.done()]:\n                reads.remove(read)",
            ),
        ),
        f"{THREADS}::test_a_turn_costs_the_same_however_many_reads_wait",
    ),
)
