"""Defects of what is found in files that are no code: configurations, style sheets, texts with marks."""

from __future__ import annotations

from planted.defect import Defect

SETTINGS = "tests/indexing/search/test_settings.py"

DEFECTS = (
    Defect(
        "document-made-for-each",
        "who asks for the OpenRPC document again and again slows all other clients down",
        "livedex_ipc/openrpc.py",
        (("@cache\n", ""),),
        "tests/ipc/test_openrpc.py::test_it_is_made_once",
    ),
    Defect(
        "path-of-keys-as-text",
        "`spec.template` finds texts with both words, not the key in a file where it is nested",
        "livedex_indexing/rank/line_places.py",
        (("if keyed:", "if False:"),),
        f"{SETTINGS}::test_a_nested_key_is_found_by_its_path",
    ),
    Defect(
        "key-below-any-other",
        "a key is found by the last part of its path, whatever it is below",
        "livedex_indexing/query/key_path.py",
        (('path.endswith(f".{typed}")', 'path.endswith(typed.rpartition(".")[2])'),),
        "tests/indexing/query/test_key_path.py::test_a_path_ends_in_whole_keys",
    ),
    Defect(
        "reference-as-text",
        "`:ref:`oven`` and `\\cite{key}` find the other references, not what they refer to",
        "livedex_indexing/query/typed_word.py",
        (("if label:", "if False:"),),
        "tests/indexing/search/test_references.py::test_it_leads_to_the_label",
    ),
    Defect(
        "number-with-other-signs",
        "`14153` finds nothing where a file has `14,153`, nor a telephone number without its blanks",
        "livedex_indexing/search/pasted_line.py",
        (("return with_written_number(reader, request)", "return request"),),
        "tests/indexing/search/test_written_numbers.py::test_it_is_searched_for_as_a_file_has_it",
    ),
    Defect(
        "date-of-another-text",
        "a date among words is looked for in the form of a file that has none of these",
        "livedex_indexing/search/written_date.py",
        (("_written(reader, date, typed, others[:_MOST_WORDS]) if others else None", "None"),),
        "tests/indexing/search/test_written_dates.py::test_a_form_counts_that_stands_with_the_other_words",
    ),
    Defect(
        "section-of-a-page-as-words",
        "`dash ENVIRONMENT` leads to the beginning of the manual page",
        "livedex_indexing/query/typed_link.py",
        (("if part is not None:", "if False:"),),
        "tests/indexing/search/test_manual_options.py::test_a_section_of_a_page",
    ),
    Defect(
        "source-map-before-source",
        "a source map, which has the text of all sources, comes before them",
        "livedex_indexing/rank/auxiliary.py",
        (("        return 2", "        return 0"),),
        "tests/indexing/search/test_derived_files.py::test_a_source_comes_first",
    ),
    Defect(
        "short-run-as-one-word",
        "a few words of Chinese that no text has in a row find nothing",
        "livedex_indexing/query/word_terms.py",
        (("if indexed or len(pieces) > 1:", "if indexed or len(pieces) > 1 or len(pieces[0]) < 9:"),),
        "tests/indexing/search/test_scripts.py::test_a_run_that_is_nowhere_is_found_by_its_words",
    ),
    Defect(
        "vowel-signs-part-words",
        "a word of Hindi is several words of one letter each",
        "livedex_indexing/text/letters.py",
        (("{**dict(_of_indic_scripts()), **made, ", "{**made, "),),
        "tests/indexing/text/test_letters.py::test_a_word_with_vowel_signs_is_one_word",
    ),
    Defect(
        "other-script-of-a-stem",
        "a form of a word of Serbian in Cyrillic letters is not found, since its stem is in Latin ones",
        "livedex_indexing/query/inflections.py",
        (('stem if stem[0] == word[0] or language == "arabic" else word[: len(stem)]', "stem"),),
        "tests/indexing/search/test_inflected_words.py::test_another_form_is_found",
    ),
    Defect(
        "links-to-as-words",
        "`links to Some Note` finds the note itself",
        "livedex_indexing/search/pasted_line.py",
        (("    request = _as_link(reader, request, is_pasted)\n", ""),),
        "tests/indexing/search/test_links_to_a_note.py::test_the_notes_with_the_link_are_found",
    ),
    Defect(
        "identifier-with-other-signs",
        "an IBAN without its blanks finds nothing",
        "livedex_indexing/search/written_number.py",
        (("for form in identifier_forms(text):", "for form in ():"),),
        "tests/indexing/search/test_written_numbers.py::test_it_is_searched_for_as_a_file_has_it",
    ),
    Defect(
        "day-of-an-old-year",
        "`5 March` leads to the journal of that day in the oldest year",
        "livedex_indexing/search/written_date.py",
        (("reverse=True", "reverse=False"),),
        "tests/indexing/search/test_written_dates.py::test_of_several_years_the_newest_counts",
    ),
    Defect(
        "week-as-words",
        "`week 10` finds texts with both words, not the note `2024-W10.md`",
        "livedex_indexing/query/typed_date.py",
        (('if "week" in parts:', 'if "week" in parts and len(parts) > 2:'),),
        "tests/indexing/search/test_written_dates.py::test_a_week",
    ),
)
