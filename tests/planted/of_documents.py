"""Defects of documents: what a parser reaches, what is served of them, and how often one is tried."""

from __future__ import annotations

from planted.defect import Defect

PROCESS = "tests/indexing/parse/test_parse_process.py"
FILES = "tests/indexing/hits/test_documents_served.py"
SYSTEM = "tests/system/test_documents.py"
TEXT = "tests/indexing/parse/test_converted_text.py"

DEFECTS = (
    Defect(
        "parser-reaches-the-network",
        "a parser may open sockets",
        "livedex_indexing/parse/sandbox.py",
        (("(41, 42, 43,", "(42, 43,"), ("130, 198, 199,", "130, 199,")),
        f"{PROCESS}::test_it_reaches_nothing_but_its_document[call]",
    ),
    Defect(
        "parser-reads-other-files",
        "a parser may read every file of the user",
        "livedex_indexing/parse/sandbox.py",
        (("    if means.landlock:\n        _lock", "    if means.landlock > 999:\n        _lock"),),
        f"{PROCESS}::test_it_reads_no_other_file_of_the_user",
    ),
    Defect(
        "converted-text-served-stale",
        "the converted text of a document is served after the document has changed",
        "livedex_indexing/hits/live_files.py",
        (("copy.settled and self._is_in_state(copy)", "copy.settled"),),
        f"{FILES}::test_the_text_is_served_while_the_file_is_as_it_was",
    ),
    Defect(
        "exhausted-tried-for-ever",
        "a document that uses up its worker is tried a third time",
        "livedex_daemon/documents/lane.py",
        (("TRIES: Final = 2 ", "TRIES: Final = 3 "),),
        f"{SYSTEM}::test_one_that_uses_up_its_worker_twice_is_set_aside_until_it_changes",
    ),
    Defect(
        "no-parser-unsaid",
        "no document can be converted and the status is green",
        "livedex_daemon/documents/lane.py",
        (("            self.fault = str(error)\n", ""),),
        f"{SYSTEM}::test_parsers_that_cannot_be_loaded_are_said_and_blame_no_document",
    ),
    Defect(
        "converted-meanwhile-and-left",
        "a copy of a document whose conversion ends as the copy is committed waits for ever",
        "livedex_daemon/write/worker.py",
        (("        if note_document(", "        if False & note_document("),),
        "tests/daemon/write/test_converted_meanwhile.py::test_the_copy_is_indexed",
    ),
    Defect(
        "vanished-document-asked-for-once",
        "a document that was renamed as its conversion began keeps its copies from being converted",
        "livedex_daemon/documents/conversions.py",
        (("            if result is None and not again:\n", "            if False:\n"),),
        "tests/daemon/documents/test_conversions.py"
        "::test_one_that_no_path_had_any_more_is_asked_for_again_though_another_path_waits",
    ),
    Defect(
        "names-escaped",
        "a name with an underscore in a document has a backslash, and neither a phrase nor exact search finds it",
        "livedex_indexing/parse/converters.py",
        (('"escape_underscores": False', '"escape_underscores": True'),),
        f"{TEXT}::test_a_name_is_not_written_with_backslashes",
    ),
    Defect(
        "long-numbers-rounded",
        "a phone number in a workbook is stored as a fraction with an exponent",
        "livedex_indexing/parse/spreadsheets.py",
        (("DIGITS: Final = 15 ", "DIGITS: Final = 7 "),),
        f"{TEXT}::test_an_old_workbook_has_the_same_cells",
    ),
    Defect(
        "old-notebook-empty",
        "a notebook of before 2015 is indexed without its text, and nothing says so",
        "livedex_indexing/parse/notebooks.py",
        (('cells = notebook.get("cells")', 'cells = notebook.get("cells", [])'),),
        f"{TEXT}::test_a_notebook_of_any_age_has_all_its_cells",
    ),
    Defect(
        "outputs-whole",
        "the log of a training in a notebook is indexed with all its lines",
        "livedex_indexing/parse/notebooks.py",
        (("MOST_OUTPUT: Final = 8192 ", "MOST_OUTPUT: Final = 8192000 "),),
        f"{TEXT}::test_of_a_long_output_only_the_beginning_counts",
    ),
    Defect(
        "page-decoded-by-a-guess",
        "a page that names its encoding is decoded by a guess",
        "livedex_indexing/parse/converters.py",
        (("decoder.decode(data, _declared(data))", "decoder.decode(data)"),),
        f"{TEXT}::test_a_page_is_in_the_encoding_that_it_names",
    ),
    Defect(
        "title-of-a-page-dropped",
        "a page is not found by its title",
        "livedex_indexing/parse/pages.py",
        (("return found if title in found else", "return found if title else"),),
        f"{TEXT}::test_a_page_has_its_title",
    ),
    Defect(
        "page-escaped",
        "what looks like Markdown in a page is stored with backslashes, and `exact` does not find it",
        "livedex_indexing/parse/pages.py",
        (('return found["mark"]', "return found[0]"),),
        f"{TEXT}::test_a_page_is_written_as_its_reader_sees_it",
    ),
    Defect(
        "page-without-its-menus",
        "what looks like a menu or a form is left out of a page",
        "livedex_indexing/parse/pages.py",
        (("PreprocessingOptions(enabled=False)", "PreprocessingOptions(enabled=True)"),),
        f"{TEXT}::test_a_page_is_written_as_its_reader_sees_it",
    ),
    Defect(
        "links-in-code",
        "code in a page is stored with the addresses of its links in its midst",
        "livedex_indexing/parse/pages.py",
        (("convert(_without_links_in_code(text), ", "convert(text, "),),
        f"{TEXT}::test_the_code_in_a_page_has_its_lines_and_no_links",
    ),
    Defect(
        "deep-page-cut",
        "a page that is nested very deeply is stored without what is inside",
        "livedex_indexing/parse/pages.py",
        (('== "depth_limit_exceeded"', '== "none"'),),
        f"{TEXT}::test_a_page_that_is_nested_very_deeply_has_its_text",
    ),
    Defect(
        "upgraded-library-of-pages-unnoticed",
        "pages are not converted again as the library that converts them is upgraded",
        "livedex_indexing/parse/parsers.py",
        (('".xhtml": ("html-to-markdown",)', '".xhtml": ()'),),
        f"{TEXT}::test_a_page_has_another_parser_with_each_version_of_its_library",
    ),
)
