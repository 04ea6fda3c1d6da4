"""Planted defects of the calls on network and FUSE mounts."""

from __future__ import annotations

from planted.defect import Defect

HUNG = "tests/system/test_hung_mounts.py"
MOUNTS = "tests/indexing/disk/test_remote_mounts.py"
PROCESS = "tests/indexing/disk/test_remote_process.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "no-root-without-proc",
        "where /proc is not mounted, no root can be added",
        "livedex_indexing/disk/mounts.py",
        (("linux_type(path, read_mountinfo())", "linux_type(path, MOUNTINFO.read_bytes())"),),
        "tests/system/test_without_proc.py::test_a_root_is_added_indexed_and_watched",
    ),
    Defect(
        "remote-watched",
        "watches are placed on remote file systems, where the call may hang",
        "livedex_daemon/watch/event_source.py",
        (("        if watcher is None or root.is_remote(path):", "        if watcher is None:"),),
        "tests/daemon/watch/test_event_source.py::test_what_lies_on_a_remote_file_system_gets_no_watch",
    ),
    Defect(
        "hung-mount-holds-up-all",
        "a call on a mount that does not answer is waited for",
        "livedex_indexing/disk/remote_mounts.py",
        (("        if not table.mounts or not (", "        if True or not ("),),
        "tests/system/test_hung_mounts.py::test_a_hung_mount_costs_only_itself",
    ),
    Defect(
        "silent-mount-asked-again",
        "each look at a mount that does not answer costs one more thread of the child",
        "livedex_indexing/disk/remote_mounts.py",
        (("        if any(mount.is_silent for mount in mounts):", "        if False:"),),
        f"{MOUNTS}::test_a_mount_that_hangs_is_given_up_and_then_refused_at_once",
    ),
    Defect(
        "slow-mount-given-up",
        "a call that takes long is given up although its mount answers",
        "livedex_indexing/disk/remote_mounts.py",
        (("            if not all(mount.answers() for mount in mounts) and", "            if"),),
        f"{MOUNTS}::test_a_call_that_takes_long_on_a_mount_that_answers_is_waited_for",
    ),
    Defect(
        "hung-mount-hides-its-folder",
        "a folder cannot be listed while a mount in it does not answer",
        "livedex_indexing/disk/tree.py",
        (
            (
                "            if not is_gone(error, name):\n                yield",
                "            if True:\n                raise\n                yield",
            ),
        ),
        f"{MOUNTS}::test_a_silent_mount_keeps_nothing_from_the_folder_that_it_is_in",
    ),
    Defect(
        "mounts-touched-by-the-daemon",
        "threads of the daemon make the calls on remote mounts, and its process cannot end while one hangs",
        "livedex_indexing/disk/remote_process.py",
        (
            (
                "        return self._ready().submit(call)",
                "        from concurrent.futures import ThreadPoolExecutor\n\n"
                "        return ThreadPoolExecutor().submit(call)",
            ),
        ),
        f"{HUNG}::test_the_daemon_stops_while_a_mount_hangs",
    ),
    Defect(
        "links-followed-by-the-daemon",
        "the daemon itself follows the user's links onto remote mounts",
        "livedex_indexing/disk/users_file.py",
        (("    return real_path(path).path if REMOTE.any else path", "    return path"),),
        f"{HUNG}::test_only_a_child_touches_the_mount",
    ),
    Defect(
        "outside-watched-on-a-mount",
        "the daemon places watches on remote mounts for the user's own ignore files",
        "livedex_daemon/watch/event_source.py",
        (("            if watcher is not None and not REMOTE.holds(folder):", "            if watcher is not None:"),),
        f"{HUNG}::test_only_a_child_touches_the_mount",
    ),
    Defect(
        "root-resolved-by-the-daemon",
        "a daemon waits at its start for a root whose path hangs",
        "livedex_daemon/app.py",
        (("    REMOTE.renew()  # before a root's path is touched\n", ""),),
        f"{HUNG}::test_another_daemon_starts_while_a_mount_hangs",
    ),
    Defect(
        "unresolved-root-dropped",
        "a root whose links cannot be resolved at the start loses its rows",
        "livedex_daemon/config_reload.py",
        (
            (
                "            if path not in wanted and (path in current or _is_real(config)):",
                "            if path not in wanted:",
            ),
        ),
        f"{HUNG}::test_another_daemon_starts_while_a_mount_hangs",
    ),
    Defect(
        "unresolved-for-ever",
        "a root whose links could not be resolved at the start is watched by a path with links from then on",
        "livedex_daemon/config_reload.py",
        ((" or not _is_real(self._current.config)\n", "\n"),),
        f"{HUNG}::test_another_daemon_starts_while_a_mount_hangs",
    ),
    Defect(
        "calls-one-by-one",
        "a call that hangs delays all other calls on remote mounts",
        "livedex_indexing/disk/remote_child.py",
        (("            has_thread = self._idle > 0\n", "            has_thread = number > 1\n"),),
        f"{PROCESS}::test_a_call_that_hangs_delays_no_other",
    ),
    Defect(
        "calls-of-a-dead-child-wait",
        "who asked a child that has ended waits for ever",
        "livedex_indexing/disk/remote_process.py",
        (("            waiting, self._waiting = self._waiting, {}\n", "            waiting = {}\n"),),
        f"{PROCESS}::test_the_end_of_the_child_fails_its_calls_and_the_next_has_another",
    ),
    Defect(
        "child-keeps-the-output",
        "who reads the output of the daemon waits for a child that hangs",
        "livedex_indexing/disk/remote_child.py",
        (("        os.dup2(nothing, standard)\n", "        pass\n"),),
        f"{PROCESS}::test_nobody_waits_for_what_the_child_has_open",
    ),
    Defect(
        "remote-child-of-another-version",
        "a child that runs other code than the daemon is asked all the same",
        "livedex_indexing/disk/remote_process.py",
        (("            if version == code_version.OWN:", "            if version:"),),
        f"{PROCESS}::test_a_child_of_another_version_is_asked_nothing",
    ),
)
