"""Defects of the answers to agents and programs."""

from __future__ import annotations

from planted.defect import Defect

STDIO = "tests/ipc/mcp/test_mcp_stdio.py"
PROTOCOL = "tests/ipc/mcp/test_mcp_protocol.py"
CLIENT = "tests/ipc/test_async_client.py"
BUDGET = "tests/ipc/mcp/test_answer_budget.py"
ONCE = "tests/ipc/lsp/test_lsp_stdio.py::test_which_folders_are_indexed_is_found_out_once_as_long_as_the_roots_stay"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "agents-cannot-list-raw-paths",
        "`list` of an agent takes no path that is not UTF-8",
        "livedex_ipc/mcp/mcp_tools.py",
        (('("path", "path_b64", "glob", "status"', '("path", "glob", "status"'),),
        "tests/ipc/mcp/test_mcp_stdio.py::test_a_file_whose_path_is_not_utf_8_can_be_read_and_forgotten",
    ),
    Defect(
        "answer-past-its-budget",
        "an answer is longer than hosts show, and they cut it without a word",
        "livedex_ipc/mcp/answer_budget.py",
        (("        if left < 0:\n            break\n", ""),),
        f"{BUDGET}::test_no_answer_is_longer_than_its_budget",
    ),
    Defect(
        "whole-chunks-for-two-lines",
        "an agent that wants two lines of a file gets and pays for the whole chunk",
        "livedex_ipc/mcp/tool_call.py",
        (("                result = within_lines(result, params)", "                pass"),),
        f"{STDIO}::test_some_lines_of_a_file_are_those_lines",
    ),
    Defect(
        "workspace-as-it-was",
        "a folder that an editor removes from its workspace is searched on",
        "livedex_ipc/lsp/lsp_protocol.py",
        (("for folder in self.folders if folder not in removed]", "for folder in self.folders]"),),
        "tests/ipc/lsp/test_lsp_protocol.py::test_the_folders_of_the_workspace_change",
    ),
    Defect(
        "half-a-pair-ends-the-language-server",
        "half of a surrogate pair in the address of a folder ends the language server",
        "livedex_ipc/lsp/lsp_protocol.py",
        (("    except ValueError:  # no URI,", "    except TypeError:  # no URI,"),),
        "tests/ipc/lsp/test_lsp_protocol.py::test_the_folders_of_the_workspace",
    ),
    Defect(
        "unindexed-folder-widens-a-symbol-search",
        "one folder of an editor's workspace that is not indexed makes its search one of all indexed folders",
        "livedex_ipc/lsp/lsp_stdio.py",
        (
            (
                "            return self._search(query, self._decided.indexed)\n",
                "            return self._search(query, ())\n",
            ),
        ),
        "tests/ipc/lsp/test_lsp_stdio.py::test_a_folder_of_the_workspace_that_is_not_indexed_does_not_widen_the_search",
    ),
    Defect(
        "workspace-of-a-thousand-folders-at-most",
        "an editor with more than 1,000 folders in its workspace gets an error for each search",
        "livedex_ipc/lsp/lsp_stdio.py",
        (("    return [folders[start : start + MAX_ITEMS] for", "    return [folders for"),),
        "tests/ipc/lsp/test_lsp_stdio.py::test_a_workspace_of_any_number_of_folders_is_searched",
    ),
    Defect(
        "workspace-halved-for-each-query",
        "which folders of a workspace are indexed is found out again for each query",
        "livedex_ipc/lsp/lsp_stdio.py",
        (("        return known.indexed\n", "        return folders\n"),),
        ONCE,
    ),
    Defect(
        "workspace-with-the-roots-of-yesterday",
        "a folder of a workspace that is indexed later is not searched",
        "livedex_ipc/lsp/lsp_stdio.py",
        ((" or known.roots != self._roots()", ""),),
        ONCE,
    ),
    Defect(
        "answers-lost-at-the-end",
        "an agent that closes stdin and reads later does not get the answers that wait to be written",
        "livedex_ipc/mcp/mcp_stdio.py",
        (("lambda: not self._calls and not self._busy", "lambda: not self._calls"),),
        "tests/ipc/mcp/test_mcp_stdio.py::test_answers_that_are_read_late_are_all_written",
    ),
    Defect(
        "next-page-skips-hits",
        "hits that did not fit are on no page",
        "livedex_ipc/mcp/answer_budget.py",
        (('    if "next_offset" in tool.output and len(shown) < len(kept):', "    if False:"),),
        f"{BUDGET}::test_no_answer_is_longer_than_its_budget",
    ),
    Defect(
        "last-page-cut-and-last",
        "a client that follows `next_offset` loses the hits that were cut from the last page",
        "livedex_ipc/mcp/answer_budget.py",
        (('if "next_offset" in tool.output and', 'if "next_offset" in answer and'),),
        f"{BUDGET}::test_a_last_page_that_is_cut_is_not_the_last",
    ),
    Defect(
        "next-daemon-not-asked",
        "an agent's call fails if a daemon is killed as it connects",
        "livedex_ipc/client.py",
        (("ENDING_S = 2.0 ", "ENDING_S = -1.0 "),),
        "tests/ipc/test_client.py::test_a_daemon_that_ends_as_we_connect_is_followed_by_the_next",
    ),
    Defect(
        "unknown-argument-ignored",
        "a misspelt argument is ignored, and the model believes that it counted",
        "livedex_ipc/mcp/tool_call.py",
        (
            (
                "        check(self._tool.name, known, given)\n",
                "        given = {n: given[n] for n in known if n in given}\n",
            ),
        ),
        f"{STDIO}::test_what_a_model_can_put_right_is_said_to_it",
    ),
    Defect(
        "restart-of-the-daemon-shown",
        "after a restart of the daemon the first call of each agent fails",
        "livedex_ipc/mcp/tool_call.py",
        (
            (
                "            if once or not isinstance(error.__cause__, OSError) or self._cancelled:\n",
                "            if True:\n",
            ),
        ),
        f"{STDIO}::test_a_restart_of_the_daemon_goes_unnoticed",
    ),
    Defect(
        "cancelled-and-answered",
        "a cancelled call is answered all the same, which the protocol forbids",
        "livedex_ipc/mcp/tool_call.py",
        (("            if self._cancelled:\n                raise CancelledCall from error\n", ""),),
        f"{STDIO}::test_a_cancelled_call_has_no_answer_and_ends_in_the_daemon",
    ),
    Defect(
        "one-call-at-a-time",
        "a call that waits holds up every other request of the agent",
        "livedex_ipc/mcp/mcp_stdio.py",
        (
            (
                "            self._queue(taken)\n",
                "            self._write(self._outcome(taken, self._made(taken)) or {})\n",
            ),
            (
                "    def _queue(self",
                "    def _made(self, call: Call) -> ToolCall:\n"
                "        return ToolCall(call.tool, call.arguments, self._connections)\n\n    def _queue(self",
            ),
        ),
        f"{STDIO}::test_calls_run_side_by_side",
    ),
    Defect(
        "progress-goes-back",
        "progress is reported that does not grow, and strict clients end the connection",
        "livedex_ipc/mcp/mcp_stdio.py",
        (("        if done > self._last:\n", "        if done >= 0:\n"),),
        f"{STDIO}::test_progress_only_grows_and_only_where_it_is_wanted",
    ),
    Defect(
        "daemon-before-it-is-needed",
        "an agent that only lists the tools starts a daemon",
        "livedex_ipc/mcp/mcp_stdio.py",
        (
            (
                "        self._connections = Connections()\n",
                "        self._connections = Connections()\n        self._connections.take()\n",
            ),
        ),
        f"{STDIO}::test_no_daemon_is_started_before_it_is_needed",
    ),
    Defect(
        "null-id-answered",
        "a message with an id of null or true counts as a request",
        "livedex_ipc/mcp/mcp_protocol.py",
        (
            (
                "    return isinstance(value, str | int) and not isinstance(value, bool)",
                "    return isinstance(value, str | int)",
            ),
        ),
        f"{PROTOCOL}::test_each_request_has_one_answer",
    ),
    Defect(
        "legacy-answer-in-the-modern-era",
        "an answer of the modern era does not say that it is complete",
        "livedex_ipc/mcp/mcp_protocol.py",
        (('"resultType": "complete", **result', "**result"),),
        f"{PROTOCOL}::test_a_modern_client_names_the_version_in_each_request",
    ),
    Defect(
        "id-inside-a-long-line",
        "a number inside a message that is too long is taken for its id",
        "livedex_ipc/mcp/mcp_protocol.py",
        ((' + _ID + rb"\\}\\s*\\Z")', ' + _ID + rb"\\}+\\s*\\Z")'),),
        "tests/ipc/mcp/test_mcp_stdio.py::test_a_line_too_long_is_refused_and_the_next_one_is_answered",
    ),
    Defect(
        "long-line-fatal",
        "what follows a line that is too long is read as part of it",
        "livedex_ipc/mcp/mcp_stdio.py",
        (
            (
                '        while line and not line.endswith(b"\\n"):\n',
                "        if False:\n",
            ),
        ),
        f"{STDIO}::test_a_line_too_long_is_refused_and_the_next_one_is_answered",
    ),
    Defect(
        "cancelled-task-goes-on",
        "a request whose task was cancelled goes on in the daemon",
        "livedex_ipc/async_client.py",
        (
            (
                "        if self._lost is None:\n            self._write(",
                "        if self._lost:\n            self._write(",
            ),
        ),
        f"{CLIENT}::test_a_cancelled_task_ends_its_request",
    ),
    Defect(
        "call-waits-for-a-dead-daemon",
        "a call of the asyncio client waits for ever when the daemon is killed",
        "livedex_ipc/async_client.py",
        (("            self._end_all(self._lost)\n", ""),),
        f"{CLIENT}::test_a_daemon_that_goes_away_ends_every_call",
    ),
    Defect(
        "call-waits-for-an-answer-without-id",
        "a call of the asyncio client that the daemon cannot read waits for ever, and no other call works any more",
        "livedex_ipc/async_client.py",
        (("            self._end_all(self._refusal)\n", "            self._lost = self._refusal\n"),),
        f"{CLIENT}::test_a_request_that_the_daemon_cannot_read_ends_and_the_connection_stays",
    ),
    Defect(
        "every-fault-a-lack-of-threads",
        "a fault of livedex as it connects is reported as a lack of threads, which raising a limit would mend",
        "livedex_ipc/async_client.py",
        (("        connecting.set_exception(error)", "        connecting.set_exception(Unavailable(str(error)))"),),
        f"{CLIENT}::test_an_error_of_connecting_is_no_lack_of_threads",
    ),
    Defect(
        "message-published-twice",
        "a message is published again when the daemon ends before it answers",
        "livedex_ipc/mcp/tool_call.py",
        (
            (
                '            once = self._tool.changes == "more" and "idempotency_key" not in params\n',
                "            once = False\n",
            ),
        ),
        f"{STDIO}::test_what_would_be_done_twice_is_not_tried_again",
    ),
    Defect(
        "link-to-a-client-without-links",
        "clients of the first versions of the protocol refuse each answer of a search",
        "livedex_ipc/mcp/mcp_protocol.py",
        (("        self._links = version != _WITHOUT_LINKS\n", ""),),
        f"{STDIO}::test_a_client_of_the_first_version_gets_text_alone",
    ),
    Defect(
        "rest-of-a-line-for-ever",
        "an agent asks for the rest of a long line and gets its beginning again, for ever",
        "livedex_ipc/mcp/answer_budget.py",
        (("    if isinstance(line, int) and isinstance(first, int) and line <= first:\n", "    if line is None:\n"),),
        f"{BUDGET}::test_the_rest_of_a_line_is_not_asked_for_again_and_again",
    ),
)
