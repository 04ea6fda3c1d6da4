"""Defects of the extension for VS Code: what is listed, what Enter opens, and that a standing query follows."""

from __future__ import annotations

from planted.defect import Defect

EDITOR = "tests/editors/test_vscode.py"
PARTS = "tests/editors/test_vscode_units.py"
CODE = "editors/vscode"

DEFECTS = (
    Defect(
        "sorted-by-label",
        "VS Code puts the hits into an order of its own",
        f"{CODE}/searchPick.js",
        (("pick.sortByLabel = false", "pick.sortByLabel = true"),),
        f"{EDITOR}::test_the_order_is_that_of_the_daemon",
    ),
    Defect(
        "enter-does-not-wait",
        "Enter, pressed before the answer is there, opens a hit of an earlier query",
        f"{CODE}/searchPick.js",
        (("if (this.#isWaiting) this.#accepted", "if (!item) this.#accepted"),),
        f"{PARTS}::test_part[searchPick]",
    ),
    Defect(
        "answer-of-an-earlier-query",
        "VS Code lists the hits of an earlier query, whose answer came late, and Enter opens one of them",
        f"{CODE}/searchPick.js",
        (("if (number === this.#number) this.#show(answer.hits", "this.#show(answer.hits"),),
        f"{PARTS}::test_part[searchPick]",
    ),
    Defect(
        "moved-back-to-the-first",
        "VS Code goes back to the first hit as the rest of the list comes",
        f"{CODE}/searchPick.js",
        (("this.#pick.activeItems = active ? [active] : []", "this.#pick.activeItems = [this.#items[0]]"),),
        f"{PARTS}::test_part[searchPick]",
    ),
    Defect(
        "preview-at-each-key",
        "VS Code opens a file at each key, and the list of the next one waits until it is shown",
        f"{CODE}/openHit.js",
        (("isMove ? MOVE_MS : TYPING_MS", "MOVE_MS"),),
        f"{PARTS}::test_part[searchPick]",
    ),
    Defect(
        "preview-of-an-earlier-key",
        "while the daemon searches for what was typed, VS Code opens a hit of an earlier key",
        f"{CODE}/searchPick.js",
        (("    this.#preview.postpone()\n", ""),),
        f"{PARTS}::test_part[searchPick]",
    ),
    Defect(
        "opened-a-line-below",
        "VS Code opens a hit at the line below its match",
        f"{CODE}/openHit.js",
        (("Math.min(hit.line, document.lineCount) - 1", "Math.min(hit.line, document.lineCount - 1)"),),
        f"{PARTS}::test_part[openHit]",
    ),
    Defect(
        "code-becomes-an-icon",
        "a line with `$(check)` is listed with a picture in its place",
        f"{CODE}/hits.js",
        (("'\\\\$&')", "'$&')"),),
        f"{PARTS}::test_part[hits]",
    ),
    Defect(
        "column-counts-bytes",
        "VS Code opens a hit to the right of its match if letters of several bytes stand before it",
        f"{CODE}/hits.js",
        (("return Buffer.from(text).subarray(0, hit.column - 1).toString().length", "return hit.column - 1"),),
        f"{PARTS}::test_part[hits]",
    ),
    Defect(
        "standing-hit-stays",
        "a standing query keeps and counts the hits of files that were deleted",
        f"{CODE}/hits.js",
        (("    for (const hit of removed) this.#remove(hit)\n", ""),),
        f"{PARTS}::test_part[hits]",
    ),
    Defect(
        "request-lost-with-the-daemon",
        "a search that the daemon took with it as it died is not repeated",
        f"{CODE}/daemon.js",
        (("if (!(error instanceof ConnectionError)) throw error", "throw error"),),
        f"{PARTS}::test_part[daemon]",
    ),
    Defect(
        "standing-query-not-renewed",
        "a standing query follows no more once the daemon was restarted",
        f"{CODE}/standingQueries.js",
        (("    this.#failed('the daemon has ended; connecting again')\n", ""),),
        f"{PARTS}::test_part[standingQueries]",
    ),
)
