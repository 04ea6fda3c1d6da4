"""Defects of the repair of livedex's own files: damaged, cut short, or replaced by folders."""

from __future__ import annotations

from planted.defect import Defect

FORGOTTEN = "tests/indexing/store/test_forgotten_files.py"
STORE_FAULTS = "tests/system/test_store_faults.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "locked-index-has-no-roots",
        "a daemon that starts while another program has locked the index knows no root and finds nothing",
        "livedex_daemon/write/commit.py",
        (("        if freed:  #", "        if True:  #"),),
        "tests/system/test_store_calls.py::test_the_daemon_starts_while_another_program_holds_the_lock",
    ),
    Defect(
        "folder-in-the-way",
        "a folder in the place of the index is renamed over the damaged one, which works once",
        "livedex_daemon/index_file/opener.py",
        (
            (
                "        keep_folder(path + suffix, path)\n        keep_folder(aside + suffix, path)\n",
                "",
            ),
        ),
        f"{STORE_FAULTS}::test_a_folder_in_the_place_of_the_index_is_kept",
    ),
    Defect(
        "foreign-file-removed-under-the-daemon",
        "a file of another program that replaces the index of a running daemon is removed with the next rebuild",
        "livedex_daemon/index_file/rebuild.py",
        (("and is_foreign(path):", "and False:"),),
        f"{STORE_FAULTS}::test_a_file_of_another_program_is_kept",
    ),
    Defect(
        "log-kept-with-a-foreign-file",
        "the log of a lost index, which has words of forgotten files, is kept with the file that replaced the index",
        "livedex_daemon/index_file/rebuild.py",
        (("keep_foreign(path, self._store.has_next_to_it)", "keep_foreign(path)"),),
        f"{STORE_FAULTS}::test_a_file_of_another_program_is_kept",
    ),
    Defect(
        "text-removed-at-a-start",
        "a text of another program in the place of the index is taken for a damaged index and removed",
        "livedex_daemon/index_file/opener.py",
        ((" or is_foreign(path):", ":"),),
        "tests/daemon/index_file/test_opener.py::test_a_text_of_another_program_is_kept",
    ),
    Defect(
        "damaged-index-kept-as-a-text",
        "whatever is no database is taken for another program's and kept, with words of forgotten files",
        "livedex_indexing/store/database.py",
        (("        return _is_text(path)", "        return True"),),
        "tests/daemon/index_file/test_opener.py::test_what_may_be_left_of_an_index_is_not_kept",
    ),
    Defect(
        "folder-at-the-journal",
        "a folder in the place of SQLite's journal refuses each start",
        "livedex_indexing/store/database.py",
        (('        keep_special(f"{path}-journal", path)  # SQLite needs the name while it creates the file\n', ""),),
        "tests/daemon/index_file/test_opener.py::test_what_is_no_file_in_the_place_of_the_journal_is_kept",
    ),
    Defect(
        "fifo-at-the-lock",
        "commands wait for ever for somebody who writes to a FIFO in the place of the daemon's lock",
        "livedex_ipc/daemon_process.py",
        ((" | os.O_NONBLOCK)", ")"),),
        "tests/ipc/cli/test_commands.py::test_a_fifo_in_the_place_of_the_lock_delays_no_command",
    ),
    Defect(
        "fifo-among-the-cookies",
        "a start and each fresh search wait for the reader of a FIFO in the folder of cookies",
        "livedex_daemon/watch/inotify.py",
        (("O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK", "O_CLOEXEC"),),
        "tests/daemon/watch/test_inotify.py::test_barriers_do_not_wait_for_the_reader_of_a_fifo",
    ),
    Defect(
        "fifo-at-the-journal-of-messages",
        "the exchange waits for ever for somebody who writes to a FIFO in the place of SQLite's journal",
        "livedex_daemon/precious/precious_database.py",
        (('(*_FILES[1:], "-journal")', "_FILES[1:]"),),
        "tests/daemon/exchange/test_exchange_database.py::test_what_is_no_file_in_the_place_of_the_log_is_named",
    ),
    Defect(
        "folder-at-the-journal-of-marks",
        "a start fails, or waits for ever, for what is in the place of the journal of the forgotten files",
        "livedex_indexing/store/forgotten_database.py",
        (("    keep_special(f", "    str(f"), ("import keep_folder, keep_special", "import keep_folder")),
        f"{FORGOTTEN}::test_what_is_no_file_in_the_place_of_the_journal_is_kept",
    ),
    Defect(
        "no-start-on-a-full-disk",
        "a start is refused where the disk has no room for the index of the log, though nothing is to be written",
        "livedex_indexing/store/database.py",
        (("not _is_on_full_disk(path, error) or", "True or"),),
        "tests/system/test_store_faults_disk.py::test_a_start_on_a_full_disk_serves_the_index_and_heals",
    ),
    Defect(
        "opening-faults-raw",
        "a start that cannot replace the index ends with a traceback",
        "livedex_daemon/index_file/opener.py",
        (
            (
                "    except OSError as error:\n        raise IndexUnwritable(",
                "    except ZeroDivisionError as error:\n        raise IndexUnwritable(",
            ),
        ),
        "tests/daemon/index_file/test_opener.py::test_an_index_that_cannot_be_replaced_is_unavailable",
    ),
    Defect(
        "rebuild-without-an-end",
        "an index that was lost while no root is there is being rebuilt for ever",
        "livedex_daemon/write/worker.py",
        (
            (
                "        elif self._health.fault is None:\n            self._rebuilder.finish_if_whole(self._roots)\n",
                "",
            ),
        ),
        f"{STORE_FAULTS}::test_a_root_that_goes_does_not_hold_a_rebuild_up",
    ),
    Defect(
        "audit-of-a-lost-file",
        "an audit looks at the pages of a file that is lost, and not for the file",
        "livedex_daemon/answer/audit.py",
        (("found.index or await self._on_worker(check_and_rebuild)", "found.index"),),
        f"{STORE_FAULTS}::test_an_audit_of_a_lost_index",
    ),
    Defect(
        "repair-refuses-damage",
        "a repair ends with the damage that it is to repair",
        "livedex_daemon/answer/audit.py",
        (
            (
                "        with self._finding(found):\n            await self._on_worker(self._sources.worker.refuse",
                "        if True:\n            await self._on_worker(self._sources.worker.refuse",
            ),
        ),
        f"{STORE_FAULTS}::test_a_repair_takes_damage_as_a_finding",
    ),
    Defect(
        "pages-of-a-lost-file",
        "to count the pages of a file that is gone is an internal error",
        "livedex_indexing/store/index_store.py",
        (
            (
                "        except OSError as error:\n            raise IndexDamaged(",
                "        except ZeroDivisionError as error:\n            raise IndexDamaged(",
            ),
        ),
        "tests/indexing/store/test_index_store.py::test_a_lost_file_has_no_pages",
    ),
    Defect(
        "start-ends-with-damaged-roots",
        "a start ends when the roots cannot be read, though a new index has begun",
        "livedex_daemon/config_reload.py",
        (("        except IndexDamaged:", "        except ZeroDivisionError:"),),
        f"{STORE_FAULTS}::test_a_start_whose_roots_cannot_be_read",
    ),
    Defect(
        "copy-without-its-bytes",
        "a copy whose name is not UTF-8 is named by a path that does not exist",
        "livedex_indexing/hits/hit_builder.py",
        (("encoded if any(encoded) else None", "encoded if all(encoded) else None"),),
        "tests/indexing/search/test_search_order.py::test_a_copy_whose_name_is_not_utf8_is_named_by_its_bytes",
    ),
    Defect(
        "pending-for-ever",
        "a pending row that nothing works on is left alone",
        "livedex_daemon/upkeep/root_check.py",
        (("            self._upkeep.pending.mark()\n", ""),),
        "tests/system/test_made_again.py::test_a_pending_row_that_nothing_works_on_lasts_seconds",
    ),
    Defect(
        "unsettled-marked-again",
        "a file that is being written is read again at each look, though it is tried anyway",
        "livedex_daemon/upkeep/pending_rows.py",
        ((" if key not in self._files.unsettled]", "]"),),
        "tests/daemon/upkeep/test_pending_rows.py::test_not_what_is_unsettled_or_of_a_root_that_is_gone",
    ),
    Defect(
        "marks-kept-once",
        "a mark is written to one of the two files only",
        "livedex_indexing/store/forgotten_files.py",
        (("lambda: forgotten_copy.write(self._copy_path, hashes, self._state))", "lambda: None)"),),
        f"{FORGOTTEN}::test_each_file_is_restored_from_the_other",
    ),
    Defect(
        "copy-not-synced",
        "the second copy of the marks is renamed into place before its bytes are on the disk",
        "livedex_indexing/store/forgotten_copy.py",
        (("        os.fsync(file.fileno())\n", ""),),
        f"{FORGOTTEN}::test_what_was_acknowledged_survives_a_crash_at_each_write",
    ),
    Defect(
        "database-trusted-over-its-copy",
        "a hash with a flipped bit in the database counts, though the copy has a checksum",
        "livedex_indexing/store/forgotten_files.py",
        (("main.hashes | copy.hashes", "copy.hashes | main.hashes"),),
        f"{FORGOTTEN}::test_flipped_bits_lose_no_mark",
    ),
    Defect(
        "lost-marks-not-adopted",
        "both records of forgotten files are gone, and the index serves what it knows to be forgotten",
        "livedex_daemon/write/commit.py",
        (("        if self._forgotten.is_incomplete:", "        if False:"),),
        "tests/system/test_forgotten_record.py::test_damaged_marks_are_restored_and_nothing_forgotten_is_served",
    ),
    Defect(
        "marks-damaged-unseen",
        "the record of forgotten files is changed under the daemon, which goes on as if it were whole",
        "livedex_indexing/store/forgotten_files.py",
        (("        if self._stamps is not None and self._stamps == self._stamps_now():", "        if True:"),),
        f"{FORGOTTEN}::test_each_file_is_restored_from_memory",
    ),
    Defect(
        "mark-outlives-indexing",
        "a file that is indexed again on demand keeps its mark, and is left out after the next start",
        "livedex_daemon/write/commit.py",
        (("            self._unmark(rows)\n", ""),),
        "tests/system/test_lifecycle.py::test_forgotten_until_content_or_path_changes",
    ),
    Defect(
        "seemingly-hidden-folder-lost",
        "a folder is lost whose permission failed for a moment, with that of the folder above",
        "livedex_daemon/write/walk.py",
        (
            (
                "            self.hidden.append(path)\n            return\n",
                "            return\n",
            ),
        ),
        "tests/daemon/write/test_inspector_errors.py"
        "::test_searches_wait_for_a_folder_that_only_seemed_to_be_in_a_closed_one",
    ),
    Defect(
        "removal-forgotten-with-a-doubtful-root",
        "files that are gone stay listed if their root could not be examined for a moment",
        "livedex_daemon/write/inspector.py",
        (("                gone = {}\n", "                self.finished += entries\n                continue\n"),),
        "tests/daemon/write/test_departures.py::test_a_removal_is_not_forgotten_while_the_root_cannot_be_examined",
    ),
    Defect(
        "denied-for-a-moment-lost",
        "a search misses a file whose permission failed for a moment, with that of its folder",
        "livedex_daemon/write/worker.py",
        (("self._backlog.mark_for(work.key, work.entry)", "self._backlog.mark(work.key)"),),
        "tests/system/test_read_errors.py::test_a_file_denied_for_a_moment_is_not_left_out",
    ),
    Defect(
        "unread-configuration-blamed",
        "a configuration that the system cannot read counts as faulty, and is not read again by itself",
        "livedex_daemon/config/config_file.py",
        (("if fault.errno in _OF_THE_PATH else ConfigFileUnread", "if fault.errno else ConfigFileUnread"),),
        "tests/system/test_bad_settings.py::test_a_configuration_that_cannot_be_read_is_read_later",
    ),
    Defect(
        "cut-log-copied",
        "what is left of a log that was cut short is copied into the file when it is closed",
        "livedex_daemon/precious/precious_database.py",
        (
            (
                "            if self._is_open and is_cut_short(self._db, self._path, self._page_bytes):",
                "            if False:",
            ),
        ),
        "tests/daemon/exchange/test_exchange_database.py::test_a_log_cut_short_is_not_copied_at_the_end",
    ),
    Defect(
        "cut-log-kept-in-use",
        "a log that was cut short stays in use, and the exchange is refused, until the daemon ends",
        "livedex_daemon/subscriptions/standing_messages.py",
        (("            self._release()  # no commit waits for this\n", ""),),
        "tests/system/test_standing_messages.py::test_it_keeps_no_log_in_use_that_was_cut_short",
    ),
    Defect(
        "no-descriptor-no-word",
        "a client for which the daemon has no descriptor gets no answer",
        "livedex_ipc/server/listener.py",
        (("            self._refuse(REFUSED if is_marked else 1)\n", "            pass\n"),),
        "tests/ipc/server/test_listener.py::test_a_server_without_descriptors_backs_off_and_recovers",
    ),
    Defect(
        "no-pause-for-the-late",
        "a client that comes after others were refused is refused at once",
        "livedex_ipc/server/listener.py",
        (("self._pause = self._loop.call_later(PAUSE_S, self._after_pause)", "self._after_pause()"),),
        "tests/ipc/server/test_listener.py::test_a_server_without_descriptors_backs_off_and_recovers",
    ),
    Defect(
        "no-whole-pause-for-the-last",
        "a client that comes at the end of a pause is refused with those who waited through it",
        "livedex_ipc/server/listener.py",
        (("MSG_PEEK) == self._token:", "MSG_PEEK) is None:"),),
        "tests/ipc/server/test_listener.py::test_a_server_without_descriptors_backs_off_and_recovers",
    ),
    Defect(
        "a-pause-for-each",
        "of many clients for whom there is no descriptor, the last waits a pause for each before it",
        "livedex_ipc/server/listener.py",
        (("REFUSED if is_marked else 1", "1"),),
        "tests/ipc/server/test_listener.py::test_a_server_without_descriptors_backs_off_and_recovers",
    ),
    Defect(
        "crowd-uses-up-descriptors",
        "while hundreds of clients come at once, and are refused, no file can be opened to be read",
        "livedex_ipc/server/listener.py",
        (("range(SLICE - len(self._arriving) - self._leaving())", "range(64)"),),
        "tests/ipc/server/test_listener.py::test_a_crowd_of_clients_does_not_use_up_the_descriptors",
    ),
    Defect(
        "unseen-grammar-missing",
        "a grammar that could not be looked for counts as not installed",
        "livedex_indexing/chunk/grammars.py",
        (("        if is_there(package):\n            raise\n", ""),),
        "tests/indexing/chunk/test_child_of_a_failing_system.py::test_a_grammar_that_was_not_seen_is_not_missing",
    ),
    Defect(
        "searches-that-gave-up-pile-up",
        "each search that gave up stays noted in each change that it waited for",
        "livedex_daemon/watch/backlog_entry.py",
        (("        if len(self.waiters) >= self._drop_at:", "        if False:"),),
        "tests/daemon/watch/test_backlog.py::test_searches_that_gave_up_do_not_pile_up",
    ),
)
