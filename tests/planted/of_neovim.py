"""Defects of Neovim's client: what its lists have, where they lead, and that they follow."""

from __future__ import annotations

from planted.defect import Defect

LISTS = "tests/editors/test_neovim.py"
PICKERS = "tests/editors/test_neovim_pickers.py"
LUA = "editors/nvim/lua/livedex"

DEFECTS = (
    Defect(
        "entry-a-line-below",
        "each entry of Neovim's lists leads to the line below its hit",
        f"{LUA}/hits.lua",
        (("lnum = hit.line,", "lnum = hit.line + 1,"),),
        f"{LISTS}::test_a_search_fills_the_quickfix_list",
    ),
    Defect(
        "cursor-after-the-match",
        "without a picker, the cursor comes to stand one byte after the beginning of the match",
        f"{LUA}/pick/select.lua",
        (("{ item.lnum, item.col - 1 }", "{ item.lnum, item.col }"),),
        f"{LISTS}::test_without_a_picker_the_words_are_asked_for",
    ),
    Defect(
        "cursor-after-the-match-in-snacks",
        "the picker of snacks opens a hit one byte after the beginning of the match",
        f"{LUA}/pick/snacks.lua",
        (("pos = { item.lnum, item.col - 1 }", "pos = { item.lnum, item.col }"),),
        f"{PICKERS}::test_a_choice_opens_its_place",
    ),
    Defect(
        "followed-hit-stays",
        "a list that follows its query keeps the hits of files that were deleted",
        f"{LUA}/follow.lua",
        (("list.entries[lines_of(hit)] = nil", "local _ = lines_of(hit)"),),
        f"{LISTS}::test_a_list_follows_its_query",
    ),
    Defect(
        "current-entry-by-its-number",
        "a list that changes moves the cursor of its window to another hit",
        f"{LUA}/follow.lua",
        (("    if entry.key == key then\n", "    if row == old then\n"),),
        f"{LISTS}::test_a_list_follows_its_query",
    ),
    Defect(
        "list-dies-with-the-daemon",
        "a list follows no more once the daemon was restarted, and says that it is not connected",
        f"{LUA}/follow.lua",
        (("  if lists[1] then\n", "  if false then\n"),),
        f"{LISTS}::test_a_list_outlives_the_daemon",
    ),
    Defect(
        "typed-searches-pile-up",
        "each key leaves a search behind that the daemon goes on with, and whose answer may come last",
        f"{LUA}/hits.lua",
        (("typing = is_of_words, supersedes = 'typed' }", "typing = is_of_words }"),),
        f"{LISTS}::test_the_search_for_what_was_typed_before_ends",
    ),
)
