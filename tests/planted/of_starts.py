"""Defects of starting: in the place of roots, disks and limits that are not as they were."""

from __future__ import annotations

from planted.defect import Defect

REPLACED = "tests/system/test_replaced_roots.py"
FILES = "tests/system/test_descriptors.py"
FORBIDDEN = "tests/system/test_forbidden_calls.py"
DISK = "tests/system/test_store_faults_disk.py"

DEFECTS = (
    Defect(
        "one-fault-of-a-table",
        "of a list or a table of the configuration only the first fault is reported, and the next after it is mended",
        "livedex_daemon/config/setting_values.py",
        (("faults[element] = str(fault)", "raise ElementErrors({element: str(fault)}) from None"),),
        "tests/daemon/config/test_setting_values.py::test_each_element_of_a_list_and_a_table_has_its_faults",
    ),
    Defect(
        "no-root-while-it-starts",
        "while plugins load, a search in a folder is an error that says that no root contains it",
        "livedex_daemon/answer/fresh_reads.py",
        (("        await self.roots_known()\n        roots = self.root_paths()", "        roots = self.root_paths()"),),
        "tests/system/test_slow_start.py::test_a_search_in_a_folder_waits_at_most_its_time",
    ),
    Defect(
        "no-roots-listed-while-it-starts",
        "a list of the roots that is asked for while the daemon starts is empty",
        "livedex_daemon/answer/handlers.py",
        (("await self._reads.roots_known()\n        return await self._listed()", "return await self._listed()"),),
        "tests/system/test_slow_start.py::test_the_roots_are_listed_once_they_are_known",
    ),
    Defect(
        "start-loads-what-times-jobs",
        "a start waits for the import of what times jobs",
        "livedex_daemon/upkeep/schedule.py",
        (("if TYPE_CHECKING:\n", "if True:\n"),),
        "tests/daemon/upkeep/test_schedule.py::test_the_daemon_starts_without_what_times_its_jobs",
    ),
    Defect(
        "jobs-need-a-thread",
        "where no thread can be started after eight seconds, the status calls the jobs dead for half a minute",
        "livedex_daemon/upkeep/schedule.py",
        (("        with suppress(Unavailable):  # mean", "        with suppress(OSError):  # mean"),),
        "tests/daemon/upkeep/test_schedule.py::test_jobs_begin_though_no_thread_can_be_started",
    ),
    Defect(
        "ended-task-called-dead",
        "a task that failed once and then ended its work is called dead for half a minute",
        "livedex_daemon/process/supervision.py",
        (("                self._failures.forget()\n", ""),),
        "tests/daemon/process/test_supervision.py::test_a_task_that_ended_its_work_is_well",
    ),
    Defect(
        "jobs-never-begun",
        "no job of the schedule ever runs",
        "livedex_daemon/upkeep/schedule.py",
        (("        self.beginning.start()\n", ""),),
        "tests/system/test_tidying.py::test_maintenance_comes_again_though_nothing_changes",
    ),
    Defect(
        "link-to-another-root-ends-the-start",
        "a root that was replaced by a link to another root keeps the daemon from its start",
        "livedex_daemon/config/settings.py",
        (("    if not new:\n        return None\n", "    new = new or both\n"),),
        f"{REPLACED}::test_a_link_to_another_root",
    ),
    Defect(
        "link-takes-the-rules",
        "of two roots with one folder the first in the file decides about its rules, also if it is a link",
        "livedex_daemon/config/root_folders.py",
        (("next((index for index in same if not roots[index].is_link), same[0])", "same[0]"),),
        f"{REPLACED}::test_a_link_to_another_root",
    ),
    Defect(
        "link-above-a-root-unseen",
        "a root whose path leads through a link to another root is indexed a second time",
        "livedex_daemon/watch/root_presence.py",
        ((" or (root.config.is_link and real_path(root.path).path != root.path)", ""),),
        f"{REPLACED}::test_a_folder_above_is_a_link",
    ),
    Defect(
        "link-to-the-top-ends-the-start",
        "a root that was replaced by a link to / keeps the daemon from its start",
        "livedex_daemon/config/root_folders.py",
        (("        if may_be_taken and (root.is_link or", "        if False and (root.is_link or"),),
        f"{REPLACED}::test_a_link_to_where_no_root_may_be",
    ),
    Defect(
        "loop-loses-its-root",
        "a link that leads in circles is another root at the next start, and the former one returns no more",
        "livedex_daemon/config/root_folders.py",
        (("root.taken() if fault.errno == errno.ELOOP else root", "root"),),
        "tests/daemon/config/test_root_folders.py::test_a_link_to_where_no_root_may_be",
    ),
    Defect(
        "lost-link-not-followed",
        "a root that was a link and is missing is not resolved again",
        "livedex_daemon/config_reload.py",
        (("self.must_apply or refused or other_link or", "self.must_apply or refused or"),),
        f"{REPLACED}::test_a_configured_link_that_led_nowhere_is_followed",
    ),
    Defect(
        "proc-in-the-place-of-a-root-indexed",
        "a file system of the kernel that is mounted on a root is indexed",
        "livedex_daemon/watch/root_presence.py",
        (('mount_kind(root.path) == "pseudo"', 'mount_kind(root.path) == "none"'),),
        f"{REPLACED}::test_proc_in_the_place_of_a_root",
    ),
    Defect(
        "removal-follows-the-link",
        "the removal of a root that was replaced by a link removes the root that it leads to",
        "livedex_daemon/config/config_edit.py",
        (("for spellings in (_as_written, _as_resolved):", "for spellings in (_as_resolved, _as_written):"),),
        "tests/daemon/config/test_config_edit.py::test_removing_a_link_to_another_root_keeps_that_one",
    ),
    Defect(
        "too-few-files-is-a-traceback",
        "a daemon that may open too few files ends with a traceback",
        "livedex_daemon/__main__.py",
        (("    descriptors.require()", "    descriptors.raise_limit()"),),
        f"{FILES}::test_too_few_files_are_said_in_one_line",
    ),
    Defect(
        "low-limit-not-raised",
        "a limit of open files is not raised where the hard one is low, too",
        "livedex_daemon/process/descriptors.py",
        (("    yield wanted\n    while wanted >= 512:", "    while wanted >= 512:"),),
        f"{FILES}::test_a_low_soft_limit_is_raised",
    ),
    Defect(
        "nonsense-is-a-traceback",
        "a command ends with a traceback if another program at the socket says that it is a daemon",
        "livedex_ipc/cli/main.py",
        (("            context.client.refuse_nonsense()", "            pass"),),
        "tests/ipc/cli/test_foreign_answers.py::test_it_is_no_traceback",
    ),
    Defect(
        "log-ends-the-start",
        "a log folder that cannot be written keeps the daemon from its start",
        "livedex_daemon/process/locations.py",
        (("with contextlib.suppress(FolderUnwritable):", "with contextlib.suppress(KeyError):"),),
        f"{DISK}::test_a_log_that_cannot_be_written_is_a_warning_until_it_can",
    ),
    Defect(
        "stderr-without-a-log",
        "a daemon whose log has no room ends once the client that started it no longer reads its stderr",
        "livedex_daemon/process/logs.py",
        (("        except OSError:\n            handle =", "        except KeyError:\n            handle ="),),
        f"{DISK}::test_a_log_without_room_at_the_start",
    ),
    Defect(
        "prints-not-rotated",
        "what a plugin prints in the daemon fills the disk past the rotation of the log",
        "livedex_daemon/process/logs.py",
        (("                self._lead_stderr_to(handle)\n", "                pass\n"),),
        "tests/daemon/process/test_logs.py::test_what_is_printed_to_stderr_is_rotated_with_it",
    ),
    Defect(
        "log-not-tried-again",
        "a log that could not be written is not tried again before the next event",
        "livedex_daemon/app.py",
        (('            "log": logs.keep_trying,\n', ""),),
        f"{DISK}::test_a_log_that_cannot_be_written_is_a_warning_until_it_can",
    ),
    Defect(
        "full-disk-is-a-traceback",
        "a first start for whose index there is no room ends with a traceback",
        "livedex_indexing/store/database.py",
        (("        if db.in_transaction:  # SQLite has", "        if True:  # SQLite has"),),
        f"{DISK}::test_a_first_start_on_a_full_disk_says_so_and_the_next_one_works",
    ),
    Defect(
        "full-disk-starts-no-daemon",
        "a command that starts the daemon prints a traceback while no folder of temporary files can be written to",
        "livedex_ipc/scratch_file.py",
        (('if sys.platform == "linux":', "if False:"),),
        "tests/ipc/test_spawn.py::test_no_temporary_folder_is_needed",
    ),
    Defect(
        "forbidden-memory-file-starts-no-daemon",
        "where a filter of system calls forbids memfd_create, no command starts the daemon",
        "livedex_ipc/scratch_file.py",
        (("with suppress(PermissionError):", "with suppress(ValueError):"),),
        "tests/ipc/test_spawn.py::test_a_temporary_file_does_where_none_in_memory_may_be_made",
    ),
    Defect(
        "forbidden-readlink-converts-nothing",
        "where a filter of system calls forbids readlink, documents wait for ever",
        "livedex_indexing/parse/sandbox.py",
        (("return sorted(path for path", "return sorted(os.path.realpath(path) for path"),),
        f"{FORBIDDEN}::test_files_and_documents_are_indexed_without_it[readlink-EPERM]",
    ),
    Defect(
        "forbidden-limits-end-children",
        "where a filter of system calls forbids prlimit64, each child ends at its start",
        "livedex_indexing/child/resource_limits.py",
        (("with suppress(OSError, ValueError):  # it", "with suppress(ValueError):  # it"),),
        f"{FORBIDDEN}::test_files_and_documents_are_indexed_without_it[prlimit64-ENOSYS]",
    ),
    Defect(
        "forbidden-inotify-blames-a-limit",
        "where a filter of system calls forbids inotify, the remedy is to raise a limit",
        "livedex_daemon/watch/event_source.py",
        (("error.errno in (errno.EPERM, errno.ENOSYS)", "error.errno == errno.EMFILE"),),
        f"{FORBIDDEN}::test_without_events_the_roots_are_polled_and_the_remedy_is_no_limit[ENOSYS]",
    ),
)
