"""Defects of the command: the output for a person or a pipe."""

from __future__ import annotations

from planted.defect import Defect

TERMINAL = "tests/ipc/cli/test_cli_terminal.py"

CLI = "tests/ipc/cli/test_cli.py"
SEARCH_TEXT = "tests/ipc/cli/render/test_search_text.py"

ARGUMENTS = "tests/ipc/cli/test_arguments.py"
COMMANDS = "tests/ipc/cli/test_commands.py"

DEFECTS = (
    Defect(
        "statistics-of-a-few-bytes",
        "a short text in Latin-1 or GB18030 is decoded by statistics that need a few hundred bytes",
        "livedex_indexing/text/encoding_detection.py",
        (("by_form = _western(sample, runs) or _eastern(runs)", "by_form = None"),),
        "tests/indexing/text/test_decoder.py::test_a_short_text_is_read_as_it_was_written",
    ),
    Defect(
        "misspelt-path-finds-nothing",
        "a search in a folder that is not there, or left out, finds nothing and does not say why",
        "livedex_indexing/search/unknown_values.py",
        (("if is_inside and not _has_files(reader, place):", "if False:"),),
        "tests/indexing/search/test_answers.py::test_a_path_without_an_indexed_file_is_said",
    ),
    Defect(
        "misspelt-path-is-audited",
        "`audit` of a path that is not there says that there are no differences",
        "livedex_ipc/cli/context.py",
        (("if not os.path.lexists(path):", "if False:"),),
        "tests/system/test_newcomer.py::test_in_a_pipe",
    ),
    Defect(
        "root-inside-a-root",
        "`--root` with a folder inside a root only says that it is no root",
        "livedex_daemon/answer/fresh_reads.py",
        (("is_inside = self._roots.locate(real) is not None", "is_inside = False"),),
        "tests/system/test_newcomer.py::test_in_a_pipe",
    ),
    Defect(
        "ctrl-c-while-loading",
        "Ctrl-C while a command loads its modules prints a traceback",
        "livedex_ipc/__main__.py",
        (("        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)\n    try:", "        pass\n    try:"),),
        "tests/ipc/cli/test_interrupts.py::test_it_ends_by_the_signal",
    ),
    Defect(
        "ctrl-c-heard-though-ignored",
        "a command in the background of a script ends at the Ctrl-C that is meant for what is in the foreground",
        "livedex_ipc/__main__.py",
        (("is_heard = at_start is _signal.default_int_handler", "is_heard = True"),),
        "tests/ipc/cli/test_interrupts.py::test_it_goes_on_where_the_signal_is_ignored",
    ),
    Defect(
        "paths-of-before",
        "`livedex files` goes on with the paths of an earlier generation",
        "livedex_indexing/search/path_finder.py",
        (("if paths is None or paths.generation != generation or paths.roots", "if paths is None or paths.roots"),),
        "tests/indexing/search/test_path_finder.py::test_a_change_is_seen_at_once",
    ),
    Defect(
        "beginning-only-by-stem",
        "`renewa`, while `renewal` is typed, finds no renewal: its stem is `renew`",
        "livedex_indexing/query/query_compiler.py",
        ((", *_other_stems(index, whole)]", "]"),),
        "tests/indexing/search/test_typing.py::test_every_beginning_of_a_word_finds_it",
    ),
    Defect(
        "short-beginnings-gathered",
        "at `btf_s`, each statement of a search gathers the places of all words that begin with an s",
        "livedex_indexing/query/query_terms.py",
        (("len(tokens[-1]) <= _SHORT", "not tokens[-1]"),),
        "tests/indexing/search/test_typing.py::test_no_statement_gathers_the_words_that_begin_with_a_letter_or_two",
    ),
    Defect(
        "matches-counted-one-by-one",
        "with `group=file`, each file of a page gathers the places of all words that begin so: 4 s for `be_r*`",
        "livedex_indexing/hits/hit_builder.py",
        (("if not any(term.prefix for term in terms):", "if terms:"),),
        "tests/indexing/search/test_search_order.py"
        "::test_the_matches_of_all_files_of_a_page_are_counted_by_one_statement_if_a_word_is_begun",
    ),
    Defect(
        "names-begun-are-not-read",
        "`btf_s` finds the files with `btf`, and not those with `btf_show` first",
        "livedex_indexing/rank/continued_names.py",
        (("return sorted(times, key=lambda word: (word not in joined, -times[word], word))", "return []"),),
        "tests/indexing/search/test_typing.py::test_every_beginning_of_a_name_finds_it",
    ),
    Defect(
        "sorted-list-of-chunks",
        "`--sort path ext:txt` lists each file once for each of its chunks",
        "livedex_indexing/search/sorted_search.py",
        (("one_each=not textual", "one_each=False"),),
        "tests/indexing/search/test_sorted_search.py::test_without_words_each_file_has_one_hit",
    ),
    Defect(
        "empty-file-in-no-facet",
        "an empty file of Python is a hit and in the total, and in no facet of languages or kinds",
        "livedex_indexing/rank/facets.py",
        (("in (_WHOLE, _EMPTY):", "in (_WHOLE,):"),),
        "tests/indexing/rank/test_facets.py::test_a_file_without_text_counts_by_its_language",
    ),
    Defect(
        "bound-of-a-time-through-a-float",
        "`modified_after` misses a file whose time is the bound itself, to the nanosecond",
        "livedex_ipc/params.py",
        (('int((fraction or "").ljust(9, "0"))', 'round(float(f"0.{fraction or 0}") * 1e6) * 1000'),),
        "tests/indexing/search/test_search_scope.py::test_the_bounds_of_a_time_are_exact_to_the_nanosecond",
    ),
    Defect(
        "fence-of-another-name",
        "`lang:js` finds the fences called so, and no file of JavaScript",
        "livedex_indexing/query/filters.py",
        (("if same_language(name) in wanted]", "if name.lower() in names]"),),
        "tests/indexing/rank/test_facets.py::test_a_language_is_one_whatever_it_is_called",
    ),
    Defect(
        "log-of-before",
        "`logs -f` goes on with the old log after a new one has begun",
        "livedex_daemon/process/places_command.py",
        (("            file = _log()\n", "            return 0\n"),),
        "tests/ipc/cli/test_commands.py::test_paths_and_logs_need_no_daemon",
    ),
    Defect(
        "help-broken-inside-words",
        "a long line of the help is left to the terminal, which breaks it inside a word",
        "livedex_ipc/cli/help.py",
        (("lines += parts if len(line) > columns else [line]", "lines += [line]"),),
        f"{TERMINAL}::test_help_is_wrapped_between_words",
    ),
    Defect(
        "month-of-thirty-days",
        "`1 month ago` is 30 days ago, whatever the calendar says",
        "livedex_ipc/cli/times.py",
        (
            (
                "    if unit in _UNIT_SECONDS:\n",
                '    if unit == "month":\n        return _before(30 * count, "d", now)\n',
            ),
        ),
        "tests/ipc/cli/test_times.py::test_a_day_that_a_month_lacks_is_its_last",
    ),
    Defect(
        "nothing-found-so-far-is-an-answer",
        "a search that had no time to look exits as if nothing were there",
        "livedex_ipc/cli/commands/search_command.py",
        (("    return 0 if found else 4 if unsure else 1", "    return 0 if found else 1"),),
        f"{CLI}::test_nothing_found_so_far_is_no_answer",
    ),
    Defect(
        "params-in-messages",
        "a message says `timeout_ms` to who can only type `--timeout`",
        "livedex_ipc/cli/option_names.py",
        (("names.get(match[0], match[0])", "match[0]"),),
        f"{CLI}::test_messages_name_options",
    ),
    Defect(
        "spinner-stays",
        "the line that says what is waited for stays on the terminal",
        "livedex_ipc/cli/context.py",
        (("                spinner.clear()", "                pass"),),
        f"{TERMINAL}::test_ctrl_c_takes_the_waiting_line_away",
    ),
    Defect(
        "last-of-two-paths-wins",
        "of two paths to search in, one is forgotten silently",
        "livedex_daemon/answer/fresh_reads.py",
        (("for each in paths or ()]\n        return", "for each in (paths or ())[-1:]]\n        return"),),
        "tests/system/test_search_contract.py::test_several_paths_admit_what_lies_in_any",
    ),
    Defect(
        "second-option-of-a-word-is-lost",
        "of two options in one word the second has no effect",
        "livedex_ipc/cli/command_parser.py",
        (("whole or word) if equals else None", "whole or word) if equals == '' else None"),),
        f"{ARGUMENTS}::test_short_options_may_share_a_word",
    ),
    Defect(
        "lines-end-with-the-first-page",
        "`-F` prints the first lines only, though nothing limits them",
        "livedex_ipc/cli/commands/search_command.py",
        (
            (
                '    return bool(values.get("all")) or (_is_grep(context) and',
                '    return bool(values.get("all")) and (_is_grep(context) and',
            ),
        ),
        f"{CLI}::test_all_hits_are_printed_page_after_page",
    ),
    Defect(
        "hint-in-a-pipe",
        "`nothing found` becomes an entry of an editor's list",
        "livedex_ipc/cli/streams.py",
        (("        if self.out_is_terminal and not self.json:\n", "        if not self.json:\n"),),
        f"{CLI}::test_nothing_found_is_exit_code_1",
    ),
    Defect(
        "first-lines-instead-of-telling-ones",
        "a hit shows its first matching lines, not those with most of the words",
        "livedex_ipc/cli/render/hit_lines.py",
        (("key=lambda at: (*_weight(lines[at]), at)", "key=lambda at: at"),),
        f"{SEARCH_TEXT}::test_a_hit_takes_three_lines_at_most_those_with_most_of_the_words",
    ),
    Defect(
        "cut-without-the-match",
        "a long line is cut to its beginning, though its match comes later",
        "livedex_ipc/cli/render/hit_lines.py",
        (("    start, free = first, columns // 3\n", "    start, free = 0, columns // 3\n"),),
        f"{SEARCH_TEXT}::test_a_line_is_cut_to_the_width_and_keeps_its_first_match",
    ),
    Defect(
        "path-like-an-option",
        "a file whose name begins with a dash is printed so that the next program takes it for an option",
        "livedex_ipc/cli/render/shown_paths.py",
        (('    return "./" + short if short.startswith("-") else short', "    return short"),),
        f"{SEARCH_TEXT}::test_a_path_below_the_working_folder_is_shown_relative_to_it",
    ),
    Defect(
        "environment-beats-the-colour-option",
        "`--color always` has no effect where NO_COLOR is set",
        "livedex_ipc/cli/streams.py",
        (('    if color != "auto":', '    if color != "auto" and not environ.get("NO_COLOR"):'),),
        f"{TERMINAL}::test_a_pipe_has_the_text_of_a_terminal_and_colours_on_request",
    ),
    Defect(
        "early-fault-is-text",
        "a fault of the command line is text though `--json` comes after it",
        "livedex_ipc/cli/command_parser.py",
        (('    line.json = "--json" in own\n', ""),),
        "tests/ipc/cli/test_cli.py::test_wrong_usage_is_exit_code_2",
    ),
    Defect(
        "up-waits-for-a-full-disk",
        "`livedex up` shows progress for ever while the first index cannot be written",
        "livedex_ipc/cli/commands/up_command.py",
        (("(indexing and cause is None)", "indexing"),),
        "tests/ipc/cli/test_up_command.py::test_it_says_why_the_index_cannot_be_written",
    ),
    Defect(
        "foreign-program-waited-for",
        "`livedex down` waits half a minute for a program that is no daemon",
        "livedex_ipc/cli/commands/up_command.py",
        (("    may_be = isinstance(pid, int) and is_daemon(pid)\n", "    may_be = True\n"),),
        "tests/ipc/cli/test_foreign_answers.py::test_it_is_not_waited_for",
    ),
    Defect(
        "foreign-program-wakes-a-worker",
        "`livedex exchange run` takes what a foreign program answers for a message",
        "livedex_daemon/worker_host/wake_ups.py",
        (("    client.refuse_nonsense()\n", ""),),
        "tests/ipc/cli/test_foreign_answers.py::test_it_is_no_traceback",
    ),
    Defect(
        "context-repeated-at-a-page",
        "`-F -C1` prints lines twice, and matching ones as context, where a page of hits ends",
        "livedex_ipc/cli/commands/search_command.py",
        (("offset + shown + 1, blocks)", "offset + shown + 1)"),),
        f"{COMMANDS}::test_a_block_goes_on_from_page_to_page",
    ),
    Defect(
        "blocks-of-two-files-are-one",
        "`-F -C1` leaves out lines of a file that the block of the file before has, by their numbers",
        "livedex_ipc/cli/render/search_text.py",
        ((" or path_text(hit) != path_text(self._hit):", ":"),),
        f"{SEARCH_TEXT}::test_hits_of_two_files_are_two_blocks",
    ),
    Defect(
        "carriage-returns-around",
        "the lines around a match in a file with CRLF end with a written-out carriage return",
        "livedex_ipc/cli/render/hit_lines.py",
        (('text.removesuffix("\\r")) for number, text in enumerate(aft', "text) for number, text in enumerate(aft"),),
        f"{SEARCH_TEXT}::test_hits_that_touch_are_one_block_whatever_the_pages",
    ),
    Defect(
        "fault-like-the-first",
        "a fault of the configuration is counted and not printed if the first one has the same words",
        "livedex_ipc/cli/render/terminal_text.py",
        (("faults[is_first_named:]", "[each for each in faults if str(each['message']) not in error.message]"),),
        "tests/ipc/cli/render/test_terminal_text.py::test_every_fault_of_a_configuration_is_printed_with_its_place",
    ),
    Defect(
        "stale-why",
        "`livedex why` does not say that a file may have changed since",
        "livedex_ipc/cli/commands/files_command.py",
        (("            stale.append(visible(shown_path(answer)))", "            pass"),),
        f"{COMMANDS}::test_a_path_that_may_have_changed_since_is_said_on_stderr",
    ),
    Defect(
        "stale-reason",
        "`livedex retrieve` does not say that the reason why a file is not indexed may be out of date",
        "livedex_daemon/answer/handlers.py",
        (('since" if state.reason is not None else', 'since" if state is None else'),),
        "tests/system/test_why.py::test_a_reason_that_may_be_out_of_date_is_said_to_be",
    ),
)
