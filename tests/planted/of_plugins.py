"""Defects of loading and using plugins."""

from __future__ import annotations

from planted.defect import Defect

CRASHES = "tests/daemon/write/test_crashes.py"
BROKEN = "tests/system/test_broken_plugins.py"
LOADER = "tests/indexing/plugins/test_plugin_loader.py"
INSTALLED = "tests/indexing/plugins/test_installed_plugins.py"
PIPELINES = "tests/system/test_plugin_pipelines.py"
HOSTILE = "tests/system/test_hostile_objects.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "plugin-that-others-may-write",
        "another user of the machine puts code into the daemon",
        "livedex_indexing/plugins/owned_files.py",
        (("if others_may_write(found) and", "if False and"),),
        f"{LOADER}::test_a_file_that_others_may_write_is_not_run",
    ),
    Defect(
        "plugin-that-hangs",
        "a plugin whose module never returns keeps the daemon from starting",
        "livedex_indexing/plugins/plugin_loader.py",
        (
            (
                'within(limit_s, lambda: _register_of(source)(registrar), f"plugin {source.name}")',
                "_register_of(source)(registrar)",
            ),
        ),
        "tests/daemon/plugin_host/test_plugin_host.py::test_a_plugin_that_hangs_is_given_up",
    ),
    Defect(
        "pipeline-spans-unchecked",
        "a pipeline's overlapping spans put text into the index twice",
        "livedex_indexing/span_check.py",
        (("return _misplaced(spans, text)", "return None"),),
        "tests/indexing/chunk/test_plugin_pipelines.py::test_only_spans_in_order_and_inside_pass",
    ),
    Defect(
        "pipeline-conforms-and-is-refused",
        "the suite passes a pipeline of whose every answer the daemon says that it cannot be used",
        "livedex_indexing/conformance.py",
        (("        fault = span_fault(spans, text)\n", "        fault = None\n"),),
        "tests/indexing/plugins/test_plugin_templates.py::test_its_suite_notices_a_fault",
    ),
    Defect(
        "backend-that-deletes-neighbours",
        "the suite passes a backend that deletes `landing.md` along with the folder `land`",
        "livedex_indexing/conformance.py",
        (('if not search("gull"):', "if False:"),),
        "tests/indexing/plugins/test_plugin_templates.py::test_its_suite_notices_a_fault",
    ),
    Defect(
        "pipeline-blames-the-file",
        "a plugin that ends its process quarantines the files",
        "livedex_daemon/write/worker_slot.py",
        (("if culprit.plan.plugin is not None and culprit.plugin_fault is None:", "if False:"),),
        "tests/system/test_plugin_pipelines.py::test_pipelines_cut_or_degrade",
    ),
    Defect(
        "embedder-that-hangs",
        "an embedder of a plugin that never returns stops all vectors, and nothing says why",
        "livedex_daemon/plugin_host/limited_embedder.py",
        (("return self._calls.run(seconds, action)", "return action()"),),
        f"{BROKEN}::test_it_is_named_and_the_built_in_part_answers",
    ),
    Defect(
        "plugin-ends-the-daemon",
        "a store of agent memory that calls `sys.exit` ends the daemon",
        "livedex_indexing/plugins/time_limit.py",
        (("future.set_exception(PluginEnds(described(fault)))", "future.set_exception(fault)"),),
        f"{BROKEN}::test_a_broken_store_of_memory_is_an_error_that_names_it",
    ),
    Defect(
        "hung-calls-pile-up",
        "each call of a plugin that hangs leaves one more thread behind",
        "livedex_indexing/plugins/time_limit.py",
        (("        if self.hangs:\n", "        if False:\n"),),
        "tests/indexing/plugins/test_time_limit.py::test_while_a_call_hangs_no_other_begins",
    ),
    Defect(
        "hanging-plugin-without-its-remedy",
        "the warning about a plugin that hangs does not say that it wants a restart",
        "livedex_daemon/answer/plugin_methods.py",
        (("    remedy = _HANGS if fault.hangs else _CHECK\n", "    remedy = _CHECK\n"),),
        "tests/system/test_broken_plugins.py::test_a_broken_store_of_memory_is_an_error_that_names_it",
    ),
    Defect(
        "backend-hits-unchecked",
        "a backend that returns something else than hits makes each search an error",
        "livedex_daemon/backend/mirror.py",
        (("return checked(answer(), most)", "return answer()"),),
        f"{BROKEN}::test_it_is_named_and_the_built_in_part_answers",
    ),
    Defect(
        "copy-keeps-the-home",
        "a process that a plugin forked keeps the home locked and its socket open after the daemon's end",
        "livedex_daemon/__main__.py",
        (("    fork_guard.release_in_copies(lock.descriptor, places.socket_path)\n", ""),),
        f"{BROKEN}::test_a_copy_that_a_plugin_made_has_nothing_of_the_daemon",
    ),
    Defect(
        "backend-with-a-million-hits",
        "a backend that returns far more hits than were wanted takes all the time of a search",
        "livedex_indexing/search/foreign_ranking.py",
        (("    if len(hits) > most:", "    if False:"),),
        "tests/indexing/search/test_foreign_ranking.py::test_nonsense_is_named",
    ),
    Defect(
        "plugin-that-ends-each-run",
        "a plugin that ends the process keeps the daemon from running for good",
        "livedex_daemon/plugin_host/plugin_host.py",
        (("if _key(source) in self._crashes.avoided_code", "if source in self._crashes.avoided_code"),),
        f"{BROKEN}::test_code_that_ends_the_process_is_left_out_after_three_times",
    ),
    Defect(
        "plugin-that-ends-three-starts",
        "a plugin that ends the process while it is loaded ends the daemon three times",
        "livedex_daemon/write/crashes.py",
        (("blamed or _loaded_at_both([found for _, found in starts[-2:]])", "blamed"),),
        f"{BROKEN}::test_a_module_that_ends_the_process_is_left_out_after_two",
    ),
    Defect(
        "plugin-blamed-for-a-file",
        "a plugin that was loaded again when a file crashed the daemon is left out",
        "livedex_daemon/write/crashes.py",
        ((" and len(last[0]) == 1", ""),),
        f"{CRASHES}::test_a_plugin_that_was_loaded_while_more_ran_is_left_out_after_three",
    ),
    Defect(
        "plugin-blamed-for-a-kill",
        "a plugin is left out because the daemon was killed once while it was loaded",
        "livedex_daemon/write/crashes.py",
        (("len(last) == 2 and last[0] == last[1]", "bool(last)"),),
        f"{CRASHES}::test_a_plugin_that_was_loaded_alone_is_left_out_after_two_crashes",
    ),
    Defect(
        "plugin-called-livedex",
        "a plugin named livedex that fails takes what comes with livedex with it",
        "livedex_indexing/plugins/plugin_loader.py",
        (("elif source.name == BUILT_IN:", "elif False:"),),
        f"{LOADER}::test_the_name_of_what_comes_with_livedex_is_taken",
    ),
    Defect(
        "upgraded-plugin-runs-old-code",
        "after an upgrade of its package, a plugin runs its former code until the daemon is restarted",
        "livedex_indexing/plugins/installed_modules.py",
        (("        _forget(name)\n", "        pass\n"),),
        f"{INSTALLED}::test_after_an_upgrade_the_new_code_runs",
    ),
    Defect(
        "upgrade-takes-a-shared-package",
        "the upgrade of a plugin in a namespace package loads the modules of others twice",
        "livedex_indexing/plugins/installed_modules.py",
        (("for prefix in prefixes if not _is_namespace(prefix)", "for prefix in prefixes"),),
        f"{INSTALLED}::test_a_part_of_a_shared_package_is_imported_anew_alone",
    ),
    Defect(
        "remains-of-a-failed-import",
        "modules of a package whose import failed stay loaded when another version of it is installed",
        "livedex_indexing/plugins/installed_modules.py",
        (("    return name in sys.modules and getattr", "    return name not in sys.modules or getattr"),),
        f"{INSTALLED}::test_nothing_stays_of_a_package_whose_import_failed",
    ),
    Defect(
        "failed-plugin-is-not-tried-again",
        "a plugin whose missing package is installed stays failed until the daemon is restarted",
        "livedex_daemon/plugin_host/plugin_host.py",
        (("elif not again or not self._load_failed():", "else:"),),
        "tests/system/test_upgraded_plugins.py::test_a_package_that_it_needs_is_installed_later",
    ),
    Defect(
        "retry-takes-the-name-of-another",
        "a plugin that raises again takes the backends and pipelines of another one of its name with it",
        "livedex_indexing/plugins/plugin_loader.py",
        ((' and "loaded" not in same_name', ""),),
        "tests/indexing/plugins/test_plugin_loader.py::test_one_that_raises_again_takes_nothing_from_another_of_its_name",
    ),
    Defect(
        "standard-files-for-the-daemon-alone",
        "the children of a daemon whose plugin closed stderr get the pipe of their jobs in its place",
        "livedex_indexing/plugins/plugin_loader.py",
        (("os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)", "os.open(os.devnull, os.O_RDWR)"),),
        "tests/indexing/plugins/test_plugin_loader.py::test_one_that_closes_the_standard_files_gets_them_open_again",
    ),
    Defect(
        "copy-of-a-child-answers",
        "a pipeline that forks puts the words of one file into the index as those of another",
        "livedex_indexing/chunk/chunk_child.py",
        (("    keep_from_copies(jobs, answers)\n", ""),),
        f"{PIPELINES}::test_one_that_copies_its_process_or_prints_harms_nothing",
    ),
    Defect(
        "pipeline-prints-into-the-log",
        "what a pipeline prints of a file stays in the daemon's log",
        "livedex_indexing/chunk/chunk_child.py",
        (("            silence(2)", "            pass"),),
        f"{PIPELINES}::test_one_that_copies_its_process_or_prints_harms_nothing",
    ),
    Defect(
        "factory-raises-no-exception",
        "a factory that raises KeyboardInterrupt fails each reload",
        "livedex_indexing/plugins/registry.py",
        (
            (
                "BaseException as fault:  # a plugin may raise anything\n            raise Plugin",
                "Exception as fault:\n            raise Plugin",
            ),
        ),
        f"{HOSTILE}::test_each_is_named[parser]",
    ),
    Defect(
        "version-of-a-parser-ends-the-daemon",
        "a parser whose version raises SystemExit ends the daemon at each start",
        "livedex_daemon/plugin_host/plugin_host.py",
        (
            (
                'self.calls(kind, name).run(READ_S, lambda: str(getattr(made, attribute, "")))',
                'str(getattr(made, attribute, ""))',
            ),
        ),
        f"{HOSTILE}::test_none_ends_the_daemon_by_what_it_may_have[parser]",
    ),
    Defect(
        "backend-lists-nonsense",
        "a backend whose list_files returns nonsense is named nowhere",
        "livedex_daemon/backend/mirror.py",
        (("in self._call(_listed):", "in _listed(self._calls._backend):"),),
        f"{HOSTILE}::test_a_backend_that_lists_nonsense_is_named[None]",
    ),
    Defect(
        "parser-waits-for-others",
        "a plugin that breaks in the parsers' process keeps the documents of all other plugins from being converted",
        "livedex_indexing/parse/plugin_parser.py",
        ((" if one.name == owner]", "]"), ("frozenset((owner,))", "None")),
        "tests/system/test_broken_parsers.py::test_another_plugin_that_breaks_in_its_process_costs_nothing",
    ),
    Defect(
        "vectors-asked-for-for-ever",
        "a backend that ignores where its answer begins is sent the same vectors without end",
        "livedex_daemon/backend/vector_feed.py",
        (("if keys and keys[0] <= after:", "if False:"),),
        "tests/daemon/backend/test_vector_feed.py::test_an_answer_that_raises_or_never_ends_is_a_fault",
    ),
    Defect(
        "removed-backend-ranks-on",
        "a backend whose plugin was removed ranks on, though the warning says that the built-in index answers",
        "livedex_daemon/backend/backend_switch.py",
        (("elif former is not None and former.name == following.name and", "elif former is None and"),),
        f"{HOSTILE}::test_a_backend_that_is_gone_ranks_no_more",
    ),
    Defect(
        "check-prints-what-plugins-print",
        "`livedex --json plugins check` prints what the plugin prints into its JSON, or nothing if that closes stdout",
        "livedex_daemon/plugin_host/plugin_check.py",
        (("    os.dup2(2, 1)\n", ""),),
        "tests/system/test_plugins.py::test_a_check_answers_once_whatever_the_plugin_does",
    ),
    Defect(
        "check-ends-with-its-plugin",
        "a check of a plugin that ends its process exits 0 without a word",
        "livedex_daemon/plugin_host/plugin_check.py",
        (("    return code if end is None else run_with(", "    return code if end is end else run_with("),),
        "tests/system/test_plugins.py::test_a_check_names_the_plugin_that_ends_the_process",
    ),
    Defect(
        "misnamed-plugin-unsaid",
        "a file in a folder of plugins whose name no module can have is left out without a word",
        "livedex_indexing/plugins/plugin_source.py",
        (("            yield _misnamed(folder, name)\n", "            continue\n"),),
        "tests/indexing/plugins/test_plugin_loader.py::test_a_file_that_no_module_can_have_is_named",
    ),
    Defect(
        "no-index-while-it-starts",
        "a search that waits for the index says that there is none",
        "livedex_ipc/cli/commands/search_command.py",
        (('if not page["generation"] and page.get("fresh"):', 'if not page["generation"]:'),),
        "tests/ipc/cli/test_cli.py::test_a_search_that_waits_for_the_index_does_not_say_that_there_is_none",
    ),
    Defect(
        "lazy-vectors-fail-elsewhere",
        "an embedder that answers a generator which raises stops the thread of all vectors",
        "livedex_daemon/plugin_host/limited_embedder.py",
        (("lambda: _plain(self._embedder.embed(text))", "lambda: self._embedder.embed(text)"),),
        "tests/daemon/plugin_host/test_limited_embedder.py::test_a_vector_that_raises_is_a_fault_of_the_embedder",
    ),
    Defect(
        "conforming-object-of-one-thread",
        "an embedder that only the thread that made it can use conforms, and fails in the daemon",
        "livedex_indexing/conformance.py",
        (('    return lambda: within(_MAKE_S, factory, "factory")', "    return factory"),),
        "tests/indexing/plugins/test_plugin_templates.py::test_an_object_of_one_thread_is_noticed",
    ),
    Defect(
        "check-converts-nothing",
        "`livedex plugins check` says that a parser conforms whose `convert` fails",
        "livedex_daemon/plugin_host/plugin_check.py",
        (("if isinstance(found, Failure):", "if False:"),),
        "tests/system/test_plugins.py::test_a_check_converts_files_as_the_daemon_does",
    ),
)
