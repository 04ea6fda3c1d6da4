"""Defects of the meaning of a failed system call: an absence, a lost file, a false answer."""

from __future__ import annotations

from planted.defect import Defect

TREE = "tests/indexing/disk/test_tree_errors.py"
INSPECTOR = "tests/daemon/write/test_inspector_errors.py"
UNREADABLE = "tests/daemon/watch/test_unreadable.py"
PRESENCE = "tests/daemon/watch/test_root_presence.py"
SYSTEM = "tests/system/test_read_errors.py"

DEFECTS = (
    Defect(
        "cancel-is-an-exchange",
        "a client that sends `$/cancelRequest` with an id is asked whether it means `exchange/request`",
        "livedex_ipc/methods.py",
        (('is_dollar = name.startswith("$/")', "is_dollar = False"),),
        "tests/ipc/test_params.py::test_an_unknown_method_names_its_nearest",
    ),
    Defect(
        "error-is-absence",
        "an I/O error counts as if the file were gone",
        "livedex_indexing/disk/tree_errors.py",
        (("_GONE = frozenset((errno.ENOENT,", "_GONE = frozenset((errno.EIO, errno.ENOENT,"),),
        f"{TREE}::test_no_other_error_does",
    ),
    Defect(
        "long-name-is-absence",
        "a folder whose listing fails with a strange error vanishes from the index",
        "livedex_indexing/disk/tree_errors.py",
        (('max(map(len, rel.split(b"/"))) > _NAME_MAX', "True"),),
        f"{TREE}::test_no_other_error_does",
    ),
    Defect(
        "lost-share-is-absence",
        "files of a share that says ESTALE of everything leave the index, and come back with the next reconcile",
        "livedex_indexing/disk/tree_errors.py",
        (("_GONE = frozenset((errno.ENOENT,", "_GONE = frozenset((errno.ESTALE, errno.ENOENT,"),),
        f"{TREE}::test_a_stale_handle_is_looked_at_twice",
    ),
    Defect(
        "memory-is-the-file-s-fault",
        "a file that is read while memory is short is left out of the index, and a search says that it is fresh",
        "livedex_daemon/write/outcomes.py",
        (("isinstance(error, MemoryError | apsw.NoMemError)", "isinstance(error, KeyboardInterrupt)"),),
        "tests/daemon/write/test_file_reading.py::test_a_lack_of_memory_is_not_the_error_of_the_file",
    ),
    Defect(
        "memory-is-a-bug",
        "a search that finds no memory is answered as a fault of livedex, with a traceback in the log",
        "livedex_ipc/server/requests.py",
        (("        except MemoryError:\n", "        except RecursionError:\n"),),
        "tests/ipc/server/test_server_requests.py::test_a_lack_of_memory_is_no_fault_of_livedex",
    ),
    Defect(
        "sqlite-s-memory-is-a-bug",
        "a search in which SQLite finds no memory is answered as a fault of livedex",
        "livedex_indexing/store/database.py",
        (("    except apsw.NoMemError as error:\n", "    except ZeroDivisionError as error:\n"),),
        "tests/indexing/store/test_read_pool.py::test_a_lack_of_memory_in_sqlite_is_one_of_python",
    ),
    Defect(
        "denied-twice",
        "a folder in one that may not be entered is listed as failed, too, until the permission returns",
        "livedex_daemon/write/walk.py",
        (("        if is_hidden(self.root, path):", "        if path == self.path and is_hidden(self.root, path):"),),
        f"{INSPECTOR}::test_a_folder_in_one_that_denies_access_has_no_row",
    ),
    Defect(
        "denied-with-its-folder",
        "a file that is read when its folder is closed is listed as failed, too",
        "livedex_daemon/write/file_reading.py",
        (("Hidden() if is_hidden(work.root, work.path) else ", ""),),
        "tests/daemon/write/test_file_reading.py::test_a_file_in_a_folder_that_denies_access_is_not_the_one_that_does",
    ),
    Defect(
        "denied-folder-not-looked-at",
        "a file vanishes from the list together with its closed folder, which is not looked at",
        "livedex_daemon/write/commit.py",
        (("applied.hidden.append(work)", "pass"),),
        "tests/daemon/write/test_commit.py::test_a_file_in_a_closed_folder_has_no_row_and_its_path_is_looked_at",
    ),
    Defect(
        "second-reading-outlives-its-folder",
        "a file that waits to be read once more is stored although its folder is gone or closed",
        "livedex_daemon/write/readings.py",
        (("for work in self._unfinished() if work.root.id", "for work in self._works.values() if work.root.id"),),
        f"{INSPECTOR}::test_what_is_read_in_a_folder_that_denies_access_is_dropped_each_time",
    ),
    Defect(
        "waits-for-a-closed-folder",
        "a search that could not read a file in a folder without permission makes all later ones unfresh",
        "livedex_daemon/write/read_errors.py",
        ((" or is_at_or_below(parent(key[1]), denied)", ""),),
        f"{INSPECTOR}::test_no_search_waits_for_what_is_in_a_folder_that_denies_access",
    ),
    Defect(
        "waits-for-a-root-that-left",
        "a search that could not read a file of a root that is gone makes all later ones unfresh",
        "livedex_daemon/write/worker.py",
        (("if root is not None and root.present:  # else its", "if True:  # else its"),),
        "tests/daemon/write/test_worker.py::test_no_search_waits_for_a_file_of_a_root_that_has_gone",
    ),
    Defect(
        "closed-folder-leaks",
        "files of a folder that may be entered and not listed come and go with their events",
        "livedex_daemon/watch/unreadable.py",
        (("        while folder and self.denied:\n", "        while False:\n"),),
        f"{INSPECTOR}::test_a_folder_that_cannot_be_listed_hides_what_could_be_opened_in_it",
    ),
    Defect(
        "stale-handle-believed",
        "a stale handle is not looked at again, though its file is there",
        "livedex_indexing/disk/tree_errors.py",
        (("        if error.errno != errno.ESTALE:\n", "        if True:\n"),),
        f"{TREE}::test_a_stale_handle_is_looked_at_twice",
    ),
    Defect(
        "second-look-fails-and-removes",
        "a file is removed although the second look at it failed",
        "livedex_daemon/write/second_look.py",
        (
            (
                "    except (tree.Denied, tree.ReadFailed):\n        return False\n",
                "    except tree.TreeError:\n        return True\n",
            ),
        ),
        f"{INSPECTOR}::test_a_missing_file_is_not_removed_while_a_second_look_fails",
    ),
    Defect(
        "listing-fails-and-removes",
        "a folder that cannot be listed loses what is in it",
        "livedex_daemon/write/walk.py",
        (
            (
                "            self.failures[path] = fault.errno or errno.EIO\n",
                "            self.failures[path] = fault.errno or errno.EIO\n"
                "            changes.removed_trees.append((root.id, path))\n",
            ),
        ),
        f"{INSPECTOR}::test_a_folder_that_cannot_be_listed_keeps_all_that_is_in_it",
    ),
    Defect(
        "unreadable-rules-let-in",
        "an ignore file that cannot be read excludes nothing",
        "livedex_indexing/ignore/external_files.py",
        (
            (
                '    except tree.Denied:\n        return Lines(b"", UNREADABLE)\n',
                '    except tree.TreeError:\n        return Lines(b"", UNREADABLE)\n',
            ),
        ),
        f"{INSPECTOR}::test_an_unknown_rule_lets_nothing_in",
    ),
    Defect(
        "root-missing-for-want-of-a-descriptor",
        "a root counts as missing when the look at it fails",
        "livedex_daemon/watch/root_presence.py",
        (("            if is_gone(error, root.path):\n", "            if True:\n"),),
        f"{PRESENCE}::test_an_error_does_not_mean_that_a_root_is_missing",
    ),
    Defect(
        "shortage-blamed-on-the-file",
        "a file that could not be opened for want of descriptors becomes failed",
        "livedex_daemon/watch/unreadable.py",
        (("path.tries >= TRIES and code not in BLAMELESS", "path.tries >= TRIES"),),
        f"{UNREADABLE}::test_a_shortage_is_never_the_fault_of_a_path",
    ),
    Defect(
        "unreadable-called-fresh",
        "an answer is fresh although a file in its scope cannot be read",
        "livedex_daemon/answer/freshness.py",
        (("        if self._inside(scope, self._unreadable.open):\n", "        if False:\n"),),
        f"{SYSTEM}::test_a_search_elsewhere_stays_fresh",
    ),
    Defect(
        "unreadable-never-tried-again",
        "what could not be read waits for the next reconcile",
        "livedex_daemon/write/worker.py",
        (("        self._inspector.read_errors.mark_due()\n", ""),),
        f"{SYSTEM}::test_a_search_elsewhere_stays_fresh",
    ),
    Defect(
        "hit-check-tells-nobody",
        "a search that cannot open a file leaves its hit out, and the file is not read again",
        "livedex_daemon/answer/fresh_reads.py",
        (("                self._worker.could_not_read(stale.unreadable)\n", "                pass\n"),),
        f"{SYSTEM}::test_what_only_the_search_could_not_read",
    ),
    Defect(
        "new-index-passes-for-fresh",
        "what is read from a new index, begun since the wait for earlier changes, counts as fresh",
        "livedex_daemon/answer/fresh_reads.py",
        (
            (
                "if not state.fresh or (self._readers.current is handle and not self._store_health.rebuilding):",
                "if True:",
            ),
        ),
        "tests/system/test_store_faults.py::test_an_answer_from_a_new_index_is_not_fresh_before_it_is_whole",
    ),
    Defect(
        "permission-returns-unnoticed",
        "a file whose permission returns without an event stays denied",
        "livedex_daemon/upkeep/root_check.py",
        (("        self._read_errors.mark_allowed(self._roots)\n", ""),),
        f"{SYSTEM}::test_permission_that_returns_without_an_event_is_noticed",
    ),
    Defect(
        "files-left-open",
        "each file that is read stays open",
        "livedex_indexing/disk/tree.py",
        (
            (
                "    def __exit__(self, *_: object) -> None:\n        os.close(self._fd)\n",
                "    def __exit__(self, *_: object) -> None:\n        pass\n",
            ),
        ),
        "tests/system/test_lifecycle.py::test_forgotten_until_content_or_path_changes",
    ),
    Defect(
        "soft-limit-kept",
        "the soft limit of open files stays as it was, and clients use up all of them",
        "livedex_daemon/process/descriptors.py",
        (("        soft = wanted\n        break\n", "        break\n"),),
        "tests/daemon/process/test_descriptors.py::test_the_limit_is_raised_as_far_as_the_system_lets_it",
    ),
    Defect(
        "clients-take-every-descriptor",
        "clients are let in until no descriptor is left for the files",
        "livedex_daemon/process/descriptors.py",
        (("descriptors - RESERVE", "descriptors"),),
        "tests/system/test_descriptors.py::test_clients_leave_the_work_its_descriptors",
    ),
    Defect(
        "unfinished-requests-unbounded",
        "each client may keep an unfinished request of 4 MiB",
        "livedex_ipc/server/connection.py",
        (("            largest.refuse_unfinished()\n", "            pass\n"),),
        "tests/ipc/server/test_server_hostile.py::test_unfinished_requests_of_many_clients_share_a_budget",
    ),
    Defect(
        "denied-rules-kept",
        "an ignore file whose permission returns without an event never counts again",
        "livedex_indexing/ignore/rules.py",
        (("            self._denied.add(path)\n", "            pass\n"),),
        "tests/indexing/ignore/test_ignore_errors.py::test_permission_may_return_without_an_event",
    ),
    Defect(
        "denied-rules-absent",
        "a folder whose ignore files are denied for a moment has none",
        "livedex_indexing/ignore/rules.py",
        (
            (
                "            raise tree.ReadFailed(PermissionError(error.errno, str(error))) from error",
                "            return {} if error else {}",
            ),
        ),
        "tests/indexing/ignore/test_ignore_errors.py::test_a_denial_is_no_absence",
    ),
    Defect(
        "denied-markers-absent",
        "a folder whose siblings cannot be searched for markers is taken for an ordinary one",
        "livedex_indexing/ignore/folder_rules.py",
        (("                if where == self._rel:\n", "                if False:\n"),),
        "tests/indexing/ignore/test_ignore_errors.py::test_a_denial_is_no_absence",
    ),
    Defect(
        "pipe-error-blamed-on-the-file",
        "a file is failed for good because a pipe to the child failed once",
        "livedex_indexing/chunk/chunk_process.py",
        (
            (
                "        except OSError as error:  # of the pipes: no file is to blame\n",
                "        except MemoryError as error:\n",
            ),
        ),
        "tests/indexing/chunk/test_chunk_pipes.py::test_a_pipe_that_fails_blames_no_job",
    ),
    Defect(
        "gone-when-short-of-descriptors",
        "a listing that fails counts as an empty folder, which only the fault tests of the whole daemon see",
        "livedex_indexing/disk/tree.py",
        (
            (
                "partial(_listing, root, rel, remote)))\n    except OSError as error:\n",
                "partial(_listing, root, rel, remote)))\n    except OSError as error:\n"
                "        if error.errno not in (errno.EACCES, errno.EPERM):\n            return []\n",
            ),
        ),
        "tests/system/test_call_faults.py::test_no_failed_call_makes_an_answer_lie",
    ),
    Defect(
        "pending-counted-twice",
        "the status counts a file that is tried again twice, as its row and as its next try",
        "livedex_daemon/answer/status_report.py",
        (("keys -= self._readers.pending_among(keys) - self", "keys -= self"),),
        "tests/daemon/answer/test_status_report.py::test_each_path_that_waits_counts_once",
    ),
    Defect(
        "marked-again-counted-twice",
        "a file that changes while it is read counts as two that are pending",
        "livedex_daemon/watch/backlog.py",
        (
            (
                "for key, entry in self._in_progress.items() if key not in self._waiting)",
                "for _, entry in self._in_progress.items())",
            ),
        ),
        "tests/daemon/answer/test_freshness.py::test_a_path_that_waits_counts_once",
    ),
    Defect(
        "read-before-it-is-committed",
        "a folder counts as read before what was found in it is committed, and a search calls itself fresh",
        "livedex_daemon/write/read_errors.py",
        (
            (
                "                self.seen(walk.entry, key, walk.since)\n",
                "                self._unreadable.read(key, walk.since)\n",
            ),
        ),
        f"{INSPECTOR}::test_a_folder_that_cannot_be_listed_keeps_all_that_is_in_it",
    ),
    Defect(
        "error-of-a-root-that-left",
        "a walk that ends after its root disappeared leaves a read error that no search can trust the root with",
        "livedex_daemon/write/read_errors.py",
        (("        if not root.present:\n            return\n", ""),),
        f"{INSPECTOR}::test_a_walk_that_outlives_its_root_reports_no_error",
    ),
    Defect(
        "older-look-settles-a-failure",
        "a walk that looked at a folder before another failed there ends what the failure left to do",
        "livedex_daemon/watch/unreadable.py",
        (("since is not None and path.failure > since", "since is not None and path.failure < since"),),
        f"{INSPECTOR}::test_a_look_before_a_failure_does_not_prove_that_a_folder_can_be_read",
    ),
    Defect(
        "ignored-before-it-is-committed",
        "an unreadable file that is ignored now counts as read while the index still finds it",
        "livedex_daemon/write/inspector.py",
        (
            (
                "            self.read_errors.seen(entry, (root.id, path), self.unreadable.failures)\n",
                "            self.unreadable.read((root.id, path))\n",
            ),
        ),
        f"{INSPECTOR}::test_an_unreadable_file_that_is_ignored_now_is_in_doubt_until_that_is_committed",
    ),
    Defect(
        "permission-returns-unsaid",
        "a search that began before the permission of an ignore file returned is wrong without a warning",
        "livedex_indexing/ignore/rules.py",
        (
            (
                "        for folder in folders:\n            mark(folder)\n        with self._lock:\n"
                "            self._denied -= allowed\n            for folder in folders:\n"
                "                self.invalidate(folder)\n",
                "        with self._lock:\n"
                "            self._denied -= allowed\n            for folder in folders:\n"
                "                self.invalidate(folder)\n        for folder in folders:\n            mark(folder)\n",
            ),
        ),
        "tests/indexing/ignore/test_ignore_errors.py::test_permission_may_return_without_an_event",
    ),
    Defect(
        "warning-ends-with-the-answer",
        "what was wrong with a root while an answer was made is not said, since it is over",
        "livedex_daemon/answer/status_report.py",
        (("*(warned for warned in before if warned not in now), ", ""),),
        "tests/daemon/answer/test_status_report.py::test_what_was_wrong_with_a_root_before_an_answer_is_said_with_it",
    ),
    Defect(
        "subscription-called-fresh",
        "the first answer of a standing query is fresh although one of its files cannot be read",
        "livedex_daemon/answer/subscription_methods.py",
        (("            return first, first.stale\n", "            return first, Stale()\n"),),
        f"{SYSTEM}::test_what_only_a_standing_query_could_not_read",
    ),
    Defect(
        "change-not-reported-and-not-said",
        "a file that only the sending of a change could not read is named nowhere",
        "livedex_daemon/subscriptions/notifier.py",
        (("        if stale.unreadable:\n", "        if False:\n"),),
        f"{SYSTEM}::test_what_only_a_change_of_a_standing_query_could_not_read",
    ),
    Defect(
        "rules-change-before-the-mark",
        "the rules of a folder change, and their fault is no longer said, before its files are to be compared",
        "livedex_indexing/ignore/rules.py",
        (
            (
                "                mark(folder)\n                self.invalidate(folder)\n            return changed",
                "                self.invalidate(folder)\n                mark(folder)\n            return changed",
            ),
        ),
        "tests/indexing/ignore/test_ignore_errors.py::test_folders_are_marked_before_their_rules_change",
    ),
)
