"""Defects of what a question finds: names, options, words that are far apart or have other endings."""

from __future__ import annotations

from planted.defect import Defect

NAMES = "tests/indexing/search/test_names_as_typed.py"
ASKED = "tests/indexing/search/test_asked_names.py::test_what_is_asked_for_comes_first"
MESSAGES = "tests/indexing/search/test_names_in_messages.py::test_what_a_message_or_a_line_is_about_comes_first"
LINES = "tests/indexing/search/test_asked_lines.py"
PASSAGES = "tests/indexing/search/test_passages.py"

DEFECTS = (
    Defect(
        "words-of-a-name-alone",
        "a file whose text has none of the words is worth less for its name than one that has any of them",
        "livedex_indexing/rank/score.py",
        (("self._weights[0] * _bm25(in_name, self._idfs, K1)", "0.0"),),
        "tests/indexing/rank/test_score.py::test_a_word_of_the_name_counts_where_the_text_has_no_word",
    ),
    Defect(
        "question-for-a-name",
        "`where is runTask defined` finds what mentions the name",
        "livedex_indexing/rank/name_places.py",
        (
            ("if not rated and inside is not None:", "if False:"),
            ("declared = {} if word is None else", "declared = {} if True else"),
        ),
        ASKED,
    ),
    Defect(
        "name-in-a-message",
        "a compiler's message finds texts with its words, and not the name that it quotes",
        "livedex_indexing/rank/name_places.py",
        (("rated = self._in_message(text)", "pass"),),
        MESSAGES,
    ),
    Defect(
        "message-itself-after-its-value",
        "a message with a plain word in quotes finds what is called so, and not the line that says it",
        "livedex_indexing/rank/name_places.py",
        (("is_doubtful(text) and has_message(", "False and has_message("),),
        MESSAGES,
    ),
    Defect(
        "pasted-line-after-its-name",
        "a pasted line of code finds the definition of what it calls, and not the line",
        "livedex_indexing/rank/name_places.py",
        (("(names and max(rated.values()) >= VERBATIM)", "False"),),
        MESSAGES,
    ),
    Defect(
        "definition-of-a-phrase-dropped",
        "a message with a name in double quotes shows another part of the file that defines it",
        "livedex_indexing/rank/whole_query.py",
        (("i in rows or content_of.get(i) in files", "i in rows"),),
        "tests/indexing/search/test_names_in_messages.py::"
        "test_the_definition_of_a_phrase_is_the_hit_in_a_file_with_the_words",
    ),
    Defect(
        "definition-lowered-to-its-text",
        "`run(` finds what has most calls, since the definition counts as a text with the same signs",
        "livedex_indexing/rank/name_places.py",
        (("max(value, named.get(chunk_id, 0.0))", "value"),),
        "tests/indexing/search/test_names_in_messages.py::test_a_definition_comes_before_equal_texts",
    ),
    Defect(
        "name-in-another-convention",
        "`parseHeader` finds texts about headers, and not `parse_header`",
        "livedex_indexing/rank/name_places.py",
        (("if not rated and words is not None:", "if False:"),),
        ASKED,
    ),
    Defect(
        "numbers-in-another-convention",
        "`ext4XattrUserSet` finds nothing, though there is an `ext4_xattr_user_set`",
        "livedex_indexing/query/query_compiler.py",
        (("[] if indexed else _converted(index, word)", "[]"),),
        ASKED,
    ),
    Defect(
        "typed-number-of-any-file",
        "the number of a place is taken for a line of every hit that has the text",
        "livedex_indexing/hits/hit_builder.py",
        (("all(placed.parts[part] for part in _OF_PLACE)", "placed.parts[_OF_PLACE[0]]"),),
        f"{NAMES}::test_a_line_of_a_file_among_other_words",
    ),
    Defect(
        "folders-of-a-place-ignored",
        "of several files with the typed name, another than the one in the typed folder comes first",
        "livedex_indexing/search/named_place.py",
        (("for value, content_id in called if value == best and", "for value, content_id in called if value and"),),
        f"{NAMES}::test_the_folders_of_a_place_count",
    ),
    Defect(
        "heading-of-a-link-ignored",
        "a link to a heading finds whatever section of its file has most of the words",
        "livedex_indexing/search/named_place.py",
        (("return _at_heading(reader, best) if best.heading else best", "return best"),),
        f"{NAMES}::test_a_link_to_a_heading",
    ),
    Defect(
        "joined-name-finds-nothing",
        "`self.ext4_link` finds nothing, though there is an `ext4_link`",
        "livedex_indexing/query/query_compiler.py",
        (("[] if indexed or joined else in_index(", "[] if indexed or word else in_index("),),
        f"{NAMES}::test_a_name_that_a_word_joins_is_found",
    ),
    Defect(
        "mentioned-path-ignored",
        "a path among other words is no more than its words",
        "livedex_indexing/rank/name_match.py",
        (("return _MENTIONED if called == 1", "return 0.0 if called == 1"),),
        f"{NAMES}::test_a_path_among_other_words",
    ),
    Defect(
        "mentioned-path-before-its-line",
        "a pasted line with the path of a file finds that file, and not the one that has the line",
        "livedex_indexing/rank/name_match.py",
        (("called == 1 and not has_text", "called == 1"), ("_MENTIONED: Final = 0.4", "_MENTIONED: Final = 0.8")),
        f"{NAMES}::test_a_path_among_other_words",
    ),
    Defect(
        "owner-of-no-name-lost",
        "`Crane.hoistings`, which nothing has, finds what says crane most often",
        "livedex_indexing/rank/name_places.py",
        (("if not rated and name.owner:", "if False:"),),
        f"{NAMES}::test_the_owner_of_a_name_that_nothing_has_is_found",
    ),
    Defect(
        "option-without-its-dashes",
        "`--quiet` finds what says quiet most often",
        "livedex_indexing/query/typed_name.py",
        (("    return _signed_word(text.strip())", "    return None"),),
        ASKED,
    ),
    Defect(
        "other-forms-never-together",
        "words with other endings find what has one of them as typed, not what has all of them",
        "livedex_indexing/rank/whole_query.py",
        (("return bool(known) and not", "return False and not"),),
        ASKED,
    ),
    Defect(
        "words-spread-over-a-file",
        "`anchor mast toml` finds a chunk with two of the words, not the file that has them all",
        "livedex_indexing/rank/score.py",
        (("covered += _SPREAD *", "covered += 0 *"),),
        ASKED,
    ),
    Defect(
        "suffix-as-a-rare-word",
        "`py` counts as a rare word where nearly all names end in it",
        "livedex_indexing/query/word_counts.py",
        (("if files > self.paths * _COMMON_IN_NAMES else 0", "if False else 0"),),
        ASKED,
    ),
    Defect(
        "words-of-removed-files",
        "a word that only removed files have counts as one of the index, and what was meant is not found",
        "livedex_indexing/query/word_counts.py",
        (("if rows and not self._is_alive(reader, match, rows):", "if False:"),),
        "tests/indexing/search/test_search_scope.py::test_a_word_of_removed_files_alone_counts_as_missing",
    ),
    Defect(
        "files-without-the-words",
        "a file that only defines a part of the typed name is a hit that no count includes",
        "livedex_indexing/rank/results.py",
        (
            (
                "matching = {content_of[chunk_id] for chunk_id in (*features.rows, *features.typed)}",
                "matching = {*content_of.values()}",
            ),
        ),
        "tests/indexing/search/test_names_as_typed.py::test_only_files_with_the_words_are_hits",
    ),
    Defect(
        "tables-of-an-undone-search",
        "a search uses the filter of another scope after SQLite has undone a search that was ended",
        "livedex_indexing/store/read_pool.py",
        (("                self.scratch.clear()", "                pass"),),
        "tests/indexing/search/test_ended_searches.py::test_what_an_ended_search_leaves_behind",
    ),
    Defect(
        "ended-while-tables-are-emptied",
        "a search that is ended while it empties its tables fails with an internal error",
        "livedex_indexing/rank/phrase_filter.py",
        (("    reader.rows(_TABLES)", "    reader.db.execute(_TABLES)"),),
        "tests/indexing/search/test_ended_searches.py::test_what_an_ended_search_leaves_behind",
    ),
    Defect(
        "cancelled-search-goes-on",
        "a search that a newer one has superseded runs all its short statements, and the newer one waits",
        "livedex_indexing/store/read_pool.py",
        (("        if self._cancelled():  # SQLite does", "        if False:  # SQLite does"),),
        "tests/indexing/store/test_read_pool.py::test_a_cancelled_search_runs_no_further_statement_however_short",
    ),
    Defect(
        "rare-word-next-to-a-beginning",
        "while a word is being typed, what has only another rare word of the query is not found",
        "livedex_indexing/rank/postings.py",
        (("return all(term.tokens in begun", "return any(term.tokens in begun"),),
        "tests/indexing/rank/test_postings.py::test_another_rare_word_than_the_one_begun_is_looked_for_alone",
    ),
    Defect(
        "changed-end-of-a-stem",
        "`sizing` is not marked in a hit of `size`",
        "livedex_indexing/text/tokens.py",
        (('stem[-1] in "eil"', "False"),),
        "tests/indexing/text/test_tokens.py::test_a_word_begins_as_each_beginning_of_its_stem",
    ),
    Defect(
        "paragraph-not-read",
        "words that are near each other in two paragraphs come before the paragraph that has them",
        "livedex_indexing/rank/passages.py",
        (("if _has_passage(text, words)}", "if not text}"),),
        f"{PASSAGES}::test_a_paragraph_comes_before_nearer_words_of_two",
    ),
    Defect(
        "together-not-proposed",
        "a chunk with all remembered words is not found behind many with some of them",
        "livedex_indexing/rank/passages.py",
        (("return found if len(found) <= LIST_ROWS else []", "return []"),),
        f"{PASSAGES}::test_the_chunk_with_all_words_is_found_behind_many_with_some",
    ),
    Defect(
        "declaring-line-ignored",
        "`$width`, which no grammar defines, finds what uses it most",
        "livedex_indexing/rank/name_places.py",
        (("declared = {} if word is None else", "declared = {} if True else"),),
        f"{LINES}::test_the_line_that_declares_a_name_is_found",
    ),
    Defect(
        "uses-behind-the-definition",
        "`what calls run_task` finds the definition, which calls nothing",
        "livedex_indexing/rank/name_places.py",
        (("        if uses:", "        if False:"),),
        f"{LINES}::test_who_asks_for_uses_gets_them",
    ),
    Defect(
        "heading-among-words",
        "`the chapter on browning control` finds pages about chapters",
        "livedex_indexing/rank/heading_places.py",
        (("having[chunk_id] = content_id", "pass"),),
        f"{LINES}::test_a_heading_among_words_that_ask_for_it",
    ),
    Defect(
        "quoted-words-do-not-rank",
        '`see "Browning control"` ranks by `see` alone',
        "livedex_indexing/search/word_search.py",
        (("self._query = with_quoted_words(self._query)", "pass"),),
        f"{LINES}::test_a_heading_among_words_that_ask_for_it",
    ),
    Defect(
        "manual-page-by-its-words",
        "`toast(1)` finds the first line of a file `toast`",
        "livedex_indexing/query/typed_link.py",
        (("if manual is not None:", "if False:"),),
        f"{LINES}::test_a_manual_page_is_a_file",
    ),
    Defect(
        "line-with-more-in-front",
        "a line of `git blame` finds what has the name of the author most often",
        "livedex_indexing/rank/name_places.py",
        (("likely = chunks_with_run(rows)[:_BEST] if may_be_pasted(text) else []", "likely: list[int] = []"),),
        f"{LINES}::test_a_line_with_more_in_front_of_it_is_found",
    ),
)
