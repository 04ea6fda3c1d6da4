"""Defects of the index, the forgotten files and the configuration: what is kept, kept whole, and kept private."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS = (
    Defect(
        "marks-not-synced",
        "a file is reported as forgotten before the record is on the disk (`synchronous` off)",
        "livedex_indexing/store/forgotten_database.py",
        (('db.pragma("synchronous", "extra")', 'db.pragma("synchronous", "off")'),),
        "tests/indexing/store/test_forgotten_files.py::test_what_was_acknowledged_survives_a_crash_at_each_write",
    ),
    Defect(
        "marks-synced-late",
        "a power loss undoes a mark, because the removal of the journal is not on the disk (`synchronous` full)",
        "livedex_indexing/store/forgotten_database.py",
        (('db.pragma("synchronous", "extra")', 'db.pragma("synchronous", "full")'),),
        "tests/indexing/store/test_forgotten_files.py::test_what_was_acknowledged_survives_a_crash_at_each_write",
    ),
    Defect(
        "config-not-synced",
        "an edit of the configuration is renamed into place before its bytes are on the disk",
        "livedex_daemon/config/config_edit.py",
        (("            os.fsync(descriptor)\n        place(temporary, target)", "        place(temporary, target)"),),
        "tests/system/test_power_loss.py::test_what_was_acknowledged_survives_a_loss_of_power",
    ),
    Defect(
        "config-name-not-synced",
        "an added root is acknowledged before the new name of the configuration is on the disk",
        "livedex_daemon/config/config_edit.py",
        (("            os.unlink(temporary)\n    _sync_folder(folder)", "            os.unlink(temporary)"),),
        "tests/system/test_power_loss.py::test_what_was_acknowledged_survives_a_loss_of_power",
    ),
    Defect(
        "mark-not-kept",
        "what was forgotten is remembered until the daemon ends",
        "livedex_indexing/store/forgotten_files.py",
        (
            (
                "write(self._opened(), lambda: forgotten_copy.write(self._copy_path, hashes, self._state))",
                "del write",
            ),
        ),
        "tests/indexing/store/test_forgotten_files.py::test_marks_are_there_after_a_crash",
    ),
    Defect(
        "mark-not-carried-out",
        "a file whose mark outlived the index's commit after it, in a crash, is found after all",
        "livedex_daemon/config_reload.py",
        (("        self._targets.worker.keep_forgotten(root)\n", ""),),
        "tests/system/test_crash.py::test_a_mark_that_outlived_the_commit_after_it",
    ),
    Defect(
        "freed-file-left-out",
        "a file whose mark went before the commit that indexed it again was lost stays out for good",
        "livedex_daemon/write/commit.py",
        (("        self._store.remove_files(root.id, freed)  # as new files they are read by the next walk\n", ""),),
        "tests/system/test_crash.py::test_a_mark_that_was_taken_before_the_commit_after_it",
    ),
    Defect(
        "failed-sync-believed",
        "what the disk was given and did not keep counts as kept once a later sync succeeds",
        "livedex_indexing/store/page_checksums.py",
        (('            _unsynced.add(self._path or "")\n', ""),),
        "tests/indexing/store/test_page_checksums.py::test_a_sync_that_failed_is_remembered_until_there_is_a_new_file",
    ),
    Defect(
        "sync-holds-everybody",
        "while the disk writes what it was given, nothing else of the daemon goes on",
        "livedex_indexing/store/page_checksums.py",
        (("                sync(self._own)\n", "                pass\n"),),
        "tests/indexing/store/test_page_checksums.py::test_others_go_on_while_the_disk_syncs",
    ),
    Defect(
        "log-left-after-a-reader",
        "where a reader needed the log during the maintenance, it is not emptied before the next change",
        "livedex_daemon/upkeep/idle_maintenance.py",
        (("        if store.checkpoint():", "        if store.checkpoint() or True:"),),
        "tests/system/test_tidying.py::test_the_log_is_emptied_once_no_reader_needs_it",
    ),
    Defect(
        "delete-and-insert-apart",
        "the old name of a file goes in one commit, the new one comes in another",
        "livedex_daemon/write/commit.py",
        (
            (
                "        with self._store.transaction():\n            self._remove(changes)\n",
                "        self._remove(changes)\n        with self._store.transaction():\n",
            ),
        ),
        "tests/daemon/write/test_commit.py::test_a_rename_that_cannot_be_stored_whole_changes_nothing",
    ),
    Defect(
        "generation-stands-still",
        "a commit changes what is found and not the generation",
        "livedex_indexing/store/index_store.py",
        (("generation = self.generation + int(self._changed)", "generation = self.generation"),),
        "tests/indexing/store/test_index_store.py::test_generation_grows_by_one_with_each_visible_transaction",
    ),
    Defect(
        "transaction-half-undone",
        "what a failed transaction touched is remembered as if it had been stored",
        "livedex_indexing/store/index_store.py",
        (("self._contents.forget_cached()\n                if self._db", "if self._db"),),
        "tests/indexing/store/test_index_store.py::test_a_wish_to_forget_is_undone_with_its_transaction",
    ),
    Defect(
        "secure-delete-off",
        "words of what was forgotten stay in freed pages of the index",
        "livedex_indexing/store/database.py",
        (('db.pragma("secure_delete", True)', 'db.pragma("secure_delete", False)'),),
        "tests/indexing/store/test_index_store.py::test_forgotten_text_is_physically_gone",
    ),
    Defect(
        "all-written-anew-at-each-rest",
        "a few edits cost as much as the index is large",
        "livedex_indexing/store/maintenance.py",
        (("if 0 < unmerged_since <= max(LONG_AGO, until):", "if unmerged_since:"),),
        "tests/indexing/store/test_index_store.py::test_maintenance_after_a_few_changes_does_not_rewrite_the_whole_index",
    ),
    Defect(
        "merged-with-what-goes-meanwhile",
        "what is forgotten while all is merged stays in what was written already",
        "livedex_indexing/store/maintenance.py",
        (("    while _merge_step(db, table, -MERGE_PAGES):", "    if _merge_step(db, table, -MERGE_PAGES):"),),
        "tests/indexing/store/test_index_store.py::test_what_is_forgotten_while_all_is_merged_does_not_stay_in_what_is_merged",
    ),
    Defect(
        "forgotten-waits-a-day",
        "what was forgotten on demand is kept for a day as anything else",
        "livedex_indexing/store/contents.py",
        (("0.0 if forget else self._now()", "self._now()"),),
        "tests/indexing/store/test_index_store.py::test_what_is_forgotten_does_not_wait",
    ),
    Defect(
        "dead-rows-served",
        "chunks of a content that no file holds any more are found",
        "livedex_indexing/store/contents.py",
        (("                    self._db.execute(_KILL, (first, last))\n", ""),),
        "tests/indexing/search/test_search_scope.py::test_contents_of_no_visible_file_are_not_found",
    ),
    Defect(
        "postings-left-behind",
        "words of a content that was collected stay in the index",
        "livedex_indexing/store/contents.py",
        (('    "DELETE FROM postings WHERE rowid BETWEEN ? AND ?",\n', ""),),
        "tests/indexing/store/test_index_store.py::test_forgotten_text_is_physically_gone",
    ),
    Defect(
        "index-open-to-others",
        "the index can be read by other users of the machine",
        "livedex_indexing/store/database.py",
        (("Path(path).chmod(0o600)", "Path(path).chmod(0o644)"),),
        "tests/indexing/store/test_store_opening.py::test_files_are_private_whatever_the_umask",
    ),
    Defect(
        "newer-index-written-to",
        "an index of a later livedex is opened and written to",
        "livedex_indexing/store/database.py",
        (("    if version > SCHEMA_VERSION:", "    if version > SCHEMA_VERSION + 10_000:"),),
        "tests/indexing/store/test_store_opening.py::test_an_index_of_a_newer_schema_is_refused_byte_for_byte",
    ),
    Defect(
        "lost-index-unnoticed",
        "an index file that was deleted or replaced under the daemon is written to as if it were there",
        "livedex_indexing/store/index_store.py",
        (("                lost = self._guard.replaced_or_lost()", "                lost = None"),),
        "tests/system/test_store_faults.py::test_marks_outlive_the_folder_they_lay_in",
    ),
    Defect(
        "two-daemons",
        "a second daemon starts on the same home",
        "livedex_daemon/index_file/opener.py",
        (("            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "            pass"),),
        "tests/system/test_two_daemons.py::test_of_many_that_start_at_once_one_stays",
    ),
)
