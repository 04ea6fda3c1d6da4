"""Defects of reading the user's files: mixtures of two states, ways out of the root, files trusted too easily."""

from __future__ import annotations

from planted.defect import Defect

TREE = "tests/indexing/disk/test_tree.py"
READING = "tests/indexing/disk/test_tree_reading.py"
ANY_CASE = "tests/system/test_names_in_any_case.py"
RECONCILE = "tests/daemon/write/test_reconcile.py"
QUARANTINE = "tests/system/test_quarantine.py"

INSPECTOR = "tests/daemon/write/test_inspector.py"

DEFECTS = (
    Defect(
        "departure-believed",
        "a folder that was removed and made again loses its files and its watch",
        "livedex_daemon/write/inspector.py",
        (("for entry in entries if is_gone(root, entry.key[1])}", "for entry in entries}"),),
        f"{INSPECTOR}::test_a_folder_that_came_back_keeps_its_watch_and_is_looked_at_again",
    ),
    Defect(
        "row-outlives-its-file",
        "a file that went before its row was stored stays listed",
        "livedex_daemon/write/inspector.py",
        (("self._cancel(root.id, partial(is_at_or_below, folders=gone))", "pass"),),
        f"{INSPECTOR}::test_a_file_that_is_gone_leaves_no_row_that_was_decided_before",
    ),
    Defect(
        "old-case-stays",
        "a file whose name changes its case stays listed under the old name where the system opens it by both",
        "livedex_daemon/write/inspector.py",
        (("stat = self._names.stat(root.path, path, entry.last_at)", "stat = tree.stat(root.path, path)"),),
        f"{ANY_CASE}::test_a_file_that_is_renamed_in_case_only_has_one_row",
    ),
    Defect(
        "old-case-came-back",
        "what is gone under its old case is taken for a file that came back",
        "livedex_daemon/write/second_look.py",
        (("return stat_as_listed(root.path, path) is None", "return tree.stat(root.path, path) is None"),),
        f"{ANY_CASE}::test_a_file_that_is_renamed_in_case_only_has_one_row",
    ),
    Defect(
        "old-case-of-a-folder-walked",
        "a folder whose name changed its case is walked under both names",
        "livedex_daemon/write/walk.py",
        (("stat = stat_as_listed(self.root.path, path)", "stat = tree.stat(self.root.path, path)"),),
        f"{ANY_CASE}::test_names_that_changed_their_case_while_no_daemon_ran_have_one_row",
    ),
    Defect(
        "named-by-an-old-listing",
        "a name is taken for listed by a listing from before it changed",
        "livedex_indexing/disk/listed_names.py",
        (("known.begun_at > since and name in known.names", "name in known.names"),),
        "tests/indexing/disk/test_listed_names.py::test_one_listing_serves_all_changes_before_it",
    ),
    Defect(
        "lost-link-has-no-twins",
        "what was written by a name that is gone is not found by the file's other name",
        "livedex_daemon/write/inspector.py",
        (("if row is not None:  # it may", "if False:  # it may"),),
        "tests/system/test_twins.py::test_what_was_written_by_a_name_that_is_gone_is_found_by_the_other",
    ),
    Defect(
        "new-link-has-no-twins",
        "what is written by a name that was just linked is not found by the file's other name",
        "livedex_daemon/write/inspector.py",
        (
            (
                "(stat.links > 1 or (row is not None and row.state.ino == stat.ino))",
                "(row is not None and row.state.ino == stat.ino)",
            ),
        ),
        "tests/system/test_twins.py::test_what_is_written_by_a_name_that_was_just_linked_is_found_by_the_other[True]",
    ),
    Defect(
        "file-in-hand-has-no-twins",
        "a file that was just read keeps its text although it was written by another name before the index had it",
        "livedex_daemon/write/readings.py",
        (("(*self._of_inode(seen.ino), *changes.of_inode(seen.ino))", "changes.of_inode(seen.ino)"),),
        f"{INSPECTOR}::test_a_file_that_is_being_read_is_examined_again_after_a_write_by_another_name",
    ),
    Defect(
        "walk-forgets-files-in-hand",
        "a walk that finds another name of a file that was just read leaves that file its former text",
        "livedex_daemon/write/inspector.py",
        (("(*twins, *self.readings.other_names_of(works))", "twins"),),
        f"{INSPECTOR}::test_a_walk_that_finds_another_name_of_a_file_that_is_being_read_has_it_examined_again",
    ),
    Defect(
        "name-elsewhere-without-a-row",
        "a search of a folder misses what was written by a name outside it that was just linked",
        "livedex_daemon/answer/fresh_reads.py",
        (
            (
                "            linked = found if found is not None and found.links > 1 else None",
                "            linked = None",
            ),
        ),
        "tests/system/test_twins.py::test_a_name_in_the_scope_has_what_was_written_by_one_just_linked_outside_it[True]",
    ),
    Defect(
        "name-elsewhere-not-waited-for",
        "a search of a folder misses what was written by a name outside it while the file in it was read",
        "livedex_daemon/answer/freshness.py",
        (("        return names.linked if inside else []", "        return []"),),
        "tests/daemon/answer/test_freshness.py"
        "::test_a_name_elsewhere_is_waited_for_only_while_a_file_in_the_scope_is_read",
    ),
    Defect(
        "settled-by-its-commit",
        "a write between the reading of a file and a late commit, in one tick of a coarse clock, is missed",
        "livedex_daemon/write/commit.py",
        (("is_settled(outcome.stat, now, outcome.work.read_at)", "is_settled(outcome.stat, now)"),),
        "tests/daemon/write/test_commit.py::test_what_was_read_just_after_a_change_is_not_settled_however_late_its_commit",
    ),
    Defect(
        "looked-at-before-the-commit",
        "a file that came back while its removal waits for the commit is removed",
        "livedex_daemon/write/inspector.py",
        (("covered = self.changes.covers(key)", "covered = False"),),
        f"{INSPECTOR}::test_a_path_is_looked_at_again_after_the_commit_of_its_removal",
    ),
    Defect(
        "folder-is-a-special-file",
        "a file that becomes a folder while it is read is listed as skipped, beside what is in it",
        "livedex_daemon/write/file_reading.py",
        (('            if fault.kind == "folder":', "            if False:"),),
        "tests/daemon/write/test_file_reading.py::test_what_is_no_text_is_an_outcome",
    ),
    Defect(
        "folder-read-for-ever",
        "a file that becomes a folder while it is read stays pending, and no search of it is fresh",
        "livedex_daemon/write/commit.py",
        (('return found is not None and found.kind != "folder"', "return found is not None"),),
        "tests/daemon/write/test_commit.py::test_a_file_that_was_gone_is_read_again_if_a_file_is_there",
    ),
    Defect(
        "rows-below-a-file",
        "what was just found in a folder that became a file or a link stays in the index until the next reconcile",
        "livedex_daemon/write/inspector.py",
        (("        if was_folder or changes.may_have_rows_below((root.id, path)):", "        if was_folder:"),),
        f"{INSPECTOR}::test_a_file_in_the_place_of_a_folder_leaves_no_row_below_that_was_decided_before",
    ),
    Defect(
        "rows-below-a-known-file",
        "a path that is a file, a folder and a file again, each stored at once, keeps what was in the folder listed",
        "livedex_daemon/write/inspector.py",
        (("was_folder = self._store", "was_folder = row is None and self._store"),),
        f"{INSPECTOR}::test_a_file_with_a_row_leaves_no_rows_below_it",
    ),
    Defect(
        "file-that-is-a-folder-now",
        "a file that became a folder before its row was stored stays listed",
        "livedex_daemon/write/inspector.py",
        (("self.changes.drop_row((root.id, path)) or ", ""),),
        f"{INSPECTOR}::test_a_folder_leaves_no_row_of_the_file_that_it_was_a_moment_ago",
    ),
    Defect(
        "file-that-is-a-root-now",
        "a file whose place a root takes stays in the index, and each search that finds it is unsettled",
        "livedex_daemon/write/walk.py",
        (("if path in self._with_row:  # it was a file before", "if False:  # it was a file before"),),
        f"{INSPECTOR}::test_a_file_that_became_another_root_leaves_no_row",
    ),
    Defect(
        "root-unwatched-as-it-goes",
        "a root that goes before its first listing counts as read and watched, and its return is seen late",
        "livedex_daemon/write/walk.py",
        (("if not path:  # no other watch", "if False:  # no other watch"),),
        f"{INSPECTOR}::test_a_root_that_goes_before_it_is_listed_stays_watched",
    ),
    Defect(
        "rows-uncounted-after-a-drop",
        "rows that come after others were dropped are not known to be below a folder",
        "livedex_daemon/write/changes.py",
        (("is_dropped(row)]\n        self._counted = 0", "is_dropped(row)]"),),
        f"{INSPECTOR}::test_a_file_in_the_place_of_a_folder_leaves_no_row_below_that_was_decided_before",
    ),
    Defect(
        "rows-of-before-the-walk",
        "what another walk stores by the old rules, after a walk for the new ones began, stays in the index",
        "livedex_daemon/write/walk.py",
        (("self._states_of != self._rows.generation:", "self._states_of < 0:"),),
        f"{INSPECTOR}::test_a_walk_takes_out_what_was_stored_by_the_rules_of_before",
        (
            (
                "livedex_daemon/write/walk.py",
                "            self._leave(self._rows.folders_below(self.root.id, self.path), changes)",
                "            self._leave(sorted(self._states or ()), changes)",
            ),
        ),
    ),
    Defect(
        "walked-before-the-commit",
        "a walk keeps files whose removal waits for the commit",
        "livedex_daemon/write/inspector.py",
        (("if any(self.changes.removals()) and self._walked", "if False and self._walked"),),
        f"{INSPECTOR}::test_a_walk_waits_for_the_commit_of_what_others_removed",
    ),
    Defect(
        "removals-distinguished-by-number",
        "a walk takes removals of others for its own where there are as many",
        "livedex_daemon/write/inspector.py",
        (("self.needs_commit, self._walked = False, None", "self.needs_commit = False"),),
        f"{INSPECTOR}::test_a_walk_distinguishes_its_own_removals_from_as_many_of_others",
    ),
    Defect(
        "file-voided-with-its-folder",
        "a folder that became a file while the daemon was down is never indexed",
        "livedex_daemon/write/inspector.py",
        (("is_at_or_below(parent(other), folders)", "is_at_or_below(other, folders)"),),
        f"{INSPECTOR}::test_a_file_in_the_place_of_a_folder_is_read_though_the_folder_is_gone",
    ),
    Defect(
        "second-look-skipped",
        "a file that was written while it was read is taken as it was read",
        "livedex_indexing/disk/tree.py",
        (("        if self._stat().state != self.stat.state:", "        if False:"),),
        f"{READING}::test_a_write_between_two_looks_is_noticed",
    ),
    Defect(
        "young-file-read-once",
        "two writes in one tick of the clock are taken for one state",
        "livedex_indexing/disk/tree.py",
        (("recent = self._born - self.stat.ctime_ns < RECENT_NS", "young = False"),),
        f"{READING}::test_a_young_file_is_read_twice",
    ),
    Defect(
        "growth-believed",
        "a file that grew while it was read is taken without reading its beginning again",
        "livedex_indexing/disk/tree.py",
        (("self.stat.size and self._reads_again(data, 0)", "self.stat.size"),),
        f"{READING}::test_a_log_that_is_rewritten_longer_is_unsettled",
    ),
    Defect(
        "link-followed",
        "a file that turned into a link is read where the link leads",
        "livedex_indexing/disk/tree.py",
        (("_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK", "_READ = os.O_RDONLY | os.O_NONBLOCK"),),
        f"{READING}::test_a_swap_between_the_look_and_the_opening",
    ),
    Defect(
        "folder-link-followed",
        "a link to a folder leads out of the root",
        "livedex_indexing/disk/beneath.py",
        (
            ("_RESOLVE = 0x02 | 0x04 | 0x08", "_RESOLVE = 0"),
            ("_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC", "_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC"),
        ),
        f"{TREE}::test_nothing_is_reached_through_a_link",
    ),
    Defect(
        "pipe-opened",
        "a pipe in the tree is opened before it is distinguished from a file",
        "livedex_indexing/disk/tree.py",
        (
            (
                "            cls._refuse_special(describe(os.stat(name, dir_fd=above, follow_symlinks=False)))\n",
                "",
            ),
        ),
        f"{READING}::test_a_pipe_that_is_passed_by_is_not_opened",
    ),
    Defect(
        "prefix-taken-for-a-path",
        "`/root-evil` counts as inside of `/root`",
        "livedex_indexing/relpath.py",
        (('path.startswith(folder + b"/")', "path.startswith(folder)"),),
        "tests/indexing/test_relpath.py::test_containment_is_decided_by_whole_names",
    ),
    Defect(
        "dots-climb",
        "a relative path may climb by `..`",
        "livedex_indexing/disk/beneath.py",
        (('frozenset((b"", b".", b".."))', 'frozenset((b"", b"."))'),),
        f"{TREE}::test_a_path_that_is_not_relative_is_refused",
    ),
    Defect(
        "ctime-not-compared",
        "a rewrite of the same size with its time put back is not seen",
        "livedex_daemon/write/reconcile.py",
        (("row.state != stat.state:", "row.state[:2] != stat.state[:2]:"),),
        f"{RECONCILE}::test_any_difference_in_either_direction_is_read",
    ),
    Defect(
        "racy-file-believed",
        "a file that was written while it was indexed is not looked at again (the settled flag is ignored)",
        "livedex_daemon/write/reconcile.py",
        (('if row.status == "pending" or not row.settled:', 'if row.status == "pending":'),),
        f"{RECONCILE}::test_what_is_not_sure_is_read",
    ),
    Defect(
        "old-plan-kept",
        "after a change of plan what was cut before stays as it was",
        "livedex_daemon/write/reconcile.py",
        (("if planned is not None and (row.status", "if False and (row.status"),),
        "tests/system/test_plan_change.py::test_killed_while_everything_is_cut_again",
    ),
    Defect(
        "old-plan-mixed",
        "a file is cut by settings that came after its plan was chosen",
        "livedex_daemon/write/worker_slot.py",
        (("data, job.settings, job.doc", "data, type(job.settings)(chunk_size=100, overlap=0), job.doc"),),
        "tests/daemon/write/test_chunk_pool.py::test_a_file_is_cut_as_its_signature_says_though_the_settings_change_meanwhile",
    ),
    Defect(
        "quarantine-not-kept",
        "a file that killed its worker twice is given to the next one when it is touched",
        "livedex_daemon/write/file_reading.py",
        (("return Failed(stage, message) if stage in stages else None", "return None"),),
        f"{QUARANTINE}::test_one_bad_file_is_set_aside_alone_and_for_good",
    ),
    Defect(
        "quarantine-at-every-start",
        "a file that killed its worker twice is tried again at every look",
        "livedex_daemon/write/reconcile.py",
        (
            ('.startswith(("read", "denied", "store")', '.startswith(("read", "denied", "store", "quarantined")'),
            (
                "    if force or row is None or row.state",
                '    if row is not None and row.status == "failed":\n'
                "        row = None\n"
                "    if force or row is None or row.state",
            ),
        ),
        f"{RECONCILE}::test_what_would_end_the_same_way_is_not_read_again",
    ),
    Defect(
        "child-for-each-edit",
        "while a file takes its time to be cut, each edit of another waits for the start of a process",
        "livedex_daemon/write/chunk_pool.py",
        (('role == "spare" and not queue and not self._is_stuck()', 'role == "spare" and not queue'),),
        "tests/daemon/write/test_slow_files.py::test_edits_share_a_child_while_a_file_takes_its_time",
    ),
    Defect(
        "slow-file-blocks-others",
        "while one file takes its time to be cut, no other is",
        "livedex_daemon/write/chunk_pool.py",
        (('"edits": 1, "spare": 1,', '"edits": 1, "spare": 0,'),),
        "tests/daemon/write/test_chunk_pool.py::test_a_file_that_takes_its_time_holds_up_no_other",
    ),
    Defect(
        "two-slow-files-block-others",
        "while two files take their time to be cut, no other edit is",
        "livedex_daemon/write/chunk_pool.py",
        ((' or (role == "spare" and bool(self._edits) and self._is_stuck())', ""),),
        "tests/daemon/write/test_slow_files.py::test_two_files_that_take_their_time_hold_up_no_other",
    ),
    Defect(
        "slow-file-blocks-its-batch",
        "the files of a batch wait for the one in it that takes its time",
        "livedex_daemon/write/chunk_pool.py",
        (("return files > 1 or (", "return ("),),
        "tests/daemon/write/test_slow_files.py::test_a_file_that_takes_its_time_holds_up_none_of_its_batch",
    ),
    Defect(
        "slow-files-block-bulk-work",
        "edits that take their time occupy every process for bulk work",
        "livedex_daemon/write/chunk_pool.py",
        (("bulk += bool(self._slow or self._slow_in)", "bulk = max(bulk, bool(self._slow or self._slow_in))"),),
        "tests/daemon/write/test_slow_files.py::test_files_that_gave_way_hold_up_no_bulk_work",
    ),
    Defect(
        "slow-file-waits-for-another",
        "a file that took long on a busy machine waits until one is cut, or given up, that takes for ever",
        "livedex_daemon/write/chunk_pool.py",
        (("return bool(self._slow) and took_s > STUCK_S * 2", "return False and took_s > STUCK_S * 2"),),
        "tests/daemon/write/test_slow_files.py::test_files_that_gave_way_wait_for_each_other_in_turn",
    ),
    Defect(
        "slow-file-blamed",
        "a file that gave way to others twice is quarantined",
        "livedex_daemon/write/worker_slot.py",
        (("if death.reason == GAVE_WAY:", 'if death.reason == "":'),),
        "tests/daemon/write/test_worker_slot.py::test_a_file_that_gives_way_is_blamed_for_nothing",
    ),
    Defect(
        "quarantine-at-the-first-death",
        "one death of a worker is enough to give a file up",
        "livedex_daemon/write/worker_slot.py",
        (("if culprit.work.deaths < DEATHS:", "if culprit.work.deaths < 1:"),),
        f"{QUARANTINE}::test_one_bad_file_is_set_aside_alone_and_for_good",
    ),
    Defect(
        "secrets-indexed",
        "likely secrets are let in",
        "livedex_indexing/ignore/defaults.py",
        (
            (
                '        if pattern is not None:\n            return Builtin("secret", pattern)\n    found',
                "        pass\n    found",
            ),
        ),
        "tests/system/test_lifecycle.py::test_secrets_and_texts_stay_out",
    ),
)
