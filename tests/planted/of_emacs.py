"""Defects of Emacs' client: what is chosen, where it is, and that the buffer follows."""

from __future__ import annotations

from planted.defect import Defect

TYPED = "tests/editors/test_emacs.py"
LISTS = "tests/editors/test_emacs_lists.py"
LISP = "editors/emacs"

DEFECTS = (
    Defect(
        "column-in-bytes",
        "Emacs opens a hit to the right of its match if letters of several bytes stand before it",
        f"{LISP}/livedex-hit.el",
        (("    (if (<= bytes (length text))\n", "    (if (< bytes 0)\n"),),
        f"{TYPED}::test_any_name_and_line_is_opened_at_its_place",
    ),
    Defect(
        "line-below",
        "Emacs opens a hit at the line below its match",
        f"{LISP}/livedex-hit.el",
        (
            (
                "(xref-make-file-location (livedex-hit-path hit) (plist-get hit :line)",
                "(xref-make-file-location (livedex-hit-path hit) (1+ (plist-get hit :line))",
            ),
        ),
        f"{TYPED}::test_any_name_and_line_is_opened_at_its_place",
    ),
    Defect(
        "keys-lost",
        "keys that a terminal gives Emacs at once are lost while it searches",
        f"{LISP}/livedex.el",
        (("(and (display-graphic-p) while-no-input-ignore-events)", "while-no-input-ignore-events"),),
        f"{TYPED}::test_a_daemon_that_does_not_answer_stops_no_key",
    ),
    Defect(
        "list-of-the-former-text",
        "Emacs keeps the list of what was typed before if its window was resized after the last key",
        f"{LISP}/livedex.el",
        (("(run-with-idle-timer 0 nil #'livedex--list-again (current-buffer))", "nil"),),
        f"{TYPED}::test_it_searches_as_it_is_typed_into",
    ),
    Defect(
        "sorted-again",
        "Emacs puts the hits into an order of its own",
        f"{LISP}/livedex.el",
        (("                              (display-sort-function . identity)\n", ""),),
        f"{TYPED}::test_it_searches_as_it_is_typed_into",
    ),
    Defect(
        "removed-hit-stays",
        "a buffer that follows its query keeps the hits of files that were deleted",
        f"{LISP}/livedex-follow.el",
        (("(livedex-follow--same-p old hit)", "(not (livedex-follow--same-p old old))"),),
        f"{LISTS}::test_a_buffer_follows_its_query",
    ),
    Defect(
        "buffer-dies-with-the-daemon",
        "a buffer follows no more once the daemon was restarted",
        f"{LISP}/livedex-follow.el",
        (("      (run-at-time livedex-follow--pause nil #'livedex-daemon-connect)\n", ""),),
        f"{LISTS}::test_a_buffer_follows_its_query",
    ),
    Defect(
        "lost-request-not-repeated",
        "Emacs asks no second time what the daemon took with it as it died",
        f"{LISP}/livedex-daemon.el",
        (("          (again (funcall then", "          (t (funcall then"),),
        f"{TYPED}::test_a_search_under_way_outlives_the_daemon",
    ),
    Defect(
        "emacs-search-lost-with-the-daemon",
        "Emacs gives up a search that was under way as the daemon died, and lists nothing until the next key",
        f"{LISP}/livedex-daemon.el",
        (("  (unless livedex-daemon--starting\n    (let ((waiting", "  (progn\n    (let ((waiting"),),
        f"{TYPED}::test_a_search_under_way_outlives_the_daemon",
    ),
    Defect(
        "emacs-waits-for-a-lost-call",
        "a key that comes as `livedex socket` ends leaves Emacs without a connection until it is started again",
        f"{LISP}/livedex-daemon.el",
        (
            ("    (redisplay))\n  (livedex-daemon--take-start))", "    (redisplay)))"),
            ("  (livedex-daemon--take-start)\n  (unless (or", "  (unless (or"),
        ),
        f"{TYPED}::test_it_connects_though_emacs_does_not_tell_it_to",
    ),
    Defect(
        "ended-search-is-a-fault",
        "consult empties its list and tells of a fault when a key ends the search for what was typed before",
        f"{LISP}/livedex-consult.el",
        (("               (when (equal action asked)\n", "               (when asked\n"),),
        f"{TYPED}::test_consult_says_nothing_of_a_search_that_another_one_ended",
    ),
)
