"""Defects of the web page's scripts: what is shown of an answer, what a click does, and that the list follows."""

from __future__ import annotations

from planted.defect import Defect

PAGE = "tests/system/test_web_page.py"
ATTACKS = "tests/system/test_web_attacks.py"
RESTARTS = "tests/ipc/web/test_web_restarts.py"
SCRIPTS = "livedex_ipc/web/page"

DEFECTS = (
    Defect(
        "late-answer-shown",
        "the page shows the hits of an earlier query, whose answer came late",
        f"{SCRIPTS}/search_view.js",
        (("if (number === this.#last) this.#show(answer)", "this.#show(answer)"),),
        f"{PAGE}::test_an_answer_that_comes_late_is_not_shown",
    ),
    Defect(
        "filter-of-a-left-view",
        "a filter that is ticked right after coming back from a file is lost",
        f"{SCRIPTS}/search_view.js",
        (("this.chosen[name][box.checked ?", "chosen[box.checked ?"),),
        f"{PAGE}::test_a_filter_that_is_ticked_at_once_on_the_way_back_holds",
    ),
    Defect(
        "list-replaced-whole",
        "a click on a hit is lost if the list changes between its press and its release",
        f"{SCRIPTS}/dom.js",
        (
            (
                "    if (parent.children[place] !== child) parent.insertBefore(",
                "    parent.insertBefore(",
            ),
        ),
        f"{PAGE}::test_what_is_pressed_while_the_list_follows_is_clicked",
    ),
    Defect(
        "hidden-characters-shown",
        "characters of a file that hide or reverse text act on the page",
        f"{SCRIPTS}/dom.js",
        (("(keep.includes(character) ? character : escaped(character))", "character"),),
        f"{ATTACKS}::test_hostile_names_and_texts_are_shown_and_never_run",
    ),
    Defect(
        "line-number-off-by-one",
        "the lines of a hit have the number of the line below",
        f"{SCRIPTS}/search_view.js",
        (("codeLine(hit.snippet_line + index,", "codeLine(hit.snippet_line + index + 1,"),),
        f"{PAGE}::test_a_hit_leads_to_its_file_with_marks_and_reasons_and_back",
    ),
    Defect(
        "mark-in-code-units",
        "what is marked in a hit begins too early once an emoji stands before it",
        f"{SCRIPTS}/dom.js",
        (("spans.length ? Array.from(text) : []", "spans.length ? text.split('') : []"),),
        f"{PAGE}::test_what_is_marked_is_the_match_after_any_characters",
    ),
    Defect(
        "page-not-live-again",
        "an open page follows no more once the daemon was restarted",
        f"{SCRIPTS}/daemon.js",
        (("        if (line.error) break\n", "        if (line.error) return\n"),),
        f"{RESTARTS}::test_an_open_page_goes_on_after_its_daemon_and_says_so_when_its_server_ends",
    ),
    Defect(
        "hidden-page-follows",
        "a page in the background goes on searching at each save",
        f"{SCRIPTS}/search_view.js",
        (
            (
                "    this.#left = { scrolled: scrollY, place: this.#focused() }\n    this.#stopFollowing()\n",
                "    this.#left = { scrolled: scrollY, place: this.#focused() }\n",
            ),
        ),
        f"{PAGE}::test_a_page_in_the_background_follows_nothing_and_catches_up",
    ),
)
