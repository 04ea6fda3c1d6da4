"""Defects of what decides about a path from outside it: rule files, markers, roots, mounts, hard links."""

from __future__ import annotations

from planted.defect import Defect

OUTSIDE = "tests/system/test_outside_rules.py"
INNER_ROOTS = "tests/system/test_inner_roots.py::test_no_search_misses_a_file_that_passes_from_root_to_root"
TRAILS = "tests/daemon/watch/test_outside_files.py"
IGNORE_FILES = "tests/indexing/ignore/test_ignore_files.py"
UNNAMED = "tests/system/test_twins.py::test_a_file_made_without_a_name_is_written_on_by_its_descriptor"
FORMER = "tests/system/test_former_names.py::test_what_is_written_is_found_by_the_name_that_is_left"
LOST = "tests/daemon/write/test_lost_names.py::test_a_name_that_is_lost_is_known_before_the_commit"
TWIN_LOOKS = "tests/daemon/write/test_twin_looks.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "file-without-a-name-written-on",
        "what is written by the descriptor of a file that was made without a name is missed by fresh searches",
        "livedex_daemon/write/inspector.py",
        (("elif (ino := unnamed_inode(path)) is not None:", "elif (ino := unnamed_inode(b'')) is not None:"),),
        UNNAMED,
    ),
    Defect(
        "file-without-a-name-in-another-scope",
        "a search in another folder does not wait for what is written to a file that was made without a name",
        "livedex_daemon/answer/fresh_reads.py",
        (("ino = unnamed_inode(path) if linked is None", "ino = None if linked is None"),),
        f"{UNNAMED}[the file-another folder]",
    ),
    Defect(
        "link-of-a-root-followed-once",
        "a root whose link leads to another folder stays the former one until the next start",
        "livedex_daemon/upkeep/root_check.py",
        (("root.config.is_link and leads_elsewhere(", "False and leads_elsewhere("),),
        "tests/system/test_replaced_roots.py::test_a_configured_link_is_followed_to_another_folder",
    ),
    Defect(
        "misspelt-path-lists-nothing",
        "a list of what is at a path where nothing is looks like that of an empty folder",
        "livedex_indexing/search/listing.py",
        (("places_without_a_file(reader, request.places or (), roots)", "[]"),),
        "tests/indexing/search/test_listing.py::test_a_path_without_a_file_is_named",
    ),
    Defect(
        "last-file-of-rules-decides",
        "`why` names a negated pattern that another ignore file, or the user's own rule, outranks",
        "livedex_indexing/ignore/folder_rules.py",
        (("(*self._user, *self._layers):", "reversed((*self._user, *self._layers)):"),),
        "tests/daemon/answer/test_explanation.py::test_a_secret_that_the_users_own_rule_lets_in_names_it",
    ),
    Defect(
        "marker-thought-to-have-stayed",
        "a Cargo.toml that is gone for a moment: what it shuts out is found from then on",
        "livedex_daemon/write/walk.py",
        (("(changes.removed if is_marker_name(name) else absent)", "absent"),),
        "tests/system/test_rule_scopes.py::test_a_marker_that_comes_back_at_once",
    ),
    Defect(
        "rule-file-reaches-only-itself",
        "a search in a folder does not wait for an ignore file above it",
        "livedex_daemon/watch/backlog_entry.py",
        (("        self.reach = (key[0], rules.reach(key[1]))", "        self.reach = key"),),
        "tests/daemon/watch/test_backlog.py::test_what_decides_about_a_path_is_waited_for",
    ),
    Defect(
        "marker-decides-about-itself-alone",
        "a marker such as Cargo.toml does not reach the folders next to it",
        "livedex_indexing/ignore/rules.py",
        (('IGNORE_FILES | MARKER_NAMES | {b".git"}', 'IGNORE_FILES | {b".git"}'),),
        "tests/properties/test_reach.py::test_only_what_is_reached_is_judged_otherwise",
    ),
    Defect(
        "ignored-folder-stays-watched",
        "a folder that becomes ignored keeps its watches until the next start",
        "livedex_daemon/write/inspector.py",
        (
            (
                "        if gone:\n            self._watching.let_go",
                "        if False:\n            self._watching.let_go",
            ),
        ),
        f"{OUTSIDE}::test_folders_that_become_ignored_cost_no_watches",
    ),
    Defect(
        "watch-of-an-older-walk-taken-away",
        "a walk that ends takes watches away although a later walk let their folders in",
        "livedex_daemon/write/inspector.py",
        (
            (
                "        gone = [path for path in followed if not is_indexed_folder(root, path)]",
                "        gone = followed",
            ),
        ),
        "tests/daemon/write/test_inspector.py::test_a_folder_that_was_let_in_again_meanwhile_keeps_its_watch",
    ),
    Defect(
        "walk-outlives-its-root",
        "the walk of a root that is removed goes on, and places watches for it",
        "livedex_daemon/write/inspector.py",
        (("            self._walks.remove(walk)\n            self.release(walk.entry)", "            pass"),),
        "tests/daemon/write/test_inspector.py::test_the_walks_of_a_root_that_leaves_end",
    ),
    Defect(
        "other-names-in-new-folders-unmarked",
        "what is written by a hard link in a new folder is not found by the file's other name until the next reconcile",
        "livedex_daemon/write/walk.py",
        (("            if stat.links > 1 and stat.state not in self._linked:", "            if False:"),),
        "tests/daemon/write/test_inspector.py::test_other_names_of_a_changed_file_that_a_walk_finds_are_marked",
    ),
    Defect(
        "marker-inside-not-watched",
        "a marker that goes from inside a folder that it shut out is not noticed",
        "livedex_indexing/ignore/folder_rules.py",
        (("                if where == folder:", "                if False:"),),
        f"{OUTSIDE}::test_a_marker_inside_a_folder_works_both_ways",
    ),
    Defect(
        "link-to-rules-not-followed",
        "an ignore file of the user's that is a link is watched where the link is, not where the file is",
        "livedex_daemon/watch/outside_files.py",
        (("        if target and follow and links < _LINKS:", "        if False:"),),
        f"{TRAILS}::test_links_are_followed_to_the_real_folders",
    ),
    Defect(
        "touched-trail-not-followed-again",
        "a folder of the user's ignore file that is made later is not watched",
        "livedex_daemon/watch/outside_files.py",
        (("            self._touched.add(path)", "            pass"),),
        f"{OUTSIDE}::test_a_folder_made_later_deleted_and_made_again",
    ),
    Defect(
        "trail-believed-before-it-is-watched",
        "what comes between following a trail and watching its folders is not noticed",
        "livedex_daemon/watch/outside_files.py",
        (("            if _trail_of(source, root) != known:", "            if False:"),),
        f"{TRAILS}::test_what_changes_before_it_is_watched_is_followed_again",
    ),
    Defect(
        "young-ignore-file-believed",
        "an ignore file that changes twice within one tick of the clock is read once",
        "livedex_indexing/ignore/folder_rules.py",
        (("            if not self._settled:", "            if False:"),),
        f"{IGNORE_FILES}::test_an_ignore_file_that_had_just_changed_is_read_again",
    ),
    Defect(
        "young-outside-file-believed",
        "the user's ignore file that changes twice within one tick of the clock is read once",
        "livedex_daemon/write/inspector.py",
        (("outside_changed(path, doubtful=True)", "outside_changed(path)"),),
        "tests/daemon/write/test_inspector.py::test_a_doubtful_outside_file_is_read_again",
    ),
    Defect(
        "files-of-a-former-root-not-marked",
        "the files of a removed inner root are not looked for in the root around it",
        "livedex_daemon/config_reload.py",
        (
            (
                '                steps.backlog.mark((root.id, b""), Mark(tree=True, now=True))\n        self._targets',
                "                pass\n        self._targets",
            ),
        ),
        INNER_ROOTS,
    ),
    Defect(
        "new-root-not-yet-looked-at",
        "a new root is served before there is a walk of it to wait for",
        "livedex_daemon/config_reload.py",
        (("                steps.presence.check(root)\n            elif", "                pass\n            elif"),),
        INNER_ROOTS,
    ),
    Defect(
        "roots-changed-under-an-answer",
        "an answer made with two tables of roots says that it is fresh",
        "livedex_daemon/answer/root_changes.py",
        (("            if roots.table is table or not (", "            if True or not ("),),
        "tests/daemon/answer/test_root_changes.py::test_an_answer_is_made_again_when_the_roots_changed",
    ),
    Defect(
        "other-names-not-waited-for",
        "a search in a folder does not wait for a file that was written by a name elsewhere",
        "livedex_daemon/answer/freshness.py",
        (("                if scope is not None and twins is not None:", "                if False:"),),
        "tests/system/test_twins.py::test_it_is_found_in_another_folder",
    ),
    Defect(
        "other-names-released-early",
        "who waits for a file is released before its name in another root is committed",
        "livedex_daemon/watch/backlog.py",
        (("            for waiter in of.waiters if of is not None else ():", "            for waiter in ():"),),
        "tests/daemon/watch/test_backlog.py::test_who_waits_for_a_file_waits_for_its_other_names",
    ),
    Defect(
        "mount-inside-a-root-not-marked",
        "a filesystem mounted over a folder of a root is not looked into",
        "livedex_daemon/watch/event_source.py",
        (("                if is_below(point, root.path):", "                if False:"),),
        "tests/system/test_mount_events.py::test_a_mount_inside_a_root",
    ),
    Defect(
        "mount-thread-ends-on-an-error",
        "the thread that hears of mounts ends with the first error",
        "livedex_daemon/watch/mount_events.py",
        (("                    failed = True\n", "                    return\n"),),
        "tests/daemon/watch/test_mount_events.py::test_its_thread_goes_on_after_an_error",
    ),
    Defect(
        "mounts-not-tried-again",
        "mounts are never followed after the table could not be opened once",
        "livedex_daemon/watch/mount_events.py",
        (("                self._try_again_at = time.monotonic() + RETRY_S\n", "                pass\n"),),
        "tests/daemon/watch/test_mount_events.py::test_a_table_that_cannot_be_opened_for_a_moment_is_tried_again",
    ),
    Defect(
        "second-slash-anchors-too",
        "a pattern that begins with two slashes, which matches nothing in git, ignores the names of its folder",
        "livedex_indexing/ignore/rule_file.py",
        (('        if pattern.glob.startswith("/"):', "        if False:"),),
        "tests/indexing/ignore/test_git_pattern.py::test_a_pattern_matches_what_git_would",
    ),
    Defect(
        "ignore-file-written-by-another-name",
        "an ignore file that is written by another of its names keeps its former rules",
        "livedex_daemon/write/inspector.py",
        (("{*self._watching.ignore_files_of(ino, dev), *others}", "{*others}"),),
        "tests/system/test_twins.py::test_an_ignore_file_that_is_written_by_another_name",
    ),
    Defect(
        "linked-ignore-file-has-no-twins",
        "what is written by an ignore file is not found by the file's other names",
        "livedex_daemon/write/inspector.py",
        (("linked(root, path) if entry.from_event else None", "None"),),
        "tests/system/test_twins.py::test_what_is_written_by_an_ignore_file_that_has_another_name",
    ),
    Defect(
        "ignore-file-in-the-scope-not-waited-for",
        "a search does not wait for an ignore file in its scope that is written by a name outside it",
        "livedex_daemon/answer/fresh_reads.py",
        (("names.indexed.extend(self.freshness.ignore_files_of(linked))", "pass"),),
        "tests/system/test_twins.py::test_an_ignore_file_in_the_scope_that_is_written_by_a_name_outside_it",
    ),
    Defect(
        "rules-of-a-former-folder",
        "a faulty ignore file is warned about once a link or a file has taken the place of its folder",
        "livedex_daemon/write/inspector.py",
        (("        root.rules.forget_folder(path)  #", "        #"),),
        "tests/daemon/write/test_inspector.py::test_the_rules_of_a_folder_go_when_something_else_takes_its_place[link]",
    ),
    Defect(
        "inode-of-a-former-ignore-file",
        "a change of a file that has the inode of a former ignore file walks through that one's folder",
        "livedex_indexing/ignore/rule_inodes.py",
        ((" and found.ino == ino and dev in (None, found.dev)\n", "\n"),),
        "tests/indexing/ignore/test_rule_inodes.py::test_an_ignore_file_is_known_by_its_inode_while_it_has_it",
    ),
    Defect(
        "climbs-deep-paths",
        "to rename a tree of thousands of levels holds up all fresh searches for a minute",
        "livedex_indexing/relpath.py",
        (("    if len(folders) <= FEW:\n", "    if False:\n"),),
        "tests/indexing/test_relpath.py::test_a_path_of_thousands_of_folders_is_not_looked_up_folder_by_folder",
    ),
    Defect(
        "former-name-unknown",
        "what is written by the descriptor of a name that is gone, to a file with another name, is missed",
        "livedex_daemon/write/inspector.py",
        (("self._looks.mark_former(entry, self.former_names.inodes_of(entry.key), self.changes)", "pass"),),
        f"{FORMER}[removed-the root]",
    ),
    Defect(
        "former-name-in-another-scope",
        "a search does not wait for what is written by the descriptor of a name outside its scope that is gone",
        "livedex_daemon/answer/fresh_reads.py",
        (("former = set(self._worker.former_names.inodes_of((root_id, path)))", "former: set[int] = set()"),),
        f"{FORMER}[removed-the file]",
    ),
    Defect(
        "former-name-of-all-files",
        "a search of one file waits for those elsewhere that were replaced before, also for one that is cut for ever",
        "livedex_daemon/answer/fresh_reads.py",
        ((" or (former and not inodes().isdisjoint((None, *former))):", " or former:"),),
        "tests/system/test_busy.py::test_an_edit_waits_for_no_slow_file_that_was_replaced_before",
    ),
    Defect(
        "former-name-of-another-file",
        "what is written by the descriptor of a name that another file has by now is missed",
        "livedex_daemon/write/inspector.py",
        (("if row is not None and row.state.ino != stat.ino:", "if False and row is not None:"),),
        f"{LOST}[file]",
    ),
    Defect(
        "former-name-of-a-folder",
        "what is written by the descriptor of a name that is a folder by now is missed",
        "livedex_daemon/write/inspector.py",
        (
            (
                "        if row is not None:\n            self._lose(",
                "        if False and row is not None:\n            self._lose(",
            ),
        ),
        f"{LOST}[folder]",
    ),
    Defect(
        "written-just-before-the-replacement",
        "what is written by a name that is replaced at once is not found by the file's other name",
        "livedex_daemon/write/inspector.py",
        (
            (
                "self._looks.mark_former(entry, (row.state.ino,), self.changes)",
                "self._looks.mark_former(entry, (), self.changes)",
            ),
        ),
        "tests/daemon/write/test_lost_names.py"
        "::test_what_was_written_by_a_name_just_before_it_was_replaced_is_looked_for[file]",
    ),
    Defect(
        "name-that-a-walk-finds-lost",
        "what was written by a name that was lost just before a walk came by is not found by the file's other name",
        "livedex_daemon/write/commit.py",
        (("self._store.lost_names(FEW_GONE)", "()"),),
        "tests/daemon/write/test_lost_names.py"
        "::test_a_name_that_a_walk_finds_lost_leads_to_the_others_when_its_event_comes[removed]",
    ),
    Defect(
        "name-that-was-read-when-its-folder-went",
        "what is written to a file that is read while its folder is removed is not found by its other name",
        "livedex_daemon/write/inspector.py",
        (("            if work.state is not None:\n", "            if False:\n"),),
        "tests/daemon/write/test_lost_names.py::test_a_name_that_is_read_while_its_folder_goes_leads_to_the_others",
    ),
    Defect(
        "deleted-folder-let-go",
        "what is written to a file whose folder is deleted is not found by the file's other name",
        "livedex_daemon/watch/inotify.py",
        (("            if mask & InotifyConstants.IN_DELETE:\n", "            if False:\n"),),
        "tests/system/test_former_names.py::test_what_is_written_is_found_though_the_folder_of_the_name_is_deleted_too",
    ),
    Defect(
        "names-looked-at-for-each-name",
        "the removal of 3,000 hard links of a file makes no search fresh for a minute",
        "livedex_daemon/write/inspector.py",
        (("        if self._looks.repeats(of, entry):\n", "        if False:\n"),),
        f"{TWIN_LOOKS}::test_each_name_is_looked_at_once_though_all_are_gone",
    ),
    Defect(
        "names-that-go-look-at-each-other",
        "each of the names of a file that were removed at once is examined again for each of the others",
        "livedex_daemon/write/inspector.py",
        ((" if key[0] != root.id or key[1] not in gone])", "])"),),
        f"{TWIN_LOOKS}::test_each_name_is_looked_at_once_though_all_are_gone",
    ),
    Defect(
        "later-name-not-waited-for",
        "a search does not wait for what was written by the second of two names of a file that were removed at once",
        "livedex_daemon/write/twin_looks.py",
        (("        if not look.waiters.issuperset(entry.waiters):", "        if False:"),),
        f"{TWIN_LOOKS}::test_a_search_that_waits_for_a_later_name_waits_for_the_others",
    ),
    Defect(
        "name-that-nobody-saw-go",
        "what is written to a file whose first name is gone is missed while nobody has looked and the file is read",
        "livedex_daemon/answer/fresh_reads.py",
        (("                former.add(row.state.ino)", "                pass"),),
        "tests/system/test_former_names.py::test_a_file_that_is_being_read_for_the_first_time_is_read_again",
    ),
    Defect(
        "unreadable-files-are-one",
        "files that cannot be read have each other examined without end, and no search is fresh meanwhile",
        "livedex_indexing/store/file_rows.py",
        (("        if not ino or not fetch(", "        if not fetch("),),
        f"{TWIN_LOOKS}::test_files_that_could_not_be_read_are_no_names_of_one_file",
    ),
    Defect(
        "unreadable-files-of-a-turn-are-one",
        "the first file of several that cannot be read has the others examined again",
        "livedex_daemon/write/changes.py",
        (("            if row.state.ino:\n", "            if row:\n"),),
        f"{TWIN_LOOKS}::test_files_that_could_not_be_read_are_no_names_of_one_file",
    ),
    Defect(
        "replaced-twins-for-ever",
        "two names of a file that was replaced and cannot be read have each other examined without end",
        "livedex_daemon/write/inspector.py",
        (("        if entry.from_event or not entry.is_twin:  # twins do", "        if entry:  # twins do"),),
        f"{TWIN_LOOKS}::test_names_of_a_file_that_was_replaced_do_not_mark_each_other_for_ever",
    ),
    Defect(
        "look-outlives-its-turn",
        "what is written by one name of a file just after another is missed",
        "livedex_daemon/write/inspector.py",
        (("        self._looks.end_turn()\n", ""),),
        f"{TWIN_LOOKS}::test_the_next_turn_looks_again",
    ),
)
