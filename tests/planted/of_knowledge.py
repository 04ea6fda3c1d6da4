"""Defects of agent memory."""

from __future__ import annotations

from planted.defect import Defect

MEANING = "tests/daemon/knowledge/test_memory_by_meaning.py"
PLUGIN = "tests/daemon/knowledge/test_plugin_memory.py"
STORE = "tests/daemon/knowledge/test_knowledge_store.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "memory-over-its-limit",
        "hot memory is longer than an agent has room for",
        "livedex_daemon/knowledge/hot_memory.py",
        (("        if length <= left:", "        if len(each.text) <= left:"),),
        f"{STORE}::test_hot_memory_is_never_longer_than_asked",
    ),
    Defect(
        "words-of-a-deleted-entry",
        "a deleted entry leaves its words, and the next search fails or finds nothing in its place",
        "livedex_daemon/knowledge/knowledge_store.py",
        (("            if is_gone:", "            if not is_gone:"),),
        f"{STORE}::test_the_words_of_a_deleted_entry_are_gone",
    ),
    Defect(
        "memory-looked-at-by-calls-alone",
        "the status is green while agent memory is damaged and nobody calls",
        "livedex_daemon/app.py",
        (('            "knowledge": self._knowledge.keep_checking,\n', ""),),
        "tests/system/test_knowledge.py::test_a_damaged_memory_is_named_though_nobody_calls",
    ),
    Defect(
        "lock-of-memory-waited-for-by-each-caller",
        "of four who add to a locked memory, the last one is answered after 40 s",
        "livedex_daemon/answer/knowledge_answers.py",
        (("memory.wait_from(called_at)\n            return action", "pass\n            return action"),),
        "tests/daemon/answer/test_knowledge_thread.py::test_who_waits_for_others_has_waited_for_the_lock",
    ),
    Defect(
        "search-waits-for-memory",
        "a store of agent memory that does not answer takes all the time of a search of files",
        "livedex_daemon/answer/memory_search.py",
        (("await asyncio.wait_for(search, seconds)", "await search"),),
        "tests/system/test_knowledge.py::test_a_plugin_takes_the_place_of_the_store_and_gives_it_back",
    ),
    Defect(
        "memory-of-other-domains",
        "a search of one domain returns what another domain should keep to itself",
        "livedex_daemon/knowledge/knowledge_store.py",
        (("""        f"{where.replace(' WHERE', ' AND')} ORDER BY""", """        f" ORDER BY"""),),
        f"{STORE}::test_only_the_asked_domains_are_searched",
    ),
    Defect(
        "memory-by-meaning-ignores-the-query",
        "an entry with an excluded word is found by its meaning",
        "livedex_daemon/knowledge/knowledge_store.py",
        (('*(("NOT IN", text) for text in query.excluded)', '*(("NOT IN", text) for text in query.required)'),),
        f"{MEANING}::test_entries_are_found_by_what_they_mean",
    ),
    Defect(
        "memory-vector-twice",
        "the vector of an entry is made again with each look",
        "livedex_daemon/knowledge/entry_vectors.py",
        (("for digest, text in texts.items() if digest not in known", "for digest, text in texts.items()"),),
        f"{MEANING}::test_each_text_is_embedded_once_and_with_its_heading",
    ),
    Defect(
        "replaced-vectors-lose-entries",
        "a search of agent memory that got its vectors just before others took their place finds nothing by them",
        "livedex_daemon/knowledge/knowledge_store.py",
        (("            if meaning.is_outdated:", "            if False:"),),
        f"{MEANING}::test_vectors_that_others_replace_in_the_middle_cost_no_entry",
    ),
    Defect(
        "use-counted-for-each-try",
        "an entry counts as used twice where other vectors took the place of a search's in the middle",
        "livedex_daemon/knowledge/knowledge_store.py",
        (
            ("            if meaning.is_outdated:\n                return None\n", ""),
            (
                "        self._note_use(found)\n        return FoundEntries(",
                "        self._note_use(found)\n        if meaning.is_outdated:\n            return None\n"
                "        return FoundEntries(",
            ),
        ),
        f"{MEANING}::test_vectors_that_others_replace_in_the_middle_cost_no_entry",
    ),
    Defect(
        "plugin-memory-nonsense",
        "an id that is text, or an answer that is neither true nor false, of a plugin's store is served as right",
        "livedex_indexing/conformance.py",
        (("return msgspec.convert(answer, kind)", "return msgspec.convert(answer, kind, strict=False)"),),
        f"{PLUGIN}::test_an_answer_that_is_not_what_the_protocol_says_is_an_error",
    ),
    Defect(
        "plugin-memory-other-domain",
        "a search of one domain serves what a plugin's store returns of another one",
        "livedex_indexing/conformance.py",
        (("if domain is not None and any(", "if False and any("),),
        f"{PLUGIN}::test_an_answer_that_is_not_what_the_protocol_says_is_an_error",
    ),
)
