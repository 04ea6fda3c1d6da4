"""Defects of what is looked at in two moments: something changes in between."""

from __future__ import annotations

from planted.defect import Defect

STATUS = "tests/daemon/answer/test_status_report.py"
PENDING = "tests/daemon/embedding/test_vectors_pending.py"
FEED = "tests/daemon/backend/test_vector_feed.py"
SWITCH = "tests/daemon/backend/test_backend_switch.py"
SLOW_START = "tests/system/test_slow_start.py"
RESTARTED = "tests/daemon/backend/test_restarted_backend.py"
ENDED_WALKS = "tests/daemon/write/test_ended_walks.py"

DEFECTS = (
    Defect(
        "no-cookie-no-answer",
        "while a file is in the place of the cookies' folder, every other search is not fresh, and status is green",
        "livedex_daemon/answer/freshness.py",
        (
            (
                "            if not watcher.alive():\n                raise TimeoutError\n",
                "            raise TimeoutError\n",
            ),
        ),
        "tests/system/test_limits.py::test_searches_are_fresh_without_a_folder_for_cookies",
    ),
    Defect(
        "status-of-two-moments",
        "the status calls a change done whose commit is not in its counts",
        "livedex_daemon/answer/status_report.py",
        (
            (
                "        state, work = self._state(wrong), self._work()\n        counts = self._counts()\n",
                "        counts = self._counts()\n        state, work = self._state(wrong), self._work()\n",
            ),
        ),
        f"{STATUS}::test_what_is_committed_while_the_files_are_counted_is_not_called_done",
    ),
    Defect(
        "vectors-pending-of-two-moments",
        "no vector is pending, as far as was known before the commit that the thread has just looked at",
        "livedex_daemon/embedding/embedding_thread.py",
        (("        is_same = looked == self._looked ==", "        is_same = self._looked =="),),
        f"{PENDING}::test_what_is_committed_while_it_is_asked_is_pending",
    ),
    Defect(
        "new-vectors-noted-too-early",
        "vectors that come as the feed begins are never given to the backend",
        "livedex_daemon/backend/vector_feed.py",
        (
            (
                "        self._due, self._complete = False, None  # before the look: what is noted from now on is due "
                "again\n        source = self._source()\n",
                "        source = self._source()\n        self._due, self._complete = False, None\n",
            ),
        ),
        f"{FEED}::test_new_vectors_that_are_heard_of_right_after_its_look_are_looked_for_again",
    ),
    Defect(
        "backend-given-up-too-late",
        "a change of the backend that is cancelled as a search finds the new one complete leaves none that ranks",
        "livedex_daemon/backend/backend_switch.py",
        (("            has_replaced = self._active is mirror\n", "            has_replaced = False\n"),),
        f"{SWITCH}::test_a_backend_that_is_given_up_as_it_takes_its_place_leaves_the_former_one",
    ),
    Defect(
        "backend-lost-in-the-switch",
        "a backend that is begun as another takes its place is never used",
        "livedex_daemon/backend/backend_switch.py",
        (
            (
                "        with self._lock:\n            former, self._next = self._next, mirror\n",
                "        former, self._next = self._next, mirror\n",
            ),
        ),
        f"{SWITCH}::test_a_backend_that_is_begun_as_another_takes_its_place_is_not_lost",
    ),
    Defect(
        "backend-stopped-while-made",
        "a backend that is given up while its factory runs is never closed",
        "livedex_daemon/backend/mirror.py",
        (
            (
                "            if not self._stopping:\n                self._calls = calls\n                return\n",
                "            self._calls = calls\n            return\n",
            ),
        ),
        f"{RESTARTED}::test_one_that_is_stopped_while_it_is_made_is_closed",
    ),
    Defect(
        "empty-index-passes-for-fresh",
        "a search that reads the new index before its readers are there finds nothing, and calls that fresh",
        "livedex_daemon/answer/fresh_reads.py",
        ((" is handle and not self._store_health.rebuilding):", " is handle):"),),
        "tests/system/test_rebuild_moments.py::test_an_answer_from_a_new_index_is_not_fresh_as_the_rebuild_begins",
    ),
    Defect(
        "run-without-the-roots",
        "an index run that comes as the daemon starts does nothing and says that it is done",
        "livedex_daemon/answer/handlers.py",
        (
            (
                "IndexRunParams) -> IndexRunResult:\n        await self._reads.roots_known()\n",
                "IndexRunParams) -> IndexRunResult:\n",
            ),
        ),
        f"{SLOW_START}::test_no_root_is_left_out_of_the_work",
    ),
    Defect(
        "files-found-without-the-roots",
        "a search for files that comes as the daemon starts finds nothing, and calls that fresh",
        "livedex_daemon/answer/root_changes.py",
        (('"files/list", "files/find", ', '"files/list", '),),
        f"{SLOW_START}::test_no_list_of_files_is_called_fresh_without_the_roots",
    ),
    Defect(
        "plugins-listed-before-they-are-loaded",
        "the list of plugins lacks those that are being loaded",
        "livedex_daemon/answer/plugin_methods.py",
        (("        await self._freshness.has_begun(NOT_LOADED)\n", ""),),
        f"{SLOW_START}::test_plugins_are_listed_once_they_are_loaded",
    ),
    Defect(
        "entry-in-the-wrong-store",
        "while a plugin is loaded, entries of agent memory go to the built-in store",
        "livedex_daemon/answer/knowledge_answers.py",
        (("            await self._loaded()\n", "            pass\n"),),
        f"{SLOW_START}::test_no_entry_goes_to_another_store_than_the_configured_one",
    ),
    Defect(
        "rebuilt-said-too-early",
        "the log says that the index is rebuilt while answers still say that it is not",
        "livedex_daemon/index_file/rebuild.py",
        (
            (
                "            self._health.rebuilding = False\n",
                '            log.info("index_rebuilt")\n            self._health.rebuilding = False\n',
            ),
        ),
        "tests/daemon/index_file/test_rebuild.py::test_what_the_log_says_of_a_rebuild_is_so",
    ),
    Defect(
        "part-released-with-its-files-unread",
        "a search of a part of a walked folder goes on while a file in that part is still read",
        "livedex_daemon/write/ended_walks.py",
        (("self._readings.keys_of(entry))", "set())"),),
        f"{ENDED_WALKS}::test_a_search_goes_on_once_what_the_walk_decided_is_committed",
    ),
    Defect(
        "part-released-before-the-commit",
        "a search of a part of a walked folder goes on before what the walk decided is committed",
        "livedex_daemon/write/ended_walks.py",
        (("for entry in self._decided:", "for entry in self._decided | self._undecided:"),),
        f"{ENDED_WALKS}::test_a_search_goes_on_once_what_the_walk_decided_is_committed",
    ),
    Defect(
        "part-released-between-two-walks",
        "a search of a part of a walked folder goes on though the folder is walked once more",
        "livedex_daemon/write/inspector.py",
        (("        if all(other.entry is not walk.entry for other in self._walks):\n", "        if True:\n"),),
        f"{ENDED_WALKS}::test_a_search_waits_for_all_walks_of_an_entry",
    ),
    Defect(
        "part-released-before-a-second-reading",
        "a search goes on while a file in its scope waits to be read again",
        "livedex_daemon/write/readings.py",
        (("return {work.key for work in self._unfinished()", "return {work.key for work in self._works.values()"),),
        f"{ENDED_WALKS}::test_a_search_waits_for_a_file_that_is_read_again_after_a_moment",
    ),
    Defect(
        "part-waits-for-the-whole",
        "a search of one file waits for every file that a walk of the root found",
        "livedex_daemon/write/worker.py",
        (("        self._inspector.ended_walks.release()\n", ""),),
        "tests/system/test_busy.py::test_a_walk_of_the_root_makes_no_edit_wait_for_the_slow_files_that_it_found",
    ),
    Defect(
        "gone-while-it-is-read",
        "a file that a walk finds gone while it is read is listed again once it is read",
        "livedex_daemon/write/commit.py",
        (("if work.is_doubtful and not", "if False and not"),),
        f"{ENDED_WALKS}::test_a_file_that_a_walk_finds_gone_while_it_is_read_stays_out",
    ),
)
