"""Defects of the index, of the marks and of the configuration: what is kept, kept whole, and kept to itself."""

from __future__ import annotations

from planted.defect import Defect

DEFECTS = (
    Defect(
        "marks-not-synced",
        "a file is told to be forgotten before the mark is on the disk (`synchronous` off)",
        "livedex_indexing/marks.py",
        (('db.pragma("synchronous", "full")', 'db.pragma("synchronous", "off")'),),
        "tests/system/test_power_loss.py::test_what_was_told_survives_a_power_loss",
    ),
    Defect(
        "marks-synced-late",
        "a mark reaches the disk with the next checkpoint only (`synchronous` normal)",
        "livedex_indexing/marks.py",
        (('db.pragma("synchronous", "full")', 'db.pragma("synchronous", "normal")'),),
        "tests/system/test_power_loss.py::test_what_was_told_survives_a_power_loss",
    ),
    Defect(
        "config-not-synced",
        "an edit of the configuration is renamed into place before its bytes are on the disk",
        "livedex_daemon/config_edit.py",
        (("            os.fsync(descriptor)\n        place(temporary, target)", "        place(temporary, target)"),),
        "tests/system/test_power_loss.py::test_what_was_told_survives_a_power_loss",
    ),
    Defect(
        "config-name-not-synced",
        "an added root is acknowledged before the new name of the configuration is on the disk",
        "livedex_daemon/config_edit.py",
        (("            os.unlink(temporary)\n    _sync_folder(folder)", "            os.unlink(temporary)"),),
        "tests/system/test_power_loss.py::test_what_was_told_survives_a_power_loss",
    ),
    Defect(
        "mark-not-kept",
        "what was forgotten is remembered until the daemon ends",
        "livedex_indexing/marks.py",
        (("        self._write(_PUT, rows)\n        self._held.update", "        self._held.update"),),
        "tests/indexing/test_marks.py::test_marks_are_there_after_a_crash",
    ),
    Defect(
        "mark-not-carried-out",
        "a file whose mark outlived the index's commit after it, in a crash, is found after all",
        "livedex_daemon/reloading.py",
        (("        self._app.worker.keep_forgotten(root)\n", ""),),
        "tests/system/test_crash.py::test_a_mark_that_outlived_the_commit_after_it",
    ),
    Defect(
        "delete-and-insert-apart",
        "the old name of a file goes in one commit, the new one comes in another",
        "livedex_daemon/storing.py",
        (
            (
                "        with self._store.transaction():\n            self._remove(changes)\n",
                "        self._remove(changes)\n        with self._store.transaction():\n",
            ),
        ),
        "tests/daemon/test_storing.py::test_a_rename_that_cannot_be_stored_whole_changes_nothing",
    ),
    Defect(
        "generation-stands-still",
        "a commit changes what is found and not the generation",
        "livedex_indexing/sqlite.py",
        (("generation = self.generation + int(self._changed)", "generation = self.generation"),),
        "tests/indexing/test_sqlite.py::test_generation_grows_by_one_with_each_visible_transaction",
    ),
    Defect(
        "transaction-half-undone",
        "what a failed transaction touched is remembered as if it had been stored",
        "livedex_indexing/sqlite.py",
        (("self._contents.forget_cached()\n                if self._db", "if self._db"),),
        "tests/indexing/test_sqlite.py::test_a_wish_to_forget_is_undone_with_its_transaction",
    ),
    Defect(
        "secure-delete-off",
        "words of what was forgotten stay in freed pages of the index",
        "livedex_indexing/database.py",
        (('db.pragma("secure_delete", True)', 'db.pragma("secure_delete", False)'),),
        "tests/indexing/test_sqlite.py::test_forgotten_text_is_physically_gone",
    ),
    Defect(
        "forgotten-waits-a-day",
        "what was forgotten on demand is kept for a day as anything else",
        "livedex_indexing/contents.py",
        (("0.0 if forget else self._now()", "self._now()"),),
        "tests/indexing/test_sqlite.py::test_what_is_forgotten_does_not_wait",
    ),
    Defect(
        "dead-rows-served",
        "chunks of a content that no file holds any more are found",
        "livedex_indexing/contents.py",
        (("                    self._db.execute(_KILL, (first, last))\n", ""),),
        "tests/indexing/test_search_scope.py::test_contents_of_no_visible_file_are_not_found",
    ),
    Defect(
        "postings-left-behind",
        "words of a content that was collected stay in the index",
        "livedex_indexing/contents.py",
        (('    "DELETE FROM postings WHERE rowid BETWEEN ? AND ?",\n', ""),),
        "tests/indexing/test_sqlite.py::test_forgotten_text_is_physically_gone",
    ),
    Defect(
        "index-open-to-others",
        "the index can be read by other users of the machine",
        "livedex_indexing/database.py",
        (("Path(path).chmod(0o600)", "Path(path).chmod(0o644)"),),
        "tests/indexing/test_sqlite.py::test_files_are_private_whatever_the_umask",
    ),
    Defect(
        "newer-index-written-to",
        "an index of a later livedex is opened and written to",
        "livedex_indexing/database.py",
        (("    if version > SCHEMA_VERSION:", "    if version > SCHEMA_VERSION + 10_000:"),),
        "tests/indexing/test_sqlite.py::test_an_index_of_a_newer_schema_is_refused_byte_for_byte",
    ),
    Defect(
        "lost-index-unnoticed",
        "an index file that was deleted or replaced under the daemon is written to as if it were there",
        "livedex_indexing/sqlite.py",
        (("                return self._intact.loss()", "                return None"),),
        "tests/system/test_store_faults.py::test_marks_outlive_the_folder_they_lay_in",
    ),
    Defect(
        "two-daemons",
        "a second daemon starts on the same home",
        "livedex_daemon/opening.py",
        (("            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)", "            pass"),),
        "tests/system/test_two_daemons.py::test_of_many_that_start_at_once_one_stays",
    ),
)
