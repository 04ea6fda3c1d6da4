"""Defects of what a question about program code finds: messages about names, names typed otherwise, lines."""

from __future__ import annotations

from planted.defect import Defect

MESSAGES = "tests/indexing/search/test_names_in_messages.py::test_what_a_message_or_a_line_is_about_comes_first"
CHANGED = "tests/indexing/search/test_names_in_messages.py::test_a_pasted_line_with_a_change_finds_the_line"
PACKAGES = "tests/system/test_names_of_packages.py"
OPENED = "tests/system/test_keyword_and_name.py"
SUFFIX = "tests/indexing/search/test_other_suffix.py"
BEGUN = "tests/indexing/search/test_near_names.py"
NEAR = "tests/indexing/search/test_near_names.py::test_a_name_that_is_nowhere_finds_the_nearest"
MEMBER = "tests/indexing/search/test_members_of_types.py::test_the_line_that_declares_a_member_comes_first"
PATTERN = "tests/indexing/search/test_typed_patterns.py"
AMONG = "tests/indexing/search/test_names_among_words.py::test_the_definition_comes_first"
VALUES = "tests/indexing/search/test_messages_with_values.py"

DEFECTS = (
    Defect(
        "value-in-quotes",
        'of `too many crates: "heron"` only files with `heron` are found, and not the line of the message',
        "livedex_indexing/search/pasted_line.py",
        ((" or _is_message(reader, typed, query.phrases)", ""),),
        f"{VALUES}::test_a_message_with_other_values_finds_its_line",
    ),
    Defect(
        "quotes-beside-a-sign",
        '`berth = "heron", want "lamp"` requires both values',
        "livedex_indexing/query/query_parser.py",
        (("if items.phrases and len(items.words) >= _SHORT_TEXT and", "if False and"),),
        f"{VALUES}::test_a_message_with_other_values_finds_its_line",
    ),
    Defect(
        "quotes-taken-for-a-message",
        '`crates of the "heron"` finds files without `heron`',
        "livedex_indexing/search/pasted_line.py",
        (('if reader.has_chunk(f"body : {row}"):', "if True:"),),
        f"{VALUES}::test_a_quoted_word_is_required_where_no_message_is_around_it",
    ),
    Defect(
        "value-at-the-end-of-a-message",
        "a message that ends with a value finds texts with that",
        "livedex_indexing/query/inner_text.py",
        (("is_cut = _LEAST_CUT <= len(words) <= _MOST_CUT", "is_cut = False"),),
        f"{VALUES}::test_a_message_with_other_values_finds_its_line",
    ),
    Defect(
        "variable-of-the-environment",
        "`process.env.PORT` finds texts about processes, and not the line that reads the variable",
        "livedex_indexing/search/pasted_line.py",
        (("variable_read(request.query) or ", ""),),
        f"{VALUES}::test_a_variable_of_the_environment_is_searched_for_alone",
    ),
    Defect(
        "regular-expression",
        "`\\brun\\b` finds texts with `b`, and not the definition of `run`",
        "livedex_indexing/search/pasted_line.py",
        (("if not reader.tokens(text) or is_pasted", "if True or is_pasted"),),
        f"{PATTERN}::test_a_regular_expression_finds_what_it_looks_for",
    ),
    Defect(
        "regular-expression-in-a-file",
        "a regular expression that a file has finds what it looks for, and not that file",
        "livedex_indexing/search/pasted_line.py",
        (
            (
                "not reader.tokens(text) or is_pasted(request.query.strip().strip('\"'))",
                "not reader.tokens(text)",
            ),
        ),
        f"{PATTERN}::test_a_file_with_the_regular_expression_comes_first",
    ),
    Defect(
        "script-to-run",
        "`npm run lint` finds texts about npm, and not the line of the script",
        "livedex_indexing/query/typed_word.py",
        (("if script is not None:", "if False:"),),
        f"{PATTERN}::test_a_script_to_run_finds_its_line",
    ),
    Defect(
        "member-of-an-enumeration",
        "`Sail.AZURE` finds where it is used, and not the enumeration with its line",
        "livedex_indexing/query/query_terms.py",
        (("if owner is not None and owner.rows", "if False and owner.rows"),),
        f"{MEMBER}[Sail.AZURE-AZURE = 1]",
    ),
    Defect(
        "field-of-a-type",
        "`hull_part->rivets` finds what uses the field, and not the type with it",
        "livedex_indexing/rank/defined_names.py",
        (("if _is_of(name, symbols[i], read[i])]", "if False]"),),
        f"{MEMBER}[hull_part->rivets-rivets;]",
    ),
    Defect(
        "signs-in-a-name",
        '`os.environ["SAIL_NEW_SIZE"]` ends in an error of the database',
        "livedex_indexing/rank/alike_names.py",
        (("if _TYPED.fullmatch(typed) else []", "if typed.isascii() else []"),),
        "tests/indexing/search/test_members_of_types.py::test_a_name_in_quotes_and_brackets_is_no_error",
    ),
    Defect(
        "name-in-lower-case",
        "`toolbar` finds what has the word most often, and not `class Toolbar`",
        "livedex_indexing/rank/defined_names.py",
        (("return self.firsts_most(dict.fromkeys(named, IN_ANY_CASE), name) if named else rated", "return rated"),),
        AMONG,
    ),
    Defect(
        "member-as-words",
        "`tips close` finds texts with both words, and not the `close` of `tips.py`",
        "livedex_indexing/rank/name_places.py",
        (("rated = self._definitions.of_member_in_words(text)\n", "rated = {}\n"),),
        AMONG,
    ),
    Defect(
        "file-name-as-words",
        "`package json` finds texts with both words, and not `package.json`",
        "livedex_indexing/rank/called_files.py",
        (("SPELT: Final = 0.5", "SPELT: Final = 0.0"),),
        "tests/indexing/search/test_files_as_words.py::test_the_file_comes_first",
    ),
    Defect(
        "joined-file-name-among-words",
        "`Kernel driver i2c-tiny` leads to other drivers, and not to `i2c-tiny.rst`",
        "livedex_indexing/rank/called_files.py",
        (("AMONG_WORDS: Final = 0.3", "AMONG_WORDS: Final = 0.0"),),
        "tests/indexing/search/test_files_as_words.py::test_a_file_comes_first_whose_joined_name_is_among_words",
    ),
    Defect(
        "file-before-the-definition-among-words",
        "`struct crane_ops {` leads to `crane_ops.rst`, if the definition is one of many texts with the words",
        "livedex_indexing/rank/called_files.py",
        (("self._joined and not is_defined and", "self._joined and"),),
        "tests/indexing/rank/test_called_files.py::test_a_file_called_like_a_joined_word_comes_behind_the_definition",
    ),
    Defect(
        "use-of-a-type-for-its-definition",
        "`struct walk` leads to a file that uses the type, and not to its definition",
        "livedex_indexing/rank/name_places.py",
        (("self._opened = self._definitions.opened_by(text)", "self._opened = ()"),),
        f"{OPENED}::test_the_definition_comes_first",
    ),
    Defect(
        "line-of-a-use-in-the-definition",
        "`struct walk` points at the comment above the definition",
        "livedex_indexing/query/typed_span.py",
        (("        if opened is not None:\n            return opened\n", ""),),
        f"{OPENED}::test_the_definition_comes_first",
    ),
    Defect(
        "name-below-its-module",
        "`lamp::net::TcpStream` leads to its uses, since the definition is in a folder below `net`",
        "livedex_indexing/rank/defined_names.py",
        (("            elif _is_below(package, module, folder, name):\n                near[first, last] = 2\n", ""),),
        f"{PACKAGES}::test_the_definition_comes_first",
    ),
    Defect(
        "member-for-a-name-of-a-module",
        "`lamp::sleep` leads to a method of some type below the module",
        "livedex_indexing/rank/defined_names.py",
        (('if not (symbol or "").endswith(member)]', "if symbol]"),),
        f"{PACKAGES}::test_the_definition_comes_first",
    ),
    Defect(
        "name-of-the-root-package",
        "`lamp.RegisterModule` leads to its uses, since no folder is called `lamp`",
        "livedex_indexing/rank/defined_names.py",
        (("is_own = not is_other or _may_be_exported(name, symbols.values())", "is_own = not is_other"),),
        f"{PACKAGES}::test_the_definition_comes_first",
    ),
    Defect(
        "line-of-the-type-for-its-member",
        "`editor paste` points at the line of the class, and not at the method",
        "livedex_indexing/query/typed_span.py",
        (("return max(defined, default=None)", "return None"),),
        AMONG,
    ),
    Defect(
        "pasted-line-with-a-change",
        "a pasted line of which one name is another now finds the definition of what it calls",
        "livedex_indexing/rank/piece_places.py",
        ((" or _having_line(texts, text, rows)", ""),),
        CHANGED,
    ),
    Defect(
        "three-words-of-a-sentence",
        "a sentence finds the line that has three common words of it, and not what has the rare ones",
        "livedex_indexing/rank/piece_places.py",
        (("_OF_SENTENCE if _is_of_plain_words(text) else LEAST", "LEAST"),),
        "tests/indexing/search/test_names_in_messages.py::test_a_line_with_three_common_words_of_a_sentence_is_not_the_line",
    ),
    Defect(
        "name-with-a-wrong-part",
        "`read_file_limit` finds nothing of `read_load_limit`, since no name has all of its parts",
        "livedex_indexing/rank/near_names.py",
        (("_with_most_parts(view, typed) or ", ""),),
        NEAR,
    ),
    Defect(
        "shortened-name",
        "`ctx_mgr` and `ctxmana` find nothing, though there is a `context_manager`",
        "livedex_indexing/rank/near_names.py",
        ((" or _shortened(view.reader, typed)", ""),),
        NEAR,
    ),
    Defect(
        "other-suffix",
        "`tcp.h` finds texts with `tcp`, though there is a `tcp.c` and nothing else is called so",
        "livedex_indexing/search/pasted_line.py",
        (("with_other_suffix(reader, request, is_pasted)", "request"),),
        f"{SUFFIX}::test_the_file_comes_first",
    ),
    Defect(
        "shortened-path",
        "`base_ev` finds nothing, though there is a `base_events.py`",
        "livedex_indexing/search/pasted_line.py",
        (("with_whole_path(reader, request, is_name)", "request"),),
        "tests/indexing/search/test_shortened_file.py::test_the_file_comes_first",
    ),
    Defect(
        "path-over-a-name",
        "a word that shortens a defined name finds a file whose name it shortens, too",
        "livedex_indexing/search/shortened_file.py",
        ((" or (not typed.folders and not typed.suffix and is_name(text))", ""),),
        "tests/indexing/search/test_shortened_file.py::test_what_is_somewhere_is_meant_itself",
    ),
    Defect(
        "suffix-in-a-text",
        "`walk.h` finds `walk.c`, though a text names `walk.h`",
        "livedex_indexing/search/other_suffix.py",
        ((" or is_pasted(text)", ""),),
        f"{SUFFIX}::test_what_is_called_so_or_named_so_is_meant_itself",
    ),
    Defect(
        "derived-types",
        "`subclasses of Shape` finds the class Shape and texts about it",
        "livedex_indexing/query/declaration.py",
        (("if name := base_type(typed)", 'if name := ""'),),
        "tests/indexing/search/test_derived_types.py::test_the_derived_type_comes_first",
    ),
    Defect(
        "sign-before-a-file",
        "`gitignore` finds texts about `.gitignore`, and not the file",
        "livedex_indexing/rank/called_files.py",
        (("own = name if last[:1] in _SIGNS else name.lstrip(_SIGNS)", "own = name"),),
        "tests/indexing/rank/test_called_files.py::test_a_sign_before_a_name_may_be_left_out",
    ),
    Defect(
        "beginnings-of-a-name",
        "`TPE` and `ThPoEx` find no `ThreadPoolExecutor` that is not the first name of its chunk",
        "livedex_indexing/text/name_beginnings.py",
        (('" ".join([name_words(names), *_keys_of_all(names)])', "name_words(names)"),),
        f"{BEGUN}::test_beginnings_of_the_parts_find_a_name_that_is_not_the_first_of_its_chunk",
    ),
    Defect(
        "initials-inside-a-word",
        "`IHF` finds a key that has these letters before the name with these initials",
        "livedex_indexing/search/word_search.py",
        (("        if is_short or not", "        if not"),),
        f"{BEGUN}::test_beginnings_of_the_parts_find_a_name_that_is_not_the_first_of_its_chunk",
    ),
    Defect(
        "words-begin-a-name",
        "`thread pool exec` finds texts with the words and not the `ThreadPoolExecutor`",
        "livedex_indexing/rank/name_places.py",
        ((" or self._begun(name)", ""),),
        f"{BEGUN}::test_words_that_begin_the_parts_find_the_name",
    ),
    Defect(
        "cut-words-of-a-name",
        "`thr poo exe` finds nothing of a `ThreadPoolExecutor`, which has none of these words",
        "livedex_indexing/query/begun_names.py",
        (('names().shortened(" ".join(words))', "()"),),
        f"{BEGUN}::test_two_words_begin_the_parts_of_a_name_if_one_is_nowhere",
    ),
    Defect(
        "star-in-a-name",
        "`read*limit` finds what has both words, and not the name that begins and ends so",
        "livedex_indexing/query/word_terms.py",
        (("if alone and is_starred(word) else []", "if False else []"),),
        NEAR,
    ),
    Defect(
        "name-in-a-message",
        "a compiler's message finds texts with its words, and not the name that it quotes",
        "livedex_indexing/rank/name_places.py",
        (("self._definitions.in_message(text) or ", ""),),
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
        "texts-before-what-a-message-is-about",
        "`TypeError: run_task() got an unexpected …` finds a text that quotes such a message about another name",
        "livedex_indexing/rank/name_places.py",
        (
            ("is_about = is_message(text) and not values if", "is_about = False if"),
            ("if has_plain_name(text) else ()", ""),
        ),
        MESSAGES,
    ),
    Defect(
        "outer-type-before-the-inner",
        "`List<Walk>` finds the definition of the list, and not that of what is in it",
        "livedex_indexing/rank/defined_names.py",
        (("names.sort(key=", "names.copy().sort(key="),),
        MESSAGES,
    ),
    Defect(
        "pasted-line-after-its-name",
        "a pasted line of code finds the definition of what it calls, and not the line",
        "livedex_indexing/rank/name_places.py",
        (
            ("is_text = len(text.split()) > 1 and most >= VERBATIM", "is_text = False"),
            ("(names and most != IN_A_ROW)", "False"),
        ),
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
)
