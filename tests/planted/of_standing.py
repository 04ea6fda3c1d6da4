"""Defects of standing queries: whether the client is told that all is there, and what is published, how often."""

from __future__ import annotations

from planted.defect import Defect

_MESSAGES = "livedex_daemon/subscriptions/standing_messages.py"
_REPORTS = "livedex_daemon/exchange/standing_reports.py"
_TESTS = "tests/daemon/subscriptions/test_standing_messages.py"
_FRESH = "tests/system/test_standing_fresh.py"
_SYSTEM = "tests/system/test_standing_messages.py"

DEFECTS = (
    Defect(
        "beginning-gathered-first",
        "a standing query gathers all words that begin so although its other words are nowhere in what changed",
        "livedex_indexing/search/standing_query.py",
        (("for begins in (False, True)", "for begins in (True, False)"),),
        "tests/indexing/search/test_standing_query.py::test_a_beginning_is_looked_for_only_where_all_else_matches",
    ),
    Defect(
        "beginning-gathered-for-others",
        "a standing query gathers all words that begin so although its filters admit nothing of what changed",
        "livedex_indexing/search/standing_query.py",
        (("part = _admitted(reader, filters(), part)", "_admitted(reader, filters(), part)"),),
        "tests/indexing/search/test_standing_query.py::test_a_beginning_is_looked_for_only_where_all_else_matches",
    ),
    Defect(
        "content-published-twice",
        "a content is published again with each file that gets it",
        _REPORTS,
        (("WHERE query_id = ? AND content_hash = ?", "WHERE query_id = ? AND content_hash = ? AND 0"),),
        f"{_TESTS}::test_the_same_content_is_published_once",
    ),
    Defect(
        "publication-not-noted",
        "what was published is noted in memory alone, and published again after a restart",
        _REPORTS,
        (('"INSERT OR IGNORE INTO standing_contents VALUES (?, ?)"', '"SELECT ?, ?"'),),
        f"{_SYSTEM}::test_nothing_is_lost_or_doubled_by_kills",
    ),
    Defect(
        "first-contents-are-news",
        "a new query publishes everything that was there before",
        _MESSAGES,
        (("each.content.hash for each in found if each.key not in changed", "b'' for each in found"),),
        f"{_TESTS}::test_what_is_there_first_is_no_news",
    ),
    Defect(
        "news-noted-as-there-before",
        "a commit that is seen before it was passed on is taken for what was there from the first, and never published",
        _MESSAGES,
        (("            self._sources.between_turns(lambda: None).result(TURN_S)\n", ""),),
        f"{_TESTS}::test_a_commit_that_is_seen_before_it_is_passed_on_is_news",
    ),
    Defect(
        "converted-later-is-news",
        "each document of a new root is published when it is converted at last",
        _MESSAGES,
        (("            | {digest for key, digest in waiting if key not in changed}\n", ""),),
        f"{_TESTS}::test_what_still_waits_to_be_converted_or_cut_is_no_news",
    ),
    Defect(
        "changed-at-once-was-never-there",
        "what a file has when its root is complete is news if the file changes, or is only read again, just after",
        _MESSAGES,
        (("found.update(digest for digest in changed.values() if digest is not None)", "pass"),),
        f"{_TESTS}::test_what_was_there_first_is_no_news_when_it_comes_back",
    ),
    Defect(
        "root-noted-from-before-it-was-complete",
        "what a second root contains is news if its first index ends while the contents of the first root are noted",
        _MESSAGES,
        (("dict(self._to_note(each).items() & before.items())", "self._to_note(each)"),),
        f"{_TESTS}::test_a_root_that_is_complete_after_the_snapshot_is_noted_with_the_next",
    ),
    Defect(
        "half-an-index-noted",
        "first contents are noted while the index is being rebuilt, and the rest of it is published as news",
        _MESSAGES,
        (
            ("        if not self._sources.store_health.rebuilding:\n", "        if self._roots:\n"),
            ("return {} if self._sources.store_health.rebuilding else query", "return query"),
        ),
        f"{_TESTS}::test_nothing_is_noted_of_half_an_index",
    ),
    Defect(
        "restart-compares-nothing",
        "what was committed before a kill and not published is never published",
        _MESSAGES,
        (("                if is_new:\n", "                if is_new and not each.known:\n"),),
        f"{_TESTS}::test_what_was_committed_before_a_kill_is_published",
    ),
    Defect(
        "killed-before-its-note",
        "a kill right after a first index: what is written until the next start is never published",
        "livedex_daemon/subscriptions/configured_query.py",
        (("            self.begun |= self._resumed\n", "            pass\n"),),
        f"{_TESTS}::test_a_kill_before_anything_was_noted",
    ),
    Defect(
        "full-topic-loses-messages",
        "messages that a full topic does not take are lost",
        _MESSAGES,
        (("                query.add_pending(dirty.files, dirty.roots, at)\n", "                pass\n"),),
        f"{_TESTS}::test_a_full_topic_is_said_and_the_rest_follows",
    ),
    Defect(
        "left-out-query-remembered",
        "a query that comes back publishes what came while it was left out",
        _REPORTS,
        (("if each not in queries or each in left.queries]", "if each is left]"),),
        f"{_TESTS}::test_a_query_that_was_left_out_begins_again",
    ),
    Defect(
        "root-comes-back-as-news",
        "a root that is added again publishes what its first index finds",
        _MESSAGES,
        (("                each.known -= left\n", "                pass\n"),),
        f"{_TESTS}::test_a_root_that_left_is_indexed_for_the_first_time",
    ),
    Defect(
        "waiting-messages-unsaid",
        "messages wait for a full topic and the status is green",
        "livedex_daemon/answer/status_checks.py",
        (("    if not faults:\n        return []\n", "    return []\n"),),
        "tests/daemon/answer/test_status_report.py::test_what_is_wrong_is_said_once",
    ),
    Defect(
        "unfresh-for-ever",
        "a client whose first answer was not fresh is never told when it is",
        "livedex_daemon/answer/subscription_methods.py",
        (("        if timing.fresh and not state.fresh:", "        if False:"),),
        f"{_FRESH}::test_nothing_was_missing",
    ),
    Defect(
        "fresh-before-all-was-sent",
        "a client is told that its answer is fresh before it was sent what was missing",
        "livedex_daemon/subscriptions/notifier.py",
        (("if subscription.id in fresh and subscription.compared:", "if subscription.id in fresh:"),),
        f"{_FRESH}::test_an_answer_without_time_is_completed",
    ),
    Defect(
        "file-in-one-message",
        "all hits of a file come in one message, however many there are",
        "livedex_daemon/subscriptions/answer_diff.py",
        (("        return self.is_full\n\n    def _add", "        return False\n\n    def _add"),),
        "tests/daemon/subscriptions/test_answer_diff.py::test_a_file_with_many_hits_comes_and_goes_in_several_messages",
    ),
)
