"""Defects of answers: stale text, foreign clients, unbounded or broken requests, texts that leak into errors."""

from __future__ import annotations

from planted.defect import Defect

SCOPE = "tests/indexing/search/test_search_scope.py"
HOSTILE = "tests/ipc/server/test_server_hostile.py"
FRAMING = "tests/ipc/test_framing.py"
BINDING = "tests/ipc/server/test_binding.py"

NAMES = "tests/indexing/search/test_names_as_typed.py"

DEFECTS = (
    Defect(
        "names-with-numbers-misspelt",
        "a misspelt name with a number in it finds nothing",
        "livedex_indexing/query/query_compiler.py",
        (("(has_serial or len(pieces) > 1)", "(not has_serial and len(pieces) > 1)"),),
        f"{NAMES}::test_a_misspelt_name_with_numbers",
    ),
    Defect(
        "method-behind-its-calls",
        "the definition of a method is no match for `Foo.bar`, which its calls have in a row",
        "livedex_indexing/query/query_compiler.py",
        (("return [whole, *_member(index, word, whole, repair)]", "return [whole]"),),
        f"{NAMES}::test_the_definition_of_a_method_comes_before_its_calls",
    ),
    Defect(
        "snippet-without-the-name",
        "the snippet of a definition shows the lines with most other forms of its name",
        "livedex_indexing/hits/hit_builder.py",
        ((", self._highlighter.named(text))", ")"),),
        f"{NAMES}::test_a_name_is_in_the_snippet",
    ),
    Defect(
        "beside-the-typed-line",
        "a hit for `tcp.c:123` points at another line of the chunk",
        "livedex_indexing/hits/hit_builder.py",
        (("        if chunk.start_line <= line <= chunk.end_line and", "        if False and"),),
        f"{NAMES}::test_a_line_of_a_file",
    ),
    Defect(
        "short-title-finds-nothing",
        "a short text with a quoted part that no file has finds nothing, though files have its words",
        "livedex_indexing/query/query_parser.py",
        (("    return _SHORT_TEXT if items.excluded else _QUOTING", "    return _TEXT"),),
        f"{NAMES}::test_a_text_that_finds_nothing_is_read_plainly",
    ),
    Defect(
        "pasted-line-among-the-likely-only",
        "a pasted line of common words is looked for in the likeliest chunks alone",
        "livedex_indexing/rank/results.py",
        (("self._pasted = [] if found.late else self._with_text(proposed)", "self._pasted = []"),),
        f"{NAMES}::test_a_pasted_line_of_common_words_is_found",
    ),
    Defect(
        "line-worth-a-part-of-one",
        "a text that is a whole line is worth no more than a part of a line",
        "livedex_indexing/rank/name_places.py",
        (("LINE if is_line(more[i]) else VERBATIM", "VERBATIM"),),
        f"{NAMES}::test_a_whole_line_comes_before_a_part_of_one",
    ),
    Defect(
        "prose-beside-code",
        "documents are ranked like code where code answers",
        "livedex_indexing/rank/results.py",
        (("self._demote_prose and code_answers(ranked)", "False"),),
        f"{NAMES}::test_documents_come_after_code_where_code_answers",
    ),
    Defect(
        "titles-behind-code",
        "a document whose heading was typed is ranked after code",
        "livedex_indexing/rank/score.py",
        ((" or any(file.sums[part] for part in _MEANT)", ""),),
        "tests/indexing/rank/test_score.py::test_prose_comes_later_unless_it_is_meant",
    ),
    Defect(
        "words-of-one-chunk-only",
        "words that several chunks of a file have together count for nothing",
        "livedex_indexing/rank/score.py",
        (("covered = self._cover * math.fsum(", "covered = 0.0 * math.fsum("),),
        "tests/indexing/rank/test_score.py::test_words_of_several_chunks_count_together",
    ),
    Defect(
        "lines-name-no-definition",
        "code in a language without a grammar has no symbols",
        "livedex_indexing/chunk/components.py",
        (
            (
                "        if found:\n            data = text.encode()",
                "        if not found:\n            data = text.encode()",
            ),
        ),
        "tests/indexing/chunk/test_line_definitions.py::test_a_chunk_has_the_symbol_and_the_names_of_its_lines",
    ),
    Defect(
        "total-of-chunks-that-other-words-shut-out",
        "the total counts chunks of files that a phrase shuts out",
        "livedex_indexing/rank/facets.py",
        (("            contents &= passing\n", ""),),
        "tests/indexing/rank/test_facets.py::test_the_total_is_what_all_pages_have",
    ),
    Defect(
        "definition-not-lifted",
        "the definition of a typed name is worth no more than a use of it",
        "livedex_indexing/rank/name_places.py",
        (("value = AS_WORDS if name.is_words or is_other else DEFINED", "value = 0.0"),),
        f"{NAMES}::test_a_definition_comes_before_its_uses_and_tests",
    ),
    Defect(
        "no-score-past-the-ranked-ones",
        "hits past those examined first come in the order of their ids",
        "livedex_indexing/rank/results.py",
        (
            (
                "rank_files(self._features(chunks, None), chunks, copies",
                "rank_files(self._features({}, None), chunks, copies",
            ),
        ),
        "tests/indexing/search/test_search_order.py::test_past_the_ranked_ones_the_same_score_decides",
    ),
    Defect(
        "words-of-a-heading-in-any-order",
        "a heading with the words in another order counts as the title that was typed",
        "livedex_indexing/rank/features.py",
        (("return all(_adjoining(places[left], places[right], length)", "return all(places[left] and places[right]"),),
        "tests/indexing/rank/test_features.py::test_a_heading_with_all_words_in_a_row_is_a_title",
    ),
    Defect(
        "forms-of-words-count-as-every-word",
        "a chunk with other forms of the words counts as one with every word as typed",
        "livedex_indexing/rank/score.py",
        (
            (
                "                if text and (contents",
                "                every += idf\n                if text and (contents",
            ),
        ),
        "tests/indexing/rank/test_score.py::test_every_word_in_one_chunk_is_worth_a_part",
    ),
    Defect(
        "lines-as-typed-missing",
        "a query whose words find nothing finds nothing, though a line has its text",
        "livedex_indexing/search/word_search.py",
        (("if not firsts:\n            return True", "if not firsts:\n            return False"),),
        "tests/indexing/search/test_typed_lines.py::test_what_a_line_has_is_found",
    ),
    Defect(
        "lines-hide-what-words-found",
        "lines replace the hits for words that have the same text",
        "livedex_indexing/search/typed_lines.py",
        (("if chunk_id in (chunks or ()):", "if chunk_id in ():"),),
        "tests/indexing/search/test_typed_lines.py::test_words_answer_where_they_find_what_was_typed",
    ),
    Defect(
        "correction-hides-lines",
        "a misspelt word is corrected although lines have it as typed",
        "livedex_indexing/search/word_search.py",
        (("return not (is_word and", "return not (tokens and"),),
        "tests/indexing/search/test_typed_lines.py::test_any_piece_of_a_line_is_found",
    ),
    Defect(
        "corrected-name-hides-lines",
        "the definition of a corrected name hides the lines that have the name as typed",
        "livedex_indexing/search/word_search.py",
        (("(has_typed and not compiled.respelt)", "has_typed"),),
        "tests/indexing/search/test_typed_lines.py::test_the_definition_of_a_corrected_name_hides_no_line",
    ),
    Defect(
        "case-of-a-name-ignored",
        "the definition of a name is taken for that of the same name in another case",
        "livedex_indexing/query/typed_name.py",
        (("if self.any_case:", "if self.name:"),),
        f"{NAMES}::test_the_case_of_a_name_counts",
    ),
    Defect(
        "typed-line-ignored",
        "FILE:LINE leads to the file, but not to the line",
        "livedex_indexing/rank/results.py",
        (("named |= dict.fromkeys(at_line, DEFINED)", "named |= {}"),),
        f"{NAMES}::test_a_line_of_a_file",
    ),
    Defect(
        "title-not-lifted",
        "a title of two words as typed comes after code that has these words",
        "livedex_indexing/rank/name_places.py",
        (("return {chunk_id: LINE for", "return {chunk_id: 0.0 for"),),
        f"{NAMES}::test_a_title_as_typed_comes_before_code_with_its_words",
    ),
    Defect(
        "closeness-not-counted",
        "a page that has all remembered words somewhere comes before the paragraph that has them",
        "livedex_indexing/rank/score.py",
        (("close = every * max(", "close = 0.0 * max("),),
        "tests/indexing/search/test_search_order.py::test_words_of_one_paragraph_come_before_words_of_a_page",
    ),
    Defect(
        "plain-reading-missing",
        "a long query whose dashes and quotes find nothing is not read as plain text",
        "livedex_indexing/search/word_search.py",
        (("and other.may_be_text and", "and not other and"),),
        f"{NAMES}::test_a_text_that_finds_nothing_is_read_plainly",
    ),
    Defect(
        "short-query-read-plainly",
        "a short query with an excluded word or a phrase that finds nothing finds what it excludes",
        "livedex_indexing/query/query_parser.py",
        (("_TEXT: Final = 6", "_TEXT: Final = 1"),),
        f"{NAMES}::test_a_text_that_finds_nothing_is_read_plainly",
    ),
    Defect(
        "copy-read-first-named",
        "a hit names the copy that an earlier step happened to read",
        "livedex_indexing/hits/live_files.py",
        (("kept[0].file_id != copies[0].file_id", "not kept"),),
        f"{NAMES}::test_a_hit_names_the_shortest_copy_whichever_was_read_first",
    ),
    Defect(
        "common-words-not-scored",
        "a row with a rare word is worth as much with the common ones of the query as without",
        "livedex_indexing/rank/postings.py",
        (("scores = top(match_any(rare)) | both", "scores = both | top(match_any(rare))"),),
        "tests/indexing/rank/test_postings.py::test_the_best_rows_with_a_rare_word_come_with_the_score_of_all_words",
    ),
    Defect(
        "hit-not-checked",
        "a hit is cut from its file without looking whether that has changed",
        "livedex_indexing/hits/live_files.py",
        (
            (
                "data = tree.read_if_unchanged(root, copy.path, copy.state)",
                "data = tree.read_file(root, copy.path, 1 << 40).data",
            ),
        ),
        f"{SCOPE}::test_a_changed_file_is_left_out_and_named",
    ),
    Defect(
        "settled-flag-ignored",
        "a file that may have changed without showing it is served without hashing it",
        "livedex_indexing/hits/live_files.py",
        (("if data is not None and copy.settled:", "if data is not None:"),),
        f"{SCOPE}::test_what_is_not_settled_is_hashed_before_it_is_served",
    ),
    Defect(
        "missing-root-served",
        "the files of a root that is not there are found",
        "livedex_indexing/query/filters.py",
        (("if missing_since is None and root_id in roots]", "if root_id in roots]"),),
        f"{SCOPE}::test_a_missing_root_is_not_served",
    ),
    Defect(
        "query-taken-for-syntax",
        "words of a query reach FTS5 without their quotes",
        "livedex_indexing/query/query_compiler.py",
        (('match = f\'"{" ".join(tokens)}"{" *" if prefix else ""}\'', "match = word"),),
        "tests/properties/test_search.py::test_no_query_fails",
    ),
    Defect(
        "stranger-heard",
        "another user who can reach the socket is answered",
        "livedex_ipc/server/connection.py",
        (("        if uid not in (self._server.uid, 0) or self._server.closing:", "        if self._server.closing:"),),
        f"{HOSTILE}::test_another_user_is_not_answered",
    ),
    Defect(
        "strange-daemon-believed",
        "a client talks to any process that answers on the socket",
        "livedex_ipc/client.py",
        (("    if owner not in (os.geteuid(), 0):", "    if False:"),),
        "tests/ipc/test_client.py::test_a_stranger_at_the_other_end_is_sent_nothing",
    ),
    Defect(
        "socket-open-to-all",
        "every user of the machine may connect",
        "livedex_ipc/server/binding.py",
        (("os.chmod(path, 0o600)", "os.chmod(path, 0o666)"),),
        f"{BINDING}::test_the_socket_and_its_folders_are_private",
    ),
    Defect(
        "what-is-in-the-way-removed",
        "a file at the path of the socket is removed",
        "livedex_ipc/server/binding.py",
        (("    if not stat.S_ISSOCK(info.st_mode):\n        raise", "    if False:\n        raise"),),
        f"{BINDING}::test_what_is_no_socket_is_refused_and_stays",
    ),
    Defect(
        "cap-off",
        "a request without an end is held without an end",
        "livedex_ipc/framing.py",
        (("        if (end if end >= 0 else len(self._buffer)) > limit:", "        if False:"),),
        f"{FRAMING}::test_what_is_no_frame_is_refused_for_its_reason",
    ),
    Defect(
        "nan-taken",
        "NaN and Infinity count as numbers",
        "livedex_ipc/framing.py",
        (("parse_constant=_constant,", "parse_constant=float,"),),
        f"{FRAMING}::test_what_is_no_strict_json_is_a_parse_error",
    ),
    Defect(
        "key-twice-taken",
        "if a key is twice in a request, the last one counts",
        "livedex_ipc/framing.py",
        (("    if len(members) != len(pairs):", "    if False:"),),
        f"{FRAMING}::test_what_is_no_strict_json_is_a_parse_error",
    ),
    Defect(
        "half-a-character-taken",
        "half of a surrogate pair passes the check of params and fails somewhere inside",
        "livedex_ipc/params.py",
        (("        value.encode()\n    except", "        value.encode('utf-8', 'surrogatepass')\n    except"),),
        "tests/ipc/test_params.py::test_what_is_wrong_is_named",
    ),
    Defect(
        "text-in-an-error",
        "the message of an exception, which may quote a file, is sent to the client",
        "livedex_ipc/server/requests.py",
        (('{"exception": type(error).__name__}', '{"exception": str(error)}'),),
        "tests/ipc/server/test_server_requests.py::test_errors_of_handlers_keep_their_code_and_internal_ones_quote_no_text",
    ),
    Defect(
        "text-in-a-reason",
        "the message of a fault in the chunk process, which may quote the file, becomes the file's reason",
        "livedex_indexing/chunk/error_place.py",
        (("return type(error).__name__ + where", "return str(error) + where"),),
        "tests/indexing/chunk/test_chunk_process.py::test_a_failure_is_an_answer_without_text",
    ),
    Defect(
        "old-meaning-called-fresh",
        "a fresh search takes what a misspelt word meant a moment ago",
        "livedex_indexing/query/word_counts.py",
        (("if not fresh and (known.taken", "if (known.taken"),),
        "tests/indexing/query/test_spelling.py::test_only_a_search_that_does_not_wait_takes_what_a_word_meant_a_moment_ago",
    ),
    Defect(
        "child-outlives-its-parent",
        "the chunk process goes on when the daemon was killed",
        "livedex_indexing/child/child_pipes.py",
        (
            (
                "if count == 0:\n                return None\n",
                "if count == 0:\n                import time\n                time.sleep(600)\n",
            ),
        ),
        "tests/indexing/chunk/test_chunk_process.py::test_it_ends_with_its_parent",
        (
            (
                "livedex_indexing/child/parent_process.py",
                "prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)",
                "prctl(_PR_SET_PDEATHSIG, 0)",
            ),
        ),
    ),
    Defect(
        "result-type-lacks-field",
        "the type of a result lacks a field that its method answers",
        "livedex_ipc/wire_results.py",
        (("    waited_ms: float\n", ""),),
        "tests/ipc/test_wire_types.py::test_a_result_has_the_fields_of_its_method[sync]",
    ),
    Defect(
        "handler-of-another-type",
        "a handler's params have the type of another method, so that nothing checks how it reads them",
        "livedex_daemon/answer/handlers.py",
        (("call: Call, params: AuditParams)", "call: Call, params: IndexRunParams)"),),
        "tests/daemon/answer/test_handler_types.py::test_a_handler_has_the_types_of_its_method[index/audit]",
    ),
)
