"""Defects of exact and regex searches, of their pages, and of letters that are typed as others."""

from __future__ import annotations

from planted.defect import Defect

FILES = "tests/indexing/lines/test_matching_files.py"
LETTERS = "tests/indexing/text/test_letters.py"
MEMBERS = "tests/indexing/search/test_members_by_name.py"
DEFINED = "tests/system/test_lines_of_definitions.py::test_the_first_hit_is_the_line_that_defines_it"

DEFECTS = (
    Defect(
        "member-behind-its-uses",
        "the bare name of a constant of an enumeration or of a field finds what uses it first",
        "livedex_indexing/rank/line_places.py",
        (("if of_type:  # what", "if False:  # what"), ("if likely:", "if False:")),
        f"{MEMBERS}::test_its_line_comes_before_what_uses_it",
    ),
    Defect(
        "constant-behind-a-function",
        "a function with the words of a constant comes before it",
        "livedex_indexing/rank/line_places.py",
        (("(0.0 if word.owner else UNSURE)", "0.0"),),
        f"{MEMBERS}::test_a_constant_comes_before_a_function_with_its_words",
    ),
    Defect(
        "hit-at-the-comment",
        "the hit of a definition points at the comment above it",
        "livedex_indexing/query/typed_span.py",
        (("if len(wording.parts) == 1 else None", "if False else None"),),
        f"{MEMBERS}::test_a_hit_points_at_the_definition_and_not_at_its_comment",
    ),
    Defect(
        "member-behind-what-sets-it",
        "what sets a member of a type comes before the type",
        "livedex_indexing/rank/line_places.py",
        (("_SET_ONLY: Final = 0.6", "_SET_ONLY: Final = 1.0"),),
        f"{MEMBERS}::test_its_type_comes_before_what_sets_it",
    ),
    Defect(
        "definition-of-another-owner",
        "the hit of a method points at the first definition of that name in the chunk, of another type",
        "livedex_indexing/query/declaring_line.py",
        (("(in_front or behind or [first[0]])[0]", "first[0]"),),
        f"{MEMBERS}::test_of_two_definitions_in_a_chunk_it_points_at_that_of_the_owner",
    ),
    Defect(
        "command-excludes",
        "`find . -name x` excludes the files with the word `name`",
        "livedex_indexing/query/query_parser.py",
        (("if has_option(items.words, items.excluded):", "if False:"),),
        f"{MEMBERS}::test_a_command_with_long_options_excludes_nothing",
    ),
    Defect(
        "command-of-a-test",
        "`pytest -k test_name` finds what has the words of the command",
        "livedex_indexing/query/printed_name.py",
        (("(?:pytest|py\\.test)", "(?:nopytest)"),),
        f"{MEMBERS}::test_the_command_that_runs_a_test_leads_to_it",
    ),
    Defect(
        "prefix-of-stems",
        "`renewa*` does not find `renewal`, whose stem is `renew`",
        "livedex_indexing/query/begun_terms.py",
        (("*([] if begun is None else _other_stems(index, begun))", "*[]"),),
        "tests/indexing/search/test_prefixes.py::test_words_that_begin_so_are_found",
    ),
    Defect(
        "prefix-of-stems-excluded",
        "`-renewa*` does not exclude `renewal`, whose stem is `renew`",
        "livedex_indexing/query/query_compiler.py",
        (("for term in prefix_terms(index, word, each, repair)]", "for term in [each]]"),),
        "tests/indexing/search/test_prefixes.py::test_what_they_exclude_begins_so",
    ),
    Defect(
        "heading-with-addresses",
        "the headings of a changelog are shown with the address that each version links to",
        "livedex_indexing/hits/hit_builder.py",
        (("None if chunk.heading is None else plain_heading(chunk.heading)", "chunk.heading"),),
        "tests/indexing/text/test_plain_heading.py::test_a_hit_has_it",
    ),
    Defect(
        "folded-text-trusted",
        "a file whose text lost a diacritic on its way into the index is named without being read",
        "livedex_indexing/text/letters.py",
        (("return not text.isascii() and _LOST.search(text) is not None", "return False"),),
        f"{FILES}::test_they_are_those_with_lines",
    ),
    Defect(
        "changed-file-named",
        "a file that changed is named from what the index has of it",
        "livedex_indexing/disk/unchanged_files.py",
        (("if as_found == state and", "if"),),
        f"{FILES}::test_a_file_that_changed_is_not_named_from_the_index",
    ),
    Defect(
        "page-repeats-its-last-line",
        "a page of lines begins with the last line of the page before",
        "livedex_indexing/lines/line_search.py",
        (("            if line.number <= begun:", "            if line.number < begun:"),),
        f"{FILES}::test_lines_go_on_where_the_last_page_ended",
    ),
    Defect(
        "letters-folded-in-texts-only",
        "letters that are typed as others are folded when a text is stored, not when it is looked up",
        "livedex_indexing/store/read_pool.py",
        (("    folded, place_of = fold_bytes(text)", "    folded, place_of = text, None"),),
        f"{LETTERS}::test_words_are_found_as_typed_and_as_written",
    ),
    Defect(
        "sorted-search-forgets-changes",
        "a file that a sorted search found changed is not examined",
        "livedex_indexing/search/sorted_search.py",
        (
            ("run.live.stale.update(dict.fromkeys(unsure, False))", "unsure.clear()"),
            ("        run.live.stale.merge(hits.stale)\n", ""),
        ),
        "tests/indexing/search/test_sorted_search.py::test_a_changed_file_is_left_out_and_examined",
    ),
    Defect(
        "configuration-indexed",
        "the configuration file is indexed where a root contains it",
        "livedex_daemon/config_reload.py",
        (
            (
                "own_paths = (*self._locations.own_folders, self._locations.config_path)",
                "own_paths = self._locations.own_folders",
            ),
        ),
        "tests/system/test_why.py::test_the_configuration_file_is_livedexs_own",
    ),
    Defect(
        "encoding-not-in-the-plan",
        "files are not read again when the configuration names another encoding for them",
        "livedex_indexing/chunk/chunk_plan.py",
        (("signature=_signature(plan.signature, encoding)) if encoding", "signature=plan.signature) if encoding"),),
        "tests/system/test_encodings.py::test_an_encoding_by_root_and_by_glob",
    ),
    Defect(
        "functions-of-cmake",
        "the functions and targets of CMake are no definitions, so that any call may come first",
        "livedex_indexing/chunk/line_definitions.py",
        (("function|macro|option|", "option|"),),
        "tests/indexing/chunk/test_line_definitions.py::test_lines_give_the_definitions",
    ),
    Defect(
        "member-of-a-file",
        "`CPAN::HandleConfig->help` finds the file, or another `help`, and not the definition in `HandleConfig.pm`",
        "livedex_indexing/rank/defined_names.py",
        (("self._of_module(name, own) if is_type else {}", "{}"),),
        "tests/indexing/search/test_members_of_modules.py::test_the_definition_in_the_file_comes_first",
    ),
    Defect(
        "definitions-of-other-forms",
        "`walk :: Tree -> Int` and `walk <- function(tree)` are no definitions of `walk`",
        "livedex_indexing/query/declaring_line.py",
        (("_BODY.match(after) or _TYPED.match(after)", "_BODY.match(after)"),),
        "tests/indexing/query/test_declaring_line.py::test_the_line_that_defines_a_name",
    ),
    Defect(
        "hyphens-as-words",
        "`open-lock` finds files with these words, and not the line `(defun open-lock`",
        "livedex_indexing/rank/defined_names.py",
        (("rated = {} if name is None else self.of(name)", "rated = {}"),),
        "tests/indexing/search/test_hyphenated_names.py::test_the_definition_comes_first",
    ),
    Defect(
        "typed-line-among-few",
        "a piece of a line is not found where more than sixteen files have its words",
        "livedex_indexing/search/typed_lines.py",
        (("_MOST_FILES: Final = 2_048", "_MOST_FILES: Final = 16"),),
        "tests/indexing/search/test_typed_lines.py::test_a_piece_of_a_line_is_found_among_many_files_with_its_words",
    ),
    Defect(
        "impl-for-its-type",
        "the `impl` of a type, or a type without a body, comes before the type itself",
        "livedex_indexing/rank/likely_names.py",
        (("return [chunk_id for chunk_id in found if chunk_id in of_type] or of_type or found", "return found"),),
        "tests/indexing/rank/test_likely_names.py::test_a_type_comes_before_its_implementation_and_before_one_without_a_body",
    ),
    Defect(
        "plain-member",
        "a lower-case name is not looked for as a member",
        "livedex_indexing/rank/line_places.py",
        (("        if plain:\n", "        if False:\n"),),
        DEFINED,
    ),
    Defect(
        "member-of-what-is-inside",
        "`Reflector.tilt` finds the member of a type inside `Reflector`",
        "livedex_indexing/rank/defined_names.py",
        (("dict.fromkeys(directly or found, value)", "dict.fromkeys(found, value)"),),
        DEFINED,
    ),
    Defect(
        "mention-with-owner",
        "the hit of `Lamp::shine` points at a comment that has both",
        "livedex_indexing/query/typed_span.py",
        (("        if self._member is not None:", "        if False:"),),
        DEFINED,
    ),
    Defect(
        "hit-without-words",
        "the hit of a definition without the typed package points at the imports",
        "livedex_indexing/hits/hit_builder.py",
        ((" or ([] if meant is None else [meant])", ""),),
        DEFINED,
    ),
    Defect(
        "namesake",
        "a file that is called so in another case comes before the definition of a name",
        "livedex_indexing/rank/results.py",
        ((", is_defined=self._is_defined)", ")"),),
        "tests/system/test_lines_of_definitions.py::test_a_defined_name_comes_before_a_file_that_is_called_so_in_another_case",
    ),
    Defect(
        "parameter-as-member",
        "a parameter in a line of its own is a member of the type",
        "livedex_indexing/query/member_line.py",
        (('if part.count("(") > part.count(")"):', "if False:"),),
        "tests/indexing/query/test_member_line.py::test_what_only_looks_like_a_member_is_none",
    ),
)
