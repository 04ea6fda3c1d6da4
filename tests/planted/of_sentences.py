"""Defects of what a question in a sentence finds."""

from __future__ import annotations

from planted.defect import Defect

SENTENCES = "tests/indexing/search/test_sentences.py"

DEFECTS = (
    Defect(
        "documents-behind-code-for-a-sentence",
        "where code answers, documents come after it although a sentence asks",
        "livedex_indexing/rank/results.py",
        (("arrangement.demote and not arrangement.is_sentence", "arrangement.demote"),),
        f"{SENTENCES}::test_documents_come_with_code_where_a_sentence_asks",
    ),
    Defect(
        "sentence-without-its-beginning",
        "a question to somebody is read as the words that are left of it, which are no sentence",
        "livedex_indexing/search/word_search.py",
        (("is_sentence(self._typed)", "is_sentence(self._text)"),),
        f"{SENTENCES}::test_a_question_to_somebody_is_a_sentence_with_what_is_left_out_of_it",
    ),
    Defect(
        "name-of-one-word-of-a-sentence",
        "a file with one word of a sentence as its name comes before the text that has most words",
        "livedex_indexing/rank/name_match.py",
        (("IN_SENTENCE if is_sentence else 1.0", "1.0"),),
        f"{SENTENCES}::test_a_word_of_a_sentence_in_a_name_says_less_than_the_text",
    ),
    Defect(
        "rarest-word-of-prose",
        "only rows with the rarest words of prose are ranked",
        "livedex_indexing/rank/postings.py",
        (("PROSE_BUDGET if is_prose else ROW_BUDGET", "ROW_BUDGET"),),
        "tests/indexing/rank/test_postings.py::test_the_best_rows_of_prose_may_lack_the_rarest_word",
    ),
    Defect(
        "sections-of-one-chunk",
        "for a sentence, a document is ranked by the best of its sections alone",
        "livedex_indexing/rank/results.py",
        (("all_sections_count(ranked) if self._is_sentence else ranked", "ranked"),),
        f"{SENTENCES}::test_a_document_with_the_words_in_all_of_its_sections_comes_first",
    ),
    Defect(
        "sections-of-what-is-no-document",
        "for a sentence, all that is no code gains by its sections, also types that have the comments of the code",
        "livedex_indexing/rank/document_sections.py",
        ((" or not _DOCUMENT.search(file.copy.path)", ""),),
        f"{SENTENCES}::test_other_files_gain_nothing_by_their_sections",
    ),
    Defect(
        "name-that-prose-mentions",
        "the definition of a name in quotes comes first, however much else the prose around it says",
        "livedex_indexing/rank/name_places.py",
        (("if names and is_mention(text):", "if False:"),),
        f"{SENTENCES}::test_a_name_that_prose_mentions_counts_as_much_as_its_words",
    ),
)
