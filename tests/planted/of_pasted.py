"""Defects of what a pasted word, command or quotation finds, and a name of which a part is remembered."""

from __future__ import annotations

from planted.defect import Defect

SIGNS = "tests/indexing/search/test_signs_of_a_word.py"
PIECES = "tests/indexing/search/test_pasted_pieces.py"

DEFECTS = (
    Defect(
        "alike-names-unread",
        "`crane_read_limit` finds files with these words, and not the definition of `read_crane_load_limit`",
        "livedex_indexing/rank/name_places.py",
        (("            rated = self._alike(name)", "            rated = {}"),),
        "tests/indexing/search/test_alike_names.py::test_a_name_finds_the_definition_with_all_its_parts",
    ),
    Defect(
        "alike-names-with-numbers",
        "`berth_serial_07` finds nothing, though there is a `test_serial_07_berth`",
        "livedex_indexing/query/query_compiler.py",
        (("index.names().alike(word)", "()"),),
        "tests/indexing/search/test_alike_names.py::test_a_name_finds_the_definition_with_all_its_parts",
    ),
    Defect(
        "label-as-name",
        "`winch_load:` finds the definition of `winch_load`, and not the text that was pasted",
        "livedex_indexing/rank/name_places.py",
        (("label = is_label(text)", "label = False"),),
        f"{SIGNS}::test_the_text_with_its_signs_comes_first",
    ),
    Defect(
        "label-in-any-case",
        "`TODO:` finds a `todo:` of a program",
        "livedex_indexing/query/typed_name.py",
        (("return lambda other: typed in other", "return lambda _other: True"),),
        f"{SIGNS}::test_the_text_with_its_signs_comes_first",
    ),
    Defect(
        "path-as-name",
        "`/dev/mapper/clone` finds a function `clone` beside a `mapper`, and not the text that was pasted",
        "livedex_indexing/query/typed_name.py",
        ((" or words[0].startswith(_ABSOLUTE)", ""),),
        f"{SIGNS}::test_the_text_with_its_signs_comes_first",
    ),
    Defect(
        "option-excludes",
        "`bake -m tray` excludes the files with the letter m, and so the command itself",
        "livedex_indexing/query/query_parser.py",
        (("any(map(_OPTION.fullmatch, items.excluded))", "False"),),
        "tests/indexing/query/test_query_parser.py::test_what_was_copied_excludes_nothing",
    ),
    Defect(
        "prompt-as-words",
        "`user@host:~$ bake` finds what has these words, and not the command",
        "livedex_indexing/query/shell_prompt.py",
        (("return text if found is None else", "return text or"),),
        f"{PIECES}::test_a_command_is_found_with_its_options_and_its_prompt",
    ),
    Defect(
        "left-out-words-required",
        "a quotation with `...` in it finds what has its words most often",
        "livedex_indexing/query/pasted_pieces.py",
        ((" or is_left_out", ""),),
        f"{PIECES}::test_a_quotation_with_something_left_out",
    ),
    Defect(
        "option-of-a-command-as-words",
        "`grill --no-fan` finds the shell's completions of grill, or the beginning of its manual page",
        "livedex_indexing/search/named_place.py",
        (("if not place.option:", "if place:"),),
        "tests/indexing/search/test_manual_options.py::test_an_option_of_a_command",
    ),
    Defect(
        "use-as-definition",
        "`` `mast` `` finds what uses a mast beside a `check_mast`, as if it was defined there",
        "livedex_indexing/rank/defined_names.py",
        (("value = value if is_sure else UNSURE * value", "value = value if is_sure else DEFINED"),),
        f"{SIGNS}::test_the_text_with_its_signs_comes_first",
    ),
    Defect(
        "printed-quotes",
        "a text that was copied from a page with its quotes and dashes is not the text of the source",
        "livedex_indexing/query/typed_name.py",
        (("text.translate(_PLAIN_SIGNS)", "text"),),
        "tests/indexing/query/test_typed_name.py::test_quotes_and_dashes_may_be_those_of_a_page",
    ),
    Defect(
        "plain-words-apart",
        "plain words in the order of a sentence find what has them most often, and not the sentence",
        "livedex_indexing/rank/name_places.py",
        (
            (
                "if not tokens or typed_text(text) is None:",
                "if not tokens or not may_be_pasted(text) or typed_text(text) is None:",
            ),
        ),
        "tests/indexing/search/test_rows_of_words.py::test_the_file_with_the_row_comes_first",
    ),
    Defect(
        "words-of-every-chunk",
        "where every chunk has each word, what has two of them side by side most often outranks the sentence",
        "livedex_indexing/rank/score.py",
        (("max(total, _OF_PAIRS * sum(self._pairs))", "total"),),
        "tests/indexing/search/test_rows_of_words.py::test_the_file_with_the_row_comes_first",
    ),
    Defect(
        "question-about-its-text",
        "a sentence with `module is used` finds the uses of `module`, and not the sentence",
        "livedex_indexing/rank/name_places.py",
        (("is_text = len(text.split()) > 1 and most >= VERBATIM", "is_text = False"),),
        "tests/indexing/search/test_rows_of_words.py::test_a_question_with_a_name_is_found_where_it_is_written",
    ),
    Defect(
        "names-among-words",
        "`open_tip` with its folder finds files with these words, and not its definition",
        "livedex_indexing/rank/name_places.py",
        ((" or self._definitions.among_words(text)", ""),),
        "tests/indexing/search/test_names_among_words.py::test_the_definition_comes_first",
    ),
    Defect(
        "member-of-a-type-in-words",
        "`paste method of Editor` finds another definition of `paste`",
        "livedex_indexing/rank/defined_names.py",
        (("for member in members_among(text):", "for member in ():"),),
        "tests/indexing/search/test_names_among_words.py::test_the_definition_comes_first",
    ),
    Defect(
        "line-of-a-name-among-words",
        "the hit points at the first line with its words, and not at the name",
        "livedex_indexing/query/typed_span.py",
        (("named = named or [*members_among(text), *names_among(text)]", "pass"),),
        "tests/indexing/search/test_names_among_words.py::test_the_definition_comes_first",
    ),
    Defect(
        "report-around-a-message",
        "a message with a time and a level before it finds files with these words, and not where it is raised",
        "livedex_indexing/rank/name_places.py",
        (("() if found else texts_inside(text)", "()"),),
        "tests/indexing/search/test_inner_texts.py::test_the_file_with_the_inner_text_comes_first",
    ),
    Defect(
        "report-with-other-values",
        "a report with a name in quotes finds the definition of that name, and not the template of the message",
        "livedex_indexing/query/pasted_pieces.py",
        ((" or bool(messages_inside(text))", ""), (" or _VALUE.search(text) is not None", "")),
        "tests/indexing/search/test_inner_texts.py::test_the_file_with_the_inner_text_comes_first",
    ),
    Defect(
        "words-of-a-name-in-any-order",
        "`read crane limit` finds files with these words, and not the definition of `read_crane_load_limit`",
        "livedex_indexing/rank/name_places.py",
        (("self._in_any_order(name) if name.is_words else self._pieces(name)", "self._pieces(name)"),),
        "tests/indexing/search/test_alike_names.py::test_words_of_a_name_find_it_in_any_order",
    ),
    Defect(
        "date-in-one-form",
        "`March 5 2024` finds files with these words, and not the file `2024-03-05.md`",
        "livedex_indexing/search/written_date.py",
        (("names = [form for day in date.days for form in day.of_names]", "names: list[str] = []"),),
        "tests/indexing/search/test_written_dates.py::test_a_file_that_is_named_after_it_comes_first",
    ),
    Defect(
        "date-over-its-text",
        "a date that a file has as it was typed is looked for in another form",
        "livedex_indexing/search/written_date.py",
        (("texts = [typed, *(", "texts = [*("),),
        "tests/indexing/search/test_written_dates.py::test_a_date_as_files_have_it_stays",
    ),
    Defect(
        "tag-as-word",
        "`tag winter-plan` finds files with these three words before the note with that tag",
        "livedex_indexing/search/pasted_line.py",
        (("request = _as_tag(reader, request)", "pass"),),
        "tests/indexing/search/test_tags.py::test_the_note_with_the_tag_comes_first",
    ),
    Defect(
        "joined-name-lost",
        "a name that is typed without its separators (`setokport`) finds nothing",
        "livedex_indexing/query/spell_repair.py",
        (('return "_".join(next(named, ()))', 'return ""'),),
        "tests/indexing/query/test_spelling.py::test_the_words_of_a_name_that_were_typed_as_one",
    ),
    Defect(
        "member-not-corrected",
        "a misspelt member (`Crane.read_limti`) leads to its type",
        "livedex_indexing/query/query_compiler.py",
        (("if alone and not (indexed or joined) and (", "if False and ("),),
        "tests/indexing/query/test_spelling.py::test_a_misspelt_member_is_the_definition_in_its_type",
    ),
    Defect(
        "ellipsis-kept",
        "a line that a program cut short is looked for with its ellipsis",
        "livedex_indexing/search/pasted_line.py",
        (("request = _without_ellipsis(reader, request, places)", "pass"),),
        "tests/indexing/search/test_pasted_pieces.py::test_a_line_that_was_cut_short_is_found",
    ),
)
