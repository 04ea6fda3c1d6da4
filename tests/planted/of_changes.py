"""Defects of noticing changes: lost events, barriers that do not hold, waits that end too early."""

from __future__ import annotations

from planted.defect import Defect

WATCHER = "tests/daemon/watch/test_inotify.py"
BACKLOG = "tests/daemon/watch/test_backlog.py"
ROOTS = "tests/system/test_roots.py"
WATCHDOG = "tests/system/test_watchdog.py"

DEFECTS = (
    Defect(
        "event-dropped",
        "one event of every 1,000 is not passed on",
        "livedex_daemon/watch/inotify.py",
        (
            (
                "        self._sink.path_changed(root_id, child, tree=tree)",
                "        self._count = getattr(self, '_count', 0) + 1\n"
                "        if self._count % 1000:\n"
                "            self._sink.path_changed(root_id, child, tree=tree)",
            ),
        ),
        f"{WATCHER}::test_not_one_event_of_thousands_is_lost",
    ),
    Defect(
        "root-back-unseen",
        "a search says that it is fresh and has nothing of a root that is back",
        "livedex_daemon/answer/freshness.py",
        (("if not root.present and intersects", "if False and intersects"),),
        f"{ROOTS}::test_a_root_that_is_back_is_in_the_next_answer",
    ),
    Defect(
        "root-back-and-missing",
        "an answer with files of a root that is back says that it is missing",
        "livedex_daemon/answer/fresh_reads.py",
        (("            before[:] = self._health.root_warnings()\n", ""),),
        f"{ROOTS}::test_a_root_that_is_back_is_in_the_next_answer",
    ),
    Defect(
        "overflow-swallowed",
        "the kernel's queue overflows, and this is not reported",
        "livedex_daemon/watch/inotify.py",
        (('log.warning("watcher_overflow")\n        self._sink.events_lost()', 'log.warning("watcher_overflow")'),),
        "tests/system/test_overflow.py::test_overflow_during_the_repair_is_one_more_pass",
    ),
    Defect(
        "overflow-healed-early",
        "a root counts as repaired though events were lost again during the repair",
        "livedex_daemon/watch/root_presence.py",
        (("        if root.overflows_at_walk != root.overflows:", "        if False:"),),
        "tests/daemon/watch/test_root_presence.py::test_a_loss_during_the_repair_is_not_repaired_by_it",
    ),
    Defect(
        "answered-before-the-cookie",
        "a barrier is passed as soon as it is asked for",
        "livedex_daemon/watch/inotify.py",
        (("            return self._touch([on_passed])", "            on_passed()\n            return True"),),
        f"{WATCHER}::test_every_change_is_reported_before_the_barrier",
    ),
    Defect(
        "caught-up-with-events-queued",
        "all events count as passed on while some are still queued",
        "livedex_daemon/watch/inotify_reader.py",
        (("return not self._queue.poll(0) and self._idle", "return self._idle"),),
        f"{WATCHER}::test_every_change_is_reported_before_it_has_caught_up",
    ),
    Defect(
        "caught-up-while-passing-on",
        "all events count as passed on once the last was read, before it is handed on",
        "livedex_daemon/watch/inotify_reader.py",
        (("return not self._queue.poll(0) and self._idle", "return not self._queue.poll(0)"),),
        f"{WATCHER}::test_it_has_not_caught_up_with_what_is_still_being_passed_on",
    ),
    Defect(
        "cookie-on-another-descriptor",
        "the cookie is watched by another descriptor than the roots, which keeps another order",
        "livedex_daemon/watch/inotify.py",
        (
            (
                "            self._place_cookies(fd)\n        except",
                "            other = InotifyReader()\n"
                "            for folder in (b'/', b'/usr', b'/etc', b'/dev'):\n"
                "                other.add_callback(folder, COOKIE_MASK, self, self._id)\n"
                "            self._place_cookies(other)\n"
                "            other.start()\n"
                "        except",
            ),
        ),
        f"{WATCHER}::test_a_barrier_comes_after_what_is_still_being_passed_on",
    ),
    Defect(
        "watched-after-listing",
        "a folder is listed first and watched then: what comes between is neither listed nor reported",
        "livedex_daemon/write/walk.py",
        (
            (
                "        self._watch(root, path)\n        try:\n            entries = tree.listing(root.path, path)\n",
                "        try:\n"
                "            entries = tree.listing(root.path, path)\n"
                "            self._watch(root, path)\n",
            ),
        ),
        "tests/daemon/write/test_walk.py::test_a_folder_is_watched_before_it_is_listed",
    ),
    Defect(
        "moved-folder-still-watched",
        "a folder that was moved away goes on reporting under its old name",
        "livedex_daemon/watch/inotify.py",
        (("        if is_folder and mask & _LEFT:", "        if is_folder and mask & 0:"),),
        f"{WATCHER}::test_a_folder_that_moves_away_is_reported_no_more",
    ),
    Defect(
        "one-name-a-folder",
        "of a folder with two names, as by a bind mount, only the one that was watched last is heard of",
        "livedex_daemon/watch/watched_folders.py",
        (("            folder.names = (*folder.names, key)", "            folder.names = (key,)"),),
        f"{WATCHER}::test_a_folder_with_two_names_reports_under_both",
    ),
    Defect(
        "watch-through-a-link-is-kept",
        "a watch that was placed through a link in a path goes on reporting a folder under a name that is not its own",
        "livedex_daemon/write/walk.py",
        (("            self.left_out.append(path)  # the watch may", "            pass  # the watch may"),),
        "tests/daemon/write/test_inspector.py::test_a_folder_that_goes_before_it_is_listed_is_let_go",
    ),
    Defect(
        "limit-swallowed",
        "a folder that gets no watch is not polled either",
        "livedex_daemon/watch/event_source.py",
        (("root.watch_again(path)\n        else:\n            root.poll(path)", "root.watch_again(path)"),),
        "tests/system/test_limits.py::test_too_few_watches",
    ),
    Defect(
        "what-is-in-hand-not-waited-for",
        "a search does not wait for a path that is being looked at",
        "livedex_daemon/watch/backlog.py",
        (
            (
                "in itertools.chain(self._waiting.values(), self._in_progress.values()):\n                if (entry.b",
                "in list(self._waiting.values()):\n                if (entry.b",
            ),
        ),
        f"{BACKLOG}::test_what_is_in_hand_is_waited_for",
    ),
    Defect(
        "scope-misses-the-folder-above",
        "a search in a folder does not wait for the walk of a folder above it",
        "livedex_daemon/watch/backlog.py",
        (("is_below or (after < len(of_root) and of_root[after].startswith(place))", "is_below"),),
        "tests/daemon/watch/test_scopes.py::test_intersects",
    ),
    Defect(
        "released-before-the-commit",
        "who waits is released when the outcome is known, not when it is stored",
        "livedex_daemon/write/worker.py",
        (
            (
                "        applied = Applied([], [], [])\n        if inspector.changes",
                "        applied = Applied([], [], [])\n"
                "        self._backlog.done([*inspector.finished, *(outcome.work.entry for outcome in outcomes)])\n"
                "        if inspector.changes",
            ),
        ),
        "tests/system/test_slow_disk.py::test_a_search_waits_for_the_commit",
    ),
    Defect(
        "waited-for-stored-late",
        "a change that a search waits for is stored only with the next edits",
        "livedex_daemon/write/commit_policy.py",
        (("or self._releases_a_waiter(other.finished):", "or False:"),),
        "tests/daemon/write/test_commit_policy.py::test_what_is_waited_for_is_stored_once_it_is_complete",
    ),
    Defect(
        "indexing-goes-first",
        "threads that index go on while a search is under way",
        "livedex_daemon/write/search_priority.py",
        (("if not self._searches or files <= FEW:", "if files >= 0:"),),
        "tests/daemon/write/test_search_priority.py::test_many_files_wait_until_no_search_is_under_way",
    ),
    Defect(
        "late-called-fresh",
        "a search past its deadline says that it is fresh",
        "livedex_daemon/answer/freshness.py",
        (("return self._state(scope, self._why_late(roots))", "return FreshState(True, 0, None)"),),
        "tests/daemon/answer/test_freshness.py::test_what_can_be_settled_is_waited_for",
    ),
    Defect(
        "sync-gives-up-early",
        "a sync ends before its timeout because a file changed while it was read",
        "livedex_daemon/answer/handlers.py",
        (('while state.reason == "unsettled" and', "while False and"),),
        "tests/system/test_unsettled.py::test_a_sync_waits_until_it_holds_still",
    ),
    Defect(
        "unsettled-called-fresh",
        "a file that could not be read in one state does not count as pending",
        "livedex_daemon/answer/freshness.py",
        (("        if self._inside(scope, self._files.unsettled):", "        if False:"),),
        "tests/daemon/answer/test_freshness.py::test_what_could_not_be_read_is_not_fresh",
    ),
    Defect(
        "ignore-file-not-read-again",
        "an edit of an ignore file changes nothing until the next reconcile",
        "livedex_daemon/write/inspector.py",
        (("        if rules.is_rule_file(name):", "        if False:"),),
        "tests/system/test_fresh.py::test_an_ignore_file_works_at_once_both_ways",
    ),
    Defect(
        "root-inode-unchecked",
        "an empty folder in the root's place is taken for the root with its files deleted",
        "livedex_daemon/watch/root_presence.py",
        (("        same = (found.st_dev, found.st_ino) == (root.dev, root.ino)", "        same = True"),),
        f"{ROOTS}::test_an_empty_folder_put_in_its_place_is_not_believed",
        (
            (
                "livedex_daemon/write/walk.py",
                "return (found.st_dev, found.st_ino) == (root.dev, root.ino)",
                "return True",
            ),
        ),
    ),
    Defect(
        "polled-folder-weighed-again",
        "each look at a folder without a watch compares all such folders: some hundreds make a search wait for seconds",
        "livedex_daemon/watch/root_table.py",
        (("            return  # each walk of it asks for a watch again", "            pass"),),
        "tests/daemon/watch/test_root_table.py::test_a_folder_that_is_polled_already_costs_nothing",
    ),
    Defect(
        "polled-folders-weighed-at-each-change",
        "each folder without a watch is compared with all others: 20,000 of them take minutes at the limit of watches",
        "livedex_daemon/watch/root_table.py",
        (
            (
                "        folders.add(path)\n        self._choices += 1\n",
                "        folders.add(path)\n        self._choices += 1\n        self.polled  # noqa: B018\n",
            ),
        ),
        "tests/daemon/watch/test_root_table.py::test_folders_that_change_one_after_the_other_are_compared_once",
    ),
    Defect(
        "root-listed-not-entered",
        "a root that may be listed and not entered counts as one on a bad disk",
        "livedex_indexing/disk/root_folder.py",
        (('            os.stat(b".", dir_fd=folder)', "            pass"),),
        "tests/system/test_roots.py::test_a_root_that_may_be_listed_and_not_entered",
    ),
    Defect(
        "empty-folder-believed",
        "an empty folder where a root was counts as the root, and its entries go",
        "livedex_indexing/disk/root_folder.py",
        (("        return next(entries, None) is None", "        return False"),),
        f"{ROOTS}::test_gone_is_not_deleted",
        (
            (
                "livedex_daemon/write/walk.py",
                '        if root.state != "online" or root.polled:',
                "        if root.polled:",
            ),
        ),
    ),
    Defect(
        "missing-root-dropped",
        "the entries of a root that is gone are dropped at once",
        "livedex_daemon/watch/root_presence.py",
        (
            (
                "        self._backlog.drop_root(root.id)\n",
                "        self._backlog.drop_root(root.id)\n        self._store.remove_tree(root.id, b'')\n",
            ),
        ),
        f"{ROOTS}::test_gone_is_not_deleted",
    ),
    Defect(
        "root-that-is-a-file-ends-the-start",
        "a file in the place of one root keeps the daemon from its start",
        "livedex_daemon/app.py",
        (("load(locations.config_path)", "load(locations.config_path, accepted=())"),),
        f"{ROOTS}::test_a_file_in_the_place_of_a_root_stops_neither_the_start_nor_the_other_roots",
    ),
    Defect(
        "start-that-writes",
        "each opening of the index writes to it, so that the daemon cannot start on a full disk",
        "livedex_indexing/store/database.py",
        (
            (
                '    db.pragma("synchronous", "normal")\n',
                '    db.pragma("synchronous", "normal")\n    db.pragma("auto_vacuum", 2)\n',
            ),
        ),
        "tests/system/test_store_faults_disk.py::test_a_start_on_a_full_disk_serves_what_a_killed_daemon_left",
    ),
    Defect(
        "end-fails-on-a-full-disk",
        "a daemon that stops while its disk is full ends with an error",
        "livedex_indexing/store/index_store.py",
        (("        with suppress(apsw.Error):  # a full", "        if True:  # a full"),),
        "tests/system/test_store_faults_disk.py::test_a_start_on_a_full_disk_serves_what_a_killed_daemon_left",
    ),
    Defect(
        "root-that-is-a-file-refused-later",
        "a reload that does not touch a root is refused because a file took its place",
        "livedex_daemon/config_reload.py",
        (("config_path, accepted=accepted)", "config_path, accepted=())"),),
        f"{ROOTS}::test_a_file_in_the_place_of_a_root_stops_neither_the_start_nor_the_other_roots",
    ),
    Defect(
        "another-watcher-believed-at-once",
        "another thread reports events before changes that neither reported are looked for",
        "livedex_daemon/watch/event_source.py",
        (
            (
                '            self._backlog.mark((root.id, b""), Mark(tree=True, now=True))\n'
                "        self.watcher = watcher",
                "            pass\n        self.watcher = watcher",
            ),
        ),
        "tests/system/test_limits.py::test_a_reader_that_died_is_replaced",
    ),
    Defect(
        "emptied-configuration-applied",
        "a configuration that was emptied while there are roots drops them all",
        "livedex_daemon/config/settings.py",
        (("    if accepted and not document.data:\n", "    if accepted and document is None:\n"),),
        "tests/system/test_bad_settings.py::test_an_emptied_configuration_keeps_the_roots",
    ),
    Defect(
        "emptied-configuration-at-a-start",
        "a start with an emptied configuration drops the roots of the index",
        "livedex_daemon/app.py",
        (("        if not config.roots:\n", "        if config.roots:\n"),),
        "tests/system/test_bad_settings.py::test_an_emptied_configuration_keeps_the_roots",
    ),
    Defect(
        "edit-of-an-emptied-configuration",
        "adding a root to an emptied configuration makes it the only root",
        "livedex_daemon/answer/handlers.py",
        (("        await self._reload()  # a file that is refused is no base", "        # is no base"),),
        "tests/system/test_bad_settings.py::test_an_emptied_configuration_keeps_the_roots",
    ),
    Defect(
        "reload-half-applied",
        "a reload takes over the roots and not how files are cut",
        "livedex_daemon/config_reload.py",
        (("        targets.steps.pool.policy = policy\n", ""),),
        "tests/system/test_lifecycle.py::test_chunk_size_both_ways",
    ),
    Defect(
        "watchdog-by-a-thread",
        "a thread that lives while the event loop hangs reports to the supervisor that the daemon lives",
        "livedex_daemon/app.py",
        (
            (
                "            for task in self._tasks:\n                task.start()\n",
                "            import threading\n"
                "            self._tasks[0].start()\n"
                "            feed = self._reports.feed_watchdog\n"
                "            threading.Thread(target=lambda: asyncio.run(feed()), daemon=True).start()\n",
            ),
        ),
        f"{WATCHDOG}::test_a_loop_that_hangs_is_not_called_alive",
    ),
    Defect(
        "socket-checked-before-it-is-served",
        "a daemon that starts binds its socket again, and drops the clients that wait to be served",
        "livedex_daemon/app.py",
        (
            (
                "        beginning = asyncio.create_task(self._begin())\n",
                "        self._tasks[0].start()\n        beginning = asyncio.create_task(self._begin())\n",
            ),
            (
                "            for task in self._tasks:\n                task.start()\n",
                "            for task in self._tasks[1:]:\n                task.start()\n",
            ),
        ),
        "tests/system/test_socket_faults.py::test_who_came_early_is_served_though_the_socket_is_lost",
    ),
    Defect(
        "watchdog-without-the-worker",
        "the supervisor gets pings although nothing is indexed any more",
        "livedex_daemon/process/supervisor_reports.py",
        (("            if self._heartbeat.beats():\n", "            if True:\n"),),
        f"{WATCHDOG}::test_a_worker_that_died_is_not_called_alive",
    ),
    Defect(
        "loss-is-not-the-reason-yet",
        "a search right after a loss of events gives another reason than the root's state in `status`",
        "livedex_daemon/answer/freshness.py",
        (('root.reported_state == "recovering"', 'root.state == "recovering"'),),
        "tests/daemon/answer/test_freshness.py::test_a_loss_is_the_reason_as_soon_as_status_says_so",
    ),
)
