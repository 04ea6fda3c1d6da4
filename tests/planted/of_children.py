"""Defects of the children that chunk files: their starts, their versions, their bounds, the pool's threads."""

from __future__ import annotations

from planted.defect import Defect

PROCESS = "tests/indexing/chunk/test_chunk_process.py"
ANSWERS = "tests/indexing/chunk/test_answer_check.py"
POOL = "tests/daemon/write/test_chunk_pool.py"
SLOT = "tests/daemon/write/test_worker_slot.py"
CHILDREN = "tests/system/test_children.py"

DEFECTS = (
    Defect(
        "child-needs-its-priority",
        "no file is indexed in bulk where a filter of system calls forbids to lower a priority",
        "livedex_indexing/child/parent_process.py",
        (("contextlib.suppress(OSError):", "contextlib.nullcontext():"),),
        "tests/indexing/child/test_parent_process.py::test_a_child_works_where_the_system_lets_it_lower_no_priority",
    ),
    Defect(
        "busy-machine-blames-a-file",
        "a file is given up because others had the processors while it was cut",
        "livedex_indexing/child/time_taken.py",
        (("return self.wall_s - self._waited", "return self.wall_s"),),
        "tests/indexing/child/test_time_taken.py::test_a_file_is_not_late_because_the_machine_is_busy",
    ),
    Defect(
        "start-failure-raised",
        "when the system cannot start a child, the error ends the thread that asked for it",
        "livedex_indexing/chunk/chunk_process.py",
        (
            (
                "        except OSError as error:\n            reason",
                "        except ValueError as error:\n            reason",
            ),
        ),
        f"{PROCESS}::test_one_that_the_system_cannot_start_blames_no_job[24]",
    ),
    Defect(
        "other-version-trusted",
        "a child of another version is given files",
        "livedex_indexing/chunk/chunk_process.py",
        (("if version != code_version.OWN:", "if version is None:"),),
        f"{PROCESS}::test_one_of_another_version_blames_no_job",
    ),
    Defect(
        "upgrade-not-noticed",
        "a child that cannot start because livedex was replaced is taken for a broken installation",
        "livedex_indexing/chunk/chunk_process.py",
        (("return lost.why == OTHER_VERSION or code_version.was_replaced()", "return lost.why == OTHER_VERSION"),),
        f"{PROCESS}::test_one_that_never_starts_after_an_upgrade_says_so",
    ),
    Defect(
        "unknown-version-is-another",
        "one failed read at the start of a child ends the daemon as after an upgrade",
        "livedex_indexing/chunk/chunk_process.py",
        (("UNKNOWN_VERSION if version == code_version.UNKNOWN else ", ""),),
        f"{PROCESS}::test_one_of_another_version_blames_no_job",
    ),
    Defect(
        "unreadable-code-is-replaced",
        "without a free descriptor the daemon takes itself for replaced, and ends",
        "livedex_indexing/child/code_version.py",
        (("        return False  # as where", "        return True  # as where"),),
        "tests/indexing/child/test_code_version.py::test_code_that_cannot_be_read_is_not_replaced",
    ),
    Defect(
        "child-outlives-daemon",
        "a child that loops in C code goes on after the daemon was killed",
        "livedex_indexing/child/parent_process.py",
        (("prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)", "prctl(_PR_SET_PDEATHSIG, 0)"),),
        f"{PROCESS}::test_one_in_a_loop_of_c_code_ends_with_its_parent",
    ),
    Defect(
        "child-time-unbounded",
        "nothing but the daemon ends a child that loops",
        "livedex_indexing/chunk/chunk_child.py",
        (("        _limit_cpu(time_limit(len(job.data)))\n", ""),),
        f"{PROCESS}::test_one_in_a_loop_of_c_code_ends_by_itself",
    ),
    Defect(
        "version-of-a-name-as-written",
        "a distribution whose name is written in another way counts as not installed: its upgrade re-chunks nothing",
        "livedex_indexing/child/installed_versions.py",
        (('return re.sub(r"[-_.]+", "_", name).lower()', "return name"),),
        "tests/indexing/child/test_installed_versions.py::"
        "test_each_installed_distribution_has_the_version_that_python_says",
    ),
    Defect(
        "child-killed-with-its-thread",
        "a child ends with the thread that asked for it, in the middle of another thread's file",
        "livedex_indexing/child/child_starter.py",
        (("return _thread.submit(_start, arguments, environment).result()", "return _start(arguments, environment)"),),
        f"{PROCESS}::test_it_outlives_the_thread_that_started_it",
    ),
    Defect(
        "frame-unbounded",
        "the daemon takes a frame of any length from a child",
        "livedex_indexing/chunk/chunk_process.py",
        (("if length > self._most_bytes():", "if length > 1 << 40:"),),
        f"{PROCESS}::test_an_answer_out_of_bounds_is_a_death_on_that_file",
    ),
    Defect(
        "offsets-unchecked",
        "a child may name places outside the file",
        "livedex_indexing/chunk/answer_check.py",
        (("if not (start <= end <= size and", "if not (start <= end and"),),
        f"{ANSWERS}::test_every_chunk_is_looked_at",
    ),
    Defect(
        "no-second-try-without-worker",
        "files that no child could chunk wait for an edit or the next reconcile",
        "livedex_daemon/write/worker.py",
        (("        self._retry_unchunked()\n        taken", "        taken"),),
        f"{CHILDREN}::test_files_wait_while_there_is_no_interpreter",
    ),
    Defect(
        "rest-without-limit",
        "each failed start of a child doubles the time to the next one, without end",
        "livedex_daemon/write/chunk_health.py",
        (("min(max(FIRST_REST_S, self._rest_s * 2), REST_S)", "max(FIRST_REST_S, self._rest_s * 2)"),),
        "tests/daemon/write/test_chunk_health.py::test_each_failure_doubles_the_rest_up_to_a_limit",
    ),
    Defect(
        "batch-by-the-size-of-before",
        "a file that grew since it was queued holds up the small ones of its batch",
        "livedex_daemon/write/chunk_pool.py",
        (("        fitting = _fitting(jobs)\n", "        fitting = len(jobs)\n"),),
        f"{POOL}::test_a_file_that_grew_since_it_was_queued_holds_up_no_other",
    ),
    Defect(
        "batch-fails-with-one",
        "an error in a step is the failure of every file of its batch",
        "livedex_daemon/write/chunk_pool.py",
        (("again = [work for work in works if not work.alone]", "again = works[:0]"),),
        f"{POOL}::test_an_error_of_a_step_loses_no_work_and_ends_no_thread",
    ),
    Defect(
        "dead-thread-counted",
        "a thread of the pool that ended is not replaced",
        "livedex_daemon/write/pool_threads.py",
        (
            (
                "for thread, role in self._threads.items() if thread.is_alive()}",
                "for thread, role in self._threads.items()}",
            ),
        ),
        f"{POOL}::test_a_thread_that_ends_is_replaced_and_its_work_comes_back",
    ),
    Defect(
        "installation-blamed-on-the-file",
        "a file is quarantined though a child ends with any other file too",
        "livedex_daemon/write/worker_slot.py",
        (("fault = self._fault_of_all(culprit, death)", "fault: WorkerFault | None = None"),),
        f"{SLOT}::test_an_end_that_any_file_causes_is_the_installations_fault",
    ),
    Defect(
        "quarantine-outlives-an-upgrade",
        "a file stays quarantined though another version of livedex may cut it",
        "livedex_daemon/write/file_reading.py",
        (("if row.signature != failure_signature(chosen.signature):", "if row.signature is None:"),),
        "tests/daemon/write/test_file_reading.py::test_a_quarantine_is_void_for_another_plan_or_version",
    ),
    Defect(
        "void-failure-not-read",
        "no walk tries a file again that failed in another version",
        "livedex_daemon/write/walk.py",
        (("is_outdated=self._plans.is_outdated,", "is_outdated=None,"),),
        f"{CHILDREN}::test_a_quarantine_ends_with_the_version_that_pronounced_it",
    ),
    Defect(
        "collected-content-releases-a-search",
        "a search stops waiting for a file whose known content was collected before the commit",
        "livedex_daemon/write/commit.py",
        (("applied.unread.append(work)", "applied.again.append(work.key)"),),
        "tests/daemon/write/test_worker.py::test_a_content_that_is_collected_before_the_commit_releases_nobody",
    ),
    Defect(
        "waiting-bytes-unbounded",
        "with a full disk the text of 64 files of any size waits in memory",
        "livedex_daemon/write/outcome_queue.py",
        ((" or self._bytes >= UNCOLLECTED_BYTES", ""),),
        "tests/daemon/write/test_outcome_queue.py::test_who_adds_waits_while_too_many_bytes_wait",
    ),
    Defect(
        "truncated-list-not-written",
        "once the list of the files being read was truncated, nothing is recorded in it",
        "livedex_daemon/write/crashes.py",
        (
            (
                "            os.pwrite(self._slots, data, at)\n",
                "            at < os.fstat(self._slots).st_size and os.pwrite(self._slots, data, at)\n",
            ),
        ),
        "tests/daemon/write/test_crashes.py::test_a_list_that_is_truncated_or_removed_under_it_ends_nothing",
    ),
    Defect(
        "endless-list-of-starts",
        "a link to /dev/zero in the place of the list of starts keeps the daemon from starting, and takes all memory",
        "livedex_daemon/process/own_file.py",
        (("        content = file.read(most + 1)\n", "        content = file.read()\n"),),
        "tests/daemon/write/test_crashes.py::test_a_list_without_end_is_not_read",
    ),
    Defect(
        "mark-of-a-backend-awaited",
        "a FIFO in the place of the mark of a backend keeps it from being filled",
        "livedex_daemon/process/own_file.py",
        (("os.O_RDONLY | os.O_NONBLOCK | ", "os.O_RDONLY | "),),
        "tests/daemon/backend/test_backend_switch.py::test_a_backend_is_filled_whatever_lies_in_the_place_of_its_mark",
    ),
    Defect(
        "upgrade-not-said",
        "a daemon of another version than its children blames the installation",
        "livedex_daemon/answer/status_checks.py",
        (("    if fault.other_version:", "    if not fault.reason:"),),
        f"{CHILDREN}::test_an_upgrade_under_the_daemon_blames_no_file",
    ),
    Defect(
        "stale-for-a-link",
        "an audit calls a file stale because another name of it is gone",
        "livedex_daemon/answer/audit_pass.py",
        (("row.state.mtime_ns != stat.mtime_ns", "row.state != stat.state"),),
        "tests/system/test_audit.py::test_a_file_whose_other_name_is_gone_does_not_differ",
    ),
    Defect(
        "audit-without-children",
        "an audit that can cut no file again finds no difference",
        "livedex_daemon/answer/audit_pass.py",
        (
            (
                "            if death.job is None:\n                message",
                "            if death.job == -1:\n                message",
            ),
        ),
        f"{CHILDREN}::test_files_wait_while_there_is_no_interpreter",
    ),
    Defect(
        "pipe-asked-all-the-time",
        "a pipe that is ready and refuses is asked a hundred thousand times a second",
        "livedex_indexing/chunk/chunk_process.py",
        (("                time.sleep(_AGAIN_S)\n", "                pass\n"),),
        "tests/indexing/chunk/test_chunk_pipes.py::test_a_pipe_that_is_ready_and_refuses_is_not_asked_all_the_time",
    ),
    Defect(
        "keys-for-every-child",
        "every process that the daemon starts has the key of the gateway",
        "livedex_indexing/child/child_starter.py",
        (("env=_Rule.now.without(environment)", "env=environment"),),
        "tests/system/test_child_environment.py::test_no_child_has_the_key_of_a_gateway",
    ),
    Defect(
        "run-says-nothing-of-what-waits",
        "an index run over files that no child could chunk answers at once, with none indexed and none failed",
        "livedex_daemon/write/outcome_counts.py",
        (("        progress.no_worker = result.reason", "        pass"),),
        "tests/system/test_children.py::test_files_wait_while_there_is_no_interpreter",
    ),
    Defect(
        "run-leaves-a-restless-file-out",
        "an index run counts a file that changes all the time as neither indexed nor failed",
        "livedex_daemon/write/outcome_counts.py",
        (('        progress.failed.append((work.key, "unsettled", ""))', "        pass"),),
        "tests/system/test_unsettled.py::test_a_run_lists_it_as_failed_and_counts_the_others",
    ),
    Defect(
        "what-is-done-stays-to-be-done",
        "the bytes of files that are done stay among those still to be read",
        "livedex_daemon/write/chunk_pool.py",
        (("            self._outstanding_bytes -= size\n", ""),),
        "tests/system/test_progress.py::test_what_is_done_and_what_is_still_to_be_read_add_up",
    ),
    Defect(
        "child-blames-a-file-for-the-system",
        "a file is `failed` for good because the child could not load a library for a moment",
        "livedex_indexing/chunk/chunk_child.py",
        (("except (OSError, ImportError) as error:", "except () as error:"),),
        "tests/indexing/chunk/test_child_of_a_failing_system.py::test_what_it_cannot_load_is_no_fault_of_the_file",
    ),
)
