"""Defects of the service: what service managers start, send and get."""

from __future__ import annotations

from planted.defect import Defect

ACTIVATION = "tests/system/test_socket_activation.py"
COMMAND = "tests/ipc/cli/test_service_command.py"
DOCTOR = "tests/daemon/doctor/test_broken_setups.py"
JOURNAL = "tests/service/test_journal.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "chore-of-a-stopping-daemon-is-an-error",
        "an ordinary stop logs an error",
        "livedex_daemon/upkeep/chores.py",
        (("if error is not None and not isinstance(error, Unavailable):", "if error is not None:"),),
        "tests/daemon/upkeep/test_chores.py::test_a_chore_that_a_stopping_daemon_refuses_is_no_error_in_the_log",
    ),
    Defect(
        "silent-writer-called-alive",
        "the watchdog is fed for ever by a thread that lives and does nothing",
        "livedex_daemon/process/supervisor_reports.py",
        ((" and self._clock() - self._answered_at < SILENT_S", ""),),
        "tests/daemon/process/test_supervisor_reports.py::test_a_writer_that_hangs_is_not_called_alive_for_long",
    ),
    Defect(
        "ready-said-once",
        "if the first report that the daemon serves fails, the supervisor ends it",
        "livedex_service/supervisor.py",
        (("    if _untaken and notify(_untaken):", "    if False:"),),
        "tests/system/test_watchdog.py::test_what_could_not_be_sent_is_sent_again",
    ),
    Defect(
        "line-lost-in-a-reload",
        "a reload ready before the supervisor heard of the start takes the line for people away",
        "livedex_service/supervisor.py",
        ((' if status else _untaken or "READY=1"', ""),),
        "tests/service/test_supervisor.py::test_a_reload_keeps_the_line_that_was_not_taken_before",
    ),
    Defect(
        "status-line-stays",
        "the status line says for ever what was to be done at the start",
        "livedex_daemon/process/supervisor_reports.py",
        (("            if (text := self.status()) != self._last and", "            if (text := '') and"),),
        f"{ACTIVATION}::test_the_status_line_follows_the_work",
    ),
    Defect(
        "any-socket-taken",
        "of several sockets that systemd passes, the first one is taken, whatever its name",
        "livedex_service/supervisor.py",
        (("    chosen = names.index(name) if name in names[: len(sockets)] else 0", "    chosen = 0"),),
        "tests/service/test_supervisor.py::test_of_several_the_named_one_is_taken_and_the_others_are_closed",
    ),
    Defect(
        "inherited-socket-removed",
        "the daemon removes the socket that systemd keeps, and no client finds the next daemon",
        "livedex_daemon/process/socket_guard.py",
        (("            self.sock = inherited\n", "            self.sock, self._bound = inherited, identity(path)\n"),),
        f"{ACTIVATION}::test_what_a_supervisor_receives_from_the_start_to_the_end",
    ),
    Defect(
        "journal-waited-for",
        "a journal that does not read makes log lines get lost or the daemon wait",
        "livedex_service/journal.py",
        (("            self._print(record)\n", "            return\n"),),
        f"{JOURNAL}::test_a_journal_that_is_gone_or_does_not_read_costs_nothing",
    ),
    Defect(
        "agent-loaded-too-soon",
        "launchd refuses an agent whose former process has not ended yet",
        "livedex_service/launchd_agent.py",
        (("[ $looks -lt 15 ]; do", "false; do"),),
        "tests/service/test_launchd.py::test_the_agent_is_loaded_loaded_again_and_unloaded",
    ),
    Defect(
        "library-loses-lines",
        "systemd-python drops a log line without a word where the journal has gone",
        "livedex_service/journal.py",
        (("            self._disconnect()  # the library", "            pass  # the library"),),
        "tests/service/test_systemd_python.py::test_it_gives_the_journal_the_same",
    ),
    Defect(
        "lines-break-the-journals-entry",
        "a line ending in a path makes fields of the journal's entry out of the rest of the path",
        "livedex_service/journal.py",
        (('    if b"\\n" not in data:', "    if True:"),),
        f"{JOURNAL}::test_an_event_comes_with_its_fields",
    ),
    Defect(
        "notify-reload-in-the-unit",
        "the unit has a type that systemd before 253 silently takes for simple",
        "livedex_service/systemd_units.py",
        (("Type=notify\n", "Type=notify-reload\n"),),
        "tests/service/test_systemd_units.py::test_the_service_runs_on_old_versions_and_restarts_what_fails",
    ),
    Defect(
        "percent-in-a-path",
        "a percent sign in a path means something else in the unit",
        "livedex_service/systemd_units.py",
        (("    plain = escaped(word)", "    plain = word"),),
        "tests/service/test_systemd_units.py::test_a_word_stays_one_word",
    ),
    Defect(
        "half-an-installation",
        "an installation that systemd refuses leaves its files",
        "livedex_service/service_manager.py",
        (
            (
                "        for path in former.keys() - kept.keys():\n            _remove(path)\n",
                "",
            ),
        ),
        f"{COMMAND}::test_an_installation_that_fails_leaves_what_was_there",
    ),
    Defect(
        "enabled-without-units",
        "an installation that fails late leaves the links of what it enabled, and `uninstall` sees nothing to remove",
        "livedex_service/service_manager.py",
        (("                _run_all(manager.uninstall_plan().commands)\n", "                pass\n"),),
        f"{COMMAND}::test_an_installation_that_fails_late_is_disabled_again",
    ),
    Defect(
        "one-unit-of-two",
        "a disk that is full at the second unit leaves a half-written file",
        "livedex_service/service_manager.py",
        (
            (
                "    finally:\n        for path in contents:\n            _remove(_new(path))\n",
                "    finally:\n        pass\n",
            ),
        ),
        f"{COMMAND}::test_a_disk_without_room_for_the_units",
    ),
    Defect(
        "remains-of-an-installation",
        "what a killed installation was about to write stays for ever",
        "livedex_service/service_manager.py",
        (("for path in (file.path, _new(file.path))]", "for path in (file.path,)]"),),
        f"{COMMAND}::test_a_killed_installation_leaves_nothing_that_stays",
    ),
    Defect(
        "daemon-left-beside-the-service",
        "a daemon that runs already keeps the index, and the service's daemon ends at once",
        "livedex_ipc/cli/commands/service_command.py",
        (("            stop_daemon()  # it would", "            str()  # it would"),),
        f"{COMMAND}::test_a_daemon_outside_of_the_service_is_stopped",
    ),
    Defect(
        "cache-in-the-unit",
        "the unit names a command in a cache, which is gone tomorrow",
        "livedex_service/executable.py",
        (("    if any(part in python for part in _PASSING):", "    if False:"),),
        "tests/service/test_executable.py::test_one_from_a_cache_is_refused",
    ),
    Defect(
        "another-socket-without-the-variable",
        "a client with few variables, such as an agent's, looks for the socket elsewhere than the daemon",
        "livedex_ipc/paths.py",
        ((' or f"{RUN_USER}/{os.geteuid()}"', ""),),
        "tests/ipc/test_paths.py::test_without_the_variable_it_is_the_folder_that_systemd_makes",
    ),
    Defect(
        "failure-of-launchd-ignored",
        "launchd refuses the socket, and the daemon makes one that no client finds",
        "livedex_service/launchd_sockets.py",
        (("    if code != 0:", "    if False:"),),
        "tests/service/test_launchd.py::test_the_descriptors_of_the_named_sockets",
    ),
    Defect(
        "doctor-starts-a-daemon",
        "the doctor connects to the socket that systemd keeps, and so starts a daemon",
        "livedex_daemon/doctor/system_checks.py",
        (("    if waits_for_client():", "    if False:"),),
        f"{DOCTOR}::test_a_socket_that_systemd_keeps_is_not_connected_to",
    ),
    Defect(
        "removed-executable-not-seen",
        "the doctor is content with a service whose program is gone",
        "livedex_daemon/doctor/service_checks.py",
        (("    elif not _is_executable(command):", "    elif False:"),),
        f"{DOCTOR}::test_it_is_found_and_explained",
    ),
    Defect(
        "doctor-hides-the-daemons-warnings",
        "the doctor finds nothing wrong while the daemon itself warns",
        "livedex_daemon/doctor/system_checks.py",
        (("    for each in warned:", "    for each in ():"),),
        f"{DOCTOR}::test_it_is_found_and_explained",
    ),
    Defect(
        "unreadable-socket-folder-ends-the-daemon",
        "the daemon ends because its socket's folder could not be read for a minute",
        "livedex_daemon/process/socket_guard.py",
        (
            (
                "not is_gone(os.path.dirname(os.path.abspath(self.path)))",
                "os.path.isdir(os.path.dirname(os.path.abspath(self.path)))",
            ),
        ),
        "tests/daemon/process/test_socket_guard.py::test_a_folder_that_the_system_cannot_read_ends_no_daemon",
    ),
    Defect(
        "socket-bound-behind-the-end",
        "a daemon that ends while it binds its lost socket again leaves one on which nobody answers",
        "livedex_daemon/process/socket_guard.py",
        (("            if not self._is_closed:\n", "            if True:\n"),),
        "tests/daemon/process/test_socket_guard.py::test_a_socket_that_is_bound_as_the_daemon_ends_is_removed",
    ),
)
